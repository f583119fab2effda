/* test_stops.c -- the promises of safepoint/participant.h and operation.h.
 *
 * Mutants that these claims must kill are built in tests/mutants.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/mutators.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define STOPS (TESTS_ARE_SLOW ? 100 : 400)

static struct mutator mutators[4];

/* The sleep is an opaque call: without it the compiler folds the two sums, and the
 * test passes however broken the protocol is. */
static int64_t sum_of_plain(void)
{
    int64_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += mutators[i].plain;
    return sum;
}

static void read_twice(void *argument)
{
    int64_t *moved = argument, before = sum_of_plain();
    os_sleep_ns(50000);
    *moved += sum_of_plain() - before;
}

static void run_and_go_native(struct mutator *m, struct participant *self)
{
    while (!load_acquire(&m->quit)) {
        m->plain++;
        participant_poll(self);
        if (m->plain % 64 == 0) {
            participant_enter_safe(self, PARTICIPANT_NATIVE);
            participant_leave_safe(self, PARTICIPANT_GUEST);
        }
    }
}

static void check_frozen_world(const char *flag)
{
    int64_t moved = 0, ran = 0;
    start_stops_or_die(flag);
    for (int i = 0; i < 4; i++)
        mutator_start(&mutators[i], "runner", i % 2 ? run_and_go_native : poll_until_quit);
    for (int k = 0; k < STOPS; k++)
        stops_force(read_twice, &moved);
    for (int i = 0; i < 4; i++)
        mutator_end(&mutators[i]);
    ran = sum_of_plain();
    ck_assert_msg(moved == 0, "%s: counters moved by %lld inside %d stops", flag, (long long)moved,
                  STOPS);
    ck_assert_msg(ran > STOPS, "%s: the mutators hardly ran: %lld", flag, (long long)ran);
}

START_TEST(an_operation_sees_a_frozen_world)
{
    check_frozen_world(_i ? "-XX:SafepointPoll=global" : "-XX:SafepointPoll=flag");
}
END_TEST

#ifndef __SANITIZE_THREAD__
START_TEST(the_frozen_world_test_notices_a_world_that_moves) /* the control of the one above */
{
    int64_t moved = 0;
    start_stops_or_die(NULL);
    for (int i = 0; i < 4; i++)
        mutator_start(&mutators[i], "runner", poll_until_quit);
    for (int k = 0; k < STOPS; k++)
        read_twice(&moved); /* no stop */
    for (int i = 0; i < 4; i++)
        mutator_end(&mutators[i]);
    ck_assert_msg(moved > 0, "counters of running mutators did not move");
}
END_TEST
#endif

START_TEST(waiting_and_waking_work_in_each_way)
{
    static const char *const flags_to_try[] = { "-XX:SafepointWait=spin", "-XX:SafepointWait=sleep",
                                                "-XX:SafepointWake=all",
                                                "-XX:SafepointSpinMicros=0" };
    check_frozen_world(flags_to_try[_i]);
}
END_TEST

/* --- P2 ------------------------------------------------------------------------ */

static int64_t handed_over; /* written by operations, read by mutators: plain */

static void hand_over(void *argument)
{
    struct mutator *m = argument;
    handed_over = m->plain; /* the mutator's latest */
}

static void check_hand_over(struct mutator *m, struct participant *self)
{
    while (!load_acquire(&m->quit)) {
        int64_t before = m->plain;
        m->plain = before + 1;
        participant_poll(self);
        if (handed_over > m->plain)
            m->time_ns++; /* saw a value from its own future */
    }
}

START_TEST(what_is_written_before_a_stop_is_seen_in_it_and_after_it)
{
    struct mutator *m = &mutators[0];
    start_stops_or_die(NULL);
    mutator_start(m, "writer", check_hand_over);
    int64_t last = -1;
    for (int k = 0; k < STOPS; k++) {
        stops_force(hand_over, m);
        ck_assert_msg(handed_over >= last, "stop %d: saw %lld after %lld", k,
                      (long long)handed_over, (long long)last);
        last = handed_over;
    }
    mutator_end(m);
    ck_assert_int_eq(m->time_ns, 0);
    ck_assert_int_gt(last, 0);
}
END_TEST

/* --- P3, P4 --------------------------------------------------------------------- */

