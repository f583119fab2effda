/* test_told_stop.c -- stops told from their rings: the steps follow the protocol, and the ledger
 * says the same; a wrong stamp, planted, is noticed.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/mutators.h"
#include "tools/explain/told_stop.h"

#include <stdio.h>

#define STOPS (TESTS_ARE_SLOW ? 40 : 200)

static struct told_stops told;

static void collect(const struct stop_record *record, void *argument)
{
    told_stop_collect(argument, record);
}

static void start_told(void)
{
    ledger_set_sink(collect, &told);
    start_stops_or_die("-XX:+TraceStops");
}

static void stop_often(int stops, uint64_t pause_ns)
{
    for (int i = 0; i < stops; i++) {
        stops_force(NULL, NULL);
        if (pause_ns)
            os_sleep_ns(pause_ns);
    }
    stops_exit(); /* the VM thread has ended: told is ours */
    ck_assert_uint_eq(told.count, stops);
}

/* Works for 20 us between two polls, as one that zeroes in chunks. */
static void poll_seldom(struct mutator *m, struct participant *self)
{
    while (!load_acquire(&m->quit)) {
        spin_for(20000);
        participant_poll(self);
    }
}

static void go_native_often(struct mutator *m, struct participant *self)
{
    while (!load_acquire(&m->quit)) {
        participant_enter_safe(self, PARTICIPANT_NATIVE);
        participant_leave_safe(self, PARTICIPANT_GUEST);
    }
}

/* --- what must hold in every told stop -------------------------------------------------- */

#define MISSING UINT64_MAX

/* When the one in this column took this step, the only one of its kind; else MISSING. */
static uint64_t when(const struct told_stop *stop, uint8_t column, enum stop_step step)
{
    uint64_t ns = MISSING;
    for (uint32_t i = 0; i < stop->step_count; i++) {
        if (stop->step[i].column != column || stop->step[i].step != step)
            continue;
        ck_assert_msg(ns == MISSING, "column %u has %s twice in stop %llu", column,
                      stop_step_name(step), (unsigned long long)stop->record.epoch);
        ns = stop->step[i].ns;
    }
    return ns;
}

/* Those of a chain that happened, happened in this order. */
static uint64_t check_chain(const struct told_stop *stop, uint8_t column,
                            const enum stop_step *steps, size_t count, uint64_t from_ns)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t ns = when(stop, column, steps[i]);
        if (ns == MISSING)
            continue;
        ck_assert_msg(ns >= from_ns, "%s of column %u comes %llu ns too early in stop %llu",
                      stop_step_name(steps[i]), column, (unsigned long long)(from_ns - ns),
                      (unsigned long long)stop->record.epoch);
        from_ns = ns;
    }
    return from_ns;
}

static uint64_t look_at(const struct told_stop *stop, uint32_t number, enum stop_step *step_out)
{
    for (uint32_t i = 0; i < stop->step_count; i++)
        if (stop->step[i].step >= STOP_STEP_SEEN_SAFE &&
            stop->step[i].step <= STOP_STEP_SEEN_UNSAFE && stop->step[i].argument / 8 == number) {
            *step_out = stop->step[i].step;
            return stop->step[i].ns;
        }
    ck_abort_msg("participant %u was not looked at in stop %llu", number,
                 (unsigned long long)stop->record.epoch);
}

static void check_thread(const struct told_stop *stop, uint8_t column)
{
    static const enum stop_step arriving[] = { STOP_STEP_POLL_FIRED, STOP_STEP_ARRIVED,
                                               STOP_STEP_COUNTED };
    const struct told_thread *thread = &stop->thread[column - 1];
    const uint64_t *stamp = stop->record.stamp;
    enum stop_step look;
    uint64_t seen = look_at(stop, thread->number, &look);
    uint64_t arrived = when(stop, column, STOP_STEP_ARRIVED);
    uint64_t counted = when(stop, column, STOP_STEP_COUNTED);
    uint64_t resumed = when(stop, column, STOP_STEP_RESUMED);
    ck_assert_uint_ge(seen, stamp[LEDGER_STAMP_armed]);
    ck_assert_uint_le(seen, stamp[LEDGER_STAMP_scanned]);
    check_chain(stop, column, arriving, 3, stamp[LEDGER_STAMP_begin]);
    if (look == STOP_STEP_SEEN_SAFE) {
        ck_assert_msg(arrived == MISSING && counted == MISSING, "%s was safe and arrives",
                      thread->name);
        ck_assert_uint_eq(thread->arrived_ns, 0);
    }
    if (counted != MISSING) { /* it had a ticket, and all wait for those */
        ck_assert_int_eq(look, STOP_STEP_SEEN_UNSAFE);
        ck_assert_uint_le(counted, stamp[LEDGER_STAMP_noticed]);
        ck_assert_uint_le(arrived, counted);
    }
    if (resumed != MISSING)
        ck_assert_uint_ge(resumed, stamp[LEDGER_STAMP_released]);
}

