/* ttsp.c -- stillpoint ttsp: run scenarios, one child each, and report.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/ttsp/ttsp.h"

#include "base/flags.h"
#include "base/os.h"
#include "base/spelling.h"
#include "tools/cli.h"
#include "tools/host_json.h"
#include "tools/output.h"
#include "tools/process.h"
#include "tools/text.h"
#include "tools/ttsp/report.h"
#include "tools/ttsp/scenario_run.h"
#include "vm/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SECONDS_NS UINT64_C(6000000000) /* eight of them stay under a minute */
#define MOST_SCENARIOS     32

static const char help[] =
    "usage: stillpoint ttsp [flags] [SCENARIO...]\n"
    "\n"
    "Stops the threads of each scenario on a schedule and reports how long it took until\n"
    "all stood still (time to safepoint), who was last and what it was doing.\n"
    "Without a name: all built-in scenarios.\n"
    "\n"
    "  --list            the scenarios and their questions\n"
    "  --seconds N       of probing per scenario (default 6)\n"
    "  --every DURATION  between two probes: 5ms, 500us (default: the scenario's)\n"
    "  --seed N          recorded with the results (default 1)\n"
    "  --json FILE       everything, schema stillpoint-ttsp-1\n"
    "  --help, --version this text; which version this is\n"
    "  -XX:... -Xlog:... runtime flags, see stillpoint flags and -Xlog:help\n"
    "\n"
    "SIGQUIT (Ctrl-\\) writes the states of all threads to stderr, and the run goes on.\n"
    "\n"
    "Exit codes: 0 done, 64 what was typed is wrong, 74 the system refused a file or a\n"
    "resource, 75 a self-check failed.\n";

static const char *const options_known[] = { "--list", "--seconds", "--every",  "--seed",
                                             "--json", "--help",    "--version" };

struct ttsp {
    struct scenario_options options; /* every_ns 0 = the scenario's */
    const char *json_path;
    const struct scenario *chosen[MOST_SCENARIOS];
    size_t chosen_count;
    bool wants_list;
};

static void list_scenarios(void)
{
    for (size_t i = 0; i < scenario_count; i++)
        printf("%-16s %s\n", scenarios[i].name, scenarios[i].question);
}

static void choose(struct ttsp *ttsp, struct cli *cli)
{
    const char *name = cli_peek(cli);
    const struct scenario *scenario = scenario_named(name);
    if (!scenario) {
        const char *names[MOST_SCENARIOS];
        for (size_t i = 0; i < scenario_count; i++)
            names[i] = scenarios[i].name;
        const char *near = spelling_nearest(name, names, scenario_count);
        cli_fail(cli, EXIT_CODE_USAGE, "unknown scenario %s%s%s%s; --list shows them", name,
                 near ? ", did you mean " : "", near ? near : "", near ? "?" : "");
        return;
    }
    for (size_t i = 0; i < ttsp->chosen_count; i++)
        if (ttsp->chosen[i] == scenario) {
            cli_fail(cli, EXIT_CODE_USAGE, "scenario %s is named twice", name);
            return;
        }
    ttsp->chosen[ttsp->chosen_count++] = scenario; /* no more than there are */
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
    uint64_t every = ttsp->options.every_ns;
    if (err != ERR_OK)
        cli_fail(cli, EXIT_CODE_USAGE, "%s", message.text);
    if (!flags->safepoint_recording)
        cli_fail(cli, EXIT_CODE_USAGE,
                 "-XX:-SafepointRecording leaves nothing to report; bench ttsp measures with it");
    for (size_t i = 0; i < ttsp->chosen_count; i++)
        if ((every ? every : ttsp->chosen[i]->every_ns) >= ttsp->options.seconds_ns)
            cli_fail(cli, EXIT_CODE_USAGE, "no probe of %s would fall into --seconds",
                     ttsp->chosen[i]->name);
}

/* A scenario sets flags of its own, in its child; the command line must allow them.
 * What is of no use under them is a contradiction as well. */
static void check_scenario_flags(const struct ttsp *ttsp, struct cli *cli)
{
    for (size_t i = 0; i < ttsp->chosen_count; i++)
        for (const char *const *flag = ttsp->chosen[i]->flags; *flag; flag++) {
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
                                 .count = ttsp->chosen_count,
                                 .seconds_ns = ttsp->options.seconds_ns };
    report_table_head(stdout);
    fflush(stdout);
    for (size_t i = 0; i < ttsp->chosen_count; i++) {
        const struct scenario *scenario = ttsp->chosen[i];
        struct scenario_options options = ttsp->options;
        if (options.every_ns == 0)
            options.every_ns = scenario->every_ns;
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
    struct ttsp ttsp = { .options = { .seconds_ns = DEFAULT_SECONDS_NS, .seed = 1 } };
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
            list_scenarios();
        return EXIT_CODE_OK;
    }
    if (ttsp.chosen_count == 0)
        for (size_t i = 0; i < scenario_count; i++)
            ttsp.chosen[ttsp.chosen_count++] = &scenarios[i];
    check(&ttsp, &cli);
    check_scenario_flags(&ttsp, &cli);
    if (cli.has_failed || !cli_open_files(&cli, &json, ttsp.json_path))
        return cli.exit_code;
    process_forward_sigquit();
    return measure_and_report(&ttsp, &json);
}
