/* ttsp.c -- stillpoint ttsp: run scenarios, one child each, and report.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/ttsp/ttsp.h"

#include "base/flags.h"
#include "base/os.h"
#include "tools/cli.h"
#include "tools/host_json.h"
#include "tools/output.h"
#include "tools/process.h"
#include "tools/text.h"
#include "tools/ttsp/report.h"
#include "tools/ttsp/scenario_catalog.h"
#include "tools/ttsp/scenario_lox.h"
#include "tools/ttsp/scenario_run.h"
#include "vm/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_SCENARIOS 32

static const char help[] =
    "usage: stillpoint ttsp [flags] [SCENARIO|FILE.lox...]\n"
    "\n"
    "Stops the threads of each scenario on a schedule and reports how long it took until\n"
    "all stood still (time to safepoint), who was last and what it was doing.\n"
    "A scenario is a guest program: a built-in one, or a file of yours, whose first comments\n"
    "may say how it is to be measured, see docs/scenarios.md.  Those whose names begin with c-\n"
    "are threads in C.  Without a name: the first eight of the list.\n"
    "\n"
    "  --list            the scenarios and their questions\n"
    "  --seconds N       of probing per scenario (default: the scenario's, else 6)\n"
    "  --every DURATION  between two probes: 5ms, 500us (default: the scenario's)\n"
    "  --seed N          recorded with the results (default 1)\n"
    "  --json FILE       everything, schema stillpoint-ttsp-1\n"
    "  --help, --version this text; which version this is\n"
    "  -XX:... -Xlog:... runtime flags, see stillpoint flags and -Xlog:help\n"
    "\n"
    "SIGQUIT (Ctrl-\\) writes the states of all threads to stderr, and the run goes on.\n"
    "\n"
    "Exit codes: 0 done, 64 what was typed is wrong, or what stands in a file's first\n"
    "comments, 65 a file does not compile, 70 a guest program ended with a run-time error, 71 it\n"
    "ran out of memory, 74 the system refused a file or a resource, 75 a self-check failed.\n";

static const char *const options_known[] = { "--list", "--seconds", "--every",  "--seed",
                                             "--json", "--help",    "--version" };

struct ttsp {
    struct scenario_options options; /* every_ns, seconds_ns 0 = the scenario's */
    const char *json_path;
    const struct scenario *chosen[MOST_SCENARIOS];
    size_t chosen_count;
    bool wants_list;
};

static void choose(struct ttsp *ttsp, struct cli *cli)
{
    const struct scenario *scenario = scenario_find(cli, cli_peek(cli));
    if (!scenario)
        return;
    for (size_t i = 0; i < ttsp->chosen_count; i++)
        if (strcmp(ttsp->chosen[i]->name, scenario->name) == 0) {
            cli_fail(cli, EXIT_CODE_USAGE, "scenario %s is named twice", scenario->name);
            return;
        }
    if (ttsp->chosen_count == MOST_SCENARIOS) {
        cli_fail(cli, EXIT_CODE_USAGE, "more than %d scenarios", MOST_SCENARIOS);
        return;
    }
    ttsp->chosen[ttsp->chosen_count++] = scenario;
    cli_next(cli);
}

static void parse_value(struct ttsp *ttsp, struct cli *cli)
{
    const char *value;
    if (cli_value(cli, "--seconds", &value)) {
        if (!text_parse_seconds(value, &ttsp->options.seconds_ns))
            cli_fail(cli, EXIT_CODE_USAGE,
                     "--seconds %s: not a number of seconds, above 0, at most "
                     "86400",
                     value);
    } else if (cli_value(cli, "--every", &value)) {
        if (!text_parse_duration(value, &ttsp->options.every_ns) || ttsp->options.every_ns < 1000)
            cli_fail(cli, EXIT_CODE_USAGE,
                     "--every %s: not a duration like 500us, 5ms or 1s, 1us to 1 day", value);
    } else if (cli_value(cli, "--seed", &value)) {
        if (!text_parse_unsigned(value, &ttsp->options.seed))
            cli_fail(cli, EXIT_CODE_USAGE, "--seed %s: not a number", value);
    } else if (cli_value(cli, "--json", &value)) {
        if (ttsp->json_path)
            cli_fail(cli, EXIT_CODE_USAGE, "--json is given twice");
        ttsp->json_path = value;
    } else if (!cli->has_failed && cli_peek(cli)[0] != '-') {
        choose(ttsp, cli);
    } else {
        cli_unknown(cli, options_known, sizeof options_known / sizeof *options_known);
    }
}

static void parse(struct ttsp *ttsp, struct cli *cli)
{
    while (cli_peek(cli)) {
        if (cli_switch(cli, "--list"))
            ttsp->wants_list = true;
        else if (!cli_common(cli))
            parse_value(ttsp, cli);
    }
}

