/* error_object.h -- what `attempt` returns for a caught error: an instance of Error with
 * the fields message and trace.
 *
 * Layer: vm/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_ERROR_OBJECT_H
#define VM_ERROR_OBJECT_H

#include "vm/guest_thread.h"

/* [attached, guest] Once per process: the class.  False: a guest error is recorded. */
bool error_object_start_mp(struct guest_thread *thread);
/* [self, guest] Makes the thread's spare, used when the heap has no room for a new one. False: a
 * guest error is recorded. */
bool error_object_make_spare_mp(struct guest_thread *thread);
/* [self, guest] One for a thread that is about to be started, so that it need not take an
 * allocation buffer for it; nil = a guest error is recorded. */
value_t error_object_spare_for_another_mp(struct guest_thread *thread);

/* [self, guest] Never fails: when the heap is full the strings are put outside it, and the
 * object is the thread's spare, the same one each time, with the latest message.  trace:
 * length bytes. */
value_t error_object_new_mp(struct guest_thread *thread, const char *message, const char *trace,
                            size_t trace_length);

/* The class, for the roots. */
value_t *error_object_class(void);

#endif
