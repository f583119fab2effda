/* bench.c -- stillpoint bench: the command, its children, its table and its JSON.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/bench/bench.h"

#include "base/flags.h"
#include "base/insist.h"
#include "base/log.h"
#include "base/os.h"
#include "base/spelling.h"
#include "tools/bench/bench_priv.h"
#include "tools/cli.h"
#include "tools/host_json.h"
#include "tools/output.h"
#include "tools/text.h"
#include "vm/start.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than the slowest child needs (64 spinning threads, all woken at once) by far. */
#define CHILD_LIMIT_NS UINT64_C(120000000000)
#define FIGURE_BYTES   24

static const char help[] =
    "usage: stillpoint bench [flags] [NAME...]\n"
    "\n"
    "Runs microbenchmarks, each variant interleaved with what it is compared with, and\n"
    "says beside each figure whether it meets its goal.  Without a name: all of them.\n"
    "\n"
    "  --list            the benchmarks and their questions\n"
    "  --quick           few repetitions and small buffers: does everything still run?\n"
    "  --reps N          rounds, 1 to 200 (default: each benchmark's own number)\n"
    "  --json FILE       everything, schema stillpoint-bench-1\n"
    "  --help            this text\n"
    "  -XX:... -Xlog:... runtime flags, see stillpoint flags and -Xlog:help\n"
    "\n"
    "+X<=Y is the difference to the baseline; \"?\" means that a quarter of the rounds or more\n"
    "say otherwise.\n"
    "\n"
    "A goal that is missed does not change the exit code: 0 done, 64 what was typed is\n"
    "wrong, 74 the system refused a file or a resource, 75 a self-check failed.\n";

static const char *const options_known[] = { "--list", "--quick", "--reps", "--json", "--help" };

static const struct benchmark {
    const char *name, *question;
    void (*run)(struct bench *bench);
} benchmarks[] = {
    { "poll", "What does a poll cost in a tight loop, and what a transition?", bench_poll },
    { "ttsp", "How fast is a stop against a bare one, and what does its account cost?",
      bench_ttsp },
    { "zero", "Do polls between chunks slow the zeroing of a big buffer?", bench_zero },
};
#define BENCHMARK_COUNT (sizeof benchmarks / sizeof *benchmarks)

struct command {
    bool is_chosen[BENCHMARK_COUNT], wants_list, wants_help;
    const char *json_path;
};

/* Static: half a megabyte hardly touched belongs neither on the stack nor in malloc. */
static struct bench the_bench;

/* --- figures ----------------------------------------------------------------------- */

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

enum relation { RELATION_NONE, RELATION_RATIO, RELATION_DIFFERENCE };

/* The rounds' values, or how they relate to the baseline's; returns how many. */
static size_t rounds_of(const struct bench_row *row, enum relation relation, double *values_out)
{
    size_t n = 0;
    for (int i = 0; i < BENCH_MOST_ROUNDS; i++) {
        double value = row->value[i];
        double base = relation != RELATION_NONE && row->baseline ? row->baseline->value[i] : NAN;
        value = relation == RELATION_RATIO        ? value / base
                : relation == RELATION_DIFFERENCE ? value - base
                                                  : value;
        if (isfinite(value))
            values_out[n++] = value;
    }
    return n;
}

