/* test_hist.c -- base/hist.h, base/hist_recorder.h, base/prng.h: field report C35.
 *
 * Read next: base/hist.h, whose promises H1..H6 the tests cite; T1..T3 are those of
 *            base/hist_recorder.h.
 *
 * The oracle for percentiles is the sorted array of the raw values, and ranks in it are
 * found in whole numbers.  Two controls stand beside the cures: a coarse linear
 * histogram that interpolates, and a recorder whose take copies and then clears.
 *
 * Faults planted by hand, three runs each, and the tests that failed:
 *   take does not wait for writers; the end word is not reset; a half is not cleared; the
 *   half is chosen apart from the phase: intervals_add_up..., always
 *   a writer counts itself out before it writes: intervals_add_up..., two of three
 *   the extremes are raised without compare-and-swap: two_writers_that_meet...
 *   a bucket's upper end is off by one, or its lower end: buckets_tile...
 *   percentiles without the lean of Note [R]: ranks_are..., percentile_is_refused...
 *   a merge forgets that a sum saturated, or takes the min of an empty one: merging_is...
 *
 * SPDX-License-Identifier: MIT */
#include "base/atomics.h"
#include "base/hist.h"
#include "base/hist_recorder.h"
#include "base/os.h"
#include "base/prng.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __has_feature /* clang */
#define SANITIZED (__has_feature(thread_sanitizer) || __has_feature(address_sanitizer))
#elif defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__ /* gcc */
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#define WRITERS            4
#define SAMPLES_PER_WRITER (SANITIZED ? 20000 : 250000)
#define DUEL_ROUNDS        (SANITIZED ? 2000 : 20000)
#define US                 UINT64_C(1000)
#define MS                 (1000 * US)
#define S                  (1000 * MS)

typedef unsigned long long ull; /* what %llu prints */

static uint64_t seed; /* STILLPOINT_SEED or the clock; every claim holds for every seed */

static struct hist *new_hist(void)
{
    struct hist *h = calloc(1, sizeof *h);
    ck_assert_ptr_nonnull(h);
    return h;
}

