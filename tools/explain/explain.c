/* explain.c -- see explain.h.
 *
 * A scenario runs in a child, as in ttsp, with -XX:+TraceStops; its stops are put together
 * from the rings, and one of them is told.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/explain/explain.h"

#include "base/flags.h"
#include "base/insist.h"
#include "tools/cli.h"
#include "tools/explain/told_stop.h"
#include "tools/host_json.h"
#include "tools/json_writer.h"
#include "tools/process.h"
#include "tools/text.h"
#include "tools/ttsp/scenario_catalog.h"
#include "tools/ttsp/scenario_lox.h"
#include "vm/start.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_SECONDS_NS UINT64_C(1000000000) /* 200 stops at the usual pace */

static const char help[] =
    "usage: stillpoint explain [flags] [SCENARIO|FILE.lox]\n"
    "\n"
    "Runs a scenario of ttsp for a second and tells one of its stops step by step: the one in\n"
    "the middle by time to safepoint.  Without a name: three threads, one that runs, one that\n"
    "zeroes a buffer, one that waits.\n"
    "\n"
    "  --worst           tell the stop with the longest time to safepoint, of the first 256\n"
    "  --stop N          tell the N-th stop, 1 to 256\n"
    "  --seconds N       of probing (default 1)\n"
    "  --every DURATION  between two stops (default: the scenario's)\n"
    "  --json FILE       the same as data, schema stillpoint-explain-1\n"
    "  --help, --version this text; which version this is\n"
    "  -XX:... -Xlog:... runtime flags, see stillpoint flags and -Xlog:help\n"
    "\n"
    "Exit codes: those of ttsp; 75 also when the rings and the ledger do not agree.\n";

static const char *const options_known[] = { "--worst", "--stop", "--seconds", "--every",
                                             "--json",  "--help", "--version" };

struct explain {
    struct scenario_options options;
    const struct scenario *scenario;
    const char *json_path;
    bool wants_worst;
    uint64_t number; /* 0 = choose */
};

static struct told_stops told; /* the child's, and what the parent gets of it */

static void on_stop(const struct stop_record *record) { told_stop_collect(&told, record); }

/* --- the command line ------------------------------------------------------------------- */

static void parse_value(struct explain *explain, struct cli *cli)
{
    const char *value;
    if (cli_value(cli, "--stop", &value)) {
        if (!text_parse_unsigned(value, &explain->number) || explain->number < 1 ||
            explain->number > TOLD_MOST_STOPS)
            cli_fail(cli, EXIT_CODE_USAGE, "--stop %s: not a number from 1 to %d", value,
                     TOLD_MOST_STOPS);
    } else if (cli_value(cli, "--seconds", &value)) {
        if (!text_parse_seconds(value, &explain->options.seconds_ns))
            cli_fail(cli, EXIT_CODE_USAGE, "--seconds %s: not a number above 0, at most 86400",
                     value);
    } else if (cli_value(cli, "--every", &value)) {
        if (!text_parse_duration(value, &explain->options.every_ns) ||
            explain->options.every_ns < 1000)
            cli_fail(cli, EXIT_CODE_USAGE,
                     "--every %s: not a duration like 500us, 5ms or 1s, 1us to 1 day", value);
    } else if (cli_value(cli, "--json", &value)) {
        explain->json_path = value;
    } else if (!cli->has_failed && cli_peek(cli)[0] != '-') {
        if (explain->scenario)
            cli_fail(cli, EXIT_CODE_USAGE, "one scenario at a time: %s", cli_peek(cli));
        else
            explain->scenario = scenario_find(cli, cli_peek(cli));
        cli_next(cli);
    } else {
        cli_unknown(cli, options_known, sizeof options_known / sizeof *options_known);
    }
}

static void parse(struct explain *explain, struct cli *cli)
{
    while (cli_peek(cli)) {
        if (cli_switch(cli, "--worst"))
            explain->wants_worst = true;
        else if (!cli_common(cli))
            parse_value(explain, cli);
    }
    if (!explain->scenario && !cli->has_failed)
        explain->scenario = scenario_lox_named("explain");
}

