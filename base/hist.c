/* hist.c -- merging, percentiles and the self-check of hist.h.
 *
 * Note [R] Rounding.  A percentile such as 99.9 has no exact double, and the rules of
 *   hist.h have an edge at round counts: exactly 10000 samples must give p99.9, and it
 *   is their rank 9990, not 9991.  Both computations therefore lean, by a little more
 *   than their own rounding error, to the side on which the exact result would lie.
 *   Compared with exact arithmetic this moves a result only when the exact one is nearer
 *   to the edge than doubles can tell.
 *
 * SPDX-License-Identifier: MIT */
#include "base/hist.h"

#include <string.h>

void hist_clear(struct hist *h) { memset(h, 0, sizeof *h); }

/* Saturation is associative: the sum is UINT64_MAX with the flag exactly when the true
 * sum does not fit, in whatever order the parts came. */
static void merge_sum(struct hist *into, const struct hist *from)
{
    into->sum_saturated |= from->sum_saturated;
    if (__builtin_add_overflow(into->sum, from->sum, &into->sum))
        into->sum_saturated = 1;
    if (into->sum_saturated)
        into->sum = UINT64_MAX;
}

void hist_merge(struct hist *into, const struct hist *from)
{
    if (from->count == 0) /* its min is no sample */
        return;
    if (from->min < into->min || into->count == 0)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    into->overflow += from->overflow;
    merge_sum(into, from);
    for (uint32_t i = 0; i < HIST_BUCKETS; i++)
        into->bucket[i] += from->bucket[i];
}

double hist_mean(const struct hist *h) { return h->count ? (double)h->sum / (double)h->count : 0; }

/* ceil(percent / 100 * count), in 1 .. count; count > 0.  Note [R]: percent, quotient,
 * count and product are each off by at most a factor of 1 +- 2^-53, together less than
 * 2^-50. */
static uint64_t rank_of(uint64_t count, double percent)
{
    if (!(percent > 0)) /* true for NaN as well */
        return 1;
    if (percent >= 100)
        return count;
    double exact = percent / 100 * (double)count * (1 - 0x1p-50);
    uint64_t rank = (uint64_t)exact;
    if ((double)rank < exact)
        rank++;
    if (rank < 1)
        return 1;
    return rank < count ? rank : count;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    if (value < low)
        return low;
    return value < high ? value : high;
}

uint64_t hist_value_at(const struct hist *h, double percent)
{
    if (h->count == 0)
        return 0;
    uint64_t rank = rank_of(h->count, percent), seen = 0;
    if (rank == 1) /* min and max are known better than their buckets */
        return h->min;
    if (rank == h->count)
        return h->max;
    for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
        seen += h->bucket[i];
        if (seen >= rank)
            return clamp(hist_bucket_upper_ns(i), h->min, h->max);
    }
    return h->max; /* the rank lies in overflow */
}

/* count >= 10 / (1 - p/100), multiplied out.  Note [R]: 100 - p is exact for p >= 50, so
 * what is wrong with it is p's own rounding, at most 2^-47 between 64 and 128. */
bool hist_percentile(const struct hist *h, double percent, uint64_t *value_out)
{
    if (!(percent >= 0 && percent < 100))
        return false;
    if ((double)h->count * (100 - percent + 0x1p-46) < 1000)
        return false;
    *value_out = hist_value_at(h, percent);
    return true;
}

/* A place is a bucket, or HIST_BUCKETS for overflow. */
static uint32_t place_of(uint64_t value)
{
    return value > HIST_MOST_NS ? HIST_BUCKETS : hist_bucket_of(value);
}

bool hist_verify(const struct hist *h)
{
    uint64_t placed = 0;
    uint32_t lowest = HIST_BUCKETS, highest = 0;
    for (uint32_t i = 0; i <= HIST_BUCKETS; i++) {
        uint64_t here = i < HIST_BUCKETS ? h->bucket[i] : h->overflow;
        if (here == 0)
            continue;
        placed += here;
        lowest = i < lowest ? i : lowest;
        highest = i;
    }
    if (h->count != placed) /* H1 */
        return false;
    if (h->count == 0)
        return h->min == 0 && h->max == 0 && h->sum == 0;
    return place_of(h->min) == lowest && place_of(h->max) == highest; /* H2 */
}
