/* lock.h -- ranked locks: an order for all of them, checked per thread.
 *
 * Read next: participant_lock() in safepoint/participant.c, the one way a mutator takes a lock
 *            that an operation may take as well.
 * Layer:     base/.
 *
 * Promises
 *   L1  A thread that takes locks in falling rank is stopped by an assert, so no
 *       cycle of waits can form.                              [checked, ASSERT]
 *   L2  Inside an operation only marked locks can be taken.   [checked, INSIST]
 * Asks of callers
 *   C1  Hold none at a poll: lock_none_held() is asserted there.
 *   C2  Under any of them: no poll, no request for a stop.
 *
 * Outermost first; a later row may be taken while an earlier one is held.
 *   row: name, marked (an operation may take it), what it protects
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#define LOCK_RANK_LIST(X)                                                                          \
    X(LIFECYCLE, 0, "start and shutdown of the stop machinery; may allocate, may log")             \
    X(SHARED, 1, "data shared by mutators and an operation; no allocation, no log under it")       \
    X(ROOTS, 1, "lists of roots, which a collection walks under the heap's lock; as above")        \
    X(REGISTRY, 0, "writers of the participant list; no allocation, no log under it")              \
    X(LOG, 0, "the log's outputs; innermost, may write files")

enum lock_rank {
#define X(name, marked, what) LOCK_RANK_##name,
    LOCK_RANK_LIST(X)
#undef X
        LOCK_RANK_COUNT
};

struct lock {
    pthread_mutex_t mutex;
    enum lock_rank rank;
};

#define LOCK_INITIALIZER(rank_name)                                                                \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, LOCK_RANK_##rank_name                                           \
    }

/* [any] Waits without limit.  A mutator that takes a marked lock goes through
 * participant_lock() instead. */
void lock_acquire(struct lock *lock);
bool lock_try(struct lock *lock);
void lock_release(struct lock *lock);

/* [self] True when the calling thread holds no ranked lock. */
bool lock_none_held(void);
/* [coordinator] Between these two the calling thread may take marked locks only. */
void lock_operation_begins(void);
void lock_operation_ends(void);
bool lock_is_marked(enum lock_rank rank);

#endif