static void check(struct explain *explain, struct cli *cli)
{
    struct start_message message;
    struct flags_error error;
    if (start_check_flags(&message) != ERR_OK)
        cli_fail(cli, EXIT_CODE_USAGE, "%s", message.text);
    if (!flags->safepoint_recording)
        cli_fail(cli, EXIT_CODE_USAGE, "-XX:-SafepointRecording leaves nothing to tell");
    if (explain->wants_worst && explain->number)
        cli_fail(cli, EXIT_CODE_USAGE, "--worst and --stop are two different stops");
    if (!flags_override("-XX:+TraceStops", &error))
        cli_fail(cli, EXIT_CODE_USAGE, "%s", error.message);
    for (const char *const *flag = explain->scenario ? explain->scenario->flags : NULL;
         flag && !explain->scenario->source && *flag; flag++)
        if (!flags_allow(*flag, &error))
            cli_fail(cli, EXIT_CODE_USAGE, "scenario %s needs %s: %s", explain->scenario->name,
                     *flag, error.message);
}

/* --- which stop ------------------------------------------------------------------------------ */

static int by_ttsp(const void *a, const void *b)
{
    int64_t x = stop_record_span(&(*(const struct told_stop *const *)a)->record, LEDGER_SPAN_ttsp);
    int64_t y = stop_record_span(&(*(const struct told_stop *const *)b)->record, LEDGER_SPAN_ttsp);
    return x < y ? -1 : x > y;
}

/* A stop that was told from full rings and waited for as many threads as most did. */
static bool is_typical(const struct told_stop *stop, uint32_t usual_tickets)
{
    return stop->lost == 0 && stop->record.carried == 0 && stop->record.at_gate == 0 &&
           stop->record.by_look == 0 && stop->record.tickets == usual_tickets;
}

static uint32_t commonest_tickets(void)
{
    static uint32_t counts[TOLD_MOST_STOPS + 1];
    uint32_t best = 0;
    memset(counts, 0, sizeof counts);
    for (uint32_t i = 0; i < told.count; i++) {
        uint32_t tickets = told.stop[i].record.tickets;
        if (tickets <= TOLD_MOST_STOPS && ++counts[tickets] > counts[best])
            best = tickets;
    }
    return best;
}

static const struct told_stop *choose(const struct explain *explain)
{
    static const struct told_stop *candidates[TOLD_MOST_STOPS];
    uint32_t count = 0, usual = commonest_tickets();
    if (explain->number)
        return explain->number <= told.count ? &told.stop[explain->number - 1] : NULL;
    for (uint32_t i = 0; i < told.count; i++)
        if (explain->wants_worst || is_typical(&told.stop[i], usual))
            candidates[count++] = &told.stop[i];
    for (uint32_t i = 0; count == 0 && i < told.count; i++) /* none is: any will do */
        candidates[count++] = &told.stop[i];
    if (count == 0)
        return NULL;
    qsort(candidates, count, sizeof *candidates, by_ttsp);
    return candidates[explain->wants_worst ? count - 1 : count / 2];
}

/* --- JSON --------------------------------------------------------------------------------- */

static void write_json_threads(struct json_writer *json, const struct told_stop *stop)
{
    json_writer_open_array(json, "threads");
    for (uint32_t i = 0; i < stop->thread_count; i++) {
        const struct told_thread *t = &stop->thread[i];
        json_writer_open_object(json, NULL);
        json_writer_string(json, "name", t->name);
        json_writer_unsigned(json, "number", t->number);
        json_writer_string(json, "state", participant_state_name(t->state));
        json_writer_close(json);
    }
    json_writer_close(json);
}

static void write_json_steps(struct json_writer *json, const struct told_stop *stop)
{
    uint64_t begin = stop->record.stamp[LEDGER_STAMP_begin];
    json_writer_open_array(json, "steps");
    for (uint32_t i = 0; i < stop->step_count; i++) {
        const struct told_step *s = &stop->step[i];
        json_writer_open_object(json, NULL);
        json_writer_unsigned(json, "ns", s->ns - begin);
        json_writer_string(json, "who",
                           s->column ? stop->thread[s->column - 1].name : "coordinator");
        json_writer_string(json, "step", stop_step_name(s->step));
        json_writer_unsigned(json, "argument", s->argument);
        json_writer_close(json);
    }
    json_writer_close(json);
}

