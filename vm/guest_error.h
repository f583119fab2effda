/* guest_error.h -- a guest program's mistake: message, trace, how far it goes.
 *
 * Read next: guest_error_unwind_mp() in guest_error.c.
 * Layer:     vm/.
 *
 * Whoever finds the mistake calls guest_fail() and returns failure; the interpreter then
 * unwinds to the nearest frame of `attempt`, or ends.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_GUEST_ERROR_H
#define VM_GUEST_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct guest_thread;

enum guest_error_kind {
    GUEST_ERROR_NONE,
    GUEST_ERROR_RUNTIME,
    GUEST_ERROR_OUT_OF_MEMORY,
    GUEST_ERROR_OUTPUT,   /* stdout cannot be written; not for attempt */
    GUEST_ERROR_DEADLOCK, /* all threads wait for one another; main's, not for attempt */
    GUEST_ERROR_FUEL,     /* STILLPOINT_FUEL builds; not for attempt */
};

struct guest_error {
    enum guest_error_kind kind;
    char *message; /* fixed, or malloc'ed when it does not fit there */
    char *cause;   /* malloc'ed lines that its trace begins with, or NULL */
    char fixed[256];
};

/* [self] Records the mistake; frames must be in their places (frame->pc set).  Returns false, for
 * `return guest_fail(...)`. */
bool guest_fail(struct guest_thread *thread, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, as OutOfMemory: the heap has no bytes more. */
bool guest_fail_out_of_heap(struct guest_thread *thread, uint64_t asked_bytes);
bool guest_fail_kind(struct guest_thread *thread, enum guest_error_kind kind, const char *message);

/* [self] The mistake that was just recorded was made in another thread, which was joined here:
 * its trace, NULL = unknown, is shown above this one's. */
void guest_error_set_cause(struct guest_thread *thread, const char *thread_name, const char *trace);

/* [self] Goes back to the nearest frame that catches, puts an error object there as the
 * result and returns true; false when none catches: the error stays. */
bool guest_error_unwind_mp(struct guest_thread *thread);

/* [self] "message", then "[line 3] in f()" for each frame, innermost first; at most 40. */
void guest_error_write(struct guest_thread *thread, FILE *out);
void guest_error_clear(struct guest_thread *thread);

/* [any] The trace as text, lines ended by \n but for the last; malloc'ed, NULL = no memory. */
char *guest_trace(const struct guest_thread *thread, size_t *length_out);

#endif
