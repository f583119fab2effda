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
    enum err err = vspace_commit(&t->space, (uint64_t)t->committed << t->region_shift,
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

static bool grow(struct region_table *t, uint32_t needed, struct region_growth *growth_out)
{
    uint32_t count = least_of(most_of(needed, t->committed / 4), t->reserved - t->committed);
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
static uint32_t find(const struct region_table *t, uint32_t count)
{
    uint32_t from = t->first_free; /* the run that is being looked at */
    for (uint32_t i = from; i < t->high && i - from < count; i++)
        if (t->region[i].state != REGION_FREE)
            from = i + 1;
    return count <= t->reserved - from ? from : REGION_NONE;
}

static void mark_taken(struct region_table *t, uint32_t first, uint32_t count,
                       enum region_state state)
{
    bool is_humongous = state == REGION_HUMONGOUS_START;
    for (uint32_t i = 0; i < count; i++)
        t->region[first + i].state = is_humongous && i > 0 ? REGION_HUMONGOUS_NEXT : state;
    t->used += count;
    t->humongous += is_humongous ? count : 0;
    t->high = most_of(t->high, first + count);
    while (t->first_free < t->high && t->region[t->first_free].state != REGION_FREE)
        t->first_free++;
}

uint32_t region_take(struct region_table *t, uint32_t count, enum region_state state,
                     struct region_growth *growth_out)
{
    uint32_t first = find(t, count);
    if (first == REGION_NONE)
        return REGION_NONE;
    if (first + count > t->committed && !grow(t, first + count - t->committed, growth_out))
        return REGION_NONE;
    mark_taken(t, first, count, state);
    return first;
}
