/* slide_plan.c -- where everything will be: live words, stripes, destinations.
 *
 * Note [P] In place.  The regions are cut into stripes, neighbours one after another, and each
 *   stripe is compacted by one worker by itself.  Within a stripe the small regions are sources, in
 *   the order of their addresses, and all regions but those of living humongous objects are
 *   destinations, in the same order.  So the k-th source is at or above the k-th destination.
 *   What lives in the first k sources fits into the first k destinations: each destination is
 *   left only when the next object does not fit, and the rest of a source, being less than a
 *   region, fits into the next.  So an object never moves up; and when a destination region is
 *   its own source, what it is filled with comes from the same region, lower objects first.
 *   Every word is therefore read before anything is written over it.
 *   A source's objects go to two destinations at most.  An object never lies in two regions.
 *
 * Note [D] The divided block.  Where a source's objects go over to the second destination,
 *   objects of one block may go to both.  Such a block has the lowest bit of its destination
 *   set, and the region's record says from which address on the second holds.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/slide_priv.h"

#include "base/insist.h"
#include "base/os.h"

#define REGIONS_AT_ONCE    8 /* taken by a worker of a phase without stripes; arbitrary */
#define REGIONS_PER_STRIPE 4 /* at least: each stripe may leave one that is not full */

struct slide slide;
static uint32_t source_room, sources_touched;
static size_t source_bytes;

/* Mapped for all that the heap may get, for it may grow until the stop begins; touched for what
 * there is now. */
enum err slide_ready(uint32_t regions, uint32_t most)
{
    if (!slide.sources) {
        source_bytes = most * sizeof *slide.sources;
        slide.sources = os_map(source_bytes);
        source_room = slide.sources ? most : 0;
    }
    if (!slide.sources)
        return ERR_NO_MEMORY;
    for (; sources_touched < regions; sources_touched++)
        *(volatile uint64_t *)&slide.sources[sources_touched].live_words = 0; /* not in the stop */
    return ERR_OK;
}

void slide_end(void)
{
    if (slide.sources)
        os_unmap(slide.sources, source_bytes);
    slide.sources = NULL;
    source_room = sources_touched = 0;
}

void slide_run_on_regions(unsigned workers, void (*work)(void *unused, unsigned worker))
{
    store_relaxed(&slide.next, 0); /* the gang's start publishes it */
    gang_run(heap.gang, workers, work, NULL);
}

bool slide_take_regions(uint32_t *from_out, uint32_t *to_out)
{
    uint32_t from = fetch_add_relaxed(&slide.next, REGIONS_AT_ONCE); /* a ticket */
    *from_out = from;
    *to_out =
        from + REGIONS_AT_ONCE < heap.regions.high ? from + REGIONS_AT_ONCE : heap.regions.high;
    return from < heap.regions.high;
}

/* --- how much lives where ----------------------------------------------------------------- */

static uint64_t covered(uint64_t bits, uint64_t carry) { return bits | bits << 1 | carry; }

static uint64_t blocks_of(const struct region *region)
{
    return (region->used_bytes + BLOCK_BYTES - 1) >> BLOCK_SHIFT;
}

static const _Atomic uint64_t *marks_of(uint32_t index)
{
    return &heap.side.marks[block_of(&heap.side, region_bottom(&heap.regions, index))];
}

static void count_live(uint32_t index)
{
    const _Atomic uint64_t *marks = marks_of(index);
    uint64_t count = blocks_of(&heap.regions.region[index]), words = 0, objects = 0, carry = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = load_relaxed(&marks[i]); /* marking is over */
        words += (uint64_t)__builtin_popcountll(covered(bits, carry));
        objects += (uint64_t)__builtin_popcountll(bits & ~(bits << 1 | carry));
        carry = bits >> (BLOCK_WORDS - 1);
    }
    slide.sources[index].live_words = words;
    slide.sources[index].live_objects = objects;
}

static void count_work(void *unused, unsigned worker)
{
    (void)unused, (void)worker;
    for (uint32_t i, to; slide_take_regions(&i, &to);)
        for (; i < to; i++) {
            slide.sources[i] = (struct source){ .live_words = 0 };
            if (heap.regions.region[i].state == REGION_SMALL)
                count_live(i);
        }
}

/* --- where it goes -------------------------------------------------------------------------- */

/* Humongous objects that are dead have been freed by now. */
static bool is_destination(uint32_t index)
{
    enum region_state state = heap.regions.region[index].state;
    return slide.must_move ? state == REGION_FREE : state == REGION_SMALL || state == REGION_FREE;
}

