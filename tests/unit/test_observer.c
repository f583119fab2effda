/* test_observer.c -- the ledger against somebody who knows nothing of it.
 *
 * Spinning mutators read the clock in a loop and note every gap between two readings.
 * A stop must show as a gap of each of them; the latest beginning and the latest end of
 * these gaps are what the ledger calls last_arrival and last_resumed.  They agree when
 * the length differs by at most 1 us or 2 %.  A mutator that loses its CPU between its
 * clock and the ledger's spoils a comparison, so not all stops need agree.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/mutators.h"

#include <stdio.h>

#define BATCHES        6
#define STOPS          (TESTS_ARE_SLOW ? 60 : 300) /* a batch */
#define LEAST_GAP_NS   (TESTS_ARE_SLOW ? 5000 : 400)
#define MOST_GAPS      200000
#define LEAST_AGREEING 80 /* percent of the stops */
/* A sanitizer's own work lies between the clocks. */
#define TOLERANCE_NS      (TESTS_ARE_SLOW ? 20000u : 1000u)
#define TOLERANCE_PERCENT (TESTS_ARE_SLOW ? 10u : 2u)

struct gap {
    uint64_t begin, end;
};

struct observer {
    struct mutator mutator; /* first: the body gets its address */
    uint32_t count;
    struct gap gaps[MOST_GAPS];
};

static struct observer observer;
static struct records records;

static void watch_the_clock(struct mutator *m, struct participant *self)
{
    struct observer *o = (struct observer *)m;
    uint64_t last = os_now_ns();
    while (!load_relaxed(&m->quit)) { /* a late look costs one round */
        uint64_t now = os_now_ns();
        if (now - last >= LEAST_GAP_NS && o->count < MOST_GAPS)
            o->gaps[o->count++] = (struct gap){ last, now };
        last = now;
        participant_poll(self);
    }
}

static void keep_busy(void *argument) { spin_for(*(uint64_t *)argument); }

/* The gap in which the stop was released. */
static const struct gap *gap_around(const struct observer *o, uint64_t released)
{
    for (uint32_t i = 0; i < o->count; i++)
        if (o->gaps[i].begin <= released && released <= o->gaps[i].end)
            return &o->gaps[i];
    return NULL;
}

static bool agrees(uint64_t ours, uint64_t theirs)
{
    uint64_t difference = ours > theirs ? ours - theirs : theirs - ours;
    return difference <= TOLERANCE_NS || difference * 100 <= theirs * TOLERANCE_PERCENT;
}

struct comparison {
    uint32_t compared, agreeing, off_cpu;
    double mean_ns, worst_ns;
};

static struct comparison compare_with(const struct observer *o, uint32_t first_record)
{
    struct comparison c = { 0, 0, 0, 0, 0 };
    for (uint32_t i = first_record; i < records.count; i++) {
        const struct stop_record *r = &records.record[i];
        const struct gap *g = gap_around(o, r->stamp[LEDGER_STAMP_released]);
        if (!g || r->carried || r->stamp[LEDGER_STAMP_last_resumed] == 0)
            continue;
        if (g->begin < r->stamp[LEDGER_STAMP_begin]) { /* it had lost its CPU before the stop */
            c.off_cpu++;
            continue;
        }
        uint64_t observed = g->end - g->begin;
        uint64_t ledger = r->stamp[LEDGER_STAMP_last_resumed] - r->stamp[LEDGER_STAMP_last_arrival];
        double off = (double)observed - (double)ledger;
        c.compared++;
        c.agreeing += agrees(ledger, observed);
        c.mean_ns += off;
        c.worst_ns = off * off > c.worst_ns * c.worst_ns ? off : c.worst_ns;
    }
    c.mean_ns /= c.compared ? c.compared : 1;
    return c;
}

static bool is_good(struct comparison c)
{
    return c.compared >= STOPS / 10 && c.agreeing * 100 >= c.compared * LEAST_AGREEING;
}

static void stop_often(void)
{
    static uint64_t op_ns[] = { 0, 5000, 50000, 500000 };
    for (int k = 0; k < STOPS; k++) {
        stops_force(keep_busy, &op_ns[k % 4]);
        os_sleep_ns(1 * MS);
    }
    os_sleep_ns(100 * MS); /* the last record is delivered */
}

/* Batches until one agrees; each has an observer of its own, read after it has ended. */
static struct comparison observe(const char *flag)
{
    struct comparison c = { 0, 0, 0, 0, 0 };
    ledger_set_sink(keep_record, &records);
    start_stops_or_die(flag);
    for (int batch = 0; batch < BATCHES && !is_good(c); batch++) {
        uint32_t first_record = records.count;
        memset(&observer, 0, sizeof observer);
        mutator_start(&observer.mutator, "observer", watch_the_clock);
        stop_often();
        mutator_end(&observer.mutator);
        c = compare_with(&observer, first_record);
        printf("%s: %u of %u stops agree within %u ns or %u %%, mean difference %.0f ns, worst "
               "%.0f ns; off its CPU before %u more\n",
               flag, c.agreeing, c.compared, TOLERANCE_NS, TOLERANCE_PERCENT, c.mean_ns, c.worst_ns,
               c.off_cpu);
    }
    stops_exit();
    return c;
}

START_TEST(a_spinning_thread_sees_the_same_stops_as_the_ledger)
{
    struct comparison c = observe(_i ? "-XX:SafepointPoll=global" : "-XX:SafepointPoll=flag");
    ck_assert_msg(c.compared >= STOPS / 10, "only %u of %d stops were seen by the observer",
                  c.compared, STOPS);
    ck_assert_msg(is_good(c), "only %u of %u stops agree", c.agreeing, c.compared);
}
END_TEST

/* The control: a ledger that books resume as the release would be found out. */
START_TEST(the_comparison_notices_a_ledger_that_forgets_the_resume)
{
    observe("-XX:SafepointPoll=flag");
    uint32_t wrong = 0, compared = 0;
    for (uint32_t i = 0; i < records.count; i++) {
        const struct stop_record *r = &records.record[i];
        const struct gap *g = gap_around(&observer, r->stamp[LEDGER_STAMP_released]);
        if (!g || r->stamp[LEDGER_STAMP_last_resumed] == 0)
            continue;
        compared++;
        wrong += !agrees(r->stamp[LEDGER_STAMP_op_begin] - r->stamp[LEDGER_STAMP_last_arrival],
                         g->end - g->begin);
    }
    ck_assert_msg(wrong * 2 > compared, "only %u of %u wrong figures were noticed", wrong,
                  compared);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("observer");
    TCase *tc = tcase_create("observer");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, a_spinning_thread_sees_the_same_stops_as_the_ledger, 0, 2);
    tcase_add_test(tc, the_comparison_notices_a_ledger_that_forgets_the_resume);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
