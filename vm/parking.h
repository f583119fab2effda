/* parking.h -- guest threads that wait for one another, and how it shows that nobody is left.
 *
 * Read next: sync.c (Lock, Barrier) and threads.c (join), who park threads.
 * Layer:     vm/.
 *
 *             park() [self, BLOCKED, guard held]
 *   running ------------------------------------> parked, in a queue
 *      ^                                              |
 *      |   the futex word is 0 again                  | waitable_take() [guard held], unpark()
 *      +----------------------------------------------+ by a thread that is running
 *
 * What a thread waits on is a waitable: it lies outside the heap, because objects move and
 * a futex is an address, and lives as long as its object (outside.h).  Its guard is taken
 * in BLOCKED only, so that no stop waits for who holds it.
 *
 * Note [N] Nobody left.  `active` counts the program's threads that are not parked.  Who parks
 *   takes itself off while it holds the guard of the queue it stands in; who takes a thread out
 *   of a queue counts it, under the same guard, before it wakes it; who starts a thread counts
 *   it before it exists; who ends takes itself off last.  Only a thread that counts can do any
 *   of the adding.  So when a subtraction finds zero, all threads stand in queues, and
 *   nobody is left who could take one out: they wait for ever.  A thread that sleeps or does
 *   input and output counts.
 *
 *   field               writer             readers        order
 *   is_parked           owner sets,        owner          release/acquire: what the waker did
 *                       waker clears                      before is seen after
 *   waits_for           owner              thread dumps   release/acquire, a picture
 *   next_waiting        under the guard    the same       the guard
 *   active              all                all            seq_cst, [N]
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_PARKING_H
#define VM_PARKING_H

#include "base/atomics.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct waitable;

/* What a thread needs to be parked. */
struct parker {
    _Atomic uint32_t is_parked; /* a futex */
    struct parker *next_waiting;
    _Atomic(const struct waitable *) waits_for;
};

struct waitable {
    const char *what; /* for dumps: "lock", "barrier", "end of thread" */
    uint32_t number;  /* 1, 2, ... in order of their making, 0 = it has none */
    const char *name; /* or NULL; lives as long */
    /* The holding participant's number * 2 + one more bit, 0 = nobody; NULL = nobody ever. */
    const _Atomic uint32_t *holder;
    pthread_mutex_t guard; /* taken in BLOCKED only */
    struct parker *first, *last;
};

/* [self] Before the waitable is published. */
void waitable_init(struct waitable *waitable, const char *what, uint32_t number,
                   const _Atomic uint32_t *holder);

/* [self, BLOCKED, guard held] Stands in line, at its end or as the first, lets the guard go
 * and returns when somebody unparks it, in BLOCKED still.  False: every thread is parked,
 * told to the main thread only. */
bool park(struct parker *self, struct waitable *waitable, bool as_first);
/* [BLOCKED, guard held] The first in line, which counts as active from now on; NULL = none.
 * The caller unparks it, with or without the guard. */
struct parker *waitable_take(struct waitable *waitable);
/* [any that runs] */
void unpark(struct parker *parker);

/* [main] A program begins: one active thread, the main one. */
void parking_begin(struct parker *main_parker);
/* [any that runs] One thread more, which is about to be started; or that was not, after all. */
void parking_add_active(void);
/* [self] The last thing that an ending thread does with the program.  True: it was the last
 * that was active; parked ones are told. */
void parking_end_active(void);

/* [self] The calling main thread waits in some other way: it sleeps. */
void parking_note_main_waits(struct parker *self);
/* [any] Waits until the main thread waits for the first time; false: not within the timeout. */
bool parking_await_main(uint64_t timeout_ns);

#endif
