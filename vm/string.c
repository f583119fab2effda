/* string.c -- see string.h.
 *
 * The bytes of a new string are written plainly: it is published by a later store of
 * whoever keeps it (gc/heap.h, C2).
 *
 * SPDX-License-Identifier: MIT */
#include "vm/string.h"

#include "gc/heap.h"

#include <string.h>

#define HASH_SHIFT 32 /* in word 0: length below, hash above */

uint32_t string_hash_bytes(const char *bytes, size_t length)
{
    uint32_t hash = UINT32_C(2166136261);
    for (size_t i = 0; i < length; i++) {
        hash ^= (unsigned char)bytes[i];
        hash *= UINT32_C(16777619);
    }
    return hash ? hash : 1;
}

static uint32_t known_hash(const struct object *string)
{
    /* Relaxed: threads that race here all compute and store the same word. */
    return (uint32_t)(load_relaxed(&string->word[0]) >> HASH_SHIFT);
}

uint32_t string_hash(struct object *string)
{
    uint32_t hash = known_hash(string);
    if (hash)
        return hash;
    uint32_t length = string_length(string);
    hash = string_hash_bytes(string_bytes(string), length);
    store_relaxed(&string->word[0], (uint64_t)hash << HASH_SHIFT | length); /* as above */
    return hash;
}

static bool is_interned(const struct object *string)
{
    /* Relaxed: flags never change after the object was published. */
    return object_header_flags(load_relaxed(&string->header)) & OBJECT_FLAG_INTERNED;
}

/* Hashes are compared when both are there, but not computed: that would read all bytes of
 * both, and the comparison stops at the first difference. */
bool string_equals(struct object *a, struct object *b)
{
    if (a == b)
        return true;
    uint32_t length = string_length(a);
    if (length != string_length(b) || (is_interned(a) && is_interned(b)))
        return false;
    uint32_t a_hash = known_hash(a), b_hash = known_hash(b);
    if (a_hash && b_hash && a_hash != b_hash)
        return false;
    return memcmp(string_bytes(a), string_bytes(b), length) == 0;
}

/* Room for length bytes, which are still zero; NULL = out of heap. */
static struct object *new_string_mp(struct mutator *mutator, size_t length)
{
    struct object *string = heap_allocate_mp(mutator, object_header(OBJECT_STRING, 0, 0),
                                             object_words_for_length(OBJECT_STRING, length));
    if (string)
        store_relaxed(&string->word[0], length); /* C2: the publishing store releases it */
    return string;
}

struct object *string_new_mp(struct mutator *mutator, const char *bytes, size_t length)
{
    if (length > STRING_MAX_BYTES)
        return NULL;
    struct object *string = new_string_mp(mutator, length);
    if (string && length > 0)
        memcpy((char *)&string->word[1], bytes, length);
    return string;
}

struct object *string_concatenate_mp(struct mutator *mutator, const value_t *a, const value_t *b)
{
    size_t a_length = string_length(value_as_object(*a));
    size_t b_length = string_length(value_as_object(*b));
    if (a_length + b_length > STRING_MAX_BYTES)
        return NULL;
    struct object *string = new_string_mp(mutator, a_length + b_length);
    if (!string)
        return NULL;
    char *to = (char *)&string->word[1];
    memcpy(to, string_bytes(value_as_object(*a)), a_length); /* where a and b are now */
    memcpy(to + a_length, string_bytes(value_as_object(*b)), b_length);
    return string;
}
