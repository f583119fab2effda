/* test_sync.c -- Lock and Barrier under threads: exclusion, no lost wake, deadlock only when it is.
 *
 * The threads are attached guest threads that call the natives as the interpreter does.  They
 * meet at a barrier with the main one when they are done: a wake that is lost leaves somebody
 * parked for ever, and then all are, which main is told at once.
 *
 * Built again with planted faults (MUTANT 43 to 46 in vm/sync.c); some claim must fail then.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/sync.h"
#include "base/log.h"
#include "base/os.h"
#include "safepoint/stops.h"
#include "tests/unit/suite.h"
#include "vm/natives.h"
#include "vm/program.h"
#include "vm/threads.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4

static struct guest_thread *main_thread;
static value_t lock_object, done_object;
static int64_t plain; /* the lock alone protects it */
static int rounds;

static bool call(struct guest_thread *thread, native_call_mp *native, value_t receiver)
{
    value_t window[2] = { receiver, VALUE_NIL }; /* no collector moves anything here */
    return native(thread, window, 0);
}

static void begin(int thread_rounds)
{
    char message[256];
    value_t window[2];
    log_start(os_now_ns());
    ck_assert_int_eq(stops_start(), ERR_OK);
    ck_assert_int_eq(program_start(message, sizeof message), ERR_OK);
    ck_assert_int_eq(program_attach("main", &main_thread), ERR_OK);
    participant_leave_safe(guest_thread_participant(main_thread), PARTICIPANT_GUEST);
    threads_begin(main_thread);
    ck_assert(sync_lock_new_mp(main_thread, window, 0));
    lock_object = window[0];
    window[1] = value_of_double(THREADS + 1);
    ck_assert(sync_barrier_new_mp(main_thread, window, 1));
    done_object = window[0];
    plain = 0;
    rounds = thread_rounds;
}

static void *attached(void *body)
{
    struct guest_thread *thread;
    ck_assert_int_eq(program_attach("worker", &thread), ERR_OK);
    participant_leave_safe(guest_thread_participant(thread), PARTICIPANT_GUEST);
    ((void (*)(struct guest_thread *))body)(thread);
    call(thread, sync_barrier_wait_mp, done_object);
    participant_enter_safe(guest_thread_participant(thread), PARTICIPANT_NATIVE);
    program_detach(thread);
    parking_end_active();
    return NULL;
}

/* All run body; false: they never came to its end. */
static bool run_all(void (*body)(struct guest_thread *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        parking_add_active();
        pthread_create(&threads[i], NULL, attached, (void *)body);
    }
    bool are_done = call(main_thread, sync_barrier_wait_mp, done_object);
    participant_enter_safe(guest_thread_participant(main_thread), PARTICIPANT_NATIVE);
    for (int i = 0; are_done && i < THREADS; i++)
        pthread_join(threads[i], NULL);
    participant_leave_safe(guest_thread_participant(main_thread), PARTICIPANT_GUEST);
    return are_done;
}

static void add_under_the_lock(struct guest_thread *thread)
{
    for (int i = 0; i < rounds; i++) {
        if (!call(thread, sync_lock_acquire_mp, lock_object))
            return;
        int64_t before = plain;
        if (i % 128 == 0)
            sched_yield(); /* others find it held */
        plain = before + 1;
        call(thread, sync_lock_release_mp, lock_object);
    }
}

START_TEST(a_lock_excludes_and_no_wake_is_lost)
{
    begin(20000);
    ck_assert_msg(run_all(add_under_the_lock), "a wake was lost: %s", main_thread->error.message);
    ck_assert_int_eq(plain, (int64_t)THREADS * 20000);
}
END_TEST

/* Holds the lock long, so that the others stand in line, all of them. */
static void take_turns(struct guest_thread *thread)
{
    for (int i = 0; i < rounds; i++) {
        if (!call(thread, sync_lock_acquire_mp, lock_object))
            return;
        plain++;
        os_sleep_ns(200000);
        call(thread, sync_lock_release_mp, lock_object);
    }
}

START_TEST(a_line_of_waiters_is_served_to_its_end)
{
    begin(25);
    ck_assert_msg(run_all(take_turns), "a wake was lost: %s", main_thread->error.message);
    ck_assert_int_eq(plain, (int64_t)THREADS * 25);
}
END_TEST

static void keep_the_lock(struct guest_thread *thread)
{
    call(thread, sync_lock_acquire_mp, lock_object); /* the first one keeps it */
}

START_TEST(a_lock_that_is_never_released_is_a_deadlock)
{
    begin(0);
    ck_assert(!run_all(keep_the_lock));
    ck_assert_int_eq(main_thread->error.kind, GUEST_ERROR_DEADLOCK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sync");
    TCase *tc = tcase_create("sync");
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, a_lock_excludes_and_no_wake_is_lost);
    tcase_add_test(tc, a_line_of_waiters_is_served_to_its_end);
    tcase_add_test(tc, a_lock_that_is_never_released_is_a_deadlock);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
