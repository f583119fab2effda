/* heap_sizes.c -- see heap_sizes.h.
 *
 * A TLAB of 1/16 region: sixteen threads share a region before one of them needs the
 * next, and what a thread leaves unused is a sixteenth at most.  Above 64 KiB nothing is
 * won: the slow path's lock, some 50 ns, is then paid once in thousands of objects.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/heap_sizes.h"

#include "base/flags.h"
#include "base/os.h"
#include "safepoint/sched_point.h"

#include <stdio.h>

#define KIB UINT64_C(1024)
#define MIB (KIB << 10)
#define GIB (MIB << 10)

#define LEAST_REGION           (64 * KIB)
#define MOST_REGION            (512 * MIB)
#define LEAST_ERGONOMIC_REGION (1 * MIB)
#define MOST_ERGONOMIC_REGION  (32 * MIB)
#define ERGONOMIC_REGIONS      2048 /* HotSpot's goal for G1 */
#define LEAST_TLAB             64   /* bytes; arbitrary, larger than most objects */

static uint64_t clamp(uint64_t n, uint64_t least, uint64_t most)
{
    return n < least ? least : n > most ? most : n;
}

static uint64_t power_of_two_below(uint64_t n)
{
    return n ? UINT64_C(1) << (63 - __builtin_clzll(n)) : 0;
}

/* At least one unit; unit is a power of two. */
static uint64_t round_up(uint64_t n, uint64_t unit)
{
    return n > unit ? (n + unit - 1) & ~(unit - 1) : unit;
}

static uint64_t tlab_for(uint64_t asked, uint64_t region_bytes)
{
    uint64_t bytes = asked ? clamp(asked, LEAST_TLAB, region_bytes / 2)
                           : clamp(region_bytes / 16, 2 * KIB, 64 * KIB);
    return SIZE_OR_TINY(bytes, asked ? bytes : 1000) & ~(uint64_t)7;
}

/* -Xms alone, above the default of -Xmx, raises the latter, as in HotSpot. */
struct heap_sizes heap_sizes_for(struct heap_sizes asked, uint64_t memory_bytes)
{
    struct heap_sizes s;
    uint64_t most = asked.max_bytes ? asked.max_bytes : memory_bytes / 4;
    if (!asked.max_bytes && asked.initial_bytes > most)
        most = asked.initial_bytes;
    s.region_bytes = asked.region_bytes
                         ? clamp(power_of_two_below(asked.region_bytes), LEAST_REGION, MOST_REGION)
                         : clamp(power_of_two_below(most / ERGONOMIC_REGIONS),
                                 LEAST_ERGONOMIC_REGION, MOST_ERGONOMIC_REGION);
    s.max_bytes = round_up(most, s.region_bytes);
    s.initial_bytes =
        round_up(asked.initial_bytes ? asked.initial_bytes : memory_bytes / 64, s.region_bytes);
    if (s.initial_bytes > s.max_bytes)
        s.initial_bytes = s.max_bytes;
    s.tlab_bytes = tlab_for(asked.tlab_bytes, s.region_bytes);
    return s;
}

static uint64_t asked_for(const char *spelling, uint64_t value)
{
    return flags_origin_of(spelling) == FLAGS_ORIGIN_ERGONOMIC ? 0 : value;
}

struct heap_sizes heap_sizes_of_flags(void)
{
    struct heap_sizes asked = {
        .max_bytes = asked_for("MaxHeapSize", flags->max_heap_size),
        .initial_bytes = asked_for("InitialHeapSize", flags->initial_heap_size),
        .region_bytes = asked_for("G1HeapRegionSize", flags->g1_heap_region_size),
        .tlab_bytes = asked_for("TLABSize", flags->tlab_size),
    };
    return heap_sizes_for(asked, os_memory_bytes());
}

static void fill(const char *spelling, uint64_t used)
{
    enum flags_origin origin = flags_origin_of(spelling);
    if (origin == FLAGS_ORIGIN_DEFAULT || origin == FLAGS_ORIGIN_ERGONOMIC)
        flags_set_ergonomic(spelling, used);
}

void heap_sizes_fill_flags(void)
{
    struct heap_sizes s = heap_sizes_of_flags();
    fill("MaxHeapSize", s.max_bytes);
    fill("InitialHeapSize", s.initial_bytes);
    fill("G1HeapRegionSize", s.region_bytes);
    fill("TLABSize", s.tlab_bytes);
}

void heap_sizes_text(uint64_t size, char *text_out, size_t bytes)
{
    static const struct {
        uint64_t unit;
        char letter;
    } units[] = { { GIB, 'G' }, { MIB, 'M' }, { KIB, 'K' }, { 1, 'B' } };
    size_t i = 0;
    while (size < units[i].unit && units[i].unit > 1)
        i++;
    while (size % units[i].unit)
        i++;
    snprintf(text_out, bytes, "%llu%c", (unsigned long long)(size / units[i].unit),
             units[i].letter);
}
