/* test_hist.c -- base/hist.h, base/prng.h: field report C35.
 *
 * Read next: base/hist.h, whose promises H1..H6 the tests cite; test_hist_recorder.c.
 *
 * The oracle for percentiles is the array of the raw values; ranks in it are found in
 * whole numbers.  A control stands beside the cure: a coarse linear histogram that
 * interpolates.
 *
 * Faults planted by hand, three runs each, and the tests that failed:
 *   a bucket's upper end is off by one, or its lower end: buckets_tile...
 *   percentiles without the lean of Note [R]: ranks_are..., percentile_is_refused...
 *   a merge forgets that a sum saturated, or takes the min of an empty one: merging_is...
 *
 * SPDX-License-Identifier: MIT */
#include "base/hist.h"
#include "base/prng.h"
#include "tests/unit/hist_tests.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- histograms ------------------------------------------------------------- */

START_TEST(buckets_tile_the_range_without_gap_and_within_the_stated_error)
{
    ck_assert_double_eq(HIST_RELATIVE_ERROR, 1.0 / 128);
    uint64_t lower = 0;
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        uint64_t upper = hist_bucket_upper_ns(i);
        ck_assert_uint_eq(hist_bucket_of(lower), i);
        ck_assert_uint_eq(hist_bucket_of(upper), i);
        ck_assert_uint_eq(hist_bucket_of(lower + (upper - lower) / 2), i);
        ck_assert_msg((upper - lower) * 128 <= lower, "bucket %u is %llu .. %llu", i, (ull)lower,
                      (ull)upper);
        if (lower < 256)
            ck_assert_uint_eq(upper, lower);
        lower = upper + 1;
    }
    ck_assert_uint_eq(lower, HIST_MOST_NS + 1);
}
END_TEST

START_TEST(extreme_values_are_counted_and_the_sum_says_that_it_saturated)
{
    struct hist *h = new_hist();
    uint64_t sum = 0;
    for (size_t i = 0; i < FIELD_VALUES - 2; i++) {
        hist_record(h, field_values[i]);
        sum += field_values[i];
    }
    ck_assert_uint_eq(h->overflow, 0);
    ck_assert_uint_eq(h->sum, sum);
    ck_assert_uint_eq(h->sum_saturated, 0);
    ck_assert_double_eq(hist_mean(h), (double)sum / (FIELD_VALUES - 2));
    hist_record(h, field_values[FIELD_VALUES - 2]);
    hist_record(h, field_values[FIELD_VALUES - 1]);
    assert_is_field_report(h);
    hist_record(h, 5);
    ck_assert_uint_eq(h->sum, UINT64_MAX); /* stays there */

    hist_clear(h);
    hist_record(h, HIST_MOST_NS);
    ck_assert_uint_eq(h->overflow, 0);
    hist_record(h, HIST_MOST_NS + 1);
    ck_assert_uint_eq(h->overflow, 1);
    ck_assert(hist_verify(h));
    free(h);
}
END_TEST

START_TEST(sum_of_exactly_the_largest_number_is_not_called_saturated)
{
    struct hist *h = new_hist();
    hist_record(h, UINT64_MAX - 7);
    hist_record(h, 7);
    ck_assert_uint_eq(h->sum, UINT64_MAX);
    ck_assert_uint_eq(h->sum_saturated, 0);
    hist_record(h, 1);
    ck_assert_uint_eq(h->sum, UINT64_MAX);
    ck_assert_uint_eq(h->sum_saturated, 1);
    free(h);
}
END_TEST