/* What cannot be measured as typed. */
static void check(const struct ttsp *ttsp, struct cli *cli)
{
    struct start_message message;
    enum err err = start_check_flags(&message);
    if (err != ERR_OK)
        cli_fail(cli, EXIT_CODE_USAGE, "%s", message.text);
    if (!flags->safepoint_recording)
        cli_fail(cli, EXIT_CODE_USAGE,
                 "-XX:-SafepointRecording leaves nothing to report; bench ttsp measures with it");
    for (size_t i = 0; i < ttsp->chosen_count; i++) {
        struct scenario_options options = scenario_options_for(&ttsp->options, ttsp->chosen[i]);
        if (options.every_ns >= options.seconds_ns)
            cli_fail(cli, EXIT_CODE_USAGE, "no probe of %s would fall into --seconds",
                     ttsp->chosen[i]->name);
    }
}

/* A scenario in C sets flags of its own, in its child; the command line must allow them.
 * What is of no use under them is a contradiction as well. */
static void check_scenario_flags(const struct ttsp *ttsp, struct cli *cli)
{
    for (size_t i = 0; i < ttsp->chosen_count; i++)
        for (const char *const *flag = ttsp->chosen[i]->flags; !ttsp->chosen[i]->source && *flag;
             flag++) {
            struct flags_error error;
            if (!flags_allow(*flag, &error))
                cli_fail(cli, EXIT_CODE_USAGE, "scenario %s needs %s: %s", ttsp->chosen[i]->name,
                         *flag, error.message);
        }
}

/* --- progress ------------------------------------------------------------------- */

struct progress {
    bool is_shown;
    const char *name;
    size_t number, count;
    uint64_t seconds_ns, last_shown_ns;
};

static void show_progress(void *argument, uint64_t elapsed_ns)
{
    struct progress *p = argument;
    if (!p->is_shown)
        return;
    uint64_t done = elapsed_ns > p->seconds_ns ? p->seconds_ns : elapsed_ns;
    fprintf(stderr, "\r\033[K[%zu/%zu] %s %.1f of %.1f s", p->number, p->count, p->name,
            (double)done / 1e9, (double)p->seconds_ns / 1e9);
    fflush(stderr);
}

static void clear_progress(const struct progress *p)
{
    if (p->is_shown)
        fputs("\r\033[K", stderr);
}

/* --- the run ----------------------------------------------------------------------- */

static int run_all(const struct ttsp *ttsp, struct scenario_result *results)
{
    int code = EXIT_CODE_OK;
    struct progress progress = { .is_shown = os_is_terminal(STDERR_FILENO),
                                 .count = ttsp->chosen_count };
    report_table_head(stdout);
    fflush(stdout);
    for (size_t i = 0; i < ttsp->chosen_count; i++) {
        const struct scenario *scenario = ttsp->chosen[i];
        struct scenario_options options = scenario_options_for(&ttsp->options, scenario);
        progress.seconds_ns = options.seconds_ns;
        progress.name = scenario->name;
        progress.number = i + 1;
        scenario_run_in_child(scenario, &options, show_progress, &progress, &results[i]);
        clear_progress(&progress);
        report_table_row(stdout, scenario, &results[i]);
        fflush(stdout);
        if (results[i].failure[0] && code != EXIT_CODE_SELF_CHECK)
            code = results[i].failure_exit;
    }
    return code;
}

static void say_failures(const struct ttsp *ttsp, const struct scenario_result *results)
{
    for (size_t i = 0; i < ttsp->chosen_count; i++)
        if (results[i].failure[0])
            fprintf(stderr, "stillpoint ttsp: %s: %s\n", ttsp->chosen[i]->name, results[i].failure);
}

static int measure_and_report(const struct ttsp *ttsp, struct output *json)
{
    char host[128];
    struct scenario_result *results = calloc(ttsp->chosen_count, sizeof *results);
    if (!results) {
        fprintf(stderr, "stillpoint ttsp: no memory for the results\n");
        return EXIT_CODE_ENVIRONMENT;
    }
    host_describe(host, sizeof host);
    printf("%s\n\n", host);
    int code = run_all(ttsp, results);
    report_notes(stdout, ttsp->chosen, results, ttsp->chosen_count);
    report_cures(stdout, ttsp->chosen, results, ttsp->chosen_count);
    fflush(stdout);
    say_failures(ttsp, results);
    if (json->file)
        report_json(json->file, ttsp->chosen, results, ttsp->chosen_count, &ttsp->options);
    free(results);
    if (!output_commit(json))
        code = EXIT_CODE_ENVIRONMENT;
    return code;
}

int ttsp_main(int argc, char **argv)
{
    struct ttsp ttsp = { .options = { .seed = 1 } };
    struct cli cli;
    struct output json;
    cli_start(&cli, "ttsp", argc, argv);
    parse(&ttsp, &cli);
    if (!cli.has_failed && (cli.wants_help || cli.wants_version || ttsp.wants_list)) {
        if (cli.wants_help)
            fputs(help, stdout);
        else if (cli.wants_version)
            cli_print_version();
        else
            scenario_list(stdout);
        return EXIT_CODE_OK;
    }
    if (ttsp.chosen_count == 0)
        for (size_t i = 0; i < scenario_lox_default_count(); i++)
            ttsp.chosen[ttsp.chosen_count++] = scenario_lox_at(i);
    check(&ttsp, &cli);
    check_scenario_flags(&ttsp, &cli);
    if (cli.has_failed || !cli_open_files(&cli, &json, ttsp.json_path))
        return cli.exit_code;
    process_forward_sigquit();
    return measure_and_report(&ttsp, &json);
}
