/* region.c -- first fit over the records, and growth.
 *
 * Growth.  When free regions run out the committed part grows by what is needed, but by a
 * quarter of itself at least: the number of calls to the system then goes with the
 * logarithm of the heap, and at most a fifth of the committed part is ahead of need.  Being
 * ahead costs little, since memory that nobody has touched has no pages yet.  A refused
 * run is halved until it is what is needed; what was got is kept.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/region.h"

#include "base/insist.h"
#include "base/os.h"
#include "gc/poison.h"
#include "gc/side_tables.h"

enum err region_table_start(struct region_table *t, uint64_t max_bytes, uint64_t region_bytes)
{
    struct region_table made = {
        .region_bytes = region_bytes,
        .region_shift = (unsigned)__builtin_ctzll(region_bytes),
        .reserved = (uint32_t)(max_bytes / region_bytes),
    };
    INSIST(max_bytes % region_bytes == 0 && max_bytes / region_bytes < REGION_NONE,
           "%llu bytes in regions of %llu", (unsigned long long)max_bytes,
           (unsigned long long)region_bytes);
    enum err err = vspace_reserve(&made.space, max_bytes);
    if (err != ERR_OK)
        return err;
    made.region = os_map(made.reserved * sizeof *made.region); /* zero, and not touched: R1 */
    if (!made.region) {
        vspace_release(&made.space);
        return ERR_NO_MEMORY;
    }
    *t = made;
    return ERR_OK;
}

void region_table_end(struct region_table *t)
{
    os_unmap(t->region, t->reserved * sizeof *t->region);
    vspace_release(&t->space);
    *t = (struct region_table){ .region = NULL };
}

static enum err commit_more(struct region_table *t, uint32_t count)
{
    enum err err = ERR_OK;
    if (t->side)
        err = side_tables_commit(t->side, (uint64_t)(t->committed + count) << t->region_shift);
    if (err == ERR_OK)
        err = vspace_commit(&t->space, (uint64_t)t->committed << t->region_shift,
                            (uint64_t)count << t->region_shift);
    if (err == ERR_OK)
        t->committed += count;
    return err;
}

enum err region_commit_first(struct region_table *t, uint32_t count)
{
    INSIST(count > t->committed && count <= t->reserved, "%u of %u regions, %u before", count,
           t->reserved, t->committed);
    return commit_more(t, count - t->committed);
}

static uint32_t least_of(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t most_of(uint32_t a, uint32_t b) { return a > b ? a : b; }

static bool grow(struct region_table *t, uint32_t needed, uint32_t limit,
                 struct region_growth *growth_out)
{
    uint32_t count = least_of(most_of(needed, t->committed / 4), limit - t->committed);
    growth_out->wanted_bytes = (uint64_t)count << t->region_shift;
    while (commit_more(t, count) != ERR_OK) {
        if (count == needed)
            return false;
        count = most_of(needed, count / 2);
    }
    growth_out->got_bytes = (uint64_t)count << t->region_shift;
    return true;
}

/* Records above high are FREE and need no look: a page of them stays untouched. */
static uint32_t find(const struct region_table *t, uint32_t count, uint32_t limit)
{
    uint32_t from = t->first_free; /* the run that is being looked at */
    for (uint32_t i = from; i < t->high && i - from < count; i++)
        if (t->region[i].state != REGION_FREE)
            from = i + 1;
    return from < limit && count <= limit - from ? from : REGION_NONE;
}

static void unclose(struct region_table *t, uint32_t index)
{
    if (t->region[index].is_closed)
        poison_open(region_bottom(t, index), t->region_bytes);
    t->region[index].is_closed = false;
}

static void mark_taken(struct region_table *t, uint32_t first, uint32_t count,
                       enum region_state state)
{
    bool is_humongous = state == REGION_HUMONGOUS_START;
    for (uint32_t i = 0; i < count; i++) {
        unclose(t, first + i);
        t->region[first + i].state = is_humongous && i > 0 ? REGION_HUMONGOUS_NEXT : state;
    }
    t->used += count;
    t->humongous += is_humongous ? count : 0;
    t->high = most_of(t->high, first + count);
    while (t->first_free < t->high && t->region[t->first_free].state != REGION_FREE)
        t->first_free++;
}

uint32_t region_take(struct region_table *t, uint32_t count, enum region_state state,
                     uint32_t limit, struct region_growth *growth_out)
{
    uint32_t first = find(t, count, limit);
    if (first == REGION_NONE)
        return REGION_NONE;
    if (first + count > t->committed && !grow(t, first + count - t->committed, limit, growth_out))
        return REGION_NONE;
    mark_taken(t, first, count, state);
    return first;
}

/* --- in a collection ---------------------------------------------------------------- */

static void note_dirty(struct region *region, uint64_t bytes)
{
    if (region->dirty_bytes < bytes)
        region->dirty_bytes = bytes;
}

static void close_region(struct region_table *t, uint32_t index)
{
    if (!poison_closes_regions())
        return;
    t->region[index].is_closed = true;
    poison_close(region_bottom(t, index), t->region_bytes);
}

void region_open(struct region_table *t, uint32_t index, uint64_t bytes)
{
    unclose(t, index);
    poison_allow(region_bottom(t, index), bytes);
}

void region_free(struct region_table *t, uint32_t first, uint32_t count)
{
    uint64_t left = t->region[first].used_bytes;
    for (uint32_t i = first; i < first + count; i++) {
        struct region *region = &t->region[i];
        uint64_t bytes = left < t->region_bytes ? left : t->region_bytes;
        note_dirty(region, bytes);
        left -= bytes;
        region->state = REGION_FREE;
        region->used_bytes = 0;
        close_region(t, i);
    }
}

void region_set_used(struct region_table *t, uint32_t index, uint64_t used_bytes)
{
    struct region *region = &t->region[index];
    note_dirty(region, region->used_bytes);
    bool was_free = region->state == REGION_FREE;
    region->state = used_bytes ? REGION_SMALL : REGION_FREE;
    region->used_bytes = used_bytes;
    if (used_bytes)
        poison_free_memory(region_bottom(t, index) + used_bytes, t->region_bytes - used_bytes);
    else if (!was_free)
        close_region(t, index);
}

void region_table_settle(struct region_table *t)
{
    uint32_t end = t->committed;
    t->used = t->humongous = t->high = 0;
    t->first_free = end;
    for (uint32_t i = 0; i < end; i++) {
        if (t->region[i].state == REGION_FREE) {
            t->first_free = least_of(t->first_free, i);
            continue;
        }
        t->used++;
        t->humongous += t->region[i].state > REGION_SMALL;
        t->high = i + 1;
    }
    t->first_free = least_of(t->first_free, t->high);
}
