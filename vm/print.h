/* print.h -- values as text, as the book's `print` shows them.
 *
 * Layer: vm/.  SPDX-License-Identifier: MIT */
#ifndef VM_PRINT_H
#define VM_PRINT_H

#include "vm/guest_thread.h"

/* [self, guest] A line with the value in *slot, which is rooted.  False: a guest error is
 * recorded. */
bool print_value_mp(struct guest_thread *thread, const value_t *slot);

#endif
