/* stress.c -- stillpoint stress NAME: options, the run, what it found.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/stress/stress.h"

#include "base/flags.h"
#include "base/os.h"
#include "base/spelling.h"
#include "tools/cli.h"
#include "tools/host_json.h"
#include "tools/output.h"
#include "tools/stress/stress_gc.h"
#include "tools/stress/stress_guest.h"
#include "tools/stress/stress_protocol.h"
#include "tools/text.h"
#include "vm/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SECONDS_NS UINT64_C(10000000000)

static const char help[] =
    "usage: stillpoint stress NAME [flags]\n"
    "\n"
    "Lets the machinery loose on itself, in an order drawn from a seed, and checks its\n"
    "promises all the while.  The last line says how to run the same again; the seed gives\n"
    "the same actions, their interleaving stays the machine's.\n"
    "\n"
    "  --list            the names and what they stress\n"
    "  --seed N          of all random choices (default 1)\n"
    "  --seconds N       how long (default 10)\n"
    "  --threads N       mutator threads, 1 to 256 (default: depends on name and build)\n"
    "  --program NAME    of guest: this one alone (fields, values, caches, sync, strings,\n"
    "                    prints; hammer, which is one round however long; unlocked, a\n"
    "                    control that must fail); of gc: forgotten-root, a control that\n"
    "                    must fail\n"
    "  --json FILE       the result, schema stillpoint-stress-1\n"
    "  --help, --version this text; which version this is\n"
    "  -XX:... -Xlog:... runtime flags, see stillpoint flags and -Xlog:help\n"
    "\n"
    "Exit codes: 0 done, 64 what was typed is wrong, 74 the system refused a file or a\n"
    "resource, 75 a check failed.\n";

static const char *const options_known[] = { "--list",    "--seed", "--seconds", "--threads",
                                             "--program", "--json", "--help",    "--version" };

static const struct test {
    const char *name, *what;
    uint64_t threads; /* when nobody says; 0 = depends on the build */
    uint64_t most_threads;
    const char *attaches; /* the column's head */
    enum err (*run)(const struct stress_protocol_options *options,
                    struct stress_protocol_result *result_out);
    bool (*has_program)(const char *name); /* NULL = --program is not for it */
    const char *programs;
    bool shows_heap; /* the figures of stress_gc.h */
} tests[] = {
    { "protocol", "threads, native calls, locks and requests against stops", 0,
      STRESS_PROTOCOL_MOST_THREADS, "attaches", stress_protocol_run, NULL, NULL, false },
    { "guest", "racing threads of guest programs against each other and a stop each millisecond", 8,
      STRESS_GUEST_MOST_THREADS, "rounds", stress_guest_run, stress_guest_has_program,
      STRESS_GUEST_PROGRAMS, false },
    { "gc", "graphs of objects, changed by threads, against a collector that moves them", 4,
      STRESS_GC_MOST_THREADS, "actions", stress_gc_run, stress_gc_has_program, STRESS_GC_PROGRAMS,
      true },
};
#define TEST_COUNT (sizeof tests / sizeof *tests)

struct stress {
    struct stress_protocol_options options;
    const struct test *test;
    const char *json_path;
    bool wants_list;
};

static void choose(struct stress *stress, struct cli *cli)
{
    const char *name = cli_peek(cli), *names[TEST_COUNT];
    if (stress->test) {
        cli_fail(cli, EXIT_CODE_USAGE, "one name at a time, not %s and %s", stress->test->name,
                 name);
        return;
    }
    for (size_t i = 0; i < TEST_COUNT; i++) {
        names[i] = tests[i].name;
        if (strcmp(name, names[i]) == 0)
            stress->test = &tests[i];
    }
    if (!stress->test) {
        const char *near = spelling_nearest(name, names, TEST_COUNT);
        cli_fail(cli, EXIT_CODE_USAGE, "unknown name %s%s%s%s; --list shows them", name,
                 near ? ", did you mean " : "", near ? near : "", near ? "?" : "");
        return;
    }
    cli_next(cli);
}

