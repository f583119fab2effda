/* test_alot.c -- claims about -XX:+SafepointALot: how often it stops, and what it leaves alone.
 *
 * The machine is shared: bounds from below are a half or less of what is due, bounds from
 * above follow from the schedule and hold however late a stop is.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/mutators.h"

#include "base/insist.h"

static struct mutator poller;
static struct records kept;

static void start_alot(const char *interval)
{
    flags_set_for_test("-XX:+SafepointALot");
    start_stops_or_die(interval);
}

/* How many stops the time from before the start until now can hold at most. */
static uint64_t most_stops(uint64_t started_ns, uint64_t interval_ns)
{
    return (os_now_ns() - started_ns) / interval_ns;
}

START_TEST(stops_come_at_the_interval_and_never_more_often)
{
    uint64_t started_ns = os_now_ns();
    start_alot("-XX:GuaranteedSafepointInterval=20");
    mutator_start(&poller, "poller", poll_until_quit);
    os_sleep_ns(1000 * MS);
    uint64_t stops = stops_figures().stops, most = most_stops(started_ns, 20 * MS);
    mutator_end(&poller);
    ck_assert_msg(stops >= 15 && stops <= most, "%llu stops, 15 to %llu are right",
                  (unsigned long long)stops, (unsigned long long)most);
}
END_TEST

START_TEST(without_an_interval_it_is_a_second)
{
    uint64_t started_ns = os_now_ns();
    start_alot(NULL);
    while (stops_figures().stops == 0 && os_now_ns() - started_ns < 20000 * MS)
        os_sleep_ns(10 * MS);
    uint64_t stops = stops_figures().stops, most = most_stops(started_ns, 1000 * MS);
    ck_assert_msg(stops >= 1 && stops <= most, "%llu stops, 1 to %llu are right",
                  (unsigned long long)stops, (unsigned long long)most);
}
END_TEST

START_TEST(an_interval_alone_asks_for_no_stop)
{
    start_stops_or_die("-XX:GuaranteedSafepointInterval=1");
    os_sleep_ns(300 * MS);
    ck_assert_uint_eq(stops_figures().stops, 0);
    stops_force(NULL, NULL);
    ck_assert_uint_eq(stops_figures().stops, 1); /* it counts at all */
}
END_TEST

static void silent_once(struct mutator *m, struct participant *self)
{
    while (!load_acquire(&m->go))
        participant_poll(self);
    spin_for(400 * MS);
    poll_until_quit(m, self);
}

/* 40 instants pass while one stop waits for a late thread; at most one of them counts. */
START_TEST(what_was_missed_is_not_made_up_for)
{
    uint64_t started_ns = os_now_ns();
    start_alot("-XX:GuaranteedSafepointInterval=10");
    mutator_start(&poller, "silent", silent_once);
    store_release(&poller.go, 1); /* pairs with silent_once() */
    os_sleep_ns(800 * MS);
    uint64_t stops = stops_figures().stops;
    uint64_t most = most_stops(started_ns + 400 * MS, 10 * MS) + 2;
    mutator_end(&poller);
    ck_assert_msg(stops >= 5 && stops <= most, "%llu stops, 5 to %llu are right",
                  (unsigned long long)stops, (unsigned long long)most);
}
END_TEST

/* A pace that began anew after each stop would leave 20 ms + 8 ms between two. */
START_TEST(the_length_of_a_stop_does_not_shift_the_next)
{
    uint32_t on_time = 0;
    ledger_set_sink(keep_record, &kept);
    coordinator_inject_delay(COORDINATOR_STAGE_OPERATION, 8 * MS);
    start_alot("-XX:GuaranteedSafepointInterval=20");
    os_sleep_ns(1500 * MS);
    uint32_t count = load_acquire(&kept.count); /* pairs with keep_record() */
    for (uint32_t i = 1; i < count; i++)
        on_time += kept.record[i].stamp[LEDGER_STAMP_requested] -
                       kept.record[i - 1].stamp[LEDGER_STAMP_requested] <
                   24 * MS;
    ck_assert_msg(count >= 10 && on_time >= count / 3, "%u of %u gaps are below 24 ms", on_time,
                  count);
}
END_TEST

static _Atomic uint32_t requests_done;

static void *request_until_quit(void *quit)
{
    while (!load_acquire((_Atomic uint32_t *)quit)) {
        stops_force(NULL, NULL);
        fetch_add_relaxed(&requests_done, 1); /* read after the join */
    }
    return NULL;
}

static _Atomic uint32_t checks_run;
static void count_check(void) { fetch_add_relaxed(&checks_run, 1); }

/* The interval is shorter than a stop with its delay, so that one is due at any time. */
START_TEST(it_starves_no_request_and_no_request_starves_it)
{
    _Atomic uint32_t quit = 0;
    pthread_t threads[2];
    stops_set_check(count_check);
    coordinator_inject_delay(COORDINATOR_STAGE_OPERATION, 2 * MS);
    start_alot("-XX:GuaranteedSafepointInterval=1");
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, request_until_quit, &quit), 0);
    os_sleep_ns(1000 * MS);
    uint64_t stops = stops_figures().stops;
    store_release(&quit, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    uint32_t requests = load_relaxed(&requests_done);
    ck_assert_msg(requests >= 40, "%u requests were served", requests);
    if (STILLPOINT_ASSERT_LEVEL >= 2)
        ck_assert_msg(load_relaxed(&checks_run) >= 40, "%u checks ran", load_relaxed(&checks_run));
    else
        ck_assert_uint_eq(load_relaxed(&checks_run), 0);
    ck_assert_uint_ge(stops, 80);
}
END_TEST

START_TEST(the_exit_ends_it)
{
    start_alot("-XX:GuaranteedSafepointInterval=1");
    while (stops_figures().stops < 5)
        os_sleep_ns(1 * MS);
    stops_exit();
    uint64_t stops = stops_figures().stops;
    os_sleep_ns(100 * MS);
    ck_assert_uint_eq(stops_figures().stops, stops);
    ck_assert_msg(ledger_audit(ledger_totals()).ok, "%s", ledger_audit(ledger_totals()).why);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("alot");
    TCase *tc = tcase_create("alot");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, stops_come_at_the_interval_and_never_more_often);
    tcase_add_test(tc, without_an_interval_it_is_a_second);
    tcase_add_test(tc, an_interval_alone_asks_for_no_stop);
    tcase_add_test(tc, what_was_missed_is_not_made_up_for);
    tcase_add_test(tc, the_length_of_a_stop_does_not_shift_the_next);
    tcase_add_test(tc, it_starves_no_request_and_no_request_starves_it);
    tcase_add_test(tc, the_exit_ends_it);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
