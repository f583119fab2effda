/* direct.h -- Direct(n): a guest's buffer outside the heap.
 *
 * Read next: alloc/direct.h (limit, uses), direct.c.
 * Layer:     vm/.
 *
 *   var b = Direct(1048576);   zeroed, in pieces between which stops may come
 *   b.size  b.get(i)  b.set(i, 255)  b[i]  zero(b)  free(b)  b.free()
 *
 * The object in the heap points to a record outside, which outlives the memory and goes with the
 * object: using a
 * buffer that was freed is a guest error, and so is freeing one that another thread uses.
 *
 * Natives and methods (natives.h); methods find the buffer in window[0].
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_DIRECT_H
#define VM_DIRECT_H

#include "vm/guest_thread.h"

bool direct_native_new_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool direct_native_free_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool direct_native_zero_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);

bool direct_method_get(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool direct_method_set(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool direct_method_free_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
/* Also of a freed one. */
bool direct_property_size(struct guest_thread *thread, value_t *window, uint32_t argument_count);

/* [self, guest] buffer[index]; ABSENT: a guest error is recorded. */
value_t direct_get(struct guest_thread *thread, value_t buffer, value_t index);
bool direct_set(struct guest_thread *thread, value_t buffer, value_t index, value_t value);
uint64_t direct_size(const struct object *buffer);

#endif
