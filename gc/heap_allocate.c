/* heap_allocate.c -- the slow half of allocation: TLABs, objects beside them, humongous ones.
 *
 *   bytes <= the TLAB's rest        heap_allocate_mp(), no lock          (heap.h)
 *   bytes <= 1/8 of a TLAB          another TLAB; the rest of the old one is given up, or
 *                                   goes back when nothing was taken behind it
 *   bytes <= half a region          from the shared region, beside the TLAB, which stays:
 *                                   so at most 1/8 of a TLAB is ever given up
 *   more                            regions of its own
 *
 * The shared region is handed out from bottom to top.  What is left of it when it cannot
 * serve a request stays behind, and is used when no region is free any more: the last
 * objects of a heap come from such rests.
 *
 * Nothing fills what is given up.  Memory not written is zero, and a walk reads a zero
 * header word as one free word: region by region, from the bottom to used_bytes, either an
 * object of its size or one free word.  (A word is the unit of objects, so no free piece is
 * too small to be skipped.)
 *
 * SPDX-License-Identifier: MIT */
#include "gc/heap_priv.h"

#include "base/insist.h"
#include "base/log.h"

#define TLAB_SHARE 8 /* larger objects than 1/8 go beside the TLAB; arbitrary */

static struct region *region_at(uint32_t index) { return &heap.regions.region[index]; }

/* The rest goes back if nothing was taken behind it; else the mutator keeps it. */
static void try_give_back_locked(struct tlab *tlab)
{
    if (!tlab->end)
        return;
    uint32_t index = region_index(&heap.regions, tlab->end - 1);
    struct region *region = region_at(index);
    if (tlab->end != region_bottom(&heap.regions, index) + region->used_bytes)
        return;
    region->used_bytes -= (uint64_t)(tlab->end - tlab->top);
    heap.used_bytes -= (uint64_t)(tlab->end - tlab->top);
    heap.no_rest_from = 0;
    *tlab = (struct tlab){ NULL, NULL };
}

void heap_retire_tlab_locked(struct mutator *mutator)
{
    try_give_back_locked(&mutator->tlab);
    mutator->tlab = (struct tlab){ NULL, NULL };
}

/* A SMALL region with a rest of bytes, or REGION_NONE.  Rests only shrink, but for what is
 * taken back, so a search in vain answers all larger requests that follow. */
static uint32_t find_rest_locked(uint64_t bytes)
{
    uint32_t regions = heap.regions.high;
    if (heap.no_rest_from && bytes >= heap.no_rest_from)
        return REGION_NONE;
    for (uint32_t i = 0; i < regions; i++) {
        uint32_t index = (heap.rest_cursor + i) % regions;
        if (region_rest(&heap.regions, index) >= bytes) {
            heap.rest_cursor = index;
            return index;
        }
    }
    heap.no_rest_from = bytes;
    return REGION_NONE;
}

static bool shared_has_locked(uint64_t bytes)
{
    return heap.shared != REGION_NONE && region_rest(&heap.regions, heap.shared) >= bytes;
}

/* Between least and wanted bytes of one SMALL region. */
static char *take_small_locked(uint64_t least, uint64_t wanted, uint64_t *got_out,
                               struct region_growth *growth_out)
{
    if (!shared_has_locked(least)) {
        uint32_t index = region_take(&heap.regions, 1, REGION_SMALL, growth_out);
        if (index == REGION_NONE)
            index = find_rest_locked(least);
        else
            heap.no_rest_from = 0; /* it will leave one */
        if (index == REGION_NONE)
            return NULL;
        heap.shared = index;
    }
    struct region *region = region_at(heap.shared);
    uint64_t rest = region_rest(&heap.regions, heap.shared);
    uint64_t got = rest < wanted ? rest : wanted;
    char *start = region_bottom(&heap.regions, heap.shared) + region->used_bytes;
    region->used_bytes += got;
    heap.used_bytes += got;
    *got_out = got;
    return start;
}