START_TEST(empty_histogram_answers_everything)
{
    struct hist *h = new_hist();
    uint64_t out = 77;
    ck_assert_uint_eq(hist_count(h), 0);
    ck_assert_uint_eq(hist_min(h), 0);
    ck_assert_uint_eq(hist_max(h), 0);
    ck_assert_double_eq(hist_mean(h), 0);
    for (int p = 0; p <= 100; p += 50)
        ck_assert_uint_eq(hist_value_at(h, p), 0);
    ck_assert(!hist_percentile(h, 50, &out));
    ck_assert_uint_eq(out, 77);
    ck_assert(hist_verify(h));

    struct hist *full = new_hist(); /* H6: all bytes zero is what clear leaves */
    hist_record(full, 42);
    ck_assert(memcmp(h, full, sizeof *h) != 0);
    hist_clear(full);
    ck_assert(memcmp(h, full, sizeof *h) == 0);
    free(h);
    free(full);
}
END_TEST

/* The disease: 100 buckets of 10 ms, and a percentile is the place where a straight line
 * through its bucket reaches the rank. */
struct coarse {
    uint64_t count, bucket[100];
};

static void coarse_record(struct coarse *c, uint64_t ns)
{
    uint64_t i = ns / (10 * MS);
    c->count++;
    c->bucket[i < 99 ? i : 99]++;
}

static double coarse_value_at(const struct coarse *c, double percentile)
{
    double left = percentile / 100 * (double)c->count;
    for (int i = 0; i < 100; i++) {
        if (c->bucket[i] > 0 && left <= (double)c->bucket[i])
            return (i + left / (double)c->bucket[i]) * (double)(10 * MS);
        left -= (double)c->bucket[i];
    }
    return (double)(1000 * MS);
}

START_TEST(equal_samples_have_their_value_as_percentiles_where_interpolation_invents_them)
{
    const uint64_t values[] = { 275 * US, 20 * US };
    struct coarse coarse[2] = { 0 };
    for (int k = 0; k < 2; k++) {
        struct hist *h = new_hist();
        for (int i = 0; i < 10000; i++) {
            hist_record(h, values[k]);
            coarse_record(&coarse[k], values[k]);
        }
        uint64_t p50 = 0, p99 = 0;
        ck_assert(hist_percentile(h, 50, &p50));
        ck_assert(hist_percentile(h, 99, &p99));
        ck_assert_uint_eq(p50, values[k]); /* within 1/128, and clamped to max */
        ck_assert_uint_eq(p99, values[k]);
        /* Without the help of the clamp: one smaller and one larger sample. */
        hist_record(h, 1);
        hist_record(h, S);
        uint64_t bare = hist_value_at(h, 50);
        ck_assert_msg(bare >= values[k] && (bare - values[k]) * 128 <= values[k], "p50 %llu",
                      (ull)bare);
        free(h);
    }
    for (int k = 0; k < 2; k++) {
        double p50 = coarse_value_at(&coarse[k], 50), p99 = coarse_value_at(&coarse[k], 99);
        printf("control: all samples %llu ns, coarse p50 %.0f ns, p99 %.0f ns\n", (ull)values[k],
               p50, p99);
        ck_assert_double_gt(p50, 10 * (double)values[k]);
        ck_assert_double_gt(p99, 10 * (double)values[k]);
        ck_assert_double_eq_tol(p99 / p50, 99.0 / 50, 1e-9); /* whatever the latency */
    }
}
END_TEST

