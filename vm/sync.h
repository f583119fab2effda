/* sync.h -- Lock and Barrier: guest threads that wait for one another.
 *
 * Read next: parking.h (how they wait), sync.c.
 * Layer:     vm/.
 *
 *   var l = Lock();     l.acquire();  l.release();  l.tryAcquire()
 *   var b = Barrier(3); b.wait()
 *
 * A lock has one owner, a thread, and is not reentrant: acquiring it twice is a guest error, as is
 * the release by another thread.  Locks are never taken by operations and may be held at
 * the gate and at the end of a thread, which does not release them.
 *
 * Natives and methods (natives.h); methods find their object in window[0].
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_SYNC_H
#define VM_SYNC_H

#include "vm/guest_thread.h"

bool sync_lock_new_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool sync_lock_acquire_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool sync_lock_try_acquire(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool sync_lock_release_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);

bool sync_barrier_new_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool sync_barrier_wait_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);

/* Of a BARRIER object: how many threads it lets go together. */
uint32_t sync_barrier_count(const struct object *barrier);

#endif
