/* object.c -- see object.h.  SPDX-License-Identifier: MIT */
#include "gc/object.h"

#include "base/insist.h"

static const char *const names[] = {
#define OBJECT_KIND(name, layout, text) #name,
#include "gc/object_kind.def"
};

const uint8_t object_layouts[OBJECT_KIND_COUNT] = {
#define OBJECT_KIND(name, layout, text) OBJECT_LAYOUT_##layout,
#include "gc/object_kind.def"
};

static void check_kind(enum object_kind kind)
{
    INSIST((unsigned)kind < OBJECT_KIND_COUNT, "no kind of object: %d", (int)kind);
}

enum object_layout object_layout(enum object_kind kind)
{
    check_kind(kind);
    return object_layouts[kind];
}

const char *object_kind_name(enum object_kind kind)
{
    return (unsigned)kind < OBJECT_KIND_COUNT ? names[kind] : "?"; /* messages ask too */
}

#define HEAD_WORDS 2 /* the header and the length */

uint64_t object_words_for_length(enum object_kind kind, uint64_t length)
{
    INSIST(length < UINT64_C(1) << 48, "%s of length %llu", object_kind_name(kind),
           (unsigned long long)length);
    switch (kind) {
    case OBJECT_STRING:
    case OBJECT_BYTES:
        return HEAD_WORDS + (length + OBJECT_WORD_BYTES - 1) / OBJECT_WORD_BYTES;
    case OBJECT_DOUBLES:
    case OBJECT_ARRAY:
        return HEAD_WORDS + length;
    default:
        INSIST(false, "%s has no length", object_kind_name(kind));
        return 0;
    }
}

uint64_t object_size_words(const struct object *object)
{
    uint64_t header = load_relaxed(&object->header); /* the size in it never changes */
    uint64_t words = object_header_size_words(header), length;
    if (words)
        return words;
    enum object_kind kind = object_header_kind(header);
    length = object_length(object);
    return object_words_for_length(kind, kind == OBJECT_STRING ? (uint32_t)length : length);
}
