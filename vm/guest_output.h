/* guest_output.h -- what guest programs print, in whole lines.
 *
 * Layer: vm/.
 *
 * Lines gather in one buffer.  It is written, in BLOCKED, after each line when stdout is a
 * terminal, else when it is full and when the program ends or fails, so that a program that
 * prints a million lines does not make a million system calls.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_GUEST_OUTPUT_H
#define VM_GUEST_OUTPUT_H

#include "vm/guest_thread.h"

#include <stdbool.h>
#include <stddef.h>

/* [any] Before the first program: fd is where output goes, -1 = nowhere. */
void guest_output_start(int fd);
/* [self, guest] bytes and a newline, never mixed with those of another thread.  bytes belong
 * to the object in *slot, which is rooted, or lie outside the heap (slot NULL).  False: a
 * guest error is recorded, stdout cannot be written. */
bool guest_output_line_mp(struct guest_thread *thread, const value_t *slot, const char *bytes,
                          size_t length);
/* [self, guest] Writes what is left.  False: it could not be written; the errno is kept. */
bool guest_output_flush_mp(struct guest_thread *thread);
/* [any, after stops_exit()] The same when no thread may run guest code any more. */
void guest_output_flush_last(void);
/* [any] The errno of the first write that failed, 0 = none. */
int guest_output_errno(void);

#endif
