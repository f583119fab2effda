/* object.h -- the header word in front of every object, and what follows it.
 *
 * Read next: object_kind.def, then heap.h (where objects come from).
 * Layer:     gc/.
 *
 * The header, one 64-bit atomic word:
 *
 *    63        48 47    40 39    32 31                    0
 *   +------------+--------+--------+-----------------------+
 *   | size_words | flags  |  kind  |       shape id        |
 *   +------------+--------+--------+-----------------------+
 *
 *   shape id    of an INSTANCE; changed by mutators, by CAS only.  Of a RECORD: how many
 *               references it begins with.  Else 0.
 *   kind        OBJECT_...; never changes; 0 = no object
 *   flags       OBJECT_FLAG_...
 *   size_words  header included; 0 = follows from the length in word 0 (STRING, BYTES,
 *               DOUBLES, ARRAY, and nothing else)
 * Size and layout never need the shape.
 *
 * Word 0 of a STRING: the byte length in the low half, the hash in the high half, 0 = not
 * computed yet.  Word 0 of BYTES, DOUBLES and ARRAY: the number of elements.
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_OBJECT_H
#define GC_OBJECT_H

#include "base/atomics.h"
#include "gc/value.h"

#include <stddef.h>

enum object_kind {
#define OBJECT_KIND(name, layout, text) OBJECT_##name,
#include "gc/object_kind.def"
    OBJECT_KIND_COUNT
};

enum object_layout {
    OBJECT_LAYOUT_LEAF,
    OBJECT_LAYOUT_VALUES,
    OBJECT_LAYOUT_TAIL,
    OBJECT_LAYOUT_PREFIX
};

#define OBJECT_FLAG_INTERNED 1u /* a STRING outside the heap, the only one with its bytes */

struct object {
    _Atomic uint64_t header;
    _Atomic value_t word[];
};

#define OBJECT_WORD_BYTES sizeof(uint64_t)
#define OBJECT_MAX_WORDS  UINT64_C(0xffff) /* of an object whose size stands in the header */

static inline uint64_t object_header(enum object_kind kind, uint64_t size_words, uint32_t shape)
{
    return size_words << 48 | (uint64_t)kind << 32 | shape;
}
static inline enum object_kind object_header_kind(uint64_t header) { return header >> 32 & 0xff; }
static inline uint32_t object_header_shape(uint64_t header) { return (uint32_t)header; }
static inline uint64_t object_header_size_words(uint64_t header) { return header >> 48; }
static inline uint32_t object_header_flags(uint64_t header) { return header >> 40 & 0xff; }

/* Relaxed: kind, flags and size never change after the object was published. */
static inline enum object_kind object_kind(const struct object *object)
{
    return object_header_kind(load_relaxed(&object->header));
}
static inline bool value_is_kind(value_t v, enum object_kind kind)
{
    return value_is_reference(v) && object_kind(value_as_object(v)) == kind;
}

enum object_layout object_layout(enum object_kind kind);
/* By kind; of a kind that is one. */
extern const uint8_t object_layouts[OBJECT_KIND_COUNT];
const char *object_kind_name(enum object_kind kind);

/* Of a BYTES, DOUBLES or ARRAY. */
static inline uint64_t object_length(const struct object *object)
{
    return load_relaxed(&object->word[0]); /* written before the object was published */
}

/* Header included.  Of any object. */
uint64_t object_size_words(const struct object *object);
/* The same, for who has the header at hand. */
static inline uint64_t object_words_of(const struct object *object, uint64_t header)
{
    uint64_t words = object_header_size_words(header);
    return __builtin_expect(words != 0, 1) ? words : object_size_words(object);
}
/* The words of an object that are values: [*first_out, the result). */
static inline uint64_t object_value_words(uint64_t header, uint64_t words, uint64_t *first_out)
{
    switch (object_layouts[object_header_kind(header)]) {
    case OBJECT_LAYOUT_VALUES:
        *first_out = 0;
        return words - 1;
    case OBJECT_LAYOUT_TAIL:
        *first_out = 1;
        return words - 1;
    case OBJECT_LAYOUT_PREFIX:
        *first_out = 0;
        return object_header_shape(header);
    default:
        *first_out = 0;
        return 0;
    }
}
/* Of a new BYTES, DOUBLES, ARRAY or STRING with that many elements or bytes, which must be
 * below 2^48. */
uint64_t object_words_for_length(enum object_kind kind, uint64_t length);

#endif
