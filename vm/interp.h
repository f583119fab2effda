/* interp.h -- runs checked code.
 *
 * Read next: interp.c (one function: the loop), interp_slow.c (all that is not the common case).
 * Layer:     vm/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_INTERP_H
#define VM_INTERP_H

#include "vm/guest_thread.h"

/* [self, GUEST] Calls the closure in *slot (rooted; of a checked function without parameters) and
 * runs until it returns.  False: a guest error that nobody caught, with its frames still in place;
 * interp_reset() clears them. */
bool interp_run_mp(struct guest_thread *thread, const value_t *slot);
/* [self, GUEST, frames at the bottom] Calls what is in the stack's register 0 with the arguments
 * that follow it, as a spawned thread does; the result is in register 0 then. */
bool interp_call_mp(struct guest_thread *thread, uint32_t argument_count);
void interp_reset(struct guest_thread *thread);

#ifdef STILLPOINT_FUEL
/* Builds for fuzzing: back edges and calls that the thread may still make; at zero it
 * fails with a guest error that `attempt` does not catch. */
extern _Thread_local uint64_t interp_fuel;
#endif

#endif
