/* bench.c -- stillpoint bench: the command, its benchmarks, the rows they fill.
 *
 * Read next: bench_child.c (what runs a variant), bench_report.c (what is printed).
 *
 * SPDX-License-Identifier: MIT */
#include "tools/bench/bench.h"

#include "base/flags.h"
#include "base/insist.h"
#include "base/os.h"
#include "base/spelling.h"
#include "tools/bench/bench_priv.h"
#include "tools/cli.h"
#include "tools/host_json.h"
#include "tools/output.h"
#include "tools/process.h"
#include "tools/text.h"
#include "vm/start.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: stillpoint bench [flags] [NAME...]\n"
    "\n"
    "Runs microbenchmarks, each variant interleaved with what it is compared with, and\n"
    "says beside each figure whether it meets its goal.  Without a name: all of them, which\n"
    "takes about 3 minutes.\n"
    "\n"
    "  --list            the benchmarks and their questions\n"
    "  --quick           few repetitions, small buffers, 5 seconds: does everything run?\n"
    "  --reps N          rounds, 1 to 200 (default: each benchmark's own number)\n"
    "  --json FILE       everything, schema stillpoint-bench-1\n"
    "  --help, --version this text; which version this is\n"
    "  -XX:... -Xlog:... runtime flags, see stillpoint flags and -Xlog:help\n"
    "\n"
    "interp compares with lua5.4 and java when they are in PATH, and says what it found.\n"
    "\n"
    "+X<=Y is the difference to the baseline; \"?\" means that a quarter of the rounds or more\n"
    "say otherwise.\n"
    "\n"
    "SIGQUIT (Ctrl-\\) is ignored; stillpoint ttsp answers it with a thread dump.\n"
    "\n"
    "A goal that is missed does not change the exit code: 0 done, 64 what was typed is\n"
    "wrong, 74 the system refused a file or a resource, 75 a self-check failed.\n";

static const char *const options_known[] = { "--list", "--quick", "--reps",
                                             "--json", "--help",  "--version" };

static const struct benchmark {
    const char *name, *question;
    void (*run)(struct bench *bench);
} benchmarks[] = {
    { "gc", "What do allocating and collecting cost, beside Java's collectors?", bench_gc },
    { "guest", "What do threads of guest programs cost, and what do they bring?", bench_guest },
    { "interp", "How fast are guest programs, beside Lua 5.4 and java -Xint?", bench_interp },
    { "poll", "What does a poll cost in a tight loop, and what a transition?", bench_poll },
    { "ttsp", "How fast is a stop against a bare one, and what does its account cost?",
      bench_ttsp },
    { "zero", "Do polls between chunks slow the zeroing of a big buffer?", bench_zero },
};
#define BENCHMARK_COUNT (sizeof benchmarks / sizeof *benchmarks)

struct command {
    bool is_chosen[BENCHMARK_COUNT], wants_list;
    const char *json_path;
};

/* Static: half a megabyte hardly touched belongs neither on the stack nor in malloc. */
static struct bench the_bench;

/* --- figures and rows ---------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double bench_percentile(double *values, size_t count, double percent)
{
    if (count == 0 || (percent > 50 && (double)count * (100 - percent) < 1000))
        return NAN;
    qsort(values, count, sizeof *values, compare_doubles);
    if (percent == 50 && count % 2 == 0)
        return (values[count / 2 - 1] + values[count / 2]) / 2;
    return values[(size_t)((double)(count - 1) * percent / 100)];
}

uint32_t bench_rounds(const struct bench *bench, uint32_t usual, uint32_t quick)
{
    return bench->reps ? bench->reps : bench->is_quick ? quick : usual;
}

bool bench_goes_on(struct bench *bench, uint32_t round, uint32_t rounds)
{
    if (bench->shows_progress) {
        fprintf(stderr, "\r\033[K[%s] round %u of %u", bench->running, round + 1, rounds);
        fflush(stderr);
    }
    return !bench->failure[0];
}

struct bench_row *bench_add(struct bench *bench, const char *unit, const struct bench_row *baseline,
                            const char *name, ...)
{
    INSIST(bench->row_count < BENCH_MOST_ROWS, "more than %d rows", BENCH_MOST_ROWS);
    INSIST(!baseline || baseline->unit == unit || strcmp(baseline->unit, unit) == 0,
           "%s has its baseline in %s", name, baseline->unit);
    struct bench_row *row = &bench->row[bench->row_count++];
    va_list ap;
    va_start(ap, name);
    vsnprintf(row->name, sizeof row->name, name, ap);
    va_end(ap);
    row->unit = unit;
    row->baseline = baseline;
    row->goal_kind = BENCH_GOAL_NONE;
    for (int i = 0; i < BENCH_MOST_ROUNDS; i++)
        row->value[i] = NAN;
    return row;
}

void bench_set_goal(struct bench_row *row, enum bench_goal_kind kind, double goal)
{
    row->goal_kind = kind;
    row->goal = goal;
}

void bench_put(struct bench_row *row, uint32_t round, double value) { row->value[round] = value; }

/* --- the command -------------------------------------------------------------------------- */

