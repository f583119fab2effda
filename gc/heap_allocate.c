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
 * Nothing fills what is given up.  Memory is zeroed when it is handed out, unless it is known to
 * be (region.h, R4), so what is not written is zero, and a walk reads a zero
 * header word as one free word: region by region, from the bottom to used_bytes, either an
 * object of its size or one free word.  (A word is the unit of objects, so no free piece is
 * too small to be skipped.)
 *
 * SPDX-License-Identifier: MIT */
#include "gc/heap_priv.h"

#include "base/flags.h"
#include "base/insist.h"
#include "base/log.h"
#include "base/prng.h"
#include "gc/collection.h"
#include "gc/memory_zero.h"
#include "gc/poison.h"

#define TLAB_SHARE     8              /* larger objects than 1/8 go beside the TLAB; arbitrary */
#define LEAST_TLAB     UINT64_C(2048) /* where a thread begins; arbitrary */
#define REFILLS_WANTED 50 /* between two collections; HotSpot's, of TLABWasteTargetPercent=1 */
#define MOST_TRIES     3  /* collections for one object, before the heap is said to be full */

static struct region *region_at(uint32_t index) { return &heap.regions.region[index]; }

/* Then each allocation comes here, and TLABs would only be in the way. */
static bool is_stress(void) { return __builtin_expect(heap.stress_interval != 0, 0); }

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
    mutator->tlab_figures.waste_bytes += (uint64_t)(mutator->tlab.end - mutator->tlab.top);
    mutator->tlab = (struct tlab){ NULL, NULL };
}

static uint64_t tlab_between(uint64_t bytes)
{
    uint64_t least = heap.tlab_bytes < LEAST_TLAB ? heap.tlab_bytes : LEAST_TLAB;
    bytes = bytes < least ? least : bytes > heap.tlab_bytes ? heap.tlab_bytes : bytes;
    return bytes & ~(uint64_t)(OBJECT_WORD_BYTES - 1);
}

/* A thread that allocates little takes little, so that a thousand of them do not hold a
 * thousand large rests; one that takes many in a row is given twice as much each time. */
void heap_resize_tlab_locked(struct mutator *mutator)
{
    struct tlab_figures *f = &mutator->tlab_figures;
    f->wanted_bytes = tlab_between((mutator->allocated_bytes - f->allocated_then) / REFILLS_WANTED);
    f->allocated_then = mutator->allocated_bytes;
    f->waste_bytes = 0;
    f->refills = 0;
}

static uint64_t next_tlab_bytes(struct mutator *mutator)
{
    struct tlab_figures *f = &mutator->tlab_figures;
    if (heap.is_tlab_fixed)
        return heap.tlab_bytes;
    uint64_t bytes = tlab_between(f->wanted_bytes);
    f->wanted_bytes = tlab_between(bytes * 2);
    return bytes;
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

/* What an attempt got, and what it did to the heap. */
struct taken {
    char *start;
    uint64_t bytes;
    uint64_t dirty_from, dirty_to; /* of it, what is not known to be zero */
    uint32_t limit;                /* regions the heap may have */
    struct region_growth growth;
};

static void note_dirty(struct taken *taken, uint64_t offset, uint64_t bytes, uint64_t dirty_bytes)
{
    uint64_t end = dirty_bytes < bytes ? dirty_bytes : bytes;
    if (end == 0)
        return;
    if (taken->dirty_to == 0)
        taken->dirty_from = offset;
    taken->dirty_to = offset + end;
}

/* Between least and wanted bytes of one SMALL region. */
static bool take_small_locked(struct taken *taken, uint64_t least, uint64_t wanted)
{
    if (!shared_has_locked(least)) {
        uint32_t index = region_take(&heap.regions, 1, REGION_SMALL, taken->limit, &taken->growth);
        if (index == REGION_NONE)
            index = find_rest_locked(least);
        else
            heap.no_rest_from = 0; /* it will leave one */
        if (index == REGION_NONE)
            return false;
        heap.shared = index;
    }
    struct region *region = region_at(heap.shared);
    uint64_t rest = region_rest(&heap.regions, heap.shared), used = region->used_bytes;
    taken->bytes = rest < wanted ? rest : wanted;
    taken->start = region_bottom(&heap.regions, heap.shared) + used;
    note_dirty(taken, 0, taken->bytes, region->dirty_bytes > used ? region->dirty_bytes - used : 0);
    region->used_bytes += taken->bytes;
    heap.used_bytes += taken->bytes;
    return true;
}

static bool take_humongous_locked(struct taken *taken, uint64_t bytes)
{
    struct region_table *t = &heap.regions;
    uint64_t count = region_count_for(t, bytes);
    if (count > t->reserved)
        return false;
    uint32_t first =
        region_take(t, (uint32_t)count, REGION_HUMONGOUS_START, taken->limit, &taken->growth);
    if (first == REGION_NONE)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset = (uint64_t)i << t->region_shift;
        note_dirty(taken, offset, bytes - offset, region_at(first + i)->dirty_bytes);
    }
    region_at(first)->used_bytes = bytes;
    heap.used_bytes += count << t->region_shift; /* nobody else gets the last one's rest */
    taken->start = region_bottom(t, first);
    taken->bytes = bytes;
    return true;
}

