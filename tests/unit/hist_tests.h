/* hist_tests.h -- what the programs that test histograms and recorders share.
 *
 * Read next: test_hist.c (one writer), test_hist_recorder.c (many).
 * Layer:     tests/, for those two programs: each includes it once, and has its own seed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_HIST_TESTS_H
#define TESTS_UNIT_HIST_TESTS_H

#include "tests/unit/suite.h"
#include "base/hist.h"
#include "base/os.h"
#include "base/prng.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define US UINT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

typedef unsigned long long ull; /* what %llu prints */

static uint64_t seed; /* STILLPOINT_SEED or the clock; every claim holds for every seed */

static inline struct hist *new_hist(void)
{
    struct hist *h = calloc(1, sizeof *h);
    ck_assert_ptr_nonnull(h);
    return h;
}

/* Log-uniform over all values that have a bucket. */
static inline uint64_t log_uniform(struct prng *p)
{
    return (uint64_t)exp2(prng_double(p) * HIST_VALUE_BITS);
}

/* The nearest rank in whole numbers: ceil(permille * n / 1000), at least 1. */
static inline uint64_t exact_at(const uint64_t *sorted, uint64_t n, uint64_t permille)
{
    uint64_t rank = (permille * n + 999) / 1000;
    return sorted[rank ? rank - 1 : 0];
}

/* The values of field report C35, and what a histogram must say of them. */
static const uint64_t field_values[] = {
    0, 1, 999, 1000, 1001, MS, 10 * S, 3600 * S, UINT64_C(1) << 63, UINT64_MAX
};
#define FIELD_VALUES (sizeof field_values / sizeof *field_values)

static inline void assert_is_field_report(const struct hist *h)
{
    ck_assert_uint_eq(hist_count(h), FIELD_VALUES);
    ck_assert_uint_eq(h->overflow, 2);
    ck_assert_uint_eq(hist_min(h), 0);
    ck_assert_uint_eq(hist_max(h), UINT64_MAX);
    ck_assert_uint_eq(h->sum, UINT64_MAX);
    ck_assert_uint_eq(h->sum_saturated, 1);
    ck_assert(hist_verify(h));
    ck_assert_uint_eq(hist_value_at(h, 0), 0);
    ck_assert_uint_eq(hist_value_at(h, 20), 1);
    ck_assert_uint_eq(hist_value_at(h, 90), UINT64_MAX); /* rank 9, the first in overflow */
    ck_assert_uint_eq(hist_value_at(h, 100), UINT64_MAX);
}

/* The body of main(): the program's exit code. */
static inline int run_seeded_suite(Suite *(*create)(void))
{
    const char *given = getenv("STILLPOINT_SEED");
    seed = given ? strtoull(given, NULL, 0) : os_now_ns();
    printf("seed %llu (STILLPOINT_SEED)\n", (ull)seed);
    fflush(stdout); /* before the tests fork */
    return run_suite(create());
}

#endif
