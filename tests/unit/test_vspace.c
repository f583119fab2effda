/* test_vspace.c -- claims about reserved address space and the memory in it.
 *
 * SPDX-License-Identifier: MIT */
#include "alloc/vspace.h"
#include "base/os.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <signal.h>
#include <string.h>

static struct vspace space;

static size_t page(void) { return os_page_bytes(); }

static void reserve_pages(size_t count)
{
    ck_assert_int_eq(vspace_reserve(&space, count * page()), ERR_OK);
    ck_assert_uint_eq(space.bytes, count * page());
}

static bool is_zero(const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (from[i])
            return false;
    return true;
}

START_TEST(memory_is_zero_however_often_it_comes_and_goes)
{
    reserve_pages(8);
    for (int round = 0; round < 3; round++) {
        ck_assert_int_eq(vspace_commit(&space, 2 * page(), 3 * page()), ERR_OK);
        ck_assert(is_zero(space.base + 2 * page(), 3 * page()));
        memset(space.base + 2 * page(), 0x5a, 3 * page());
        ck_assert_int_eq(vspace_uncommit(&space, 2 * page(), 3 * page()), ERR_OK);
    }
    ck_assert_uint_eq(space.commit_calls, 3);
    ck_assert_uint_eq(space.uncommit_calls, 3);
    vspace_release(&space);
    ck_assert_ptr_null(space.base);
}
END_TEST

/* Loop 0: what was never committed; 1: beside a run; 2: what went back. */
START_TEST(what_is_not_committed_cannot_be_touched)
{
    reserve_pages(8);
    ck_assert_int_eq(vspace_commit(&space, 2 * page(), 2 * page()), ERR_OK);
    if (_i == 2)
        ck_assert_int_eq(vspace_uncommit(&space, 3 * page(), page()), ERR_OK);
    memset(space.base + 2 * page(), 1, page()); /* must not be what faults */
    *(volatile char *)(space.base + (_i == 0 ? 7 * page() : _i == 1 ? 4 * page() : 3 * page())) = 1;
}
END_TEST

START_TEST(a_refused_run_is_counted_and_its_neighbours_stay)
{
    reserve_pages(8);
    ck_assert_int_eq(vspace_commit(&space, 0, 2 * page()), ERR_OK);
    memset(space.base, 0x5a, 2 * page());
    vspace_refuse_longer_for_test(2 * page());
    ck_assert_int_eq(vspace_commit(&space, 2 * page(), 3 * page()), ERR_NO_MEMORY);
    ck_assert_int_eq(vspace_commit(&space, 2 * page(), 2 * page()), ERR_OK);
    vspace_refuse_longer_for_test(0);
    ck_assert_uint_eq(space.commit_calls, 3);
    ck_assert(space.base[2 * page() - 1] == 0x5a && is_zero(space.base + 2 * page(), 2 * page()));
    vspace_release(&space);
}
END_TEST

/* No machine has 2^62 bytes of address space; what the system says is an error, not an end. */
START_TEST(more_than_the_address_space_is_an_error)
{
    ck_assert_int_eq(vspace_reserve(&space, (size_t)1 << 62), ERR_NO_MEMORY);
    ck_assert_ptr_null(space.base);
    reserve_pages(1);
    vspace_release(&space);
}
END_TEST

/* Loop 0: not a page; 1: beyond the end; 2: a sum that wraps; 3: nothing. */
START_TEST(a_run_that_is_no_run_of_the_space_aborts)
{
    const size_t runs[][2] = {
        { 0, page() / 2 }, { 7 * page(), 2 * page() }, { page(), -page() }, { 0, 0 }
    };
    reserve_pages(8);
    if (vspace_commit(&space, runs[_i][0], runs[_i][1]) != ERR_OK)
        return;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vspace");
    TCase *tc = tcase_create("vspace");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, memory_is_zero_however_often_it_comes_and_goes);
    tcase_add_test(tc, a_refused_run_is_counted_and_its_neighbours_stay);
    tcase_add_test(tc, more_than_the_address_space_is_an_error);
    tcase_add_loop_test_raise_signal(tc, a_run_that_is_no_run_of_the_space_aborts, SIGABRT, 0, 4);
#if !defined __SANITIZE_ADDRESS__ &&                                                               \
    !defined __SANITIZE_THREAD__ /* they take the fault themselves */
    tcase_add_loop_test_raise_signal(tc, what_is_not_committed_cannot_be_touched, SIGSEGV, 0, 3);
#else
    (void)what_is_not_committed_cannot_be_touched;
#endif
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
