/* test_direct.c -- alloc/direct.h: the limit is exact, and a buffer is freed once, unused.
 *
 * SPDX-License-Identifier: MIT */
#include "alloc/direct.h"
#include "base/os.h"
#include "base/prng.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 4
#define LIMIT   ((uint64_t)8 << 20)

static struct direct_buffer zeroed(void) { return (struct direct_buffer){ 0, NULL, 0, false }; }

START_TEST(reserved_is_what_was_asked_for_and_goes_back)
{
    static const uint64_t sizes[] = { 0, 1, 4095, 131071, 131072, 1000000 };
    struct direct_buffer buffers[6];
    uint64_t sum = 0;
    direct_set_limit(LIMIT);
    for (int i = 0; i < 6; i++) {
        buffers[i] = zeroed();
        ck_assert_int_eq(direct_allocate(sizes[i], &buffers[i]), DIRECT_OK);
        memset(buffers[i].bytes, 0x5a, sizes[i]); /* in use since it was made */
        sum += sizes[i];
        ck_assert_uint_eq(direct_figures().reserved_bytes, sum);
        ck_assert_uint_eq(direct_figures().buffers, (uint64_t)i + 1);
    }
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(direct_free(&buffers[i]), DIRECT_IN_USE);
        direct_done(&buffers[i]);
        ck_assert_int_eq(direct_free(&buffers[i]), DIRECT_OK);
        ck_assert_int_eq(direct_free(&buffers[i]), DIRECT_WAS_FREED);
        ck_assert(!direct_use(&buffers[i]));
    }
    ck_assert_uint_eq(direct_figures().reserved_bytes, 0);
    ck_assert_uint_eq(direct_figures().buffers, 0);
}
END_TEST

START_TEST(one_byte_above_the_limit_is_refused_and_changes_nothing)
{
    struct direct_buffer all = zeroed(), more = zeroed();
    direct_set_limit(LIMIT);
    ck_assert_int_eq(direct_allocate(LIMIT + 1, &all), DIRECT_LIMIT);
    ck_assert_int_eq(direct_allocate(UINT64_MAX, &all), DIRECT_LIMIT);
    ck_assert_int_eq(direct_allocate(LIMIT, &all), DIRECT_OK);
    ck_assert_int_eq(direct_allocate(1, &more), DIRECT_LIMIT);
    ck_assert_uint_eq(direct_figures().reserved_bytes, LIMIT);
    ck_assert_int_eq(direct_allocate(0, &more), DIRECT_OK); /* nothing always fits */
    direct_done(&all);
    direct_done(&more);
    ck_assert_int_eq(direct_free(&all), DIRECT_OK);
    ck_assert_int_eq(direct_free(&more), DIRECT_OK);
    ck_assert_uint_eq(direct_figures().reserved_bytes, 0);
}
END_TEST

START_TEST(memory_that_the_system_refuses_is_not_reserved)
{
    struct direct_buffer b = zeroed();
    direct_set_limit(UINT64_C(1) << 62);
    ck_assert_int_eq(direct_allocate(DIRECT_MOST_BYTES + 1, &b), DIRECT_LIMIT);
    enum direct_result result = direct_allocate(DIRECT_MOST_BYTES, &b); /* 1 TiB, never touched */
    if (result == DIRECT_OK) { /* a system that promises everything */
        direct_done(&b);
        ck_assert_int_eq(direct_free(&b), DIRECT_OK);
    } else {
        ck_assert_int_eq(result, DIRECT_NO_MEMORY);
    }
    ck_assert_uint_eq(direct_figures().reserved_bytes, 0);
}
END_TEST

/* --- many threads --------------------------------------------------------------------------- */

static _Atomic bool is_over;
static _Atomic uint64_t most_seen, refused, made;

static void *allocate_and_free(void *seed)
{
    struct prng prng;
    prng_seed(&prng, (uint64_t)(uintptr_t)seed);
    while (!load_relaxed(&is_over)) {
        struct direct_buffer b = zeroed();
        uint64_t bytes = prng_below(&prng, LIMIT / 2);
        if (direct_allocate(bytes, &b) != DIRECT_OK) {
            fetch_add_relaxed(&refused, 1);
            continue;
        }
        if (bytes)
            b.bytes[bytes - 1] = 1;
        direct_done(&b);
        ck_assert_int_eq(direct_free(&b), DIRECT_OK);
        fetch_add_relaxed(&made, 1);
    }
    return NULL;
}

START_TEST(reserved_never_passes_the_limit_whoever_races)
{
    pthread_t threads[THREADS];
    direct_set_limit(LIMIT);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, allocate_and_free, (void *)(i + 1));
    for (uint64_t end = os_now_ns() + 400000000; os_now_ns() < end;) {
        uint64_t reserved = direct_figures().reserved_bytes;
        ck_assert_uint_le(reserved, LIMIT);
        if (reserved > load_relaxed(&most_seen))
            store_relaxed(&most_seen, reserved);
    }
    store_relaxed(&is_over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("seeds 1..%d: %llu buffers, %llu refused, at most %llu of %llu bytes seen reserved\n",
           THREADS, (unsigned long long)load_relaxed(&made),
           (unsigned long long)load_relaxed(&refused), (unsigned long long)load_relaxed(&most_seen),
           (unsigned long long)LIMIT);
    ck_assert_uint_eq(direct_figures().reserved_bytes, 0);
    ck_assert_uint_gt(load_relaxed(&made), 0);
}
END_TEST

/* --- free beside use -------------------------------------------------------------------------- */

static struct direct_buffer shared;
static _Atomic uint64_t uses, late_uses;

static void *use_it(void *unused)
{
    while (!load_relaxed(&is_over)) {
        if (direct_use(&shared)) {
            /* Unmapped memory would kill us here. */
            ((_Atomic char *)shared.bytes)[0] = 1;
            direct_done(&shared);
            fetch_add_relaxed(&uses, 1);
        } else {
            fetch_add_relaxed(&late_uses, 1);
        }
    }
    return unused;
}

START_TEST(a_use_and_a_free_never_meet)
{
    enum { ROUNDS = 300 };
    uint64_t in_use = 0;
    direct_set_limit(LIMIT);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[2];
        shared = zeroed();
        store_relaxed(&is_over, false);
        ck_assert_int_eq(direct_allocate((uint64_t)1 << 20, &shared), DIRECT_OK);
        direct_done(&shared);
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, use_it, NULL);
        enum direct_result result;
        while ((result = direct_free(&shared)) == DIRECT_IN_USE)
            in_use++;
        ck_assert_int_eq(result, DIRECT_OK);
        ck_assert(!direct_use(&shared));
        store_relaxed(&is_over, true);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
    printf("%d rounds: %llu uses, %llu too late, free found it in use %llu times\n", ROUNDS,
           (unsigned long long)load_relaxed(&uses), (unsigned long long)load_relaxed(&late_uses),
           (unsigned long long)in_use);
    ck_assert_uint_eq(direct_figures().reserved_bytes, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("direct");
    TCase *tc = tcase_create("direct");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, reserved_is_what_was_asked_for_and_goes_back);
    tcase_add_test(tc, one_byte_above_the_limit_is_refused_and_changes_nothing);
    tcase_add_test(tc, memory_that_the_system_refuses_is_not_reserved);
    tcase_add_test(tc, reserved_never_passes_the_limit_whoever_races);
    tcase_add_test(tc, a_use_and_a_free_never_meet);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
