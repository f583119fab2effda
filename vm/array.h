/* array.h -- Array, Bytes and Doubles: elements by index.
 *
 * Layer: vm/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_ARRAY_H
#define VM_ARRAY_H

#include "vm/guest_thread.h"

/* The most that a length may be: what a header and all sums of sizes bear. */
#define ARRAY_MAX_LENGTH ((UINT64_C(1) << 48) - 1)

/* [self, guest] A new one, all nil or zero; NULL: a guest error is recorded. */
struct object *array_new_mp(struct guest_thread *thread, enum object_kind kind, value_t length);

/* [self, guest] array[index]; ABSENT: a guest error is recorded. */
value_t array_get(struct guest_thread *thread, value_t array, value_t index);
/* [self, guest] array[index] = value; false: a guest error is recorded. */
bool array_set(struct guest_thread *thread, value_t array, value_t index, value_t value);

/* [self, guest] For all that is indexed: a whole number below length; false: a guest error. */
bool array_check_index(struct guest_thread *thread, value_t index, uint64_t length,
                       uint64_t *at_out);
/* A whole number from 0 to 255. */
bool array_check_byte(struct guest_thread *thread, value_t value, uint8_t *byte_out);

static inline bool array_is(value_t v)
{
    if (!value_is_reference(v))
        return false;
    enum object_kind kind = object_kind(value_as_object(v));
    return kind == OBJECT_ARRAY || kind == OBJECT_BYTES || kind == OBJECT_DOUBLES;
}

#endif