START_TEST(sleeping_mutators_never_delay_a_stop_and_are_never_last)
{
    static struct mutator sleepers[64];
    static struct records records;
    ledger_set_sink(keep_record, &records);
    start_stops_or_die(NULL);
    for (int i = 0; i < 64; i++)
        mutator_start(&sleepers[i], "sleeper", sleep_until_quit);
    os_sleep_ns(20 * MS); /* all are in BLOCKED by then */
    for (int k = 0; k < 50; k++)
        stops_force(NULL, NULL);
    stops_exit();
    ck_assert_int_eq(records.count, 50);
    for (uint32_t i = 0; i < records.count; i++) {
        const struct stop_record *r = &records.record[i];
        ck_assert_msg(r->last != LEDGER_LAST_THREAD, "stop %u: %s was last", i, r->last_thread);
        ck_assert_int_eq(r->participants, 64);
        ck_assert_int_eq(r->already_safe, 64);
    }
}
END_TEST

static _Atomic uint32_t operation_is_on, operation_may_end;

static void hold_the_stop(void *unused)
{
    (void)unused;
    store_release(&operation_is_on, 1);
    while (!load_acquire(&operation_may_end))
        os_sleep_ns(100000);
}

static void *force_a_held_stop(void *unused)
{
    stops_force(hold_the_stop, NULL);
    return unused;
}

static void attach_and_detach(void *argument)
{
    struct participant *self;
    (void)argument;
    ck_assert_int_eq(participant_attach(PARTICIPANT_MUTATOR, "newborn", &self), ERR_OK);
    participant_detach(self);
}

static void *run_attach_and_detach(void *argument)
{
    attach_and_detach(argument);
    return NULL;
}

START_TEST(threads_begin_and_end_while_a_stop_is_on)
{
    pthread_t holder, newborn;
    start_stops_or_die(NULL);
    ck_assert_int_eq(pthread_create(&holder, NULL, force_a_held_stop, NULL), 0);
    while (!load_acquire(&operation_is_on))
        os_sleep_ns(100000);
    /* If attaching or detaching waited for the stop, this would never return. */
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(pthread_create(&newborn, NULL, run_attach_and_detach, NULL), 0);
        pthread_join(newborn, NULL);
    }
    store_release(&operation_may_end, 1);
    pthread_join(holder, NULL);
    ck_assert_uint_eq(registry_count(), 0);
    ck_assert_uint_eq(registry_attached(), 20);
}
END_TEST

static void return_during_stop(struct mutator *m, struct participant *self)
{
    participant_enter_safe(self, PARTICIPANT_NATIVE);
    while (!load_acquire(&operation_is_on))
        os_sleep_ns(100000);
    store_release(&m->go, 1); /* about to come back */
    participant_leave_safe(self, PARTICIPANT_GUEST);
    m->plain = 1;
    m->time_ns = os_now_ns();
    spin_for(20 * MS); /* and the next stop really waits for it */
    poll_until_quit(m, self);
}

START_TEST(a_native_thread_that_returns_during_a_stop_waits_and_then_counts_again)
{
    static struct records records;
    struct mutator *m = &mutators[0];
    pthread_t holder;
    ledger_set_sink(keep_record, &records);
    start_stops_or_die(NULL);
    mutator_start(m, "returner", return_during_stop);
    ck_assert_int_eq(pthread_create(&holder, NULL, force_a_held_stop, NULL), 0);
    while (!load_acquire(&m->go))
        os_sleep_ns(100000);
    os_sleep_ns(20 * MS);
    ck_assert_msg(m->plain == 0, "it ran guest code inside the stop");
    uint64_t released = os_now_ns();
    store_release(&operation_may_end, 1);
    pthread_join(holder, NULL);
    os_sleep_ns(1 * MS);
    stops_force(NULL, NULL);
    mutator_end(m);
    stops_exit();
    ck_assert_int_ge(m->plain, 1); /* it did run afterwards */
    ck_assert_uint_ge(m->time_ns, released);
    ck_assert_int_eq(records.count, 2);
    ck_assert_msg(records.record[1].tickets == 1, "the next stop did not count it: %u tickets",
                  records.record[1].tickets);
}
END_TEST

/* --- who was last ------------------------------------------------------------------ */

static const struct doing_what lingering = { "linger", "lingering on purpose", "steps" };

static void linger_without_polls(struct mutator *m, struct participant *self)
{
    while (!load_acquire(&m->quit)) {
        struct doing_value before = doing_begin(participant_doing(self), &lingering, 40);
        spin_for(40 * MS);
        doing_end(participant_doing(self), before);
        if (m->number) { /* arrives by going native, not by a poll */
            participant_enter_safe(self, PARTICIPANT_NATIVE);
            participant_leave_safe(self, PARTICIPANT_GUEST);
        } else {
            participant_poll(self);
        }
    }
}

