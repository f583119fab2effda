/* sync.c -- see sync.h.
 *
 * Note [L] A lock's word: the owner's participant number * 2, 0 = free; bit 0 = somebody may
 *   be waiting.
 *
 *                    acquire: CAS 0 -> owner (acquire)
 *        free ----------------------------------------> owned --+  a waiter sets bit 0
 *         ^                                               |      |  under the guard
 *         |   release: CAS owner -> 0 (release), or,      |      v
 *         +-- with bit 0: under the guard, store 0, ------+--- owned, waited for
 *             wake the first in line
 *
 *   Who finds it owned sets bit 0 and stands in line, both under the guard; so an owner that
 *   sees no bit 0 in its CAS leaves nobody behind who came before, and one that sees it
 *   takes the guard and finds the line.  The one it wakes is not given the lock: it tries
 *   again, and stands in front if another was faster.  Whoever gets the lock with others in
 *   line sets bit 0 at once.  So as long as there is a line, either bit 0 is set or one of the
 *   line is awake and will set it.
 *   What the owner stored before the release, the next owner sees: release and acquire
 *   on the word, or the guard.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/sync.h"

#include "gc/heap.h"
#include "safepoint/sched_point.h"
#include "vm/outside.h"
#include "vm/threads.h"

#include <inttypes.h>

#define HAS_WAITERS UINT32_C(1)

struct guest_lock {
    struct waitable waitable;
    _Atomic uint32_t word; /* [L] */
};

struct guest_barrier {
    struct waitable waitable;
    uint32_t count;   /* never changes */
    uint32_t arrived; /* guard */
};

#define MOST_AT_BARRIER 1000000

static _Atomic uint32_t locks_made, barriers_made; /* for names in dumps */

/* A LOCK or BARRIER around its part outside the heap, of `bytes`. */
static void *new_pair_mp(struct guest_thread *thread, value_t *window, enum object_kind kind,
                         size_t bytes)
{
    struct object *object = heap_allocate_mp(&thread->mutator, object_header(kind, 2, 0), 2);
    if (!object) {
        guest_fail_out_of_heap(thread, 2 * OBJECT_WORD_BYTES);
        return NULL;
    }
    void *outside = outside_calloc(bytes, outside_release_plain);
    if (!outside) {
        guest_fail_kind(thread, GUEST_ERROR_OUT_OF_MEMORY,
                        "OutOfMemory: the system has none for a lock or barrier.");
        return NULL;
    }
    store_relaxed(&object->word[0], (uintptr_t)outside); /* published by whoever stores it */
    window[0] = value_of_object(object);
    outside_watch(outside, window[0]);
    return outside;
}

static void *outside_of(value_t object)
{
    return (void *)(uintptr_t)load_relaxed(&value_as_object(object)->word[0]); /* never changes */
}

/* --- locks ------------------------------------------------------------------------------ */

bool sync_lock_new_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    struct guest_lock *lock = new_pair_mp(thread, window, OBJECT_LOCK, sizeof *lock);
    if (!lock)
        return false;
    waitable_init(&lock->waitable, "lock", fetch_add_relaxed(&locks_made, 1) + 1, &lock->word);
    return true;
}

static uint32_t word_of(const struct guest_thread *thread)
{
    return load_relaxed(&thread->record->number) << 1; /* our own */
}

static bool try_lock(struct guest_lock *lock, uint32_t own)
{
    uint32_t nobody = 0;
    return compare_exchange_seq(&lock->word, &nobody, own); /* [L] */
}

/* [guard held] True: it is ours.  False: bit 0 is set, we have to wait. */
static bool lock_or_announce(struct guest_lock *lock, uint32_t own)
{
    uint32_t word = load_relaxed(&lock->word); /* checked by the exchanges */
    for (;;) {
        bool is_free = word == 0;
        uint32_t wanted = is_free ? own : word;
        if (is_free ? lock->waitable.first && !MUTANT(43) : !MUTANT(44))
            wanted |= HAS_WAITERS;
        if (compare_exchange_seq(&lock->word, &word, wanted)) /* [L] */
            return is_free;
    }
}

/* [BLOCKED] False: deadlock. */
static bool wait_for_lock(struct guest_thread *thread, struct guest_lock *lock)
{
    bool has_waited = false;
    for (;;) {
        pthread_mutex_lock(&lock->waitable.guard);
        if (lock_or_announce(lock, word_of(thread))) {
            pthread_mutex_unlock(&lock->waitable.guard);
            return true;
        }
        if (!park(&thread->record->parker, &lock->waitable, has_waited))
            return false;
        has_waited = true;
    }
}