/* Log-uniform over all values that have a bucket. */
static uint64_t log_uniform(struct prng *p)
{
    return (uint64_t)exp2(prng_double(p) * HIST_VALUE_BITS);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The nearest rank in whole numbers: ceil(permille * n / 1000), at least 1. */
static uint64_t exact_at(const uint64_t *sorted, uint64_t n, uint64_t permille)
{
    uint64_t rank = (permille * n + 999) / 1000;
    return sorted[rank ? rank - 1 : 0];
}

/* H3 and H4 for p0, p0.1 .. p100. */
static void assert_agrees_with(const struct hist *h, uint64_t *raw, uint64_t n)
{
    qsort(raw, n, sizeof *raw, by_value);
    ck_assert_uint_eq(hist_count(h), n);
    uint64_t before = 0;
    for (uint64_t permille = 0; permille <= 1000; permille++) {
        uint64_t exact = exact_at(raw, n, permille);
        uint64_t told = hist_value_at(h, (double)permille / 10);
        ck_assert_msg(told >= exact &&
                          (double)(told - exact) <= (double)exact * HIST_RELATIVE_ERROR,
                      "p%.1f of %llu samples: told %llu, exactly %llu; seed %llu",
                      (double)permille / 10, (ull)n, (ull)told, (ull)exact, (ull)seed);
        ck_assert_msg(told >= before, "p%.1f is below its neighbour; seed %llu",
                      (double)permille / 10, (ull)seed);
        before = told;
    }
    ck_assert_uint_eq(hist_value_at(h, 0), raw[0]);
    ck_assert_uint_eq(hist_value_at(h, 100), raw[n - 1]);
    ck_assert_uint_eq(hist_min(h), raw[0]);
    ck_assert_uint_eq(hist_max(h), raw[n - 1]);
}

/* --- one writer ------------------------------------------------------------- */

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

static const uint64_t field_values[] = {
    0, 1, 999, 1000, 1001, MS, 10 * S, 3600 * S, UINT64_C(1) << 63, UINT64_MAX
};
#define FIELD_VALUES (sizeof field_values / sizeof *field_values)

static void assert_is_field_report(const struct hist *h)
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

/* --- many writers, one reader -------------------------------------------------- */

static struct hist_recorder *new_recorder(void)
{
    struct hist_recorder *r = NULL;
    ck_assert_int_eq(hist_recorder_create(&r), ERR_OK);
    return r;
}

START_TEST(interval_is_bit_for_bit_what_one_writer_would_have_recorded)
{
    struct hist_recorder *r = new_recorder();
    struct hist *interval = new_hist(), *direct = new_hist();
    struct prng p;
    prng_seed(&p, seed);
    for (int round = 0; round < 6; round++) {
        hist_clear(direct);
        memset(interval, 0xa5, sizeof *interval); /* take overwrites what was there */
        for (size_t i = 0; round % 2 == 0 && i < FIELD_VALUES; i++) {
            hist_record(direct, field_values[i]);
            hist_recorder_record(r, field_values[i]);
        }
        for (uint64_t i = 0, n = round < 2 ? 0 : prng_below(&p, 1000); i < n; i++) {
            uint64_t ns = log_uniform(&p);
            hist_record(direct, ns);
            hist_recorder_record(r, ns);
        }
        hist_recorder_take(r, interval);
        ck_assert_msg(memcmp(interval, direct, sizeof *direct) == 0, "round %d, seed %llu", round,
                      (ull)seed);
        if (round == 0)
            assert_is_field_report(interval);
    }
    hist_recorder_destroy(r);
    hist_recorder_destroy(NULL);
    free(interval);
    free(direct);
}
END_TEST

/* The disease: the numbers are copied, then cleared; what comes in between is lost.  The
 * words are atomic, so this is no data race: every access is fine and the whole is not. */
struct naive {
    _Atomic uint64_t count, bucket[HIST_BUCKETS];
};

static void naive_record(struct naive *r, uint64_t ns)
{
    fetch_add_relaxed(&r->bucket[hist_bucket_of(ns)], 1); /* relaxed: only a number */
    fetch_add_relaxed(&r->count, 1);
}

/* window, when given, runs between the copy and the clearing. */
static uint64_t naive_take(struct naive *r, uint64_t *copy, void (*window)(struct naive *))
{
    uint64_t count = load_relaxed(&r->count); /* relaxed: no order would help */
    for (unsigned i = 0; i < HIST_BUCKETS; i++)
        copy[i] = load_relaxed(&r->bucket[i]);
    if (window)
        window(r);
    for (unsigned i = 0; i < HIST_BUCKETS; i++)
        store_relaxed(&r->bucket[i], 0);
    store_relaxed(&r->count, 0);
    return count;
}

/* Four writers record into exactly one of the two. */
struct crowd {
    struct hist_recorder *recorder;
    struct naive *naive;
    uint64_t *raw; /* WRITERS x SAMPLES_PER_WRITER */
    _Atomic uint64_t taken, done;
    struct crowd_writer {
        struct crowd *crowd;
        unsigned number;
        pthread_t thread;
    } writer[WRITERS];
};

/* Halfway it waits until something was taken, so that at least two intervals have
 * samples however the threads are scheduled.  (The control may lose all it has.) */
static void *write_samples(void *arg)
{
    struct crowd_writer *w = arg;
    struct crowd *c = w->crowd;
    struct prng p;
    prng_seed(&p, seed + w->number);
    for (unsigned i = 0; i < SAMPLES_PER_WRITER; i++) {
        uint64_t ns = log_uniform(&p);
        c->raw[w->number * SAMPLES_PER_WRITER + i] = ns;
        if (c->recorder)
            hist_recorder_record(c->recorder, ns);
        else
            naive_record(c->naive, ns);
        while (c->recorder && i == SAMPLES_PER_WRITER / 2 && load_relaxed(&c->taken) == 0)
            sched_yield();
    }
    fetch_add_seq(&c->done, 1); /* pairs with load_seq in those who take */
    return NULL;
}

static void crowd_start(struct crowd *c)
{
    c->raw = calloc((size_t)WRITERS * SAMPLES_PER_WRITER, sizeof *c->raw);
    ck_assert_ptr_nonnull(c->raw);
    for (unsigned i = 0; i < WRITERS; i++) {
        c->writer[i].crowd = c;
        c->writer[i].number = i;
        ck_assert_int_eq(pthread_create(&c->writer[i].thread, NULL, write_samples, &c->writer[i]),
                         0);
    }
}

static void crowd_join(struct crowd *c)
{
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(c->writer[i].thread, NULL);
}

/* One interval into the total; returns its count. */
static uint64_t take_into(struct crowd *c, struct hist *interval, struct hist *total)
{
    hist_recorder_take(c->recorder, interval);
    ck_assert_msg(hist_verify(interval), "T2: an interval of %llu samples, seed %llu",
                  (ull)hist_count(interval), (ull)seed);
    hist_merge(total, interval);
    fetch_add_seq(&c->taken, hist_count(interval));
    return hist_count(interval);
}

START_TEST(intervals_add_up_to_the_total_and_their_percentiles_to_the_sorted_values)
{
    const uint64_t all = (uint64_t)WRITERS * SAMPLES_PER_WRITER;
    struct crowd c = { .recorder = new_recorder() };
    struct hist *interval = new_hist(), *total = new_hist();
    uint64_t intervals = 0, counts = 0, sums = 0, raw_sum = 0;
    crowd_start(&c);
    for (bool last = false; !last;) {
        last = load_seq(&c.done) == WRITERS; /* then this take gets what is left */
        uint64_t count = take_into(&c, interval, total);
        intervals += count > 0;
        counts += count;
        sums += interval->sum;
    }
    crowd_join(&c);
    ck_assert_uint_eq(take_into(&c, interval, total), 0); /* nothing came late, or twice */

    for (uint64_t i = 0; i < all; i++)
        raw_sum += c.raw[i];
    printf("seed %llu: %llu samples in %llu intervals\n", (ull)seed, (ull)all, (ull)intervals);
    ck_assert_msg(counts == all, "%llu of %llu, seed %llu", (ull)counts, (ull)all, (ull)seed);
    ck_assert_msg(sums == raw_sum, "%llu, not %llu; seed %llu", (ull)sums, (ull)raw_sum, (ull)seed);
    ck_assert_uint_ge(intervals, 2);
    ck_assert_uint_eq(total->sum, raw_sum);
    ck_assert_uint_eq(total->overflow, 0);
    ck_assert(hist_verify(total));
    assert_agrees_with(total, c.raw, all);
    hist_recorder_destroy(c.recorder);
    free(c.raw);
    free(interval);
    free(total);
}
END_TEST

/* Both samples of a round raise both extremes of a fresh interval at nearly the same
 * time; random delays about as long as a hand-over between cores vary the order. */
struct duel {
    struct hist_recorder *recorder;
    _Atomic uint64_t round, done; /* round: main; done: the other; seq_cst, a hand-over */
};

static void duel_record(struct duel *d, struct prng *p, uint64_t ns)
{
    for (uint64_t i = prng_below(p, 8); i > 0; i--)
        os_cpu_pause();
    hist_recorder_record(d->recorder, ns);
}

static void duel_wait(_Atomic uint64_t *word, uint64_t value)
{
    for (unsigned i = 1; load_seq(word) != value; i++)
        if (i % 256 == 0)
            sched_yield();
}

static void *duel_other(void *arg)
{
    struct duel *d = arg;
    struct prng p;
    prng_seed(&p, seed + 1);
    for (uint64_t k = 1; k <= DUEL_ROUNDS; k++) {
        duel_wait(&d->round, k);
        duel_record(d, &p, 2000);
        store_seq(&d->done, k);
    }
    return NULL;
}

START_TEST(two_writers_that_meet_in_an_extreme_lose_neither)
{
    struct duel d = { .recorder = new_recorder() };
    struct hist *interval = new_hist();
    struct prng p;
    pthread_t other;
    prng_seed(&p, seed);
    ck_assert_int_eq(pthread_create(&other, NULL, duel_other, &d), 0);
    for (uint64_t k = 1; k <= DUEL_ROUNDS; k++) {
        store_seq(&d.round, k);
        duel_record(&d, &p, 1000);
        duel_wait(&d.done, k);
        hist_recorder_take(d.recorder, interval);
        ck_assert_msg(hist_count(interval) == 2 && hist_min(interval) == 1000 &&
                          hist_max(interval) == 2000 && interval->sum == 3000,
                      "round %llu: min %llu, max %llu; seed %llu", (ull)k, (ull)hist_min(interval),
                      (ull)hist_max(interval), (ull)seed);
    }
    pthread_join(other, NULL);
    hist_recorder_destroy(d.recorder);
    free(interval);
}
END_TEST

/* It takes every 200 us, as a printer might, not in a closed loop: that would find
 * nearly every sample in the window and make the disease look worse than it is. */
static uint64_t naive_lost(void)
{
    static uint64_t copy[HIST_BUCKETS];
    struct crowd c = { .naive = calloc(1, sizeof *c.naive) };
    uint64_t counts = 0;
    ck_assert_ptr_nonnull(c.naive);
    crowd_start(&c);
    for (bool last = false; !last; os_sleep_ns(200 * US)) {
        last = load_seq(&c.done) == WRITERS;
        counts += naive_take(c.naive, copy, NULL);
    }
    crowd_join(&c);
    free(c.naive);
    free(c.raw);
    return (uint64_t)WRITERS * SAMPLES_PER_WRITER - counts;
}

static void record_three(struct naive *r)
{
    for (int i = 0; i < 3; i++)
        naive_record(r, 100);
}

START_TEST(control_that_copies_and_clears_loses_samples_and_the_counting_notices)
{
    /* The interleaving played by one thread: the loss is certain and is counted. */
    static uint64_t copy[HIST_BUCKETS];
    struct naive *r = calloc(1, sizeof *r);
    ck_assert_ptr_nonnull(r);
    record_three(r);
    record_three(r);
    uint64_t counts = naive_take(r, copy, record_three);
    counts += naive_take(r, copy, NULL);
    ck_assert_uint_eq(counts, 6); /* of 9 */
    free(r);

    enum { TRIES = 10 };
    for (int i = 0; i < TRIES; i++) {
        uint64_t lost = naive_lost();
        if (lost > 0) {
            printf("control: try %d lost %llu of %llu samples\n", i + 1, (ull)lost,
                   (ull)WRITERS * SAMPLES_PER_WRITER);
            return;
        }
    }
    printf("control: no sample lost in %d tries with real threads; see the played one\n", TRIES);
}
END_TEST

/* A second reader beside the first is refused (C1).  There is no window of our own to
 * hold open, so two threads take until they meet. */
static void *take_for_ever(void *recorder)
{
    struct hist *interval = new_hist();
    for (;;)
        hist_recorder_take(recorder, interval);
    return NULL;
}

START_TEST(second_reader_aborts)
{
    struct hist_recorder *r = new_recorder();
    pthread_t other;
    ck_assert_int_eq(pthread_create(&other, NULL, take_for_ever, r), 0);
    take_for_ever(r);
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
    tcase_add_test(tc, interval_is_bit_for_bit_what_one_writer_would_have_recorded);
    tcase_add_test(tc, intervals_add_up_to_the_total_and_their_percentiles_to_the_sorted_values);
    tcase_add_test(tc, two_writers_that_meet_in_an_extreme_lose_neither);
    tcase_add_test(tc, control_that_copies_and_clears_loses_samples_and_the_counting_notices);
    tcase_add_test_raise_signal(tc, second_reader_aborts, SIGABRT);
    tcase_add_test(tc, generator_gives_the_published_numbers);
    tcase_add_test(tc, below_and_double_stay_in_range_and_are_even);
    suite_add_tcase(s, tc);
    return s;
}

int main(void)
{
    const char *given = getenv("STILLPOINT_SEED");
    seed = given ? strtoull(given, NULL, 0) : os_now_ns();
    printf("seed %llu (STILLPOINT_SEED)\n", (ull)seed);
    fflush(stdout); /* before the tests fork */
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    int ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
