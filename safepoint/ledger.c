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
#include "base/insist.h"
#include "safepoint/gate.h"
#include "safepoint/ledger_log.h"

#include <stdio.h>
#include <string.h>

const struct ledger_span_row ledger_span_rows[LEDGER_SPANS] = {
#define LEDGER_SPAN(name, from, to, adds, meaning)                                                 \
    { #name, meaning, LEDGER_STAMP_##from, LEDGER_STAMP_##to, adds },
#include "safepoint/ledger.def"
};

const char *const ledger_stamp_names[LEDGER_STAMPS] = {
#define LEDGER_STAMP(name, meaning) #name,
#include "safepoint/ledger.def"
};

#define RING_RECORDS 16

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
                                                     : "none";
}

const char *stop_record_last_kind(const struct stop_record *record)
{
    switch (record->last) {
    case LEDGER_LAST_THREAD:
        return record->last_doing.what ? record->last_doing.what->kind : "running";
    case LEDGER_LAST_COORDINATOR:
        return "scan";
    case LEDGER_LAST_NONE:
        break;
    }
    return "all safe";
}

void stop_record_last_doing(const struct stop_record *record, char *text_out, size_t bytes)
{
    if (record->last == LEDGER_LAST_THREAD && record->last_doing.what)
        doing_format(record->last_doing, text_out, bytes);
    else if (record->last == LEDGER_LAST_THREAD)
        snprintf(text_out, bytes, "running in %s", participant_state_name(record->last_state));
    else if (record->last == LEDGER_LAST_COORDINATOR)
        snprintf(text_out, bytes, "scan of %u", record->participants);
    else
        snprintf(text_out, bytes, "all safe");
}

/* The same without numbers. */
static void plain_doing(const struct stop_record *record, char *text_out, size_t bytes)
{
    if (record->last == LEDGER_LAST_THREAD && record->last_doing.what)
        snprintf(text_out, bytes, "%s", record->last_doing.what->text);
    else if (record->last == LEDGER_LAST_COORDINATOR)
        snprintf(text_out, bytes, "scan");
    else
        stop_record_last_doing(record, text_out, bytes);
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

void ledger_sums_clear(struct ledger_sums *sums) { memset(sums, 0, sizeof *sums); }

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
    if (total - reaching > sums->most_vmop_ns)
        sums->most_vmop_ns = total - reaching;
}

static struct ledger_group *group_of(struct ledger_sums *sums, const struct stop_record *record)
{
    const char *thread = stop_record_last_thread(record), *kind = stop_record_last_kind(record);
    for (uint32_t i = 0; i < sums->group_count; i++)
        if (strncmp(sums->groups[i].thread, thread, sizeof sums->groups[i].thread - 1) == 0 &&
            strncmp(sums->groups[i].kind, kind, sizeof sums->groups[i].kind - 1) == 0)
            return &sums->groups[i];
    if (sums->group_count == LEDGER_MOST_GROUPS)
        return NULL;
    struct ledger_group *g = &sums->groups[sums->group_count++];
    snprintf(g->thread, sizeof g->thread, "%s", thread);
    snprintf(g->kind, sizeof g->kind, "%s", kind);
    plain_doing(record, g->doing, sizeof g->doing);
    g->worst_ttsp_ns = INT64_MIN;
    return g;
}

static void add_last_thread(struct ledger_sums *sums, const struct stop_record *record)
{
    struct ledger_group *g = group_of(sums, record);
    if (!g) {
        sums->ungrouped++;
        return;
    }
    g->count++;
    int64_t ttsp = stop_record_span(record, LEDGER_SPAN_ttsp);
    if (ttsp > g->worst_ttsp_ns) {
        g->worst_ttsp_ns = ttsp;
        stop_record_last_doing(record, g->example, sizeof g->example);
    }
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
    sums->stops++;
}

/* --- audit ------------------------------------------------------------------ */

static bool spans_agree(const struct ledger_sums *sums, char *why_out, size_t bytes)
{
    uint64_t recorded = sums->negative_spans;
    for (int s = 0; s < LEDGER_SPANS; s++) {
        uint64_t count = hist_count(&sums->span[s]);
        recorded += count;
        bool short_of_stops = s != LEDGER_SPAN_resume && sums->with_span[s] != sums->stops;
        if (short_of_stops || !hist_verify(&sums->span[s]) ||
            (sums->negative_spans == 0 && count != sums->with_span[s])) {
            snprintf(why_out, bytes, "span %s: %llu samples for %llu of %llu stops",
                     ledger_span_rows[s].name, (unsigned long long)count,
                     (unsigned long long)sums->with_span[s], (unsigned long long)sums->stops);
            return false;
        }
    }
    uint64_t expected = 0;
    for (int s = 0; s < LEDGER_SPANS; s++)
        expected += sums->with_span[s];
    if (recorded != expected || sums->bad_totals != 0) {
        snprintf(why_out, bytes, "in %llu of %llu stops the spans do not add up to the total",
                 (unsigned long long)sums->bad_totals, (unsigned long long)sums->stops);
        return false;
    }
    return true;
}

struct ledger_audit ledger_audit(const struct ledger_sums *sums)
{
    struct ledger_audit a = {
        .arrivals = sums->arrivals,
        .already_safe = sums->already_safe,
        .expected = sums->participants,
        .lost_events = sums->lost_events,
    };
    if (!flags->safepoint_recording) { /* nothing was booked, so nothing can be wrong */
        a.ok = a.spans_ok = a.counts_ok = true;
        return a;
    }
    a.counts_ok = sums->arrivals + sums->already_safe == sums->participants && sums->missing == 0;
    if (!a.counts_ok)
        snprintf(a.why, sizeof a.why,
                 "%llu arrivals + %llu already safe are not %llu participants x stops "
                 "(%llu tickets without an arrival)",
                 (unsigned long long)a.arrivals, (unsigned long long)a.already_safe,
                 (unsigned long long)a.expected, (unsigned long long)sums->missing);
    char why[sizeof a.why] = "";
    a.spans_ok = spans_agree(sums, why, sizeof why);
    if (a.why[0] == '\0')
        memcpy(a.why, why, sizeof why);
    if (sums->lost_events && a.why[0] == '\0')
        snprintf(a.why, sizeof a.why, "%llu records were lost", (unsigned long long)a.lost_events);
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

void ledger_close(void)
{
    if (!is_open)
        return;
    struct gate_count count = gate_look();
    close_record(latest(), count.waiting, count.last_out_ns);
}

/* Inside the next stop: plain stores to a ring touched long ago. */
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
