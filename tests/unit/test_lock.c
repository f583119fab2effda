/* test_lock.c -- the promises of base/lock.h.  SPDX-License-Identifier: MIT */
#include "base/insist.h"
#include "base/lock.h"

#include "tests/unit/suite.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static struct lock outer = LOCK_INITIALIZER(LIFECYCLE);
static struct lock marked = LOCK_INITIALIZER(SHARED);
static struct lock inner = LOCK_INITIALIZER(LOG);
static int64_t counter; /* plain: the lock protects it */

START_TEST(locks_taken_in_rank_order_nest)
{
    ck_assert(lock_none_held());
    lock_acquire(&outer);
    lock_acquire(&marked);
    ck_assert(lock_try(&inner));
    ck_assert(!lock_none_held());
    lock_release(&inner);
    lock_release(&marked);
    lock_release(&outer);
    ck_assert(lock_none_held());
}
END_TEST

START_TEST(a_lock_taken_against_its_rank_aborts)
{
    lock_acquire(&inner);
    lock_acquire(&outer);
}
END_TEST

START_TEST(two_locks_of_one_rank_do_not_nest)
{
    static struct lock another = LOCK_INITIALIZER(SHARED);
    lock_acquire(&marked);
    lock_acquire(&another);
}
END_TEST

START_TEST(an_operation_may_take_marked_locks)
{
    lock_operation_begins();
    lock_acquire(&marked);
    lock_release(&marked);
    lock_operation_ends();
    lock_acquire(&outer);
    lock_release(&outer);
}
END_TEST

START_TEST(an_operation_that_takes_an_unmarked_lock_aborts)
{
    lock_operation_begins();
    lock_acquire(&inner);
}
END_TEST

static void *count_to_100000(void *unused)
{
    for (int i = 0; i < 100000; i++) {
        if (!lock_try(&marked))
            lock_acquire(&marked);
        counter++;
        lock_release(&marked);
    }
    return unused;
}

START_TEST(a_lock_excludes)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, count_to_100000, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(counter, 400000);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lock");
    TCase *tc = tcase_create("lock");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, locks_taken_in_rank_order_nest);
    if (STILLPOINT_ASSERT_LEVEL > 0) { /* ranks are checked in debug builds */
        tcase_add_test_raise_signal(tc, a_lock_taken_against_its_rank_aborts, SIGABRT);
        tcase_add_test_raise_signal(tc, two_locks_of_one_rank_do_not_nest, SIGABRT);
    }
    tcase_add_test(tc, an_operation_may_take_marked_locks);
    tcase_add_test_raise_signal(tc, an_operation_that_takes_an_unmarked_lock_aborts, SIGABRT);
    tcase_add_test(tc, a_lock_excludes);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
