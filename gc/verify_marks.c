/* verify_marks.c -- see verify_marks.h.  SPDX-License-Identifier: MIT */
#include "gc/verify_marks.h"

#include "gc/heap_priv.h"
#include "gc/roots.h"

#include <stdarg.h>
#include <stdio.h>

struct check {
    struct root_visitor visitor; /* first */
    char *text;
    size_t bytes;
    bool has_failed;
    uint64_t marked;
};

__attribute__((format(printf, 2, 3))) static void fault(struct check *c, const char *format, ...)
{
    if (!c->has_failed) {
        va_list ap;
        va_start(ap, format);
        vsnprintf(c->text, c->bytes, format, ap);
        va_end(ap);
    }
    c->has_failed = true;
}

static bool is_mark(const char *address)
{
    return is_marked(&heap.side, address); /* of any word */
}

/* V1: is what the value leads to marked, or outside the heap? */
static bool is_fine(value_t value)
{
    uint64_t offset = value - (uint64_t)(uintptr_t)heap.regions.space.base;
    return offset >= (uint64_t)heap.regions.high << heap.regions.region_shift ||
           is_mark((const char *)value_as_object(value));
}

static void check_root(struct root_visitor *visitor, value_t *slot, const char *what)
{
    struct check *c = (struct check *)visitor;
    if (!is_fine(*slot))
        fault(c, "the %s at %p leads to 0x%llx, which is not marked", what, (void *)slot,
              (unsigned long long)*slot);
}

static void check_references(struct check *c, const struct object *object, uint64_t header,
                             uint64_t words)
{
    uint64_t i, to = object_value_words(header, words, &i);
    for (; i < to; i++) {
        value_t value = load_relaxed(&object->word[i]); /* all have stopped */
        if (!is_fine(value))
            fault(c, "the %s at %p is marked; its word %llu leads to 0x%llx, which is not",
                  object_kind_name(object_header_kind(header)), (const void *)object,
                  (unsigned long long)i, (unsigned long long)value);
    }
}

/* V2: of the words of an object, all but the last are marked, or none is. */
static void check_object(struct check *c, const struct object *object, uint64_t header,
                         uint64_t words)
{
    const char *at = (const char *)object;
    bool is_live = is_mark(at);
    uint64_t marks = !is_live ? 0 : heap_is_humongous(words * OBJECT_WORD_BYTES) ? 1 : words - 1;
    for (uint64_t i = 0; i < words; i++)
        if (is_mark(at + i * OBJECT_WORD_BYTES) != (i < marks))
            fault(c, "the %s at %p, %llu words, %s: the mark of word %llu is wrong",
                  object_kind_name(object_header_kind(header)), (const void *)object,
                  (unsigned long long)words, is_live ? "alive" : "dead", (unsigned long long)i);
    c->marked += is_live;
    if (is_live)
        check_references(c, object, header, words);
}

/* Returns how many regions were walked. */
static uint32_t check_region(struct check *c, uint32_t index)
{
    const struct region *region = &heap.regions.region[index];
    const char *at = region_bottom(&heap.regions, index), *end = at + region->used_bytes;
    while (at < end && !c->has_failed) {
        const struct object *object = (const struct object *)(const void *)at;
        uint64_t header = load_relaxed(&object->header); /* all have stopped */
        uint64_t words = header ? object_words_of(object, header) : 1;
        if (header)
            check_object(c, object, header, words);
        else if (is_mark(at))
            fault(c, "the free word at %p is marked", (const void *)at);
        at += words * OBJECT_WORD_BYTES;
    }
    return region->state == REGION_HUMONGOUS_START
               ? (uint32_t)region_count_for(&heap.regions, region->used_bytes)
               : 1;
}

bool verify_marks_locked(uint64_t objects_counted, char *text_out, size_t bytes)
{
    struct check c = { { check_root }, text_out, bytes, false, 0 };
    roots_visit_locked(&c.visitor);
    for (uint32_t i = 0; i < heap.regions.high && !c.has_failed;)
        i += check_region(&c, i);
    if (c.marked != objects_counted)
        fault(&c, "%llu objects are marked, counted were %llu", (unsigned long long)c.marked,
              (unsigned long long)objects_counted);
    return !c.has_failed;
}
