/* report_json.c -- see report.h: schema stillpoint-ttsp-1.
 *
 * The span keys come from ledger.def, so that a new span cannot be forgotten here.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/host_json.h"
#include "tools/json_writer.h"
#include "tools/ttsp/report.h"

#include <string.h>

static void write_percentile(struct json_writer *json, const char *key, const struct hist *h,
                             double percent)
{
    uint64_t ns;
    if (hist_percentile(h, percent, &ns))
        json_writer_unsigned(json, key, ns);
    else
        json_writer_null(json, key); /* too few samples */
}

static void write_percentiles(struct json_writer *json, const char *key, const struct hist *h)
{
    json_writer_open_object(json, key);
    write_percentile(json, "p50", h, 50);
    write_percentile(json, "p90", h, 90);
    write_percentile(json, "p99", h, 99);
    write_percentile(json, "p999", h, 99.9);
    if (hist_count(h))
        json_writer_unsigned(json, "max", hist_max(h));
    else
        json_writer_null(json, "max");
    json_writer_close(json);
}

static void write_last_threads(struct json_writer *json, const struct ledger_sums *sums)
{
    json_writer_open_array(json, "last_thread");
    for (uint32_t i = 0; i < sums->group_count; i++) {
        const struct ledger_group *g = &sums->groups[i];
        json_writer_open_object(json, NULL);
        json_writer_string(json, "thread", g->thread);
        json_writer_string(json, "kind", g->kind);
        json_writer_string(json, "doing", g->doing);
        json_writer_unsigned(json, "count", g->count);
        json_writer_string(json, "example", g->example);
        json_writer_close(json);
    }
    json_writer_close(json);
}

static void write_self_check(struct json_writer *json, const struct scenario_result *result)
{
    struct ledger_audit audit = ledger_audit(&result->sums);
    json_writer_open_object(json, "self_check");
    json_writer_bool(json, "ok", audit.ok && result->is_complete && result->failure[0] == '\0');
    json_writer_unsigned(json, "arrivals", audit.arrivals);
    json_writer_unsigned(json, "already_safe", audit.already_safe);
    json_writer_unsigned(json, "expected", audit.expected);
    json_writer_bool(json, "spans_ok", audit.spans_ok);
    json_writer_unsigned(json, "lost_events", audit.lost_events);
    json_writer_unsigned(json, "unwitnessed", result->sums.unwitnessed);
    json_writer_string(json, "why", result->failure);
    json_writer_close(json);
}

static void write_scenario(struct json_writer *json, const struct scenario *scenario,
                           const struct scenario_result *result,
                           const struct scenario_options *options)
{
    const struct ledger_sums *sums = &result->sums;
    json_writer_open_object(json, NULL);
    json_writer_string(json, "name", scenario->name);
    json_writer_string(json, "source", scenario->origin ? scenario->origin : "c");
    json_writer_unsigned(json, "stops", sums->stops);
    json_writer_unsigned(json, "participants", sums->most_participants);
    json_writer_unsigned(json, "cpus", (uint64_t)result->cpus);
    json_writer_string(json, "flags", result->flags);
    json_writer_unsigned(json, "seed", options->seed);
    json_writer_unsigned(json, "every_ns",
                         options->every_ns ? options->every_ns : scenario->every_ns);
    json_writer_unsigned(json, "elapsed_ns", result->elapsed_ns);
    json_writer_bool(json, "program_ended", result->has_program_ended);
    for (int s = 0; s < LEDGER_SPANS; s++) {
        char key[32];
        snprintf(key, sizeof key, "%s_ns", ledger_span_rows[s].name);
        write_percentiles(json, key, &sums->span[s]);
    }
    write_percentiles(json, "scheduled_ns", &sums->scheduled);
    json_writer_unsigned(json, "missed", sums->missed);
    json_writer_unsigned(json, "by_look", sums->by_look);
    json_writer_unsigned(json, "at_gate", sums->at_gate);
    json_writer_unsigned(json, "carried", sums->carried);
    json_writer_unsigned(json, "coalesced", sums->coalesced);
    json_writer_unsigned(json, "elided", sums->elided);
    json_writer_unsigned(json, "negative_spans", sums->negative_spans);
    json_writer_unsigned(json, "coordinator_faults", sums->faults);
    write_last_threads(json, sums);
    json_writer_unsigned(json, "ungrouped", sums->ungrouped);
    if (scenario->focus) {
        json_writer_open_object(json, "focus");
        json_writer_string(json, "kind", scenario->focus);
        json_writer_unsigned(json, "stops", hist_count(&result->focus));
        write_percentiles(json, "ttsp_ns", &result->focus);
        json_writer_close(json);
    } else {
        json_writer_null(json, "focus");
    }
    write_self_check(json, result);
    json_writer_close(json);
}

void report_json(FILE *out, const struct scenario *const *run,
                 const struct scenario_result *results, size_t count,
                 const struct scenario_options *options)
{
    struct json_writer json;
    bool is_ok = true;
    for (size_t i = 0; i < count; i++)
        is_ok = is_ok && results[i].is_complete && results[i].failure[0] == '\0';
    json_writer_start(&json, out);
    json_writer_open_object(&json, NULL);
    json_writer_string(&json, "schema", "stillpoint-ttsp-1");
    json_writer_bool(&json, "ok", is_ok);
    host_json_write(&json, "host");
    json_writer_open_array(&json, "scenarios");
    for (size_t i = 0; i < count; i++)
        write_scenario(&json, run[i], &results[i], options);
    json_writer_close(&json);
    json_writer_close(&json);
    json_writer_end(&json);
}