static char *take_humongous_locked(uint64_t bytes, uint64_t *got_out,
                                   struct region_growth *growth_out)
{
    struct region_table *t = &heap.regions;
    uint64_t count = region_count_for(t, bytes);
    if (count > t->reserved)
        return NULL;
    uint32_t first = region_take(t, (uint32_t)count, REGION_HUMONGOUS_START, growth_out);
    if (first == REGION_NONE)
        return NULL;
    region_at(first)->used_bytes = bytes;
    heap.used_bytes += count << t->region_shift; /* nobody else gets the last one's rest */
    *got_out = bytes;
    return region_bottom(t, first);
}

/* When there is none the old one stays: smaller objects may still fit into it. */
static char *take_tlab_locked(struct mutator *mutator, uint64_t bytes, uint64_t *got_out,
                              struct region_growth *growth_out)
{
    try_give_back_locked(&mutator->tlab);
    char *start = take_small_locked(bytes, heap.tlab_bytes, got_out, growth_out);
    if (start)
        mutator->tlab = (struct tlab){ start + bytes, start + *got_out };
    return start;
}

static void *take_locked(struct mutator *mutator, uint64_t bytes, struct region_growth *growth_out)
{
    uint64_t got = 0;
    char *start =
        bytes > heap.regions.region_bytes / 2  ? take_humongous_locked(bytes, &got, growth_out)
        : bytes > heap.tlab_bytes / TLAB_SHARE ? take_small_locked(bytes, bytes, &got, growth_out)
                                               : take_tlab_locked(mutator, bytes, &got, growth_out);
    mutator->allocated_bytes += got;
    return start;
}

/* The place where a plan that uses memory twice clears it.  Epsilon never does: all memory
 * comes from the system, which gave it zeroed. */
static void make_zero(const char *start, uint64_t bytes)
{
    uint64_t checked = bytes < 4096 ? bytes : 4096; /* a look, not a walk through a gigabyte */
    for (uint64_t i = 0; i < checked; i += sizeof(uint64_t))
        VERIFY(*(const uint64_t *)(const void *)(start + i) == 0, "new memory at %p holds 0x%llx",
               (const void *)(start + i),
               (unsigned long long)*(const uint64_t *)(const void *)(start + i));
}

/* HotSpot's words. */
static void log_growth(const struct region_growth *growth)
{
    if (growth->got_bytes)
        log_line(LOG_TAGS_GC_ERGO_HEAP, LOG_LEVEL_DEBUG,
                 "Expand the heap. requested expansion amount: %lluB expansion amount: %lluB",
                 (unsigned long long)growth->wanted_bytes, (unsigned long long)growth->got_bytes);
    else
        log_line(LOG_TAGS_GC_ERGO_HEAP, LOG_LEVEL_DEBUG,
                 "Did not expand the heap (heap expansion operation failed)");
}

/* From the lock's release to the header's store there is no poll: a walk in a stop never
 * sees memory of an object that has begun but has no header. */
static void *try_allocate_mp(struct mutator *mutator, uint64_t bytes)
{
    struct region_growth growth = { 0, 0 };
    participant_poll(mutator->participant);
    participant_lock(mutator->participant, &heap.lock);
    void *start = take_locked(mutator, bytes, &growth);
    if (growth.wanted_bytes)
        heap.was_refused = growth.got_bytes == 0;
    lock_release(&heap.lock);
    if (growth.wanted_bytes)
        log_growth(&growth);
    if (start)
        make_zero(start, bytes);
    return start;
}

void *heap_allocate_slow_mp(struct mutator *mutator, size_t bytes)
{
    void *start;
    INSIST(heap.is_on && mutator->participant, "an allocation without %s",
           heap.is_on ? "heap_attach()" : "a heap");
    ASSERT(bytes > 0 && bytes % OBJECT_WORD_BYTES == 0, "an object of %zu bytes", bytes);
    do
        start = try_allocate_mp(mutator, bytes);
    while (!start && heap.plan->make_room_mp(mutator, bytes));
    return start;
}