static void parse_value(struct stress *stress, struct cli *cli)
{
    struct stress_protocol_options *o = &stress->options;
    const char *value;
    if (cli_value(cli, "--seconds", &value)) {
        if (!text_parse_seconds(value, &o->seconds_ns))
            cli_fail(cli, EXIT_CODE_USAGE,
                     "--seconds %s: not a number of seconds, above 0, at most 86400", value);
    } else if (cli_value(cli, "--seed", &value)) {
        if (!text_parse_unsigned(value, &o->seed))
            cli_fail(cli, EXIT_CODE_USAGE, "--seed %s: not a number", value);
    } else if (cli_value(cli, "--threads", &value)) {
        if (!text_parse_unsigned(value, &o->threads) || o->threads < 1 ||
            o->threads > STRESS_PROTOCOL_MOST_THREADS)
            cli_fail(cli, EXIT_CODE_USAGE, "--threads %s: not a number from 1 to %d", value,
                     STRESS_PROTOCOL_MOST_THREADS);
    } else if (cli_value(cli, "--program", &value)) {
        o->program = value;
    } else if (cli_value(cli, "--json", &value)) {
        if (stress->json_path)
            cli_fail(cli, EXIT_CODE_USAGE, "--json is given twice");
        stress->json_path = value;
    } else if (!cli->has_failed && cli_peek(cli)[0] != '-') {
        choose(stress, cli);
    } else {
        cli_unknown(cli, options_known, sizeof options_known / sizeof *options_known);
    }
}

static void check_program(const struct test *test, const char *program, struct cli *cli)
{
    if (program && !test->has_program)
        cli_fail(cli, EXIT_CODE_USAGE, "--program is for guest and gc, not for %s", test->name);
    else if (program && !test->has_program(program))
        cli_fail(cli, EXIT_CODE_USAGE, "--program %s: for %s there are %s", program, test->name,
                 test->programs);
}

static void parse(struct stress *stress, struct cli *cli)
{
    struct start_message message;
    while (cli_peek(cli)) {
        if (cli_switch(cli, "--list"))
            stress->wants_list = true;
        else if (!cli_common(cli))
            parse_value(stress, cli);
    }
    if (cli->has_failed || cli->wants_help || cli->wants_version || stress->wants_list)
        return;
    if (!stress->test) {
        cli_fail(cli, EXIT_CODE_USAGE, "no name; --list shows them");
        return;
    }
    struct stress_protocol_options *o = &stress->options;
    if (!o->threads)
        o->threads =
            stress->test->threads ? stress->test->threads : stress_protocol_default_threads();
    check_program(stress->test, o->program, cli);
    if (o->threads > stress->test->most_threads)
        cli_fail(cli, EXIT_CODE_USAGE, "--threads %llu: %s has %llu at most",
                 (unsigned long long)o->threads, stress->test->name,
                 (unsigned long long)stress->test->most_threads);
    else if (start_check_flags(&message) != ERR_OK)
        cli_fail(cli, EXIT_CODE_USAGE, "%s", message.text);
}

/* --- what people and programs read --------------------------------------------------- */

static uint64_t shown_total_ns;
static const char *shown_name;

static void show_progress(uint64_t elapsed_ns, uint64_t stops)
{
    fprintf(stderr, "\r\033[K%s %.1f of %.1f s, %llu stops", shown_name, (double)elapsed_ns / 1e9,
            (double)shown_total_ns / 1e9, (unsigned long long)stops);
    fflush(stderr);
}

static void percentile_text(char *text_out, size_t bytes, const struct hist *h, double percent)
{
    uint64_t ns;
    if (hist_percentile(h, percent, &ns))
        text_ns(text_out, bytes, ns);
    else
        snprintf(text_out, bytes, "-"); /* too few stops for it */
}

static void report_heap(const struct stress_protocol_result *r)
{
    printf("\n%12s %12s %18s %18s\n", "collections", "out of heap", "live bytes at end",
           "used bytes at end");
    printf("%12llu %12llu %18llu %18llu\n", (unsigned long long)r->collections,
           (unsigned long long)r->out_of_heap, (unsigned long long)r->live_bytes,
           (unsigned long long)r->used_bytes);
}

static void report_table(const struct stress *stress, const struct stress_protocol_result *r)
{
    char p50[16], p99[16], most[16] = "-";
    percentile_text(p50, sizeof p50, &r->ttsp, 50);
    percentile_text(p99, sizeof p99, &r->ttsp, 99);
    if (hist_count(&r->ttsp))
        text_ns(most, sizeof most, hist_max(&r->ttsp));
    printf("%67s%25s\n", "", "---------- TTSP --------");
    printf("%10s %8s %9s %12s %12s %9s  %7s %7s %7s\n", "seed", "stops", stress->test->attaches,
           "transitions", "checks", "failures", "p50", "p99", "max");
    printf("%10llu %8llu %9llu %12llu %12llu %9llu  %7s %7s %7s\n",
           (unsigned long long)stress->options.seed, (unsigned long long)r->stops,
           (unsigned long long)r->attaches, (unsigned long long)r->transitions,
           (unsigned long long)r->checks, (unsigned long long)r->failures, p50, p99, most);
    if (stress->test->shows_heap)
        report_heap(r);
}

