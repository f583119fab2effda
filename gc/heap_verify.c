/* heap_verify.c -- does the heap hold what it should?
 *
 * Pass 1 walks every region as heap_allocate.c says and sets one bit for each object's
 * start.  Pass 2 looks at every root and every value of every object: a reference into the
 * heap must point at such a bit.  The bits, 1/64 of the heap, are reserved at the first
 * call and committed as far as the heap was ever used; they are kept for the next.
 *
 * The equations (E1 - E3 are also the promises of region.h):
 *   E1  the sum over the records of what they hold = used_bytes
 *   E2  the number of records that are not FREE = used; none at or above high
 *   E3  START is followed by as many NEXT as its object needs; NEXT follows nothing else
 *   E4  a walk from a region's bottom ends at its used_bytes exactly
 *   E5  what follows is zero from where region.h, R4, says so, as far as that is within the
 *       first CHECKED_BYTES of it
 *
 * SPDX-License-Identifier: MIT */
#include "gc/heap_priv.h"
#include "gc/poison.h"
#include "gc/roots.h"

#include "base/insist.h"
#include "base/os.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct vspace start_space; /* one bit per word of the reservation */
static uint64_t starts_committed; /* bytes */

struct verification {
    char *text;
    size_t bytes;
    bool has_failed;
    struct heap_contents contents;
};

__attribute__((format(printf, 2, 3))) static bool fault(struct verification *v, const char *format,
                                                        ...)
{
    if (!v->has_failed) {
        va_list ap;
        va_start(ap, format);
        vsnprintf(v->text, v->bytes, format, ap);
        va_end(ap);
    }
    v->has_failed = true;
    return false;
}

/* --- the bits ------------------------------------------------------------------- */

static uint64_t round_to_page(uint64_t bytes)
{
    uint64_t page = os_page_bytes();
    return (bytes + page - 1) / page * page;
}

static bool prepare_starts(struct verification *v)
{
    const struct region_table *t = &heap.regions;
    uint64_t whole = round_to_page(((uint64_t)t->reserved << t->region_shift) / 64);
    uint64_t needed = round_to_page(((uint64_t)t->high << t->region_shift) / 64);
    if (!start_space.base && vspace_reserve(&start_space, whole) != ERR_OK)
        return fault(v, "not checked: no address space for %llu bytes of marks",
                     (unsigned long long)whole);
    if (needed > starts_committed) {
        if (vspace_commit(&start_space, starts_committed, needed - starts_committed) != ERR_OK)
            return fault(v, "not checked: no memory for %llu bytes of marks",
                         (unsigned long long)needed);
        starts_committed = needed;
    }
    memset(start_space.base, 0, needed);
    return true;
}

void heap_verify_end(void)
{
    if (start_space.base)
        vspace_release(&start_space);
    starts_committed = 0;
}

static uint64_t word_number(const void *address)
{
    return (uint64_t)((const char *)address - heap.regions.space.base) / OBJECT_WORD_BYTES;
}

static void set_start(const void *address)
{
    uint64_t n = word_number(address);
    start_space.base[n / 8] |= (char)(1 << n % 8);
}

/* Of an aligned address inside the heap. */
static bool is_start(const void *address)
{
    uint64_t n = word_number(address);
    return n / 8 < starts_committed && (start_space.base[n / 8] >> n % 8 & 1);
}

/* --- pass 1: objects tile the regions ---------------------------------------------- */