static void choose(struct command *command, struct cli *cli)
{
    const char *name = cli_peek(cli), *names[BENCHMARK_COUNT];
    for (size_t i = 0; i < BENCHMARK_COUNT; i++) {
        names[i] = benchmarks[i].name;
        if (strcmp(name, names[i]) != 0)
            continue;
        if (command->is_chosen[i])
            cli_fail(cli, EXIT_CODE_USAGE, "benchmark %s is named twice", name);
        command->is_chosen[i] = true;
        cli_next(cli);
        return;
    }
    const char *near = spelling_nearest(name, names, BENCHMARK_COUNT);
    cli_fail(cli, EXIT_CODE_USAGE, "unknown benchmark %s%s%s%s; --list shows them", name,
             near ? ", did you mean " : "", near ? near : "", near ? "?" : "");
}

/* Without a name: all of them. */
static bool is_wanted(const struct command *command, size_t number)
{
    bool is_any_chosen = false;
    for (size_t i = 0; i < BENCHMARK_COUNT; i++)
        is_any_chosen = is_any_chosen || command->is_chosen[i];
    return command->is_chosen[number] || !is_any_chosen;
}

static void parse_value(struct command *command, struct bench *bench, struct cli *cli)
{
    const char *value;
    uint64_t reps;
    if (cli_value(cli, "--reps", &value)) {
        if (!text_parse_unsigned(value, &reps) || reps < 1 || reps > BENCH_MOST_ROUNDS)
            cli_fail(cli, EXIT_CODE_USAGE, "--reps %s: not a number from 1 to %d", value,
                     BENCH_MOST_ROUNDS);
        else
            bench->reps = (uint32_t)reps;
    } else if (cli_value(cli, "--json", &value)) {
        if (command->json_path)
            cli_fail(cli, EXIT_CODE_USAGE, "--json is given twice");
        command->json_path = value;
    } else if (!cli->has_failed && cli_peek(cli)[0] != '-') {
        choose(command, cli);
    } else {
        cli_unknown(cli, options_known, sizeof options_known / sizeof *options_known);
    }
}

static void parse(struct command *command, struct bench *bench, struct cli *cli)
{
    struct start_message message;
    while (cli_peek(cli)) {
        if (cli_switch(cli, "--list"))
            command->wants_list = true;
        else if (cli_switch(cli, "--quick"))
            bench->is_quick = true;
        else if (!cli_common(cli))
            parse_value(command, bench, cli);
    }
    if (start_check_flags(&message) != ERR_OK)
        cli_fail(cli, EXIT_CODE_USAGE, "%s", message.text);
}

/* Lets the chosen benchmarks run without their children: that asks whether the command
 * line allows the flags that each of them would set. */
static void check_flags(const struct command *command, struct bench *bench, struct cli *cli)
{
    bench->only_checks_flags = true;
    for (size_t i = 0; i < BENCHMARK_COUNT; i++)
        if (is_wanted(command, i)) {
            bench->running = benchmarks[i].name;
            benchmarks[i].run(bench);
            bench->row_count = 0;
        }
    bench->only_checks_flags = false;
    if (bench->failure[0])
        cli_fail(cli, bench->failure_exit, "%s", bench->failure);
}

static void print_head(const struct bench *bench)
{
    char host[128], set[512];
    host_describe(host, sizeof host);
    flags_describe_set(set, sizeof set);
    printf("%s\n%s%s%s", host, set[0] ? "flags: " : "", set, set[0] ? "\n" : "");
    if (!bench->is_quick && !bench->reps)
        puts("All benchmarks together take about 3 minutes; with --quick, 5 seconds.");
    putchar('\n');
    fflush(stdout);
}

static int measure_and_report(const struct command *command, struct bench *bench,
                              struct output *json)
{
    print_head(bench);
    for (size_t i = 0; i < BENCHMARK_COUNT && !bench->failure[0]; i++) {
        if (!is_wanted(command, i))
            continue;
        size_t first = bench->row_count;
        bench->running = benchmarks[i].name;
        benchmarks[i].run(bench);
        if (bench->shows_progress)
            fputs("\r\033[K", stderr);
        if (!bench->failure[0])
            bench_report_table(stdout, bench, first);
    }
    if (!bench->failure[0])
        bench_report_foot(stdout);
    int code = EXIT_CODE_OK;
    if (bench->failure[0]) {
        fflush(stdout);
        fprintf(stderr, "stillpoint bench: %s\n", bench->failure);
        output_abandon(json);
        code = bench->failure_exit;
    } else if (json->file) {
        bench_report_json(json->file, bench);
        if (!output_commit(json))
            code = EXIT_CODE_ENVIRONMENT;
    }
    return code;
}

static void list_benchmarks(void)
{
    for (size_t i = 0; i < BENCHMARK_COUNT; i++)
        printf("%-6s %s\n", benchmarks[i].name, benchmarks[i].question);
}

int bench_main(int argc, char **argv)
{
    struct command command = { .json_path = NULL };
    struct bench *bench = &the_bench;
    struct cli cli;
    struct output json;
    cli_start(&cli, "bench", argc, argv);
    parse(&command, bench, &cli);
    if (cli.has_failed)
        return cli.exit_code;
    if (cli.wants_help || cli.wants_version || command.wants_list) {
        if (cli.wants_help)
            fputs(help, stdout);
        else if (cli.wants_version)
            cli_print_version();
        else
            list_benchmarks();
        return EXIT_CODE_OK;
    }
    check_flags(&command, bench, &cli);
    if (cli.has_failed || !cli_open_files(&cli, &json, command.json_path))
        return cli.exit_code;
    process_ignore_sigquit();
    bench->shows_progress = os_is_terminal(STDERR_FILENO);
    return measure_and_report(&command, bench, &json);
}