static void check_stop(const struct told_stop *stop)
{
    static const enum stop_step chain[] = {
        STOP_STEP_BEGIN,    STOP_STEP_ARMED,   STOP_STEP_SCANNED,  STOP_STEP_SPINS,
        STOP_STEP_SLEEPS,   STOP_STEP_NOTICED, STOP_STEP_OP_BEGIN, STOP_STEP_OP_END,
        STOP_STEP_RELEASED, STOP_STEP_WOKEN,
    };
    uint32_t instants;
    char why[160] = "";
    uint64_t end = check_chain(stop, 0, chain, sizeof chain / sizeof *chain, 1);
    ck_assert_uint_eq(end, stop->record.stamp[LEDGER_STAMP_woken]);
    ck_assert_uint_eq(stop->lost, 0);
    for (uint8_t column = 1; column <= stop->thread_count; column++)
        check_thread(stop, column);
    ck_assert_msg(told_stop_agrees(stop, &instants, why, sizeof why), "stop %llu: %s",
                  (unsigned long long)stop->record.epoch, why);
    ck_assert_uint_ge(instants, 8);
}

static void check_all(void)
{
    for (uint32_t i = 0; i < told.count; i++)
        check_stop(&told.stop[i]);
}

/* --- three threads ------------------------------------------------------------------------- */

#define SLEEPERS (TESTS_ARE_SLOW ? 60 : 298)

static struct mutator mutators[300];

static void tell_three(void)
{
    start_told();
    mutator_start(&mutators[0], "poller", poll_until_quit);
    mutator_start(&mutators[1], "worker", poll_seldom);
    mutator_start(&mutators[2], "sleeper", sleep_until_quit);
    os_sleep_ns(5 * MS);
    stop_often(STOPS, 200000);
}

START_TEST(the_steps_of_every_stop_follow_the_protocol)
{
    uint32_t arrived = 0, safe = 0, resumed = 0;
    tell_three();
    check_all();
    for (uint32_t i = 0; i < told.count; i++) {
        ck_assert_uint_eq(told.stop[i].thread_count, 3);
        for (uint32_t t = 0; t < 3; t++) {
            arrived += told.stop[i].thread[t].arrived_ns != 0;
            resumed += told.stop[i].thread[t].resumed_ns != 0;
            safe += told.stop[i].thread[t].state == PARTICIPANT_BLOCKED;
        }
    }
    ck_assert_uint_eq(safe, told.count);
    ck_assert_uint_gt(arrived, told.count / 4); /* two per stop, but for those still at the gate, */
    ck_assert_uint_gt(resumed, told.count / 4); /* and a busy machine leaves them there */
}
END_TEST

/* One that arrived and went on in all its instants, so that each stamp can be planted. */
static const struct told_stop *whole_stop(void)
{
    uint32_t instants;
    char why[160];
    for (uint32_t i = 0; i < told.count; i++)
        if (told_stop_agrees(&told.stop[i], &instants, why, sizeof why) && instants == 10)
            return &told.stop[i];
    ck_abort_msg("none of %u stops has all instants", told.count);
}

START_TEST(a_wrong_stamp_of_the_ledger_is_noticed)
{
    static const enum ledger_stamp not_in_rings[] = { LEDGER_STAMP_requested, LEDGER_STAMP_picked };
    tell_three();
    const struct told_stop *whole = whole_stop();
    uint32_t noticed = 0, instants;
    for (int s = 0; s < LEDGER_STAMPS; s++)
        for (int off = -1; off <= 1; off += 2) {
            struct told_stop wrong = *whole;
            char why[160] = "";
            wrong.record.stamp[s] += (uint64_t)off;
            bool agrees = told_stop_agrees(&wrong, &instants, why, sizeof why);
            bool is_in_rings =
                (enum ledger_stamp)s != not_in_rings[0] && (enum ledger_stamp)s != not_in_rings[1];
            ck_assert_msg(agrees != is_in_rings, "stamp %d, off by %d ns: %s", s, off, why);
            ck_assert_msg(agrees || strstr(why, "differ in when it"), "%s", why);
            noticed += !agrees;
        }
    ck_assert_uint_eq(noticed, 20);
}
END_TEST