bool sync_lock_acquire_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    struct guest_lock *lock = outside_of(window[0]); /* which window[0] keeps until we have it */
    bool is_done = try_lock(lock, word_of(thread));
    if (!is_done) {
        if ((load_relaxed(&lock->word) & ~HAS_WAITERS) == word_of(thread)) /* only we store that */
            return guest_fail(thread, "This thread holds the lock already.");
        struct participant *self = guest_thread_participant(thread);
        participant_enter_safe(self, PARTICIPANT_BLOCKED);
        is_done = wait_for_lock(thread, lock);
        participant_leave_safe(self, PARTICIPANT_GUEST);
    }
    window[0] = VALUE_NIL;
    return is_done || threads_fail_deadlock_mp(thread);
}

bool sync_lock_try_acquire(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    window[0] = value_of_bool(try_lock(outside_of(window[0]), word_of(thread)));
    return true;
}

/* [BLOCKED] */
static void release_and_wake(struct guest_lock *lock)
{
    pthread_mutex_lock(&lock->waitable.guard);
    struct parker *first = MUTANT(45) ? NULL : waitable_take(&lock->waitable);
    store_release(&lock->word, 0); /* [L] */
    pthread_mutex_unlock(&lock->waitable.guard);
    if (first)
        unpark(first);
}

bool sync_lock_release_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    struct guest_lock *lock = outside_of(window[0]);
    struct participant *self = guest_thread_participant(thread);
    uint32_t word = word_of(thread);
    if (!compare_exchange_seq(&lock->word, &word, 0)) { /* [L] */
        if (MUTANT(46)) {
            store_release(&lock->word, 0);
            return true;
        }
        if ((word & ~HAS_WAITERS) != word_of(thread))
            return guest_fail(thread,
                              word ? "Another thread holds the lock." : "The lock is not held.");
        participant_enter_safe(self, PARTICIPANT_BLOCKED);
        release_and_wake(lock); /* window[0] keeps it meanwhile */
        participant_leave_safe(self, PARTICIPANT_GUEST);
    }
    window[0] = VALUE_NIL;
    return true;
}

/* --- barriers ---------------------------------------------------------------------------- */

bool sync_barrier_new_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    double count = value_is_number(window[1]) ? value_as_double(window[1]) : 0;
    if (!(count >= 1 && count <= MOST_AT_BARRIER) || count != (double)(uint32_t)count)
        return guest_fail(thread, "Count must be a whole number from 1 to %d.", MOST_AT_BARRIER);
    struct guest_barrier *barrier = new_pair_mp(thread, window, OBJECT_BARRIER, sizeof *barrier);
    if (!barrier)
        return false;
    barrier->count = (uint32_t)count;
    waitable_init(&barrier->waitable, "barrier", fetch_add_relaxed(&barriers_made, 1) + 1, NULL);
    return true;
}

uint32_t sync_barrier_count(const struct object *object)
{
    const struct guest_barrier *barrier = (const void *)(uintptr_t)load_relaxed(&object->word[0]);
    return barrier->count;
}

/* [BLOCKED] Returns how many came before, or -1: deadlock. */
static int64_t arrive(struct guest_thread *thread, struct guest_barrier *barrier)
{
    struct parker *waiting;
    pthread_mutex_lock(&barrier->waitable.guard);
    uint32_t before = barrier->arrived++;
    if (barrier->arrived < barrier->count) {
        bool is_done = park(&thread->record->parker, &barrier->waitable, false);
        return is_done ? (int64_t)before : -1;
    }
    barrier->arrived = 0;
    while ((waiting = waitable_take(&barrier->waitable)) != NULL)
        unpark(waiting);
    pthread_mutex_unlock(&barrier->waitable.guard);
    return before;
}

bool sync_barrier_wait_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count)
{
    (void)argument_count;
    struct guest_barrier *barrier = outside_of(window[0]);
    struct participant *self = guest_thread_participant(thread);
    participant_enter_safe(self, PARTICIPANT_BLOCKED);
    int64_t before = arrive(thread, barrier);
    participant_leave_safe(self, PARTICIPANT_GUEST);
    window[0] = value_of_double((double)before);
    return before >= 0 || threads_fail_deadlock_mp(thread);
}
