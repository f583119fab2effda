/* stillpoint.h -- stop the threads of a C program, and know who was late.
 *
 * The one public header.  A program starts the machinery, attaches the threads
 * that are to be stopped, and has them poll; any thread may then ask for a stop,
 * run a function while nobody else runs, and read afterwards how long it took
 * until all stood still (time to safepoint, TTSP) and who was last, doing what.
 * tools/examples/ttsp_of_a_loop.c is a whole program.
 *
 * A thread is in one of two conditions:
 *   guest    between leave_native and enter_native: it may touch what stops
 *            protect, and must poll at least once per bounded piece of work
 *   native   after attach, and after enter_native: it must not touch that, may
 *            block or compute for hours, and never delays a stop
 * enter_native never waits; leave_native waits while a stop is on, and so does a
 * poll.  Memory written before a poll or enter_native is visible to the stop's
 * function, and what that writes is visible after.
 *
 * What it takes of the process, from stillpoint_start() on: a thread ("VM Thread"), the
 * signal SIGRTMIN+4 (thread dumps; a blocking call it interrupts may return EINTR),
 * and the handlers of SIGABRT, SEGV, BUS, ILL and FPE, which print a report and then let
 * the signal end the process.  SIGQUIT is left alone.  Forking is supported only
 * before the start.  Misuse that would hang or corrupt aborts with one line that says
 * what is wrong; states and owners are checked at each transition in debug builds only.
 *
 * Who may call: [self] the thread that attached   [any] any thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef STILLPOINT_H
#define STILLPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum stillpoint_result {
    STILLPOINT_OK = 0,
    STILLPOINT_USAGE = 64,       /* a flag is unknown, out of range or contradicts another */
    STILLPOINT_ENVIRONMENT = 74, /* no memory, no thread, a log file cannot be written */
    STILLPOINT_STATE = 1,        /* started already, or not yet, or ended */
};

/* --- the process ----------------------------------------------------------- */

/* [any] Starts the machinery, once per process; a start that failed may be tried again.  flags are
 * spelled as on the command line ("-XX:SafepointPoll=global", "-Xlog:safepoint*"); docs/flags.md
 * lists them.  On failure message_out holds one line that says what to do. */
enum stillpoint_result stillpoint_start(const char *const *flags, int flag_count, char *message_out,
                                        size_t message_bytes);

/* [any, not in guest] Stops all for good, writes what the log still owes and ends
 * the machinery; attached threads stand still until the process ends. */
void stillpoint_shutdown(void);

/* [any] Stops all attached threads, calls run(argument) if run is not NULL, lets
 * them go, returns.  Requests are served one after another; equal requests
 * without a function share a stop.  run() must not allocate, block or call back.  A
 * caller in guest counts as native while it waits.  Before the start and after the
 * shutdown it returns at once. */
void stillpoint_stop(void (*run)(void *argument), void *argument);

/* [any] Stops all and writes every attached thread's state, work and native stack
 * to stderr. */
void stillpoint_dump_threads(void);

/* --- a thread --------------------------------------------------------------- */

/* The head is public because the poll below is inline; all else is private. */
struct stillpoint_thread {
    const uint32_t *poll;
};

/* [any, unattached] Attaches the calling thread, in native.  name, not NULL, is copied and
 * cut to 31 bytes.  The thread must detach before it ends, else the process aborts. */
enum stillpoint_result stillpoint_attach(const char *name, struct stillpoint_thread **self_out);
/* [self] In guest or native.  self is invalid afterwards. */
void stillpoint_detach(struct stillpoint_thread *self);

/* [self] */
void stillpoint_leave_native(struct stillpoint_thread *self);
void stillpoint_enter_native(struct stillpoint_thread *self);

/* [self, in guest] A load and a branch; waits here while a stop is on.  No lock
 * that a stop's function may need may be held. */
void stillpoint_poll_slow(struct stillpoint_thread *self);
static inline void stillpoint_poll(struct stillpoint_thread *self)
{
    if (__builtin_expect(__atomic_load_n(self->poll, __ATOMIC_RELAXED) & 1, 0))
        stillpoint_poll_slow(self);
}

/* --- what a thread is doing -------------------------------------------------- */

/* One kind of work, in static storage. */
struct stillpoint_work {
    const char *kind; /* short and stable, reports group by it: "parse" */
    const char *text; /* a phrase without numbers: "parsing the file" */
    const char *unit; /* of done and total: "lines" */
};

/* [self] Says what comes now, total = 0 if the amount is unknown.  Not nested. */
void stillpoint_work_begin(struct stillpoint_thread *self, const struct stillpoint_work *work,
                           uint64_t total);
void stillpoint_work_progress(struct stillpoint_thread *self, uint64_t done);
void stillpoint_work_end(struct stillpoint_thread *self);

/* [self, in guest] Zeroes a buffer, polling between chunks as -XX:BulkPolicy and
 * -XX:BulkChunkBytes say; announces itself as work. */
void stillpoint_zero(struct stillpoint_thread *self, void *start, size_t bytes);

/* --- the account -------------------------------------------------------------- */

struct stillpoint_percentiles {
    /* 0 where there are fewer than 10 / (1 - p) samples */
    uint64_t p50_ns, p90_ns, p99_ns, max_ns;
};

struct stillpoint_summary {
    uint64_t stops;
    struct stillpoint_percentiles ttsp, lag, operation, leave, resume, total;
    char last_thread[32], last_doing[96]; /* of the stop with the largest TTSP */
    bool adds_up; /* the self-audit: all arrivals and spans agree; false with recording off */
};

/* [any] After stillpoint_shutdown(). */
enum stillpoint_result stillpoint_get_summary(struct stillpoint_summary *summary_out);

#ifdef __cplusplus
}
#endif

#endif