START_TEST(the_late_thread_is_named_with_what_it_was_doing)
{
    static struct records records;
    struct mutator *m = &mutators[0];
    uint32_t named = 0;
    m->number = _i;
    ledger_set_sink(keep_record, &records);
    start_stops_or_die(NULL);
    mutator_start(m, "lingerer", linger_without_polls);
    /* A sleeper beside it: a poller could be the later one where CPUs are short. */
    mutator_start(&mutators[1], "sleeper", sleep_until_quit);
    for (int k = 0; k < 10; k++) {
        os_sleep_ns(5 * MS); /* it is out of the gate and lingers again */
        stops_force(NULL, NULL);
    }
    mutator_end(m);
    mutator_end(&mutators[1]);
    stops_exit();
    for (uint32_t i = 0; i < records.count; i++) {
        char doing[96];
        stop_record_last_doing(&records.record[i], doing, sizeof doing);
        named += strcmp(records.record[i].last_thread, "lingerer") == 0 &&
                 strcmp(doing, "lingering on purpose 0/40 steps") == 0;
    }
    ck_assert_msg(named >= 8, "the lingerer was named in %u of %u stops", named, records.count);
}
END_TEST

/* --- requests ---------------------------------------------------------------------- */

static void *force_plain_stop(void *unused)
{
    stops_force(NULL, NULL);
    return unused;
}

START_TEST(equal_requests_share_a_stop)
{
    pthread_t holder, burst[30];
    start_stops_or_die(NULL);
    ck_assert_int_eq(pthread_create(&holder, NULL, force_a_held_stop, NULL), 0);
    while (!load_acquire(&operation_is_on))
        os_sleep_ns(100000);
    for (int i = 0; i < 30; i++)
        ck_assert_int_eq(pthread_create(&burst[i], NULL, force_plain_stop, NULL), 0);
    os_sleep_ns(100 * MS); /* all thirty are in the queue */
    store_release(&operation_may_end, 1);
    pthread_join(holder, NULL);
    for (int i = 0; i < 30; i++)
        pthread_join(burst[i], NULL);
    stops_exit();
    ck_assert_msg(ledger_totals()->stops <= 3, "30 equal requests took %llu stops",
                  (unsigned long long)ledger_totals()->stops - 1);
    ck_assert_uint_ge(ledger_totals()->coalesced, 28);
}
END_TEST

static bool is_not_needed(struct operation *unused)
{
    (void)unused;
    return false;
}

START_TEST(a_request_that_is_not_needed_any_more_is_answered_without_a_stop)
{
    struct operation o;
    start_stops_or_die(NULL);
    memset(&o, 0, sizeof o);
    o.still_needed = is_not_needed;
    operation_request(&o);
    stops_exit();
    ck_assert_uint_eq(o.epoch, 0);
    ck_assert_uint_eq(ledger_totals()->stops, 0);
    ck_assert_uint_eq(ledger_totals()->elided, 1);
}
END_TEST

static void request_from_guest(struct mutator *m, struct participant *self)
{
    while (!load_acquire(&m->quit)) {
        stops_force(NULL, NULL);
        m->plain++;
        participant_poll(self);
    }
}

START_TEST(mutators_may_request_stops_of_each_other)
{
    start_stops_or_die(NULL);
    for (int i = 0; i < 4; i++)
        mutator_start(&mutators[i], "requester", request_from_guest);
    os_sleep_ns(200 * MS);
    for (int i = 0; i < 4; i++)
        mutator_end(&mutators[i]);
    for (int i = 0; i < 4; i++)
        ck_assert_int_gt(mutators[i].plain, 0);
}
END_TEST

/* --- locks, witness, dump ------------------------------------------------------------ */

static struct lock shared_lock = LOCK_INITIALIZER(SHARED);
static struct lock registry_like = LOCK_INITIALIZER(REGISTRY);
static int64_t under_lock;

static void lock_and_count(struct mutator *m, struct participant *self)
{
    while (!load_acquire(&m->quit)) {
        participant_lock(self, &shared_lock);
        under_lock++;
        m->plain++;
        lock_release(&shared_lock);
        participant_poll(self);
    }
}

static void take_shared_lock(void *unused)
{
    (void)unused;
    lock_acquire(&shared_lock);
    under_lock += 1000000;
    lock_release(&shared_lock);
}

