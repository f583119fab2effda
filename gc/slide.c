/* slide.c -- see slide.h; slide_plan.c has decided where everything goes.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/slide_priv.h"

#include "base/insist.h"
#include "gc/live_walk.h"
#include "gc/roots.h"

#include <string.h>

/* --- new references ----------------------------------------------------------------------------
 */

static uint64_t words_below(uint64_t bits, unsigned at)
{
    return (uint64_t)__builtin_popcountll((bits | bits << 1) & ((UINT64_C(1) << at) - 1));
}

/* Note [D] in slide_plan.c */
static __attribute__((noinline)) char *new_address_in_divided(const char *object, uint64_t bits,
                                                              uint64_t destination)
{
    const struct source *s = &slide.sources[region_index(&heap.regions, object)];
    unsigned at = bit_of(&heap.side, object);
    uint64_t words = words_below(bits, at);
    if (object < s->divided_at)
        return (char *)(uintptr_t)(destination - SLIDE_DIVIDED) + 8 * words;
    return s->second_to + 8 * (words - words_below(bits, bit_of(&heap.side, s->divided_at)));
}

static inline char *new_address(const char *object)
{
    uint64_t block = block_of(&heap.side, object);
    uint64_t bits = load_relaxed(&heap.side.marks[block]); /* marking is over */
    uint64_t destination = heap.side.destinations[block];
    if (__builtin_expect(destination & SLIDE_DIVIDED, 0))
        return new_address_in_divided(object, bits, destination);
    return (char *)(uintptr_t)destination + 8 * words_below(bits, bit_of(&heap.side, object));
}

static inline value_t new_value(value_t value, uint64_t heap_low, uint64_t heap_bytes)
{
    if (value - heap_low >= heap_bytes)
        return value;
    ASSERT(is_marked(&heap.side, value_as_object(value)), "0x%llx leads to no live object",
           (unsigned long long)value);
    return (uint64_t)(uintptr_t)new_address((const char *)value_as_object(value));
}

static uint64_t heap_low(void) { return (uint64_t)(uintptr_t)heap.regions.space.base; }
static uint64_t heap_used_bytes(void)
{
    return (uint64_t)heap.regions.high << heap.regions.region_shift;
}

value_t slide_new_value(value_t value) { return new_value(value, heap_low(), heap_used_bytes()); }

static void adjust_root(struct root_visitor *visitor, value_t *slot, const char *what)
{
    (void)visitor, (void)what;
    *slot = slide_new_value(*slot);
}

static void adjust_humongous(struct object *object)
{
    uint64_t header = load_relaxed(&object->header), low = heap_low(), bytes = heap_used_bytes();
    uint64_t i, to = object_value_words(header, object_words_of(object, header), &i);
    for (; i < to; i++) /* this worker's alone */
        store_relaxed(&object->word[i], new_value(load_relaxed(&object->word[i]), low, bytes));
}

static void adjust_work(void *unused, unsigned worker)
{
    (void)unused;
    if (worker == 0) {
        struct root_visitor roots = { adjust_root };
        roots_visit_locked(&roots);
    }
    for (uint32_t i, to; slide_take_regions(&i, &to);)
        for (; i < to; i++)
            if (heap.regions.region[i].state == REGION_HUMONGOUS_START)
                adjust_humongous((struct object *)(void *)region_bottom(&heap.regions, i));
}

void slide_adjust(unsigned workers) { slide_run_on_regions(workers, adjust_work); }

/* --- moving
 * --------------------------------------------------------------------------------------- */

/* Word by word upwards: `to` is at or below `from`, or far away. */
static inline void move_values(struct object *to, const struct object *from, uint64_t i,
                               uint64_t end, uint64_t low, uint64_t bytes)
{
    for (; i < end; i++) /* this worker's alone, as all below */
        store_relaxed(&to->word[i], new_value(load_relaxed(&from->word[i]), low, bytes));
}

static inline void move_raw(struct object *to, const struct object *from, uint64_t i, uint64_t end)
{
    if (to != from && i < end)
        memmove((void *)&to->word[i], (const void *)&from->word[i], (end - i) * OBJECT_WORD_BYTES);
}

static inline void move_object(struct object *to, const struct object *from, uint64_t header,
                               uint64_t words, uint64_t low, uint64_t bytes)
{
    uint64_t first, end = object_value_words(header, words, &first);
    store_relaxed(&to->header, header);
    if (first > 0)
        store_relaxed(&to->word[0], load_relaxed(&from->word[0]));
    move_values(to, from, first, end, low, bytes);
    move_raw(to, from, end > first ? end : first, words - 1);
}

static void move_region(uint32_t index, struct stripe *stripe)
{
    uint64_t low = heap_low(), bytes = heap_used_bytes(), moved_objects = 0, moved_words = 0;
    struct live_walk walk = live_walk_of_region(index);
    for (struct object *from; (from = live_walk_next(&walk)) != NULL;) {
        uint64_t header = load_relaxed(&from->header), words = object_words_of(from, header);
        struct object *to = (struct object *)(void *)new_address((const char *)from);
        ASSERT(slide.must_move || to <= from, "an object of region %u moves up", index);
        moved_objects += to != from;
        moved_words += to != from ? words : 0;
        move_object(to, from, header, words, low, bytes);
    }
    stripe->moved_objects += moved_objects; /* once: stripes share cache lines */
    stripe->moved_bytes += moved_words * OBJECT_WORD_BYTES;
}

static void compact_work(void *unused, unsigned worker)
{
    (void)unused, (void)worker;
    uint32_t i;
    while ((i = fetch_add_relaxed(&slide.next, 1)) < slide.stripe_count) /* a ticket */
        for (uint32_t region = slide.stripe[i].from; region < slide.stripe[i].to; region++)
            if (slide_is_source(region))
                move_region(region, &slide.stripe[i]);
}

void slide_compact(unsigned workers)
{
    if (slide.stripe_count > 0) /* else the heap is empty */
        slide_run_on_regions(workers < slide.stripe_count ? workers : slide.stripe_count,
                             compact_work);
}

/* --- the records afterwards
 * ------------------------------------------------------------------------- */

struct slide_sums slide_finish(void)
{
    struct slide_sums sums = { .stripes = slide.stripe_count };
    struct region_table *t = &heap.regions;
    uint32_t end = slide.must_move ? t->committed : t->high;
    for (uint32_t i = 0; i < end; i++) {
        if (t->region[i].state > REGION_SMALL)
            continue;
        region_set_used(t, i, slide.sources[i].used_after);
    }
    for (unsigned i = 0; i < slide.stripe_count; i++) {
        sums.moved_objects += slide.stripe[i].moved_objects;
        sums.moved_bytes += slide.stripe[i].moved_bytes;
    }
    region_table_settle(t);
    return sums;
}