static bool check_object(struct verification *v, const struct object *object, const char *end)
{
    uint64_t header = load_relaxed(&object->header); /* all have stopped */
    enum object_kind kind = object_header_kind(header);
    uint64_t room = (uint64_t)(end - (const char *)object) / OBJECT_WORD_BYTES;
    bool has_length = kind == OBJECT_STRING || kind == OBJECT_BYTES || kind == OBJECT_DOUBLES ||
                      kind == OBJECT_ARRAY;
    if (kind == OBJECT_NONE || kind >= OBJECT_KIND_COUNT || kind == OBJECT_NATIVE)
        return fault(v, "the header at %p, 0x%llx, has kind %d, which is not in the heap",
                     (const void *)object, (unsigned long long)header, (int)kind);
    if (object_header_flags(header))
        return fault(v, "the %s at %p is in the heap, but has flags 0x%x", object_kind_name(kind),
                     (const void *)object, object_header_flags(header));
    if (object_header_shape(header) && kind != OBJECT_INSTANCE && kind != OBJECT_RECORD)
        return fault(v, "the %s at %p has shape %u", object_kind_name(kind), (const void *)object,
                     object_header_shape(header));
    if (kind == OBJECT_RECORD && object_header_shape(header) >= object_header_size_words(header))
        return fault(v, "the RECORD at %p has %u references in %llu words", (const void *)object,
                     object_header_shape(header),
                     (unsigned long long)object_header_size_words(header));
    bool has_size = object_header_size_words(header) != 0;
    if (has_size == has_length || (has_length && room < 2))
        return fault(v, "the header at %p, 0x%llx, is no header of a %s", (const void *)object,
                     (unsigned long long)header, object_kind_name(kind));
    if (has_length && kind != OBJECT_STRING && object_length(object) >> 48)
        return fault(v, "the %s at %p has length 0x%llx", object_kind_name(kind),
                     (const void *)object, (unsigned long long)object_length(object));
    if (object_size_words(object) > room)
        return fault(v, "the %s at %p, %llu words, goes beyond the %llu that are in use",
                     object_kind_name(kind), (const void *)object,
                     (unsigned long long)object_size_words(object), (unsigned long long)room);
    return true;
}

typedef bool visit_object(struct verification *v, struct object *object, const char *end);

/* E4; a zero word is free. */
static bool walk(struct verification *v, char *from, const char *end, visit_object *visit)
{
    while (from < end) {
        struct object *object = (struct object *)(void *)from;
        if (load_relaxed(&object->header) == 0) { /* all have stopped */
            from += OBJECT_WORD_BYTES;
            continue;
        }
        if (!visit(v, object, end))
            return false;
        from += object_size_words(object) * OBJECT_WORD_BYTES;
    }
    return true;
}

static bool check_and_mark(struct verification *v, struct object *object, const char *end)
{
    if (!check_object(v, object, end))
        return false;
    set_start(object);
    v->contents.objects++;
    v->contents.bytes += object_size_words(object) * OBJECT_WORD_BYTES;
    return true;
}

#define CHECKED_BYTES 4096 /* a look: the rest of a large region may never have been touched */

/* E5 */
static bool check_rest(struct verification *v, uint32_t index)
{
    const struct region_table *t = &heap.regions;
    const struct region *region = &t->region[index];
    uint64_t from =
        region->dirty_bytes > region->used_bytes ? region->dirty_bytes : region->used_bytes;
    uint64_t to = from + CHECKED_BYTES < t->region_bytes ? from + CHECKED_BYTES : t->region_bytes;
    if (!poison_can_look())
        return true;
    for (; from < to; from += OBJECT_WORD_BYTES) {
        const uint64_t *word = (const uint64_t *)(void *)(region_bottom(t, index) + from);
        if (*word)
            return fault(v, "region %u: 0x%llx at %llu, where memory should be zero", index,
                         (unsigned long long)*word, (unsigned long long)from);
    }
    return true;
}

/* E3; returns the number of regions, 0 after a fault. */
static uint32_t check_humongous(struct verification *v, uint32_t first)
{
    const struct region_table *t = &heap.regions;
    uint64_t count = region_count_for(t, t->region[first].used_bytes);
    if (count == 0 || count > t->high - first)
        fault(v, "humongous region %u holds %llu bytes", first,
              (unsigned long long)t->region[first].used_bytes);
    for (uint32_t i = 1; i < count && !v->has_failed; i++)
        if (t->region[first + i].state != REGION_HUMONGOUS_NEXT)
            fault(v, "region %u does not go on with the object of region %u", first + i, first);
    return v->has_failed ? 0 : (uint32_t)count;
}

/* Visits the objects of one region and says how many regions that were, 0 after a fault. */
static uint32_t walk_region(struct verification *v, uint32_t index, visit_object *visit)
{
    const struct region_table *t = &heap.regions;
    const struct region *region = &t->region[index];
    char *bottom = region_bottom(t, index);
    uint32_t count;
    switch (region->state) {
    case REGION_FREE:
        break;
    case REGION_SMALL:
        if (region->used_bytes > t->region_bytes)
            return fault(v, "region %u holds %llu bytes", index,
                         (unsigned long long)region->used_bytes);
        return walk(v, bottom, bottom + region->used_bytes, visit) && check_rest(v, index);
    case REGION_HUMONGOUS_START:
        count = check_humongous(v, index);
        return count && walk(v, bottom, bottom + region->used_bytes, visit) ? count : 0;
    case REGION_HUMONGOUS_NEXT:
        return fault(v, "region %u continues no object", index);
    }
    return region->used_bytes ? fault(v, "free region %u holds %llu bytes", index,
                                      (unsigned long long)region->used_bytes)
                              : 1;
}