/* The place where the next object of a stripe goes. */
struct cursor {
    uint32_t index, end; /* the region; end: none from here on is ours */
    uint64_t used_words;
};

static void go_to_next(struct cursor *c)
{
    do
        c->index++;
    while (c->index < c->end && !is_destination(c->index));
    INSIST(c->index < c->end, "objects of a stripe do not fit into its regions");
    c->used_words = 0;
}

static char *cursor_address(const struct cursor *c)
{
    return region_bottom(&heap.regions, c->index) + c->used_words * OBJECT_WORD_BYTES;
}

static void cursor_add(struct cursor *c, uint64_t words)
{
    c->used_words += words;
    slide.sources[c->index].used_after = c->used_words * OBJECT_WORD_BYTES;
}

static uint64_t starts_in(const _Atomic uint64_t *marks, uint64_t block)
{
    uint64_t bits = load_relaxed(&marks[block]); /* marking is over */
    uint64_t before = block > 0 ? load_relaxed(&marks[block - 1]) : 0;
    return bits & ~(bits << 1 | before >> (BLOCK_WORDS - 1));
}

/* The number, in the region, of its live word number `wanted`; both count from 0. */
static uint64_t find_live_word(const _Atomic uint64_t *marks, uint64_t wanted)
{
    uint64_t carry = 0;
    for (uint64_t block = 0;; block++) {
        uint64_t bits = load_relaxed(&marks[block]); /* marking is over */
        uint64_t live = covered(bits, carry), count = (uint64_t)__builtin_popcountll(live);
        if (wanted < count) {
            for (; wanted > 0; wanted--)
                live &= live - 1;
            return block * BLOCK_WORDS + (uint64_t)__builtin_ctzll(live);
        }
        wanted -= count;
        carry = bits >> (BLOCK_WORDS - 1);
    }
}

/* The first object of the region that does not end within its first `rest` live words; how many
 * of them lie before it.  There is one. */
static char *find_division(uint32_t index, uint64_t rest, uint64_t *words_out)
{
    const _Atomic uint64_t *marks = marks_of(index);
    uint64_t word = find_live_word(marks, rest), block = word / BLOCK_WORDS;
    uint64_t starts = starts_in(marks, block);
    starts &= ~UINT64_C(0) >> (BLOCK_WORDS - 1 - word % BLOCK_WORDS);
    while (!starts) /* it began in an earlier block */
        starts = starts_in(marks, --block);
    uint64_t start = block * BLOCK_WORDS + 63 - (uint64_t)__builtin_clzll(starts);
    *words_out = rest - (word - start);
    return region_bottom(&heap.regions, index) + start * OBJECT_WORD_BYTES;
}

static void place_region(uint32_t index, struct cursor *c)
{
    struct source *s = &slide.sources[index];
    uint64_t region_words = heap.regions.region_bytes / OBJECT_WORD_BYTES;
    if (c->used_words == region_words)
        go_to_next(c);
    uint64_t rest = region_words - c->used_words, before = s->live_words;
    s->first_to = cursor_address(c);
    if (s->live_words > rest) {
        char *at = find_division(index, rest, &before);
        cursor_add(c, before);
        go_to_next(c);
        if (before == 0)
            s->first_to = cursor_address(c); /* all of it goes there */
        else
            s->divided_at = at;
        s->second_to = cursor_address(c);
        before = s->live_words - before;
    }
    cursor_add(c, before);
}

static void place_stripe(uint32_t from, uint32_t to)
{
    struct cursor c = { from, slide.must_move ? heap.regions.committed : to, 0 };
    while (c.index < c.end && !is_destination(c.index))
        c.index++;
    for (uint32_t i = from; i < to; i++)
        if (slide_is_source(i))
            place_region(i, &c);
}

/* Stripes of about equal live words; a stripe ends with a region. */
static void place_all(unsigned stripes)
{
    uint64_t live = 0, so_far = 0;
    uint32_t from = 0;
    for (uint32_t i = 0; i < heap.regions.high; i++)
        live += slide.sources[i].live_words;
    slide.stripe_count = 0;
    for (uint32_t i = 0; i < heap.regions.high; i++) {
        so_far += slide.sources[i].live_words;
        bool is_last = i + 1 == heap.regions.high;
        if (!is_last && so_far * stripes < live * (slide.stripe_count + 1))
            continue;
        if (!is_last && slide.stripe_count + 1 == stripes)
            continue; /* the last one takes all that is left */
        slide.stripe[slide.stripe_count++] = (struct stripe){ .from = from, .to = i + 1 };
        place_stripe(from, i + 1);
        from = i + 1;
    }
}