START_TEST(a_wrong_step_of_a_ring_is_noticed)
{
    tell_three();
    const struct told_stop *whole = whole_stop();
    uint32_t noticed = 0, instants;
    char why[160];
    for (uint32_t i = 0; i < whole->step_count; i++) {
        struct told_stop wrong = *whole;
        wrong.step[i].ns++;
        noticed += !told_stop_agrees(&wrong, &instants, why, sizeof why);
    }
    ck_assert_uint_eq(noticed, 8);     /* those that the ledger has too */
    struct told_stop without = *whole; /* of the coordinator's first step */
    memmove(without.step, without.step + 1, --without.step_count * sizeof *without.step);
    ck_assert(!told_stop_agrees(&without, &instants, why, sizeof why));
    without.lost = 1; /* a ring that was full is no disagreement */
    ck_assert(told_stop_agrees(&without, &instants, why, sizeof why));
    ck_assert_uint_eq(instants, 7);
}
END_TEST

/* --- crowds, ends and races --------------------------------------------------------------- */

START_TEST(a_stop_that_follows_at_once_leaves_its_steps_out)
{
    uint32_t carried = 0;
    start_told();
    for (int i = 0; i < 8; i++)
        mutator_start(&mutators[i], "poller", poll_until_quit);
    stop_often(STOPS, 0);
    check_all(); /* of each step one */
    for (uint32_t i = 0; i < told.count; i++)
        carried += told.stop[i].record.carried > 0;
    ck_assert_uint_gt(carried, 0); /* else nothing was told late */
}
END_TEST

static _Atomic uint32_t churn_is_over, runs_now;

/* Threads that begin, run a little and end, one after another. */
static void *churn(void *ends)
{
    while (!load_acquire(&churn_is_over)) {
        struct participant *self;
        ck_assert_int_eq(participant_attach(PARTICIPANT_MUTATOR, "short", &self), ERR_OK);
        participant_leave_safe(self, PARTICIPANT_GUEST);
        store_release(&runs_now, 1);
        for (uint64_t end = os_now_ns() + 50000; os_now_ns() < end;)
            participant_poll(self);
        participant_detach(self);
        fetch_add_relaxed((_Atomic uint32_t *)ends, 1);
    }
    return NULL;
}

START_TEST(threads_that_end_and_threads_that_go_native_are_told_of)
{
    static _Atomic uint32_t ends;
    pthread_t thread;
    uint32_t told_of_short = 0;
    start_told();
    mutator_start(&mutators[0], "native", go_native_often);
    pthread_create(&thread, NULL, churn, &ends);
    for (int i = 0; i < STOPS; i++) {
        while (!load_acquire(&runs_now)) /* as a rule it is met then */
            os_cpu_pause();
        store_relaxed(&runs_now, 0);
        stops_force(NULL, NULL);
    }
    store_release(&churn_is_over, 1);
    pthread_join(thread, NULL);
    stops_exit();
    check_all();
    for (uint32_t i = 0; i < told.count; i++)
        for (uint32_t t = 0; t < told.stop[i].thread_count; t++)
            told_of_short += strcmp(told.stop[i].thread[t].name, "short") == 0;
    ck_assert_uint_gt(load_relaxed(&ends), (uint32_t)STOPS / 4);
    ck_assert_uint_gt(told_of_short, 0);
}
END_TEST

START_TEST(of_many_threads_the_first_the_last_and_a_safe_one_are_told)
{
    start_told();
    for (int i = 0; i < SLEEPERS; i++)
        mutator_start(&mutators[i], "sleeper", sleep_until_quit);
    mutator_start(&mutators[SLEEPERS], "poller", poll_until_quit);
    mutator_start(&mutators[SLEEPERS + 1], "worker", poll_seldom);
    os_sleep_ns(20 * MS);
    stop_often(20, 1 * MS);
    check_all();
    for (uint32_t i = 0; i < told.count; i++) {
        const struct told_stop *stop = &told.stop[i];
        uint32_t safe = 0, first = 0, last = 0;
        ck_assert_uint_eq(stop->thread_count, 3);
        ck_assert_uint_eq(stop->left_out, SLEEPERS - 1);
        for (uint32_t t = 0; t < 3; t++) {
            safe += participant_state_is_safe(stop->thread[t].state);
            first += stop->thread[t].arrived_ns == stop->first_arrival_ns;
            last += stop->thread[t].arrived_ns == stop->last_arrival_ns;
        }
        ck_assert_uint_ge(safe, 1);
        ck_assert_uint_ge(first, 1);
        ck_assert_uint_ge(last, 1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("told_stop");
    TCase *tc = tcase_create("stops");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, the_steps_of_every_stop_follow_the_protocol);
    tcase_add_test(tc, a_wrong_stamp_of_the_ledger_is_noticed);
    tcase_add_test(tc, a_wrong_step_of_a_ring_is_noticed);
    tcase_add_test(tc, a_stop_that_follows_at_once_leaves_its_steps_out);
    tcase_add_test(tc, threads_that_end_and_threads_that_go_native_are_told_of);
    tcase_add_test(tc, of_many_threads_the_first_the_last_and_a_safe_one_are_told);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
