/* test_hist_recorder.c -- base/hist_recorder.h: many writers, one reader; field report C35.
 *
 * Read next: base/hist_recorder.h, whose promises T1..T3 the tests cite; test_hist.c.
 *
 * The oracle for percentiles is the sorted array of the raw values of all writers.  A
 * control stands beside the cure: a recorder whose take copies and then clears.
 *
 * Faults planted by hand, three runs each, and the tests that failed:
 *   take does not wait for writers; the end word is not reset; a half is not cleared; the
 *   half is chosen apart from the phase: intervals_add_up..., always
 *   a writer counts itself out before it writes: intervals_add_up..., two of three
 *   the extremes are raised without compare-and-swap: two_writers_that_meet...
 *
 * SPDX-License-Identifier: MIT */
#include "base/atomics.h"
#include "base/hist.h"
#include "base/hist_recorder.h"
#include "base/os.h"
#include "base/prng.h"
#include "tests/unit/hist_tests.h"

#include <check.h>
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
#define DUEL_MOST_NS       UINT64_C(10000000000) /* a round is two switches where CPUs are short */
#define DUEL_OVER          UINT64_MAX

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
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

/* --- intervals ----------------------------------------------------------------- */

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

/* Until the word is value, or the duel is over. */
static void duel_wait(_Atomic uint64_t *word, uint64_t value)
{
    for (unsigned i = 1; load_seq(word) != value && load_seq(word) != DUEL_OVER; i++)
        if (i % 256 == 0)
            sched_yield();
}

static void *duel_other(void *arg)
{
    struct duel *d = arg;
    struct prng p;
    prng_seed(&p, seed + 1);
    for (uint64_t k = 1;; k++) {
        duel_wait(&d->round, k);
        if (load_seq(&d->round) == DUEL_OVER)
            break;
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
    uint64_t rounds = 0, end_ns = os_now_ns() + DUEL_MOST_NS;
    for (uint64_t k = 1; k <= DUEL_ROUNDS && os_now_ns() < end_ns; k++, rounds++) {
        store_seq(&d.round, k);
        duel_record(&d, &p, 1000);
        duel_wait(&d.done, k);
        hist_recorder_take(d.recorder, interval);
        ck_assert_msg(hist_count(interval) == 2 && hist_min(interval) == 1000 &&
                          hist_max(interval) == 2000 && interval->sum == 3000,
                      "round %llu: min %llu, max %llu; seed %llu", (ull)k, (ull)hist_min(interval),
                      (ull)hist_max(interval), (ull)seed);
    }
    store_seq(&d.round, DUEL_OVER);
    pthread_join(other, NULL);
    ck_assert_uint_gt(rounds, 10);
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

static Suite *suite(void)
{
    Suite *s = suite_create("hist_recorder");
    TCase *tc = tcase_create("hist_recorder");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, interval_is_bit_for_bit_what_one_writer_would_have_recorded);
    tcase_add_test(tc, intervals_add_up_to_the_total_and_their_percentiles_to_the_sorted_values);
    tcase_add_test(tc, two_writers_that_meet_in_an_extreme_lose_neither);
    tcase_add_test(tc, control_that_copies_and_clears_loses_samples_and_the_counting_notices);
    tcase_add_test_raise_signal(tc, second_reader_aborts, SIGABRT);
    suite_add_tcase(s, tc);
    return s;
}

int main(void) { return run_seeded_suite(suite); }
