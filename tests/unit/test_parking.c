/* test_parking.c -- vm/parking.h: nobody is forgotten, and only a real deadlock is one.
 *
 * The threads here are plain ones that park and unpark one another through a hand-made queue:
 * a ring of tokens.  The deadlock is told to the main one, as in a program.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/parking.h"
#include "base/os.h"
#include "base/prng.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define THREADS 4

static struct waitable tokens; /* guard: how many */
static uint32_t token_count;
static struct parker parkers[THREADS + 1]; /* 0 = main */

/* Takes a token, waiting for one.  False: deadlock, told to main. */
static bool take_token(struct parker *self)
{
    for (bool has_waited = false;; has_waited = true) {
        pthread_mutex_lock(&tokens.guard);
        if (token_count > 0) {
            token_count--;
            pthread_mutex_unlock(&tokens.guard);
            return true;
        }
        if (!park(self, &tokens, has_waited))
            return false;
    }
}

static void put_token(void)
{
    pthread_mutex_lock(&tokens.guard);
    token_count++;
    struct parker *first = waitable_take(&tokens);
    pthread_mutex_unlock(&tokens.guard);
    if (first)
        unpark(first);
}

static void begin(uint32_t count)
{
    memset(parkers, 0, sizeof parkers);
    waitable_init(&tokens, "token", 0, NULL);
    token_count = count;
    parking_begin(&parkers[0]);
}

/* --- nobody is forgotten ------------------------------------------------------------------- */

#define ROUNDS 20000

static void *take_and_put(void *number)
{
    for (int i = 0; i < ROUNDS; i++) {
        bool is_taken = take_token(&parkers[(uintptr_t)number]);
        ck_assert(is_taken);
        if (i % 64 == 0)
            sched_yield();
        put_token();
    }
    parking_end_active();
    return NULL;
}

/* One token among four threads and main, which takes it as well: somebody always waits, and one
 * is always active.  A false alarm would end main's wait with false; a lost wake hangs. */
START_TEST(one_token_goes_round_and_no_deadlock_is_told)
{
    pthread_t threads[THREADS];
    begin(1);
    for (uintptr_t i = 0; i < THREADS; i++) {
        parking_add_active();
        pthread_create(&threads[i], NULL, take_and_put, (void *)(i + 1));
    }
    for (int i = 0; i < ROUNDS; i++) {
        ck_assert_msg(take_token(&parkers[0]), "a deadlock was told in round %d", i);
        put_token();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(token_count, 1);
    ck_assert_ptr_null(tokens.first);
}
END_TEST

/* --- a deadlock is found, whoever is the last to wait ----------------------------------------- */

static void *take_one_token(void *number)
{
    struct prng prng;
    prng_seed(&prng, (uint64_t)(uintptr_t)number);
    if (prng_below(&prng, 2))
        os_sleep_ns(prng_below(&prng, 200000));
    take_token(&parkers[(uintptr_t)number % THREADS + 1]); /* never comes back without one */
    parking_end_active();
    return NULL;
}

/* Four threads want a token each, there are `count`; main takes none of them away before it
 * waits.  With four, main waits for a fifth, for ever: the last of the others ends, and tells. */
START_TEST(when_all_wait_main_is_told)
{
    for (uintptr_t round = 0; round < 50; round++) {
        pthread_t threads[THREADS];
        begin((uint32_t)_i);
        for (uintptr_t i = 0; i < THREADS; i++) {
            parking_add_active();
            pthread_create(&threads[i], NULL, take_one_token, (void *)(round * THREADS + i));
        }
        int taken = 0;
        while (take_token(&parkers[0]))
            taken++;
        ck_assert_int_le(taken, _i);
        for (int i = 0; i <= THREADS - (_i - taken); i++)
            put_token(); /* so that all end; main stands in line still, hence one more */
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
}
END_TEST

/* --- the order of the line -------------------------------------------------------------------- */

static _Atomic uint32_t served[THREADS]; /* numbers of those who came through, in that order */
static _Atomic uint32_t served_count;

/* Parks until it is told that it may go; the first that is woken is made to wait once more, as
 * who finds a lock taken by a faster one. */
static void *stand_in_line_twice(void *number)
{
    struct parker *self = &parkers[(uintptr_t)number];
    for (int times = (uintptr_t)number == 1 ? 2 : 1, i = 0; i < times; i++) {
        pthread_mutex_lock(&tokens.guard);
        park(self, &tokens, i > 0);
    }
    store_seq(&served[fetch_add_seq(&served_count, 1)], (uint32_t)(uintptr_t)number);
    parking_end_active();
    return NULL;
}

/* Until so many stand in line, the given one at its head. */
static void await_line(uint32_t length, const struct parker *head)
{
    for (bool is_there = false; !is_there; sched_yield()) {
        uint32_t count = 0;
        pthread_mutex_lock(&tokens.guard);
        for (struct parker *p = tokens.first; p; p = p->next_waiting)
            count++;
        is_there = count == length && tokens.first == head;
        pthread_mutex_unlock(&tokens.guard);
    }
}

static struct parker *wake_first(void)
{
    pthread_mutex_lock(&tokens.guard);
    struct parker *first = waitable_take(&tokens);
    pthread_mutex_unlock(&tokens.guard);
    if (first)
        unpark(first);
    return first;
}

/* Four come one after another.  The first is woken and comes back as the first: it is the next to
 * be woken again, then the others as they came.  Main never waits, so nobody is a deadlock. */
START_TEST(the_line_is_served_in_order_and_who_comes_back_keeps_its_place)
{
    pthread_t threads[THREADS];
    begin(0);
    for (uintptr_t i = 0; i < THREADS; i++) {
        parking_add_active();
        pthread_create(&threads[i], NULL, stand_in_line_twice, (void *)(i + 1));
        await_line((uint32_t)i + 1, &parkers[1]);
    }
    ck_assert_ptr_eq(wake_first(), &parkers[1]);
    await_line(THREADS, &parkers[1]); /* it came back; at the end of the line this would hang */
    for (uint32_t i = 0; i < THREADS; i++) {
        ck_assert_ptr_eq(tokens.last, &parkers[THREADS]);
        ck_assert_ptr_eq(wake_first(), &parkers[i + 1]);
        pthread_join(threads[i], NULL); /* it alone was woken: it ends, nobody else does */
        ck_assert_uint_eq(load_seq(&served_count), i + 1);
        ck_assert_uint_eq(load_seq(&served[i]), i + 1);
    }
    ck_assert_ptr_null(wake_first());
    ck_assert_ptr_null(tokens.last);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parking");
    TCase *tc = tcase_create("parking");
    tcase_set_timeout(tc, 100);
    tcase_add_test(tc, one_token_goes_round_and_no_deadlock_is_told);
    tcase_add_loop_test(tc, when_all_wait_main_is_told, 0, THREADS + 1);
    tcase_add_test(tc, the_line_is_served_in_order_and_who_comes_back_keeps_its_place);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