/* --- new addresses of blocks ------------------------------------------------------------------ */

/* What is added to the address of a block's first live word: when the block begins with the last
 * word of an object that reaches into it, no mark tells of that word. */
static uint64_t unmarked_first(uint64_t bits, uint64_t carry) { return carry & ~bits & 1; }

static void fill_destinations(uint32_t index)
{
    const struct source *s = &slide.sources[index];
    const _Atomic uint64_t *marks = marks_of(index);
    char *bottom = region_bottom(&heap.regions, index);
    uint64_t first = block_of(&heap.side, bottom), count = blocks_of(&heap.regions.region[index]);
    uint64_t division = s->divided_at ? block_of(&heap.side, s->divided_at) - first : UINT64_MAX;
    uint64_t to = (uint64_t)(uintptr_t)s->first_to, carry = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = load_relaxed(&marks[i]), live = covered(bits, carry); /* marking is over */
        uint64_t destination = to + 8 * unmarked_first(bits, carry);
        to += 8 * (uint64_t)__builtin_popcountll(live);
        if (i == division) {
            unsigned at = bit_of(&heap.side, s->divided_at);
            destination |= SLIDE_DIVIDED;
            to = (uint64_t)(uintptr_t)s->second_to + 8 * (uint64_t)__builtin_popcountll(live >> at);
        }
        heap.side.destinations[first + i] = destination;
        carry = bits >> (BLOCK_WORDS - 1);
    }
}

/* A humongous object stays: the one mark of its first block leads to where it is. */
static void destinations_work(void *unused, unsigned worker)
{
    (void)unused, (void)worker;
    for (uint32_t i, to; slide_take_regions(&i, &to);)
        for (; i < to; i++) {
            char *bottom = region_bottom(&heap.regions, i);
            if (heap.regions.region[i].state == REGION_HUMONGOUS_START)
                heap.side.destinations[block_of(&heap.side, bottom)] = (uint64_t)(uintptr_t)bottom;
            else if (slide_is_source(i))
                fill_destinations(i);
        }
}

static void free_dead_humongous(void)
{
    struct region_table *t = &heap.regions;
    for (uint32_t i = 0, count = 1; i < t->high; i += count) {
        bool is_start = t->region[i].state == REGION_HUMONGOUS_START;
        count = is_start ? (uint32_t)region_count_for(t, t->region[i].used_bytes) : 1;
        if (is_start && !is_marked(&heap.side, region_bottom(t, i)))
            region_free(t, i, count);
    }
}

static struct slide_live sum_live(void)
{
    struct slide_live live = { 0, 0, 0 };
    for (uint32_t i = 0; i < heap.regions.high; i++) {
        const struct region *region = &heap.regions.region[i];
        bool is_humongous = region->state == REGION_HUMONGOUS_START;
        live.objects += is_humongous ? 1 : slide.sources[i].live_objects;
        live.small_bytes += slide.sources[i].live_words * OBJECT_WORD_BYTES;
        live.bytes +=
            is_humongous ? region->used_bytes : slide.sources[i].live_words * OBJECT_WORD_BYTES;
    }
    return live;
}

static bool has_room_to_move(void)
{
    uint32_t sources_count = 0, free_count = 0;
    for (uint32_t i = 0; i < heap.regions.committed; i++) {
        sources_count += i < heap.regions.high && slide_is_source(i);
        free_count += heap.regions.region[i].state == REGION_FREE;
    }
    return free_count >= sources_count;
}

struct slide_live slide_prepare(unsigned workers, bool is_tight, bool must_move)
{
    uint32_t small = heap.regions.used - heap.regions.humongous;
    INSIST(heap.regions.high <= source_room, "%u regions, %u records", heap.regions.high,
           source_room);
    slide_run_on_regions(workers, count_work);
    free_dead_humongous();
    slide.must_move = must_move && has_room_to_move();
    for (uint32_t i = heap.regions.high; slide.must_move && i < heap.regions.committed; i++)
        slide.sources[i] = (struct source){ .live_words = 0 };
    bool is_one = is_tight || slide.must_move || small < REGIONS_PER_STRIPE * workers;
    place_all(is_one ? 1 : workers);
    for (uint32_t i = 0; i < (slide.must_move ? heap.regions.committed : heap.regions.high); i++)
        if (slide.sources[i].used_after > 0)
            region_open(&heap.regions, i, slide.sources[i].used_after);
    slide_run_on_regions(workers, destinations_work);
    return sum_live();
}