START_TEST(an_operation_and_mutators_share_a_marked_lock)
{
    start_stops_or_die(NULL);
    for (int i = 0; i < 4; i++)
        mutator_start(&mutators[i], "locker", lock_and_count);
    for (int k = 0; k < STOPS; k++)
        stops_force(take_shared_lock, NULL);
    for (int i = 0; i < 4; i++)
        mutator_end(&mutators[i]);
    ck_assert_int_eq(under_lock, sum_of_plain() + INT64_C(1000000) * STOPS);
    ck_assert_int_gt(sum_of_plain(), 0);
}
END_TEST

static void take_unmarked_lock(void *unused)
{
    (void)unused;
    lock_acquire(&registry_like);
}

START_TEST(an_operation_that_takes_an_unmarked_lock_aborts)
{
    start_stops_or_die(NULL);
    stops_force(take_unmarked_lock, NULL);
}
END_TEST

static void run_inside_the_stop(void *argument)
{
    participant_count_chunk(argument); /* as if it ran: a fault planted by hand */
}

static void offer_self(struct mutator *m, struct participant *self)
{
    m->time_ns = (uint64_t)(uintptr_t)self;
    store_release(&m->go, 1);
    poll_until_quit(m, self);
}

START_TEST(a_participant_that_runs_inside_a_stop_is_fatal)
{
    struct mutator *m = &mutators[0];
    start_stops_or_die(NULL);
    mutator_start(m, "ghost", offer_self);
    while (!load_acquire(&m->go))
        os_sleep_ns(100000);
    stops_force(run_inside_the_stop, (void *)(uintptr_t)m->time_ns);
}
END_TEST

static void dump_to(FILE *file)
{
    fflush(stderr);
    int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    stops_dump_threads();
    dup2(before, STDERR_FILENO);
    close(before);
}

static void a_function_to_be_found(struct mutator *m, struct participant *self)
{
    poll_until_quit(m, self);
}

START_TEST(a_thread_dump_has_names_states_and_native_frames)
{
    static char text[65536];
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    start_stops_or_die(NULL);
    mutator_start(&mutators[0], "poller", a_function_to_be_found);
    mutator_start(&mutators[1], "sleeper", sleep_until_quit);
    os_sleep_ns(10 * MS);
    dump_to(file);
    mutator_end(&mutators[0]);
    mutator_end(&mutators[1]);
    rewind(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    ck_assert_msg(strstr(text, "\"poller\"") && strstr(text, "\"sleeper\""), "no names in: %s",
                  text);
    ck_assert_msg(strstr(text, "stopped") && strstr(text, "blocked"), "no states in: %s", text);
#ifndef __SANITIZE_THREAD__ /* it runs signal handlers late, from its own frames */
    ck_assert_msg(strstr(text, "a_function_to_be_found") || strstr(text, "mutator_main"),
                  "no native frame of ours in: %s", text);
#endif
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stops");
    TCase *tc = tcase_create("stops");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, an_operation_sees_a_frozen_world, 0, 2);
#ifndef __SANITIZE_THREAD__ /* it races on purpose */
    tcase_add_test(tc, the_frozen_world_test_notices_a_world_that_moves);
#endif
    tcase_add_loop_test(tc, waiting_and_waking_work_in_each_way, 0, 4);
    tcase_add_test(tc, what_is_written_before_a_stop_is_seen_in_it_and_after_it);
    tcase_add_test(tc, sleeping_mutators_never_delay_a_stop_and_are_never_last);
    tcase_add_test(tc, threads_begin_and_end_while_a_stop_is_on);
    tcase_add_test(tc, a_native_thread_that_returns_during_a_stop_waits_and_then_counts_again);
    tcase_add_loop_test(tc, the_late_thread_is_named_with_what_it_was_doing, 0, 2);
    tcase_add_test(tc, equal_requests_share_a_stop);
    tcase_add_test(tc, a_request_that_is_not_needed_any_more_is_answered_without_a_stop);
    tcase_add_test(tc, mutators_may_request_stops_of_each_other);
    tcase_add_test(tc, an_operation_and_mutators_share_a_marked_lock);
    tcase_add_test_raise_signal(tc, an_operation_that_takes_an_unmarked_lock_aborts, SIGABRT);
    tcase_add_test_raise_signal(tc, a_participant_that_runs_inside_a_stop_is_fatal, SIGABRT);
    tcase_add_test(tc, a_thread_dump_has_names_states_and_native_frames);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