static bool walk_all(struct verification *v, visit_object *visit)
{
    for (uint32_t i = 0, count; i < heap.regions.high; i += count) {
        count = walk_region(v, i, visit);
        if (count == 0)
            return false;
    }
    return true;
}

/* E1, E2 */
static bool check_sums(struct verification *v)
{
    const struct region_table *t = &heap.regions;
    uint64_t bytes = 0;
    uint32_t used = 0, humongous = 0;
    for (uint32_t i = 0; i < t->high; i++) {
        const struct region *region = &t->region[i];
        used += region->state != REGION_FREE;
        humongous += region->state > REGION_SMALL;
        bytes += region->state == REGION_SMALL  ? region->used_bytes
                 : region->state > REGION_SMALL ? t->region_bytes
                                                : 0;
    }
    if (bytes != heap.used_bytes || used != t->used || humongous != t->humongous)
        return fault(v,
                     "the records hold %llu bytes in %u regions, %u of them humongous; counted "
                     "were %llu, %u and %u",
                     (unsigned long long)bytes, used, humongous,
                     (unsigned long long)heap.used_bytes, t->used, t->humongous);
    if (t->high > t->committed || t->committed > t->reserved)
        return fault(v, "%u regions were taken, %u are committed, %u reserved", t->high,
                     t->committed, t->reserved);
    return true;
}

/* --- pass 2: references lead to objects ----------------------------------------------- */

/* What is wrong with a value, or NULL.  Outside the heap all is immortal, or a raw pointer. */
static const char *wrong_with(value_t value)
{
    if (!value_is_reference(value))
        return value_is_number(value) || value == VALUE_NIL || value == VALUE_FALSE ||
                       value == VALUE_TRUE || value == VALUE_ABSENT
                   ? NULL
                   : "is no value";
    const void *address = value_as_object(value);
    if (!heap_contains(address))
        return NULL;
    return value % OBJECT_WORD_BYTES == 0 && is_start(address) ? NULL : "is where no object starts";
}

static bool check_values(struct verification *v, struct object *object, const char *end)
{
    (void)end;
    uint64_t header = load_relaxed(&object->header); /* all have stopped */
    enum object_kind kind = object_header_kind(header);
    uint64_t i, to = object_value_words(header, object_words_of(object, header), &i);
    for (; i < to; i++) {
        value_t value = load_relaxed(&object->word[i]); /* all have stopped */
        const char *wrong = wrong_with(value);
        if (wrong)
            return fault(v, "the %s at %p: word %llu, 0x%llx, %s", object_kind_name(kind),
                         (void *)object, (unsigned long long)i, (unsigned long long)value, wrong);
    }
    return true;
}

struct root_check {
    struct root_visitor visitor;
    struct verification *v;
};

static void check_root(struct root_visitor *visitor, value_t *slot, const char *what)
{
    struct verification *v = ((struct root_check *)visitor)->v;
    const char *wrong = wrong_with(*slot);
    if (wrong)
        fault(v, "the %s at %p: 0x%llx %s", what, (void *)slot, (unsigned long long)*slot, wrong);
}

bool heap_verify_locked(char *text_out, size_t bytes, struct heap_contents *contents_out)
{
    struct verification v = { .text = text_out, .bytes = bytes };
    struct root_check check = { { check_root }, &v };
    if (check_sums(&v) && prepare_starts(&v) && walk_all(&v, check_and_mark) &&
        walk_all(&v, check_values))
        roots_visit_locked(&check.visitor);
    if (contents_out)
        *contents_out = v.contents;
    return !v.has_failed;
}

bool heap_verify_at_safepoint(char *text_out, size_t bytes)
{
    if (!heap.is_on)
        return true;
    lock_acquire(&heap.lock); /* threads in a safe state detach, and give their TLAB back */
    bool is_good = heap_verify_locked(text_out, bytes, NULL);
    lock_release(&heap.lock);
    return is_good;
}
