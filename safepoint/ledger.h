/* ledger.h -- the account of every stop: record, sums, self-audit.
 *
 * Read next: ledger.def (the table), coordinator.c (who fills a record).
 * Layer:     safepoint/.  Who may call: the VM thread, unless it says [any]; a
 *            sink runs on the VM thread, outside stops.
 *
 * Life of a record: begun by the VM thread, filled by coordinator_stop(), open
 * until the last waiter has resumed or the next stop begins (then the rest is
 * `carried`), closed, delivered: log lines, sums, sink.
 *
 * Promises
 *   A1  arrivals + already_safe = participants, summed over all stops.
 *   A2  ttsp + lag + cleanup + op + leave = total, in each record, to the ns.
 *   A3  Each span's histogram has one sample per stop that has the span.
 *   A4  No record is lost: each that was begun is delivered.  The last stop, Exit, is
 *       never released and has none.
 *   ledger_audit() checks A1..A4; a report that fails it says so and exits 75.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_LEDGER_H
#define SAFEPOINT_LEDGER_H

#include "base/hist.h"
#include "safepoint/doing.h"
#include "safepoint/operation.h"
#include "safepoint/participant.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ledger_stamp {
#define LEDGER_STAMP(name, meaning) LEDGER_STAMP_##name,
#include "safepoint/ledger.def"
    LEDGER_STAMPS
};

enum ledger_span {
#define LEDGER_SPAN(name, from, to, adds, meaning) LEDGER_SPAN_##name,
#include "safepoint/ledger.def"
    LEDGER_SPANS
};

struct ledger_span_row {
    const char *name, *meaning;
    enum ledger_stamp from, to;
    bool adds_up; /* one of those that tile begin..woken */
};
extern const struct ledger_span_row ledger_span_rows[LEDGER_SPANS];

/* Who was last. */
enum ledger_last {
    LEDGER_LAST_NONE,        /* all were safe */
    LEDGER_LAST_GATE,        /* nobody arrived; some had not left the gate of the stop before */
    LEDGER_LAST_COORDINATOR, /* all arrived before the scan was over */
    LEDGER_LAST_THREAD,
};

#define LEDGER_MOST_KINDS 6

struct stop_record {
    uint64_t epoch;
    enum operation_kind operation;
    uint64_t stamp[LEDGER_STAMPS];      /* 0 = did not happen */
    uint64_t previous_woken_ns;         /* for "Time since last" */
    struct operation_schedule schedule; /* of the probe that asked, if on a schedule */
    uint32_t requests;                  /* served by this stop, one or more */
    uint32_t participants;              /* met by the walk */
    uint32_t tickets;                   /* issued: "runnable" */
    uint32_t arrivals, already_safe, by_look, missing; /* missing: a ticket, no arrival */
    uint32_t at_gate;     /* of the already safe: STOPPED since an earlier stop */
    uint32_t carried;     /* waited at the gate and did not run again before the next begin */
    uint32_t unwitnessed; /* more participants than the witness had room for */
    uint64_t faults;      /* of the coordinator, from prepare to woken */

    enum ledger_last last;
    char last_thread[PARTICIPANT_NAME_BYTES];
    struct doing_value last_doing; /* when armed; if late, when the coordinator slept */
    uint32_t last_state;           /* when armed */
    char last_place[48];           /* "function:line" in guest code, or "" */
    /* The kinds of work that participants with a ticket were at when armed. */
    const struct doing_what *kinds[LEDGER_MOST_KINDS];
    uint32_t kind_count;
};

/* Signed: a negative span is shown, never clamped.  0 when a stamp is missing. */
int64_t stop_record_span(const struct stop_record *record, enum ledger_span span);
bool stop_record_has_span(const struct stop_record *record, enum ledger_span span);
/* "zeroing a buffer 0/268435456 bytes, at fill:7", "running in guest", "scan of 64", "all safe". */
void stop_record_last_doing(const struct stop_record *record, char *text_out, size_t bytes);
/* Stable words for grouping: the kind of work, and its text without numbers. */
const char *stop_record_last_kind(const struct stop_record *record);
const char *stop_record_last_thread(const struct stop_record *record);

#define LEDGER_MOST_GROUPS 24

/* Stops that had the same last thread at the same kind of work. */
struct ledger_group {
    char thread[PARTICIPANT_NAME_BYTES], kind[24], doing[48];
    char example[96]; /* of the worst, with its numbers */
    uint64_t count;
    int64_t worst_ttsp_ns;
};

/* The sums over many records; plain data. */
struct ledger_sums {
    uint64_t stops, per_operation[OPERATION_KINDS];
    uint64_t participants, arrivals, already_safe; /* A1 */
    uint64_t most_participants;
    uint64_t by_look, at_gate, missing, carried, unwitnessed, negative_spans, faults;
    uint64_t tickets, bad_totals, disordered; /* disordered: stamps out of their order */
    uint64_t due;                             /* scheduled instants that were answered */
    uint64_t coalesced, elided, lost_events;
    int64_t most_reaching_ns, most_vmop_ns; /* of one stop: ttsp + lag; the rest of total */
    int64_t most_cleanup_ns, most_op_and_leave_ns;
    uint64_t with_span[LEDGER_SPANS];
    struct hist span[LEDGER_SPANS];
    /* From each scheduled instant to the last arrival of the stop that answered it;
     * missed instants were answered by the stop of a later one. */
    struct hist scheduled;
    uint64_t missed;
    struct ledger_group groups[LEDGER_MOST_GROUPS];
    uint32_t group_count;
    uint64_t ungrouped;        /* stops for which there was no room for one more group */
    struct ledger_group worst; /* of the one stop with the largest TTSP; count 1 */
};

/* One closed record. */
void ledger_sums_add(struct ledger_sums *sums, const struct stop_record *record);

struct ledger_audit {
    bool ok, spans_ok, counts_ok;
    bool is_off; /* -XX:-SafepointRecording: nothing was booked */
    uint64_t arrivals, already_safe, expected, lost_events;
    char why[160]; /* the first thing that does not add up, or "" */
};
struct ledger_audit ledger_audit(const struct ledger_sums *sums);

/* --- the running process's ledger ----------------------------------------- */

typedef void ledger_sink(const struct stop_record *record, void *argument);

/* [any] Before stops start: called with every delivered record. */
void ledger_set_sink(ledger_sink *sink, void *argument);
/* A record to fill; closes the one before. */
struct stop_record *ledger_begin(void);
/* The stop that fills the latest record was released. */
void ledger_filled(void);
/* Closes the latest record if nobody waits any more; true when none is open. */
bool ledger_try_close(void);
/* After the last delivery: what was begun and not delivered is lost (A4). */
void ledger_end(void);
/* Closes it whatever is missing (shutdown). */
void ledger_close(void);
/* The coordinator tells what the gate knew of the stop before. */
void ledger_note_leftover(uint32_t still_waiting, uint64_t last_out_ns);
/* Log lines, sums and sink for all closed records. */
void ledger_deliver(void);
/* The process's sums, valid while the VM thread stands still or has ended. */
struct ledger_sums *ledger_totals(void);
void ledger_count_coalesced(uint32_t requests);
void ledger_count_elided(void);

#endif