static double median_of(const struct bench_row *row, enum relation relation)
{
    double values[BENCH_MOST_ROUNDS];
    return bench_percentile(values, rounds_of(row, relation, values), 50);
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

/* --- the child ---------------------------------------------------------------------- */

/* What comes through the pipe, and after it the figures. */
struct answer {
    char failure[sizeof the_bench.failure];
    int failure_exit;
};

static int answer_fd;

static void write_all(int fd, const void *data, size_t bytes)
{
    const char *next = data;
    while (bytes > 0) {
        ssize_t n = write(fd, next, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* the parent is gone */
        next += n;
        bytes -= (size_t)n;
    }
}

void bench_child_fail(int exit_code, const char *format, ...)
{
    struct answer answer = { .failure_exit = exit_code };
    va_list ap;
    va_start(ap, format);
    vsnprintf(answer.failure, sizeof answer.failure, format, ap);
    va_end(ap);
    write_all(answer_fd, &answer, sizeof answer);
    _exit(exit_code);
}

void bench_child_start_stops(void)
{
    struct start_message message;
    if (start_stops(&message) != ERR_OK)
        bench_child_fail(EXIT_CODE_ENVIRONMENT, "%s", message.text);
}

static _Noreturn void be_child(const struct bench_child *child, int fd, double *figures,
                               size_t figure_count)
{
    struct answer fine = { .failure = "" };
    struct flags_error error;
    os_die_with_parent();
    answer_fd = fd;
    for (const char *const *flag = child->flags; *flag; flag++)
        if (!flags_override(*flag, &error))
            bench_child_fail(EXIT_CODE_USAGE, "needs %s: %.180s", *flag, error.message);
    child->run(child->argument, figures);
    write_all(fd, &fine, sizeof fine);
    write_all(fd, figures, figure_count * sizeof *figures);
    log_close();
    _exit(0); /* threads that still run or stand still end here */
}

/* --- the parent ---------------------------------------------------------------------- */

static void fail(struct bench *bench, int exit_code, const char *name, const char *why)
{
    if (bench->failure[0])
        return;
    snprintf(bench->failure, sizeof bench->failure, "%.60s: %.180s", name, why);
    bench->failure_exit = exit_code;
}

/* False when the child ended or hung before it was all there. */
static bool read_all(int fd, uint64_t deadline_ns, void *data_out, size_t bytes)
{
    size_t got = 0;
    while (got < bytes) {
        uint64_t now = os_now_ns();
        if (now >= deadline_ns || !os_wait_readable(fd, deadline_ns - now))
            return false;
        ssize_t n = read(fd, (char *)data_out + got, bytes - got);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        got += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void fail_by_end(struct bench *bench, const char *name, bool has_ended, int status)
{
    char why[80];
    if (!has_ended)
        snprintf(why, sizeof why, "the child hung and was ended");
    else if (status >= 256)
        snprintf(why, sizeof why, "the child died of signal %d", status - 256);
    else
        snprintf(why, sizeof why, "the child ended with exit code %d before its result", status);
    fail(bench, EXIT_CODE_SELF_CHECK, name, why);
}

static int fork_child(const struct bench_child *child, double *figures, size_t figure_count,
                      int *fd_out)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_child(child, ends[1], figures, figure_count);
    }
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    *fd_out = ends[0];
    return pid;
}

bool bench_in_child(struct bench *bench, const struct bench_child *child, double *figures_out,
                    size_t figure_count)
{
    int fd, status;
    struct answer answer;
    if (bench->failure[0])
        return false;
    for (size_t i = 0; i < figure_count; i++)
        figures_out[i] = NAN;
    int pid = fork_child(child, figures_out, figure_count, &fd);
    if (pid < 0) {
        fail(bench, EXIT_CODE_ENVIRONMENT, child->name, strerror(errno));
        return false;
    }
    uint64_t deadline_ns = os_now_ns() + CHILD_LIMIT_NS;
    bool is_whole = read_all(fd, deadline_ns, &answer, sizeof answer);
    if (is_whole && answer.failure[0])
        fail(bench, answer.failure_exit, child->name, answer.failure);
    else if (is_whole)
        is_whole = read_all(fd, deadline_ns, figures_out, figure_count * sizeof *figures_out);
    close(fd);
    bool has_ended = os_wait_child(pid, UINT64_C(5000000000), &status);
    if (!has_ended)
        os_kill_child(pid);
    if (!is_whole)
        fail_by_end(bench, child->name, has_ended, status);
    return !bench->failure[0];
}

/* --- the table ------------------------------------------------------------------------ */

/* Columns: name 31, without the benchmark's own; median 8, min..max 17, ratio 6, to what
 * 10, goal 23. */
#define COLUMNS "%-31s %8s %17s %6s %-10s %s\n"

static void number_text(char *text_out, double value, const char *unit)
{
    const char *sign = value < 0 ? "-" : "";
    double size = fabs(value);
    if (strcmp(unit, "ns") != 0)
        snprintf(text_out, FIGURE_BYTES, "%.1f", value);
    else if (size < 9.9995)
        snprintf(text_out, FIGURE_BYTES, "%s%.3fns", sign, size);
    else if (size < 99.95)
        snprintf(text_out, FIGURE_BYTES, "%s%.1fns", sign, size);
    else {
        snprintf(text_out, FIGURE_BYTES, "%s", sign);
        text_ns(text_out + strlen(sign), FIGURE_BYTES - strlen(sign), (uint64_t)llround(size));
    }
}

/* Of "ttsp/1-polling/bare/lag" against "ttsp/1-polling/flag/lag": "bare". */
static void short_name(char *text_out, size_t bytes, const char *base, const char *name)
{
    size_t from = 0, base_end = strlen(base), name_end = strlen(name);
    for (size_t i = 0; base[i] && base[i] == name[i]; i++)
        if (base[i] == '/')
            from = i + 1;
    size_t end = base_end;
    for (size_t back = 1; base_end - back > from && name_end - back > from; back++) {
        if (base[base_end - back] != name[name_end - back])
            break;
        if (base[base_end - back] == '/')
            end = base_end - back;
    }
    snprintf(text_out, bytes, "%.*s", (int)(end - from), base + from);
}

static bool fulfils(const struct bench_row *row, double value)
{
    return row->goal_kind == BENCH_GOAL_RATIO_AT_LEAST ? value >= row->goal : value <= row->goal;
}

/* "met" or "MISSED" by the median; "?" behind it when a quarter of the rounds or more
 * say the other thing. */
static const char *verdict(const struct bench_row *row, double *median_out)
{
    double values[BENCH_MOST_ROUNDS];
    enum relation relation = row->goal_kind == BENCH_GOAL_AT_MOST        ? RELATION_NONE
                             : row->goal_kind == BENCH_GOAL_MORE_AT_MOST ? RELATION_DIFFERENCE
                                                                         : RELATION_RATIO;
    size_t n = rounds_of(row, relation, values), others = 0;
    *median_out = bench_percentile(values, n, 50);
    bool is_met = fulfils(row, *median_out);
    for (size_t i = 0; i < n; i++)
        others += fulfils(row, values[i]) != is_met;
    bool is_unsure = others * 4 >= n && others > 0;
    return is_met ? (is_unsure ? "met?" : "met") : is_unsure ? "MISSED?" : "MISSED";
}

static void goal_text(char *text_out, size_t bytes, const struct bench_row *row)
{
    double median;
    char is[FIGURE_BYTES], goal[FIGURE_BYTES];
    const char *word = verdict(row, &median);
    number_text(is, median, row->unit);
    if (row->goal < 10)
        snprintf(goal, sizeof goal, "%gns", row->goal);
    else
        number_text(goal, row->goal, row->unit);
    switch (row->goal_kind) {
    case BENCH_GOAL_NONE:
        text_out[0] = '\0';
        break;
    case BENCH_GOAL_AT_MOST:
        snprintf(text_out, bytes, "<=%s %s", goal, word);
        break;
    case BENCH_GOAL_RATIO_AT_MOST:
        snprintf(text_out, bytes, "<=%gx %s", row->goal, word);
        break;
    case BENCH_GOAL_RATIO_AT_LEAST:
        snprintf(text_out, bytes, ">=%gx %s", row->goal, word);
        break;
    case BENCH_GOAL_MORE_AT_MOST:
        snprintf(text_out, bytes, "%s%s<=%s %s", median < 0 ? "" : "+", is, goal, word);
        break;
    }
}

static void table_row(FILE *out, const struct bench_row *row)
{
    double values[BENCH_MOST_ROUNDS];
    char median[FIGURE_BYTES], least[FIGURE_BYTES], most[FIGURE_BYTES], range[2 * FIGURE_BYTES + 2];
    char ratio[FIGURE_BYTES] = "", base[16] = "", goal[64] = "";
    size_t n = rounds_of(row, RELATION_NONE, values);
    if (n == 0)
        return; /* too few samples for this percentile */
    number_text(median, bench_percentile(values, n, 50), row->unit); /* sorts them */
    number_text(least, values[0], row->unit);
    number_text(most, values[n - 1], row->unit);
    snprintf(range, sizeof range, "%s..%s", least, most);
    if (row->baseline) {
        snprintf(ratio, sizeof ratio, "%.3g", median_of(row, RELATION_RATIO));
        short_name(base, sizeof base, row->baseline->name, row->name);
    }
    if (row->goal_kind != BENCH_GOAL_NONE)
        goal_text(goal, sizeof goal, row);
    fprintf(out, COLUMNS, strchr(row->name, '/') + 1, median, range, ratio, base, goal);
}

static void table_of(FILE *out, const struct bench *bench, size_t first)
{
    fprintf(out, COLUMNS, bench->running, "median", "min..max", "ratio", "to", "goal");
    for (size_t i = first; i < bench->row_count; i++)
        table_row(out, &bench->row[i]);
    fputc('\n', out);
    fflush(out);
}

/* --- the JSON --------------------------------------------------------------------------- */

static void json_row(struct json_writer *json, const struct bench_row *row)
{
    double values[BENCH_MOST_ROUNDS];
    size_t n = rounds_of(row, RELATION_NONE, values);
    if (n == 0)
        return;
    json_writer_open_object(json, NULL);
    json_writer_string(json, "name", row->name);
    json_writer_string(json, "unit", row->unit);
    json_writer_double(json, "median", bench_percentile(values, n, 50)); /* sorts them */
    json_writer_double(json, "min", values[0]);
    json_writer_double(json, "max", values[n - 1]);
    json_writer_unsigned(json, "reps", n);
    if (row->baseline)
        json_writer_string(json, "baseline", row->baseline->name);
    else
        json_writer_null(json, "baseline");
    json_writer_double(json, "ratio", median_of(row, RELATION_RATIO)); /* null without a baseline */
    json_writer_close(json);
}

static void write_json(FILE *out, const struct bench *bench)
{
    struct json_writer json;
    json_writer_start(&json, out);
    json_writer_open_object(&json, NULL);
    json_writer_string(&json, "schema", "stillpoint-bench-1");
    host_json_write(&json, "host");
    json_writer_open_array(&json, "results");
    for (size_t i = 0; i < bench->row_count; i++)
        json_row(&json, &bench->row[i]);
    json_writer_close(&json);
    json_writer_close(&json);
    json_writer_end(&json);
}

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
        if (cli_switch(cli, "--help") || cli_switch(cli, "-h"))
            command->wants_help = true;
        else if (cli_switch(cli, "--list"))
            command->wants_list = true;
        else if (cli_switch(cli, "--quick"))
            bench->is_quick = true;
        else if (!cli_runtime_flag(cli))
            parse_value(command, bench, cli);
    }
    if (start_check_flags(&message) != ERR_OK)
        cli_fail(cli, EXIT_CODE_USAGE, "%s", message.text);
}

