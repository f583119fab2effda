/* session.h -- the process as a runtime, from the first guest thread to the end.
 *
 * Layer: tools/.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_RUN_SESSION_H
#define TOOLS_RUN_SESSION_H

struct guest_thread;

/* Starts stops, heap and language, makes the calling thread the guest thread "main", calls
 * body(thread, argument) and ends all again.  Returns what body does, or
 * EXIT_CODE_ENVIRONMENT after one line that begins with command's name.  at_end, unless NULL, is
 * called after the last stop, while the heap is still there. */
int session_run(const char *command, int (*body)(struct guest_thread *thread, void *argument),
                void *argument, void (*at_end)(void));

#endif