START_TEST(percentile_is_refused_below_ten_samples_above_it)
{
    const struct {
        double percentile;
        uint64_t enough;
    } rows[] = { { 0, 10 },        { 50, 20 },        { 75, 40 },         { 90, 100 },
                 { 95, 200 },      { 99, 1000 },      { 99.5, 2000 },     { 99.9, 10000 },
                 { 99.95, 20000 }, { 99.99, 100000 }, { 99.999, 1000000 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hist *h = new_hist();
        uint64_t out = 77;
        for (uint64_t k = 1; k < rows[i].enough; k++)
            hist_record(h, 100);
        ck_assert_msg(!hist_percentile(h, rows[i].percentile, &out), "p%g from %llu samples",
                      rows[i].percentile, (ull)hist_count(h));
        ck_assert_uint_eq(out, 77);
        hist_record(h, 100);
        ck_assert_msg(hist_percentile(h, rows[i].percentile, &out), "no p%g from %llu samples",
                      rows[i].percentile, (ull)hist_count(h));
        ck_assert_uint_eq(out, 100);
        ck_assert(!hist_percentile(h, 100, &out));
        ck_assert(!hist_percentile(h, 101, &out));
        ck_assert(!hist_percentile(h, -1, &out));
        ck_assert(!hist_percentile(h, (double)NAN, &out));
        free(h);
    }
}
END_TEST

/* Values below 256 are told exactly, so a rank too many or too few shows. */
START_TEST(ranks_are_exact_in_spite_of_rounding)
{
    for (uint64_t n = 1; n <= 200; n++) {
        struct hist *h = new_hist();
        uint64_t raw[200];
        for (uint64_t i = 0; i < n; i++)
            hist_record(h, raw[i] = i);
        for (uint64_t permille = 0; permille <= 1000; permille++)
            ck_assert_msg(hist_value_at(h, (double)permille / 10) == exact_at(raw, n, permille),
                          "p%.1f of %llu", (double)permille / 10, (ull)n);
        ck_assert_uint_eq(hist_value_at(h, -5), 0);
        ck_assert_uint_eq(hist_value_at(h, (double)NAN), 0);
        ck_assert_uint_eq(hist_value_at(h, 500), n - 1);
        free(h);
    }
    struct hist *h = new_hist(); /* p99.9 of 10000 is rank 9990 */
    for (int i = 1; i <= 10000; i++)
        hist_record(h, i <= 9990 ? 10 : 20);
    ck_assert_uint_eq(hist_value_at(h, 99.9), 10);
    ck_assert_uint_eq(hist_value_at(h, 99.91), 20);
    free(h);
}
END_TEST

static void fill(struct hist *h, struct prng *p, bool with_giants)
{
    uint64_t n = prng_below(p, 3000);
    for (uint64_t i = 0; i < n; i++)
        hist_record(h, with_giants && prng_below(p, 8) == 0 ? prng_next(p) >> prng_below(p, 20)
                                                            : log_uniform(p));
}

START_TEST(merging_is_associative_and_commutative_and_loses_nothing)
{
    struct prng p;
    prng_seed(&p, seed);
    uint64_t saturated = 0;
    for (int round = 0; round < 20; round++) {
        struct hist *part[3], *left = new_hist(), *right = new_hist(), *bc = new_hist();
        for (int k = 0; k < 3; k++)
            fill(part[k] = new_hist(), &p, round % 2);
        hist_merge(left, part[0]); /* (a + b) + c */
        hist_merge(left, part[1]);
        hist_merge(left, part[2]);
        hist_merge(bc, part[2]); /* (c + b) + a */
        hist_merge(bc, part[1]);
        hist_merge(right, bc);
        hist_merge(right, part[0]);
        ck_assert_msg(memcmp(left, right, sizeof *left) == 0, "round %d, seed %llu", round,
                      (ull)seed);
        ck_assert(hist_verify(left));
        ck_assert_uint_eq(hist_count(left),
                          hist_count(part[0]) + hist_count(part[1]) + hist_count(part[2]));
        ck_assert_uint_eq(left->overflow,
                          part[0]->overflow + part[1]->overflow + part[2]->overflow);
        saturated += left->sum_saturated;
        hist_clear(bc);
        hist_merge(left, bc); /* an empty one changes nothing, on either side */
        ck_assert(memcmp(left, right, sizeof *left) == 0);
        hist_merge(bc, left);
        ck_assert(memcmp(bc, left, sizeof *left) == 0);
        for (int k = 0; k < 3; k++)
            free(part[k]);
        free(left);
        free(right);
        free(bc);
    }
    ck_assert_msg(saturated > 0 && saturated < 20, "both kinds of sum were met: %llu of 20",
                  (ull)saturated);
}
END_TEST

START_TEST(verify_sees_a_lost_an_invented_and_a_misplaced_sample)
{
    struct hist *h = new_hist();
    hist_record(h, 100);
    hist_record(h, 5 * MS);
    ck_assert(hist_verify(h));
    h->count++;
    ck_assert(!hist_verify(h));
    h->count--;
    h->overflow++;
    ck_assert(!hist_verify(h));
    h->overflow--;
    h->bucket[100]--;
    ck_assert(!hist_verify(h));
    h->bucket[101]++; /* count is right again, min is not in the lowest place */
    ck_assert(!hist_verify(h));
    h->bucket[101]--;
    h->bucket[100]++;
    ck_assert(hist_verify(h));
    h->max = 6 * MS;
    ck_assert(!hist_verify(h));
    free(h);
}
END_TEST

/* --- random numbers -------------------------------------------------------------- */

START_TEST(generator_gives_the_published_numbers)
{
    uint64_t counter = 1234567;
    ck_assert_uint_eq(prng_splitmix(&counter), UINT64_C(6457827717110365317));
    ck_assert_uint_eq(prng_splitmix(&counter), UINT64_C(3203168211198807973));
    ck_assert_uint_eq(prng_splitmix(&counter), UINT64_C(9817491932198370423));

    struct prng p = { { 1, 2, 3, 4 } };
    ck_assert_uint_eq(prng_next(&p), 11520);
    ck_assert_uint_eq(prng_next(&p), 0);
    ck_assert_uint_eq(prng_next(&p), 1509978240);
    ck_assert_uint_eq(prng_next(&p), UINT64_C(1215971899390074240));

    struct prng zero;
    prng_seed(&zero, 0);
    ck_assert(zero.s[0] | zero.s[1] | zero.s[2] | zero.s[3]);
}
END_TEST

START_TEST(below_and_double_stay_in_range_and_are_even)
{
    struct prng p;
    prng_seed(&p, 1); /* fixed: evenness is a matter of luck, here of known luck */
    int below[10] = { 0 }, tenth[10] = { 0 };
    for (int i = 0; i < 100000; i++) {
        uint64_t n = prng_below(&p, 10);
        double d = prng_double(&p);
        ck_assert_uint_lt(n, 10);
        ck_assert(d >= 0 && d < 1);
        below[n]++;
        tenth[(int)(d * 10)]++;
    }
    for (int i = 0; i < 10; i++) { /* the standard deviation is 95 */
        ck_assert_msg(abs(below[i] - 10000) < 475, "below: %d of %d", i, below[i]);
        ck_assert_msg(abs(tenth[i] - 10000) < 475, "double: %d of %d", i, tenth[i]);
    }
    ck_assert_uint_eq(prng_below(&p, 1), 0);
    ck_assert_uint_eq(prng_below(&p, 0), 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("hist");
    TCase *tc = tcase_create("hist");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, buckets_tile_the_range_without_gap_and_within_the_stated_error);
    tcase_add_test(tc, extreme_values_are_counted_and_the_sum_says_that_it_saturated);
    tcase_add_test(tc, sum_of_exactly_the_largest_number_is_not_called_saturated);
    tcase_add_test(tc, empty_histogram_answers_everything);
    tcase_add_test(tc,
                   equal_samples_have_their_value_as_percentiles_where_interpolation_invents_them);
    tcase_add_test(tc, percentile_is_refused_below_ten_samples_above_it);
    tcase_add_test(tc, ranks_are_exact_in_spite_of_rounding);
    tcase_add_test(tc, merging_is_associative_and_commutative_and_loses_nothing);
    tcase_add_test(tc, verify_sees_a_lost_an_invented_and_a_misplaced_sample);
    tcase_add_test(tc, generator_gives_the_published_numbers);
    tcase_add_test(tc, below_and_double_stay_in_range_and_are_even);
    suite_add_tcase(s, tc);
    return s;
}

int main(void) { return run_seeded_suite(suite); }