static void print_head(void)
{
    char host[128], set[512];
    host_describe(host, sizeof host);
    flags_describe_set(set, sizeof set);
    printf("%s\n%s%s%s\n", host, set[0] ? "flags: " : "", set, set[0] ? "\n" : "");
}

static int measure_and_report(const struct command *command, struct bench *bench,
                              struct output *json)
{
    bool takes_all = true;
    for (size_t i = 0; i < BENCHMARK_COUNT; i++)
        takes_all = takes_all && !command->is_chosen[i];
    print_head();
    for (size_t i = 0; i < BENCHMARK_COUNT && !bench->failure[0]; i++) {
        if (!takes_all && !command->is_chosen[i])
            continue;
        size_t first = bench->row_count;
        bench->running = benchmarks[i].name;
        benchmarks[i].run(bench);
        if (bench->shows_progress)
            fputs("\r\033[K", stderr);
        if (!bench->failure[0])
            table_of(stdout, bench, first);
    }
    int code = EXIT_CODE_OK;
    if (bench->failure[0]) {
        fprintf(stderr, "stillpoint bench: %s\n", bench->failure);
        output_abandon(json);
        code = bench->failure_exit;
    } else if (json->file) {
        write_json(json->file, bench);
        if (!output_commit(json))
            code = EXIT_CODE_ENVIRONMENT;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "stillpoint bench: cannot write to standard output\n");
        code = EXIT_CODE_ENVIRONMENT;
    }
    return code;
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
    if (command.wants_help || command.wants_list) {
        if (command.wants_help)
            fputs(help, stdout);
        for (size_t i = 0; i < BENCHMARK_COUNT && !command.wants_help; i++)
            printf("%-6s %s\n", benchmarks[i].name, benchmarks[i].question);
        return EXIT_CODE_OK;
    }
    if (!output_open(&json, command.json_path))
        return EXIT_CODE_ENVIRONMENT;
    bench->shows_progress = os_is_terminal(STDERR_FILENO);
    return measure_and_report(&command, bench, &json);
}
