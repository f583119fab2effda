/* registry.h -- the list of all participants, read by RCU.
 *
 * Layer: safepoint/.
 *
 *                add        remove     walk
 *     add        lock       lock       ok
 *     remove     lock       lock       ok       memory lives until readers leave
 *     walk       ok         ok         ok
 *
 * The lock serialises writers only; the coordinator never takes it, so starting
 * or ending a thread never waits for a stop nor a stop for them (P4).
 * Nobody calls synchronize_rcu() or rcu_barrier() in an operation.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_REGISTRY_H
#define SAFEPOINT_REGISTRY_H

#include "base/atomics.h"
#include "base/err.h"
#include "safepoint/participant_priv.h"

#include <stdbool.h>
#include <stdint.h>

/* [any] Once, at start: starts the thread that frees what ended threads leave. */
void registry_start(void);

/* [self] Between attach and detach a thread is an RCU reader; the VM thread too. */
void registry_thread_begins(void);
void registry_thread_ends(void);

/* [self] A line for a new participant, all zero but state NATIVE; NULL when there is no
 * memory.  It goes back with registry_remove(). */
struct stop_line *registry_take_line(void);

/* [self] At the head, with full barriers around; state is NATIVE already. */
void registry_add(struct participant *self);
/* [self] Out of the list; freed after the readers that may see it have left.  One with
 * steps in its ring is kept until the visit below has no more use for it. */
void registry_remove(struct participant *self);

/* [VM thread, outside stops] Every participant, newest first, then those kept after their end,
 * which are freed when visit returns false.  Holds the lock: threads that start or end wait.
 * Returns when, last, one that ended was not kept because there were too many; 0 = never. */
typedef bool registry_visitor(struct participant *participant, void *argument);
uint64_t registry_visit_all(registry_visitor *visit, void *argument);

/* [any RCU reader] No poll, no wait for another thread's grace period inside. */
void registry_read_lock(void);
void registry_read_unlock(void);
bool registry_is_reading(void); /* the calling thread */
/* [any, outside a read section and outside stops, not in GUEST or VM] Returns when every
 * read section that had begun is over. */
void registry_synchronize(void);

/* [reader] Newest first. */
struct stop_line *registry_first(void);
static inline struct stop_line *registry_next(struct stop_line *line)
{
    return load_acquire(&line->next); /* pairs with the releases in registry_add/remove */
}
#define registry_for_each(line)                                                                    \
    for (struct stop_line *line = registry_first(); line; line = registry_next(line))

uint32_t registry_count(void);    /* at this moment; relaxed */
uint64_t registry_attached(void); /* ever */

#endif