/* When there is none the old one stays: smaller objects may still fit into it. */
static bool take_tlab_locked(struct taken *taken, struct mutator *mutator, uint64_t bytes)
{
    try_give_back_locked(&mutator->tlab);
    uint64_t wanted = next_tlab_bytes(mutator);
    if (!take_small_locked(taken, bytes, wanted < bytes ? bytes : wanted))
        return false;
    mutator->tlab_figures.waste_bytes += (uint64_t)(mutator->tlab.end - mutator->tlab.top);
    mutator->tlab_figures.refills++;
    mutator->tlab = (struct tlab){ taken->start + bytes, taken->start + taken->bytes };
    return true;
}

static bool take_locked(struct taken *taken, struct mutator *mutator, uint64_t bytes)
{
    bool is_done = heap_is_humongous(bytes) ? take_humongous_locked(taken, bytes)
                   : bytes > heap.tlab_bytes / TLAB_SHARE || is_stress()
                       ? take_small_locked(taken, bytes, bytes)
                       : take_tlab_locked(taken, mutator, bytes);
    mutator->allocated_bytes += taken->bytes;
    return is_done;
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

/* From the lock's release to the header's store there is no poll, but in memory_zero_mp(), which
 * takes care of it: a walk in a stop never sees memory of an object that has begun but has no
 * header. */
static void *try_allocate_mp(struct mutator *mutator, uint64_t bytes, bool may_grow)
{
    struct taken taken = { .start = NULL };
    participant_poll(mutator->participant);
    participant_lock(mutator->participant, &heap.lock);
    taken.limit = may_grow ? heap.regions.reserved : heap.goal;
    bool is_done = take_locked(&taken, mutator, bytes);
    if (taken.growth.wanted_bytes)
        heap.was_refused = taken.growth.got_bytes == 0;
    if (heap.goal < heap.regions.committed)
        heap.goal = heap.regions.committed;
    lock_release(&heap.lock);
    if (taken.growth.wanted_bytes)
        log_growth(&taken.growth);
    if (!is_done)
        return NULL;
    poison_allow(taken.start, taken.bytes);
    return memory_zero_mp(mutator, taken.start, bytes, taken.dirty_from, taken.dirty_to);
}

/* --- collections that nothing needs -------------------------------------------------------- */

static uint64_t draw_distance(struct mutator *mutator)
{
    if (!heap.is_stress_random)
        return heap.stress_interval;
    if (mutator->random == 0) /* threads differ; the number is never 0 */
        mutator->random = flags->gc_alot_seed ^ (uint64_t)participant_number(mutator->participant)
                                                    << 32;
    uint64_t random = prng_splitmix(&mutator->random);
    return 1 + (uint64_t)((unsigned __int128)random * (2 * heap.stress_interval) >> 64);
}

static void stress_mp(struct mutator *mutator)
{
    if (mutator->stress_count == 0)
        mutator->stress_count = draw_distance(mutator);
    if (--mutator->stress_count == 0)
        collection_request_mp(mutator, COLLECTION_STRESS, 0);
}

/* After a collection the heap may grow up to -Xmx.  More than one is tried, because others may
 * have taken what the first one freed. */
void *heap_allocate_slow_mp(struct mutator *mutator, size_t bytes)
{
    void *start;
    INSIST(heap.is_on && mutator->participant, "an allocation without %s",
           heap.is_on ? "heap_attach()" : "a heap");
    ASSERT(bytes >= 2 * OBJECT_WORD_BYTES && bytes % OBJECT_WORD_BYTES == 0,
           "an object of %zu bytes", bytes); /* marks need two words: side_tables.h */
    if (bytes > (uint64_t)heap.regions.reserved << heap.regions.region_shift)
        return NULL; /* no collection helps */
    if (is_stress())
        stress_mp(mutator);
    for (unsigned tries = 0;; tries++) {
        uint64_t seen = collection_count();
        start = try_allocate_mp(mutator, bytes, tries > 0);
        if (start || tries == MOST_TRIES || !heap.plan->make_room_mp(mutator, bytes, seen))
            return start;
    }
}
