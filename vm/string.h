/* string.h -- guest strings: bytes with a length and a hash computed once.
 *
 * Layer: vm/.  See gc/object.h for the layout of a STRING.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_STRING_H
#define VM_STRING_H

#include "gc/mutator.h"
#include "gc/object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRING_MAX_BYTES UINT32_MAX

static inline uint32_t string_length(const struct object *string)
{
    return (uint32_t)load_relaxed(&string->word[0]); /* never changes */
}
static inline const char *string_bytes(const struct object *string)
{
    return (const char *)&string->word[1];
}

/* Never 0.  FNV-1a, 32 bits (Fowler, Noll, Vo), as in the book; 0 becomes 1. */
uint32_t string_hash_bytes(const char *bytes, size_t length);
/* [guest] Computed at the first call, kept in the object. */
uint32_t string_hash(struct object *string);
/* [guest] Same bytes. */
bool string_equals(struct object *a, struct object *b);

/* [self, guest] A new string; bytes must not be in the heap.  NULL = out of heap. */
struct object *string_new_mp(struct mutator *mutator, const char *bytes, size_t length);
/* [self, guest] a and b are rooted slots (guest registers); NULL = out of heap, or the sum
 * is above STRING_MAX_BYTES. */
struct object *string_concatenate_mp(struct mutator *mutator, const value_t *a, const value_t *b);

#endif