static void report_replay(const struct stress *stress)
{
    char set[512];
    size_t length = flags_describe_set(set, sizeof set);
    printf("\nAgain: stillpoint stress %s%s%s --seed %llu --seconds %g --threads %llu%s%s\n",
           stress->test->name, stress->options.program ? " --program " : "",
           stress->options.program ? stress->options.program : "",
           (unsigned long long)stress->options.seed, (double)stress->options.seconds_ns / 1e9,
           (unsigned long long)stress->options.threads, length ? " " : "", length ? set : "");
}

static void write_percentile(struct json_writer *json, const char *key, const struct hist *h,
                             double percent)
{
    uint64_t ns;
    if (hist_percentile(h, percent, &ns))
        json_writer_unsigned(json, key, ns);
    else
        json_writer_null(json, key);
}

static void report_json(FILE *out, const struct stress *stress,
                        const struct stress_protocol_result *r, bool is_ok)
{
    struct json_writer json;
    char set[512];
    flags_describe_set(set, sizeof set);
    json_writer_start(&json, out);
    json_writer_open_object(&json, NULL);
    json_writer_string(&json, "schema", "stillpoint-stress-1");
    json_writer_string(&json, "name", stress->test->name);
    json_writer_unsigned(&json, "seed", stress->options.seed);
    json_writer_double(&json, "seconds", (double)stress->options.seconds_ns / 1e9);
    json_writer_unsigned(&json, "threads", stress->options.threads);
    json_writer_string(&json, "flags", set);
    json_writer_unsigned(&json, "stops", r->stops);
    json_writer_unsigned(&json, "requests", r->requests);
    json_writer_unsigned(&json, "dumps", r->dumps);
    json_writer_unsigned(&json, stress->test->attaches, r->attaches);
    json_writer_unsigned(&json, "transitions", r->transitions);
    json_writer_unsigned(&json, "checks", r->checks);
    json_writer_unsigned(&json, "failures", r->failures);
    json_writer_string(&json, "failure", r->failure);
    if (stress->test->shows_heap) {
        json_writer_unsigned(&json, "collections", r->collections);
        json_writer_unsigned(&json, "out_of_heap", r->out_of_heap);
        json_writer_unsigned(&json, "live_bytes", r->live_bytes);
        json_writer_unsigned(&json, "used_bytes", r->used_bytes);
    }
    json_writer_open_object(&json, "ttsp_ns");
    write_percentile(&json, "p50", &r->ttsp, 50);
    write_percentile(&json, "p99", &r->ttsp, 99);
    if (hist_count(&r->ttsp))
        json_writer_unsigned(&json, "max", hist_max(&r->ttsp));
    else
        json_writer_null(&json, "max");
    json_writer_close(&json);
    json_writer_bool(&json, "ok", is_ok);
    host_json_write(&json, "host");
    json_writer_close(&json);
    json_writer_end(&json);
}

static int stress_and_report(struct stress *stress, struct output *json)
{
    static struct stress_protocol_result result;
    char host[128];
    host_describe(host, sizeof host);
    printf("%s\n\n", host);
    fflush(stdout);
    shown_total_ns = stress->options.seconds_ns;
    shown_name = stress->test->name;
    bool is_terminal = os_is_terminal(STDERR_FILENO);
    stress->options.progress = is_terminal ? show_progress : NULL;
    enum err err = stress->test->run(&stress->options, &result);
    if (is_terminal)
        fputs("\r\033[K", stderr);
    bool is_ok = err == ERR_OK && result.failures == 0;
    report_table(stress, &result);
    report_replay(stress);
    int code = err != ERR_OK ? EXIT_CODE_ENVIRONMENT : is_ok ? EXIT_CODE_OK : EXIT_CODE_SELF_CHECK;
    fflush(stdout);
    if (!is_ok)
        fprintf(stderr, "stillpoint stress: %s: %s\n", stress->test->name, result.failure);
    if (json->file)
        report_json(json->file, stress, &result, is_ok);
    return output_commit(json) ? code : EXIT_CODE_ENVIRONMENT;
}

int stress_main(int argc, char **argv)
{
    struct stress stress = { .options = { .seed = 1, .seconds_ns = DEFAULT_SECONDS_NS } };
    struct cli cli;
    struct output json;
    cli_start(&cli, "stress", argc, argv);
    parse(&stress, &cli);
    if (cli.has_failed)
        return cli.exit_code;
    if (cli.wants_help) {
        fputs(help, stdout);
        return EXIT_CODE_OK;
    }
    if (cli.wants_version) {
        cli_print_version();
        return EXIT_CODE_OK;
    }
    if (stress.wants_list) {
        for (size_t i = 0; i < TEST_COUNT; i++)
            printf("%-12s %s\n", tests[i].name, tests[i].what);
        return EXIT_CODE_OK;
    }
    if (!cli_open_files(&cli, &json, stress.json_path))
        return cli.exit_code;
    return stress_and_report(&stress, &json);
}
