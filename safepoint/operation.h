/* operation.h -- what runs while all are stopped, and the queue of requests.
 *
 * Read next: vm_thread.c (who serves the queue).
 * Layer:     safepoint/.
 *
 * Promises
 *   O1  Requests are served one after another, first come first served.
 *   O2  Equal pending requests of a coalescing kind share one stop.
 *   O3  A request that `still_needed` turns down is elided: answered, no stop.
 * Asks of callers
 *   C1  run() allocates nothing, writes no file, touches no memory for the first
 *       time, takes marked locks only.  prepare() and finish() may.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_OPERATION_H
#define SAFEPOINT_OPERATION_H

#include <stdbool.h>
#include <stdint.h>
#include <urcu/wfcqueue.h>

/* Names are HotSpot's, so that tools that read its logs read ours.
 *   row: name, text in logs, equal requests share a stop */
#define OPERATION_LIST(X)                                                                          \
    X(FORCE_SAFEPOINT, "ForceSafepoint", 1)                                                        \
    X(THREAD_DUMP, "ThreadDump", 1)                                                                \
    X(COLLECT_FOR_ALLOCATION, "G1CollectForAllocation", 1)                                         \
    X(COLLECT_FULL, "G1CollectFull", 1)                                                            \
    X(EXIT, "Exit", 0)

enum operation_kind {
#define X(name, text, coalesces) OPERATION_##name,
    OPERATION_LIST(X)
#undef X
        OPERATION_KINDS
};

const char *operation_name(enum operation_kind kind);

/* Instants at which a probe was due: first_ns, first_ns + every_ns, ...  count 0 =
 * not on a schedule; above 1 = earlier ones were missed and are answered too. */
struct operation_schedule {
    uint64_t first_ns, every_ns;
    uint32_t count;
};

struct operation {
    enum operation_kind kind;
    /* All in the VM thread; NULL = nothing to do.  Equal = same kind, run, argument. */
    void (*prepare)(struct operation *); /* outside the stop, before it */
    void (*run)(struct operation *);     /* inside */
    void (*finish)(struct operation *);  /* outside, after the release */
    bool (*still_needed)(struct operation *);
    void *argument;
    struct operation_schedule schedule;

    /* Set by operation_request() and the VM thread. */
    uint64_t requested_ns;
    uint64_t epoch;        /* of the stop that served it; 0 = elided */
    _Atomic uint32_t done; /* a futex; 1 = answered */
    struct operation *next_pending;
    struct cds_wfcq_node node;
};

/* [any] Enqueues and waits until it was served and finished.  A mutator that asks goes
 * BLOCKED meanwhile.  The operation may live on the caller's stack.  False, at once and
 * without a stop, before operation_start() and after operation_close(). */
bool operation_request(struct operation *operation);

/* [VM thread] The oldest pending request, or NULL. */
struct operation *operation_take(void);
/* [VM thread] Takes all pending requests equal to this one, linked by next_pending. */
struct operation *operation_take_equal(const struct operation *operation);
/* [VM thread] Answers; the operation must not be touched afterwards. */
void operation_answer(struct operation *operation);

/* [VM thread] How many requests and wakes have come; taken before looking for work. */
uint32_t operation_arrived(void);
/* [VM thread] Sleeps until one more has come than seen, or the time is over. */
void operation_wait(uint32_t seen, uint64_t timeout_ns);
/* [any, signal handler] Wakes the VM thread for something else. */
void operation_wake(void);
void operation_start(void);
/* [VM thread] Takes no more; answers what is queued, without a stop, until only the
 * requests in `kept` are unanswered. */
void operation_close(uint32_t kept);

#endif
