/* lock.c -- ranked locks over pthread mutexes.
 *
 * The held ranks of a thread are bits of one thread-local word.  Taking a rank
 * asserts that no bit of the same or a later rank is set: two locks of one rank
 * cannot nest, which is what we want of a rank.
 *
 * SPDX-License-Identifier: MIT */
#include "base/lock.h"

#include "base/insist.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static _Thread_local uint32_t held_ranks;
static _Thread_local bool in_operation;

static const char *const names[] = {
#define X(name, marked, what) #name,
    LOCK_RANK_LIST(X)
#undef X
};

static const bool is_marked[] = {
#define X(name, marked, what) marked,
    LOCK_RANK_LIST(X)
#undef X
};

_Static_assert(LOCK_RANK_COUNT <= 32, "held_ranks has one bit per rank");

bool lock_is_marked(enum lock_rank rank) { return is_marked[rank]; }
bool lock_none_held(void) { return held_ranks == 0; }
void lock_operation_begins(void) { in_operation = true; }
void lock_operation_ends(void) { in_operation = false; }

static void check_rank(const struct lock *lock)
{
    INSIST(!in_operation || is_marked[lock->rank],
           "an operation takes lock %s, which mutators hold across stops", names[lock->rank]);
    ASSERT(held_ranks >> lock->rank == 0, "lock %s taken while ranks 0x%x are held",
           names[lock->rank], held_ranks);
}

static void note_held(const struct lock *lock) { held_ranks |= UINT32_C(1) << lock->rank; }

void lock_acquire(struct lock *lock)
{
    check_rank(lock);
    int error = pthread_mutex_lock(&lock->mutex);
    INSIST(error == 0, "pthread_mutex_lock of %s: %s", names[lock->rank], strerror(error));
    note_held(lock);
}

bool lock_try(struct lock *lock)
{
    check_rank(lock);
    int error = pthread_mutex_trylock(&lock->mutex);
    INSIST(error == 0 || error == EBUSY, "pthread_mutex_trylock of %s: %s", names[lock->rank],
           strerror(error));
    if (error == 0)
        note_held(lock);
    return error == 0;
}

void lock_release(struct lock *lock)
{
    ASSERT(held_ranks >> lock->rank & 1, "lock %s released by a thread that does not hold it",
           names[lock->rank]);
    held_ranks &= ~(UINT32_C(1) << lock->rank);
    int error = pthread_mutex_unlock(&lock->mutex);
    INSIST(error == 0, "pthread_mutex_unlock of %s: %s", names[lock->rank], strerror(error));
}
