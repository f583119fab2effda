/* ledger.c -- records, sums, audit.  See ledger.h.
 *
 * The VM thread is the only writer and the only reader while stops go on, so
 * there is no concurrency here; what other threads contribute comes through the
 * gate's words and the participants' stamps.
 *
 * Two stops can be unwritten at once at most (one open, one being filled), since
 * the VM thread delivers before it takes the next request; the ring has room to
 * spare and counts what it could not keep, so that a change of that rule shows.
 *
 * SPDX-License-Identifier: MIT */
#include "safepoint/ledger.h"

#include "base/flags.h"
#include "safepoint/gate.h"
#include "safepoint/ledger_log.h"
#include "safepoint/sched_point.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull; /* for printf */

const struct ledger_span_row ledger_span_rows[LEDGER_SPANS] = {
#define LEDGER_SPAN(name, from, to, adds, meaning)                                                 \
    { #name, meaning, LEDGER_STAMP_##from, LEDGER_STAMP_##to, adds },
#include "safepoint/ledger.def"
};

#define RING_RECORDS SIZE_OR_TINY(16, 3)

static struct stop_record ring[RING_RECORDS];
static uint64_t begun, closed, delivered; /* counts of records; begun - closed is 0 or 1 */
static bool is_open;                      /* the latest was released and is not closed */
static uint64_t previous_woken_ns;
static struct ledger_sums totals;
static ledger_sink *sink_callback;
static void *sink_argument;

/* --- one record ------------------------------------------------------------ */

bool stop_record_has_span(const struct stop_record *record, enum ledger_span span)
{
    const struct ledger_span_row *row = &ledger_span_rows[span];
    return record->stamp[row->from] != 0 && record->stamp[row->to] != 0;
}

int64_t stop_record_span(const struct stop_record *record, enum ledger_span span)
{
    const struct ledger_span_row *row = &ledger_span_rows[span];
    if (!stop_record_has_span(record, span))
        return 0;
    return (int64_t)(record->stamp[row->to] - record->stamp[row->from]);
}

const char *stop_record_last_thread(const struct stop_record *record)
{
    return record->last == LEDGER_LAST_THREAD        ? record->last_thread
           : record->last == LEDGER_LAST_COORDINATOR ? "coordinator"
                                                     : "none"; /* all safe, or at the gate */
}

const char *stop_record_last_kind(const struct stop_record *record)
{
    switch (record->last) {
    case LEDGER_LAST_THREAD:
        return record->last_doing.what ? record->last_doing.what->kind : "running";
    case LEDGER_LAST_COORDINATOR:
        return "scan";
    case LEDGER_LAST_GATE:
        return "at the gate";
    case LEDGER_LAST_NONE:
        break;
    }
    return "all safe";
}

static void append_place(const struct stop_record *record, char *text_out, size_t bytes)
{
    size_t used = strlen(text_out);
    if (record->last == LEDGER_LAST_THREAD && record->last_place[0])
        snprintf(text_out + used, bytes - used, ", at %s", record->last_place);
}

void stop_record_last_doing(const struct stop_record *record, char *text_out, size_t bytes)
{
    if (record->last == LEDGER_LAST_THREAD && record->last_doing.what)
        doing_format(record->last_doing, text_out, bytes);
    else if (record->last == LEDGER_LAST_THREAD)
        snprintf(text_out, bytes, "running in %s", participant_state_name(record->last_state));
    else if (record->last == LEDGER_LAST_COORDINATOR)
        snprintf(text_out, bytes, "scan of %u", record->participants);
    else if (record->last == LEDGER_LAST_GATE)
        snprintf(text_out, bytes, "%u still at the gate of the stop before", record->at_gate);
    else
        snprintf(text_out, bytes, "all safe");
    append_place(record, text_out, bytes);
}

/* The same without numbers. */
static void plain_doing(const struct stop_record *record, char *text_out, size_t bytes)
{
    if (record->last == LEDGER_LAST_THREAD && record->last_doing.what)
        snprintf(text_out, bytes, "%s", record->last_doing.what->text);
    else if (record->last == LEDGER_LAST_COORDINATOR)
        snprintf(text_out, bytes, "scan");
    else if (record->last == LEDGER_LAST_GATE)
        snprintf(text_out, bytes, "still at the gate of the stop before");
    else if (record->last == LEDGER_LAST_THREAD)
        snprintf(text_out, bytes, "running in %s", participant_state_name(record->last_state));
    else
        snprintf(text_out, bytes, "all safe");
}

static int64_t sum_of_parts(const struct stop_record *record)
{
    int64_t sum = 0;
    for (int s = 0; s < LEDGER_SPANS; s++)
        if (ledger_span_rows[s].adds_up)
            sum += stop_record_span(record, s);
    return sum;
}

/* --- sums ------------------------------------------------------------------- */

static void add_spans(struct ledger_sums *sums, const struct stop_record *record)
{
    bool loses_one =
        flags->inject_ledger_fault == INJECT_LEDGER_FAULT_HIST_COUNT && sums->stops % 10 == 0;
    for (int s = 0; s < LEDGER_SPANS; s++) {
        if (!stop_record_has_span(record, s))
            continue;
        int64_t ns = stop_record_span(record, s);
        sums->with_span[s]++;
        if (ns < 0)
            sums->negative_spans++;
        else if (!(loses_one && s == LEDGER_SPAN_ttsp))
            hist_record(&sums->span[s], (uint64_t)ns);
    }
    int64_t total = stop_record_span(record, LEDGER_SPAN_total);
    if (flags->inject_ledger_fault == INJECT_LEDGER_FAULT_BAD_SPAN)
        total++;
    if (sum_of_parts(record) != total)
        sums->bad_totals++;
    int64_t reaching =
        stop_record_span(record, LEDGER_SPAN_ttsp) + stop_record_span(record, LEDGER_SPAN_lag);
    if (reaching > sums->most_reaching_ns)
        sums->most_reaching_ns = reaching;
    int64_t cleanup = stop_record_span(record, LEDGER_SPAN_cleanup);
    if (cleanup > sums->most_cleanup_ns)
        sums->most_cleanup_ns = cleanup;
    if (total - reaching - cleanup > sums->most_op_and_leave_ns)
        sums->most_op_and_leave_ns = total - reaching - cleanup;
    if (total - reaching > sums->most_vmop_ns)
        sums->most_vmop_ns = total - reaching;
}

static void name_group(struct ledger_group *g, const struct stop_record *record)
{
    snprintf(g->thread, sizeof g->thread, "%s", stop_record_last_thread(record));
    snprintf(g->kind, sizeof g->kind, "%s", stop_record_last_kind(record));
    plain_doing(record, g->doing, sizeof g->doing);
}

static struct ledger_group *group_of(struct ledger_sums *sums, const struct stop_record *record)
{
    struct ledger_group wanted;
    memset(&wanted, 0, sizeof wanted);
    name_group(&wanted, record);
    for (uint32_t i = 0; i < sums->group_count; i++)
        if (strcmp(sums->groups[i].thread, wanted.thread) == 0 &&
            strcmp(sums->groups[i].kind, wanted.kind) == 0)
            return &sums->groups[i];
    if (sums->group_count == LEDGER_MOST_GROUPS)
        return NULL;
    wanted.worst_ttsp_ns = INT64_MIN;
    sums->groups[sums->group_count] = wanted;
    return &sums->groups[sums->group_count++];
}

static void keep_worst(struct ledger_group *g, const struct stop_record *record)
{
    int64_t ttsp = stop_record_span(record, LEDGER_SPAN_ttsp);
    if (ttsp <= g->worst_ttsp_ns)
        return;
    g->worst_ttsp_ns = ttsp;
    stop_record_last_doing(record, g->example, sizeof g->example);
}

static void add_last_thread(struct ledger_sums *sums, const struct stop_record *record)
{
    struct ledger_group *g = group_of(sums, record);
    if (g) {
        g->count++;
        keep_worst(g, record);
    } else {
        sums->ungrouped++;
    }
    if (sums->worst.count == 0 ||
        stop_record_span(record, LEDGER_SPAN_ttsp) > sums->worst.worst_ttsp_ns) {
        name_group(&sums->worst, record); /* found among all stops, grouped or not */
        sums->worst.count = 1;
        sums->worst.worst_ttsp_ns = INT64_MIN;
        keep_worst(&sums->worst, record);
    }
}

/* The stamps up to woken rise; last_resumed comes after the release. */
static bool is_in_order(const struct stop_record *record)
{
    for (int i = 1; i <= LEDGER_STAMP_woken; i++)
        if (record->stamp[i] < record->stamp[i - 1])
            return false;
    uint64_t resumed = record->stamp[LEDGER_STAMP_last_resumed];
    return resumed == 0 || resumed >= record->stamp[LEDGER_STAMP_released];
}

void ledger_sums_add(struct ledger_sums *sums, const struct stop_record *record)
{
    bool loses_one =
        flags->inject_ledger_fault == INJECT_LEDGER_FAULT_LOST_ARRIVAL && record->arrivals > 0;
    sums->per_operation[record->operation]++;
    sums->participants += record->participants;
    if (record->participants > sums->most_participants)
        sums->most_participants = record->participants;
    sums->arrivals += record->arrivals - loses_one;
    sums->already_safe += record->already_safe;
    sums->by_look += record->by_look;
    sums->at_gate += record->at_gate;
    sums->tickets += record->tickets;
    sums->disordered += flags->safepoint_recording && !is_in_order(record);
    sums->missing += record->missing;
    sums->carried += record->carried;
    sums->unwitnessed += record->unwitnessed;
    sums->faults += record->faults;
    add_spans(sums, record);
    add_last_thread(sums, record);
    const struct operation_schedule *due = &record->schedule;
    for (uint32_t i = 0; flags->safepoint_recording && i < due->count; i++)
        hist_record(&sums->scheduled,
                    record->stamp[LEDGER_STAMP_last_arrival] - due->first_ns - i * due->every_ns);
    sums->missed += due->count ? due->count - 1 : 0;
    sums->due += flags->safepoint_recording ? due->count : 0;
    sums->stops++;
}

/* --- audit ------------------------------------------------------------------ */

static bool say(char *why_out, size_t bytes, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(why_out, bytes, format, ap);
    va_end(ap);
    return false;
}

static bool span_is_whole(const struct ledger_sums *sums, int span)
{
    bool has_every_stop = span == LEDGER_SPAN_resume || sums->with_span[span] == sums->stops;
    return has_every_stop && hist_verify(&sums->span[span]) &&
           hist_count(&sums->span[span]) == sums->with_span[span];
}

/* A2, A3. */
static bool spans_agree(const struct ledger_sums *sums, char *why_out, size_t bytes)
{
    if (sums->negative_spans)
        return say(why_out, bytes, "%llu spans are negative", (ull)sums->negative_spans);
    if (sums->disordered)
        return say(why_out, bytes, "in %llu stops the stamps are out of order",
                   (ull)sums->disordered);
    if (sums->bad_totals)
        return say(why_out, bytes, "in %llu of %llu stops the spans do not add up to the total",
                   (ull)sums->bad_totals, (ull)sums->stops);
    for (int s = 0; s < LEDGER_SPANS; s++)
        if (!span_is_whole(sums, s))
            return say(why_out, bytes, "span %s: %llu samples for %llu of %llu stops",
                       ledger_span_rows[s].name, (ull)hist_count(&sums->span[s]),
                       (ull)sums->with_span[s], (ull)sums->stops);
    if (!hist_verify(&sums->scheduled) || hist_count(&sums->scheduled) != sums->due)
        return say(why_out, bytes, "%llu samples for %llu scheduled instants",
                   (ull)hist_count(&sums->scheduled), (ull)sums->due);
    return true;
}

/* A1, and that the witness saw everybody. */
static bool counts_agree(const struct ledger_sums *sums, char *why_out, size_t bytes)
{
    if (sums->arrivals + sums->already_safe != sums->participants || sums->missing)
        return say(why_out, bytes,
                   "%llu arrivals + %llu already safe are not %llu participants x stops (%llu "
                   "tickets without an arrival)",
                   (ull)sums->arrivals, (ull)sums->already_safe, (ull)sums->participants,
                   (ull)sums->missing);
    if (sums->arrivals < sums->tickets)
        return say(why_out, bytes, "%llu arrivals for %llu tickets", (ull)sums->arrivals,
                   (ull)sums->tickets);
    if (sums->unwitnessed)
        return say(why_out, bytes, "%llu participants had no room in the witness",
                   (ull)sums->unwitnessed);
    return true;
}

struct ledger_audit ledger_audit(const struct ledger_sums *sums)
{
    struct ledger_audit a = {
        .is_off = !flags->safepoint_recording,
        .arrivals = sums->arrivals,
        .already_safe = sums->already_safe,
        .expected = sums->participants,
        .lost_events = sums->lost_events,
    };
    if (a.is_off) { /* nothing was booked: nothing to check, nothing to vouch for */
        a.ok = a.spans_ok = a.counts_ok = true;
        return a;
    }
    a.spans_ok = spans_agree(sums, a.why, sizeof a.why);
    a.counts_ok = counts_agree(sums, a.why, sizeof a.why);
    if (sums->lost_events)
        say(a.why, sizeof a.why, "%llu records were lost", (ull)a.lost_events);
    a.ok = a.counts_ok && a.spans_ok && sums->lost_events == 0;
    return a;
}

/* --- the process's ledger --------------------------------------------------- */

void ledger_set_sink(ledger_sink *sink, void *argument)
{
    sink_callback = sink;
    sink_argument = argument;
}

struct ledger_sums *ledger_totals(void) { return &totals; }
void ledger_count_coalesced(uint32_t requests) { totals.coalesced += requests; }
void ledger_count_elided(void) { totals.elided++; }

static struct stop_record *latest(void) { return &ring[(begun - 1) % RING_RECORDS]; }

struct stop_record *ledger_begin(void)
{
    begun++;
    struct stop_record *r = latest();
    memset(r, 0, sizeof *r);
    r->previous_woken_ns = previous_woken_ns;
    return r;
}

void ledger_filled(void)
{
    previous_woken_ns = latest()->stamp[LEDGER_STAMP_woken];
    is_open = true;
}

static void close_record(struct stop_record *r, uint32_t still_waiting, uint64_t last_out_ns)
{
    r->carried = still_waiting;
    r->stamp[LEDGER_STAMP_last_resumed] = last_out_ns;
    closed++;
    is_open = false;
}

bool ledger_try_close(void)
{
    if (!is_open)
        return true;
    struct gate_count count = gate_look();
    if (count.waiting != 0)
        return false;
    close_record(latest(), 0, count.last_out_ns);
    return true;
}

void ledger_end(void)
{
    totals.lost_events += begun - delivered; /* A4: each record that was begun is delivered */
}

void ledger_close(void)
{
    if (!is_open)
        return;
    struct gate_count count = gate_look();
    close_record(latest(), count.waiting, count.last_out_ns);
}

/* Just before the next stop begins. */
void ledger_note_leftover(uint32_t still_waiting, uint64_t last_out_ns)
{
    if (is_open)
        close_record(&ring[(begun - 2) % RING_RECORDS], still_waiting, last_out_ns);
}

void ledger_deliver(void)
{
    if (closed - delivered > RING_RECORDS) {
        totals.lost_events += closed - delivered - RING_RECORDS;
        delivered = closed - RING_RECORDS;
    }
    for (; delivered < closed; delivered++) {
        const struct stop_record *r = &ring[delivered % RING_RECORDS];
        ledger_sums_add(&totals, r);
        ledger_log_stop(r);
        if (sink_callback)
            sink_callback(r, sink_argument);
    }
}
