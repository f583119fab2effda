/* threads.h -- the threads of a guest program: spawn, join, how they end.
 *
 * Read next: thread_main() in threads.c, parking.h (how they wait), sync.h (Lock, Barrier).
 * Layer:     vm/.
 *
 *   guest code            heap                     outside the heap, as long as the program
 *   var t = spawn(f) -->  THREAD object  --word 0-->  thread_record: name, number, end, error
 *                           word 1: result               ^
 *                                                         | record
 *                         guest_thread: registers, frames (as long as the thread runs)
 *
 * Life: spawn() makes record, stack and object, copies callee and arguments into the new
 * stack, where they are roots at once, and starts an operating-system thread, detached.  That
 * attaches, calls, leaves result or error behind, wakes who joins, and detaches.  The main
 * thread's end waits for all others, so nothing of the program goes away under them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_THREADS_H
#define VM_THREADS_H

#include "safepoint/participant.h"
#include "vm/guest_thread.h"
#include "vm/parking.h"

#include <stdio.h>

enum thread_state { THREAD_STATE_RUNS, THREAD_STATE_ENDED };

struct thread_record {
    struct parker parker;
    struct waitable end;     /* who joins waits here */
    _Atomic uint32_t state;  /* enum thread_state; release/acquire: with it result and error */
    _Atomic uint32_t number; /* its participant's; 0 = not attached yet */
    char name[PARTICIPANT_NAME_BYTES];
    /* What it ended with, written before state. */
    enum guest_error_kind error_kind;  /* GUEST_ERROR_NONE: a result */
    char *error_message, *error_trace; /* malloc'ed; the trace may be NULL */
    _Atomic bool error_was_raised;     /* by a join; a statistic for the end of the program */
    struct thread_record *next;        /* in the program's list of those that failed */
};

/* [self] For a thread that is not spawned: a record of its own.  ERR_NO_MEMORY. */
struct thread_record *thread_record_new(const char *name);

/* [main, GUEST] A program begins. */
void threads_begin(struct guest_thread *main_thread);
/* [main] Its script is over, for better or worse: who joins it goes on, and
 * threads_await_main() returns. */
void threads_main_is_over_mp(struct guest_thread *main_thread);
/* [main, GUEST] Returns when no other thread is left.  False: a guest error is recorded,
 * they wait for one another for ever, and all threads were dumped to stderr. */
bool threads_wait_for_all_mp(struct guest_thread *main_thread);
/* [main] Errors that ended a thread and that no join raised are written to errors; returns the
 * worst kind, OUT_OF_MEMORY before others, or GUEST_ERROR_NONE. */
enum guest_error_kind threads_write_errors(FILE *errors);
/* [any] Others than main run, or wait, still. */
bool threads_are_left(void);
/* [main, none is left, after weak_clean_all()] Frees what threads that failed have left. */
void threads_end(void);

/* [any, not in guest] Waits until the main guest thread waits for the first time (for a lock,
 * a barrier, a thread's end, a time) or has ended.  False: not within timeout_ns. */
bool threads_await_main(uint64_t timeout_ns);

/* [self, GUEST, after park() returned false] Dumps all threads and records the error. */
bool threads_fail_deadlock_mp(struct guest_thread *main_thread);

/* --- natives (natives.h) ----------------------------------------------------------- */

bool threads_spawn_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool threads_current_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool threads_sleep_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool threads_yield_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
/* Methods and properties of a THREAD in window[0]. */
bool threads_join_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool threads_name_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool threads_number(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool threads_is_alive(struct guest_thread *thread, value_t *window, uint32_t argument_count);

/* Of a THREAD object. */
struct thread_record *threads_record_of(value_t thread_object);

#endif