static void write_json(FILE *out, const struct explain *explain, const struct told_stop *stop,
                       bool agrees)
{
    struct json_writer json;
    json_writer_start(&json, out);
    json_writer_open_object(&json, NULL);
    json_writer_string(&json, "schema", "stillpoint-explain-1");
    json_writer_bool(&json, "ok", agrees);
    host_json_write(&json, "host");
    json_writer_string(&json, "scenario", explain->scenario->name);
    json_writer_unsigned(&json, "stop", (uint64_t)(stop - told.stop) + 1);
    json_writer_unsigned(&json, "stops", told.count);
    json_writer_unsigned(&json, "lost", stop->lost);
    json_writer_unsigned(&json, "left_out", stop->left_out);
    write_json_threads(&json, stop);
    write_json_steps(&json, stop);
    json_writer_open_object(&json, "spans_ns");
    for (int s = 0; s < LEDGER_SPANS; s++)
        if (stop_record_has_span(&stop->record, s))
            json_writer_signed(&json, ledger_span_rows[s].name, stop_record_span(&stop->record, s));
    json_writer_close(&json);
    json_writer_close(&json);
    json_writer_end(&json);
}

/* --- telling ------------------------------------------------------------------------------ */

static void write_head(const struct explain *explain, const struct told_stop *stop)
{
    char host[128], ttsp[32], doing[96];
    host_describe(host, sizeof host);
    text_ns(ttsp, sizeof ttsp, (uint64_t)stop_record_span(&stop->record, LEDGER_SPAN_ttsp));
    stop_record_last_doing(&stop->record, doing, sizeof doing);
    printf("%s\n\n", host);
    printf("Stop %u of %u of scenario %s: \"%s\", %u threads met, %u of them running.\n",
           (unsigned)(stop - told.stop) + 1, told.count, explain->scenario->name,
           operation_name(stop->record.operation), stop->record.participants, stop->record.tickets);
    printf("Time to safepoint %s, %s.\nLast was %.31s: %s.\n", ttsp,
           explain->number        ? "as asked for"
           : explain->wants_worst ? "the longest"
                                  : "in the middle of all",
           stop_record_last_thread(&stop->record), doing);
    if (stop->left_out)
        printf("Told of %u threads; %u more are left out.\n", stop->thread_count, stop->left_out);
    if (stop->lost)
        printf("%llu steps or more are lost: the rings were full.\n",
               (unsigned long long)stop->lost);
    putchar('\n');
}

static int tell(const struct explain *explain, struct output *json)
{
    char why[160];
    uint32_t instants;
    const struct told_stop *stop = choose(explain);
    if (!stop) {
        fprintf(stderr, "stillpoint explain: there were %u stops\n", told.count);
        output_abandon(json);
        return EXIT_CODE_USAGE;
    }
    bool agrees = told_stop_agrees(stop, &instants, why, sizeof why);
    write_head(explain, stop);
    told_text_write(stdout, stop);
    if (agrees)
        printf("\nRings and ledger agree to the nanosecond in %u of %u instants.\n", instants,
               instants);
    fflush(stdout);
    if (!agrees)
        fprintf(stderr, "stillpoint explain: self-check failed: %s\n", why);
    if (json->file)
        write_json(json->file, explain, stop, agrees);
    int code = agrees ? EXIT_CODE_OK : EXIT_CODE_SELF_CHECK;
    return output_commit(json) ? code : EXIT_CODE_ENVIRONMENT;
}

static int measure_and_tell(struct explain *explain, struct output *json)
{
    static struct scenario_result result;
    static const struct scenario_watch watch = { on_stop, &told, sizeof told };
    struct scenario_options options = explain->options;
    if (options.seconds_ns == 0)
        options.seconds_ns = DEFAULT_SECONDS_NS;
    options = scenario_options_for(&options, explain->scenario);
    options.watch = &watch;
    scenario_run_in_child(explain->scenario, &options, NULL, NULL, &result);
    if (result.failure[0]) {
        fprintf(stderr, "stillpoint explain: %s: %s\n", explain->scenario->name, result.failure);
        output_abandon(json);
        return result.failure_exit;
    }
    return tell(explain, json);
}

int explain_main(int argc, char **argv)
{
    struct explain explain = { .options = { .seed = 1 } };
    struct cli cli;
    struct output json;
    cli_start(&cli, "explain", argc, argv);
    parse(&explain, &cli);
    if (!cli.has_failed && (cli.wants_help || cli.wants_version)) {
        if (cli.wants_help)
            fputs(help, stdout);
        else
            cli_print_version();
        return EXIT_CODE_OK;
    }
    if (!cli.has_failed)
        check(&explain, &cli);
    if (cli.has_failed || !cli_open_files(&cli, &json, explain.json_path))
        return cli.exit_code;
    process_forward_sigquit();
    return measure_and_tell(&explain, &json);
}
