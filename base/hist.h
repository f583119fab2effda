/* hist.h -- a log-linear histogram of nanoseconds: fixed size, stated error, mergeable.
 *
 * Read next: hist_record() below, then hist_value_at() in hist.c; hist_recorder.h,
 *            where many threads record at once.
 * Layer:     base/.
 *
 * Promises
 *   H1  count == sum of bucket[] + overflow: no sample is lost.  [checked, hist_verify]
 *   H2  min and max are exact, kept outside the buckets, and lie in the lowest and the
 *       highest place that holds a sample.                       [checked, hist_verify]
 *   H3  A percentile is never below the sample of its rank, and above it by less than
 *       HIST_RELATIVE_ERROR of it; samples below 256 ns are told exactly.  (A rank in
 *       overflow gives max.)
 *   H4  Percentiles rise with p; p0 is min, p100 is max.
 *   H5  Merging is associative and commutative; an empty one changes nothing.
 *   H6  Plain old data without padding or pointers: a copy is a histogram, in this
 *       process or through a pipe to another one of the same build.  (It is larger than
 *       PIPE_BUF, so it may arrive in pieces.)  All bytes zero is the empty one.
 * Asks of callers
 *   C1  One writer at a time, and no reader beside it.
 *
 * Who may call:  [self] the thread that owns the histogram
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_HIST_H
#define BASE_HIST_H

#include <stdbool.h>
#include <stdint.h>

/* Each power of two is cut into 2^7 buckets of equal width.  (The idea is
 * HdrHistogram's, by Gil Tene.)
 *
 * Derivation of the error.  Let v >= 2^7 have its top bit at e, so v >= 2^e.  It shares
 * its bucket with the values that agree in the top bit and the 7 bits after it; the
 * others, e - 7 of them, are free.  A bucket is therefore 2^(e-7) wide, and its upper
 * end exceeds v by at most 2^(e-7) - 1 < 2^e / 2^7 <= v / 128.  Below 2^8 a bucket is
 * one value wide. */
#define HIST_SUB_BITS       7
#define HIST_SUB_BUCKETS    (1 << HIST_SUB_BITS)
#define HIST_RELATIVE_ERROR (1.0 / HIST_SUB_BUCKETS)

/* Values with more bits than this, from 73 minutes on, are counted in overflow. */
#define HIST_VALUE_BITS 42
#define HIST_MOST_NS    ((UINT64_C(1) << HIST_VALUE_BITS) - 1)

/* 2^7 one-wide buckets below 2^7, then 2^7 for each of the top bits 7 .. 41. */
#define HIST_BUCKETS ((HIST_VALUE_BITS - HIST_SUB_BITS + 1) * HIST_SUB_BUCKETS)

struct hist {
    uint64_t count;         /* all samples, those in overflow too */
    uint64_t min, max;      /* 0 when empty */
    uint64_t sum;           /* of all samples; UINT64_MAX once it does not fit */
    uint64_t overflow;      /* samples above HIST_MOST_NS */
    uint64_t sum_saturated; /* 1 when the true sum is above UINT64_MAX, else 0 */
    uint64_t bucket[HIST_BUCKETS];
};
_Static_assert(sizeof(struct hist) == (6 + HIST_BUCKETS) * sizeof(uint64_t), "H6: no padding");

/* The bucket of a value up to HIST_MOST_NS.  shift is e - 7 of the derivation, 0 for all
 * values below 2^8; (value >> shift) keeps the top bit and the 7 bits after it. */
static inline uint32_t hist_bucket_of(uint64_t value)
{
    uint32_t top_bit = 63 - (uint32_t)__builtin_clzll(value | HIST_SUB_BUCKETS);
    uint32_t shift = top_bit - HIST_SUB_BITS;
    return (shift << HIST_SUB_BITS) + (uint32_t)(value >> shift);
}

/* The largest value that falls into a bucket; the inverse of hist_bucket_of(). */
static inline uint64_t hist_bucket_upper_ns(uint32_t bucket)
{
    uint32_t step = bucket >> HIST_SUB_BITS;
    uint32_t shift = step > 0 ? step - 1 : 0;
    uint64_t top = bucket - (shift << HIST_SUB_BITS);
    return ((top + 1) << shift) - 1;
}

/* [self] Back to the empty histogram. */
void hist_clear(struct hist *h);

/* [self] Takes any value.  No loop, no call. */
static inline void hist_record(struct hist *h, uint64_t value)
{
    if (value < h->min || h->count == 0)
        h->min = value;
    if (value > h->max)
        h->max = value;
    h->count++;
    if (__builtin_add_overflow(h->sum, value, &h->sum)) {
        h->sum = UINT64_MAX;
        h->sum_saturated = 1;
    }
    if (__builtin_expect(value > HIST_MOST_NS, 0))
        h->overflow++;
    else
        h->bucket[hist_bucket_of(value)]++;
}

/* [self] Afterwards *into describes the samples of both.  They may be the same. */
void hist_merge(struct hist *into, const struct hist *from);

static inline uint64_t hist_count(const struct hist *h) { return h->count; }
static inline uint64_t hist_min(const struct hist *h) { return h->min; }
static inline uint64_t hist_max(const struct hist *h) { return h->max; }

/* [self] sum / count; 0 when empty, too small when h->sum_saturated. */
double hist_mean(const struct hist *h);

/* [self] The sample of the nearest rank, ceil(percent / 100 * count) but at least 1, as
 * its bucket's upper end clamped to [min, max].  percent is 0 .. 100; what lies outside
 * counts as the nearer end, what is no number as 0.  0 when empty. */
uint64_t hist_value_at(const struct hist *h, double percent);

/* [self] The same for reports: false, and *value_out untouched, when there are fewer
 * than 10 / (1 - percent / 100) samples, because then fewer than ten lie above it and it
 * is an anecdote.  p50 needs 20, p90 100, p99 1000, p99.9 10000; for p100 no number is
 * enough: report the maximum and call it so. */
bool hist_percentile(const struct hist *h, double percent, uint64_t *value_out);

/* [self] True when H1 and H2 hold.  Walks the buckets. */
bool hist_verify(const struct hist *h);

#endif
