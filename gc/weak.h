/* weak.h -- what lies outside the heap for an object, and is given back when the object is dead.
 *
 * Read next: vm/direct.c, whose buffers are the reason for it.
 * Layer:     gc/.
 *
 *               weak_watch                  a collection finds           taken once, by the
 *    (owner) --------------> watched ---------------------> dead ------> cleaner or a helper ---->
 * clean() ^   | the object lives: its new
 *                             +---+ address
 *
 * Promises
 *   W1  clean() is called once, after the object was found dead, outside any stop, in a thread
 *       that holds no lock; only one that returns false is called again later.
 *   W2  Watching and finding allocate nothing.
 * Asks of callers
 *   C1  The record lives until clean() has freed it.
 *   C2  clean() touches no object and does not wait for guest threads.
 *   C3  C code that uses a record keeps its object in a slot meanwhile.
 *
 * Who may call: [self] a thread in GUEST   [any] any thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_WEAK_H
#define GC_WEAK_H

#include "gc/value.h"

#include <stdbool.h>
#include <stdint.h>

struct weak {
    value_t object; /* a collection's, once it is watched */
    bool (*clean)(struct weak *weak);
    struct weak *next;
};

/* [self] The object's record is complete.  clean is set. */
void weak_watch(struct weak *weak, value_t object);
/* [any, outside stops, in a safe state] Cleans what the latest collections found dead, as far as
 * nobody else has begun to; returns when all of it is done, by whomever. */
void weak_clean_dead(void);
/* [main, when no other thread uses objects] Cleans all, dead or not. */
void weak_clean_all(void);

/* --- for a collection ---------------------------------------------------------------- */

/* [operation] After slide_prepare(): who lives gets its new address, who is dead waits for the
 * cleaner.  Returns how many those were. */
uint64_t weak_find_dead_at_safepoint(void);
/* [VM thread, after the stop] Wakes the cleaner, a thread that the first call starts. */
void weak_wake_cleaner(void);
/* [start] Ends the cleaner; after weak_clean_all(). */
void weak_end(void);

#endif
