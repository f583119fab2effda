/* unwind.h -- native frames of a thread by libunwind, addresses first, names later.
 *
 * Layer: base/.  Taking addresses allocates nothing once primed; naming them may,
 * so it is done outside signal handlers and outside stops.  dl_iterate_phdr takes
 * the loader's lock: a thread caught inside dlopen() delays its own capture.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_UNWIND_H
#define BASE_UNWIND_H

#include <stddef.h>

/* [any] Once, at start: the first unwind of a process sets up tables. */
void unwind_prime(void);

/* [signal handler] Instruction pointers of the interrupted thread, innermost
 * first; signal_context is the handler's third argument.  Returns how many. */
int unwind_capture(void *signal_context, void **frames_out, int most);

/* [any, outside a stop] "function+0x12", or "?" when there is no name. */
void unwind_name(void *address, char *text_out, size_t bytes);

#endif
