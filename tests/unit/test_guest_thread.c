/* test_guest_thread.c -- a thread's registers: what lies above its frames, Note [S].
 *
 * SPDX-License-Identifier: MIT */
#include "vm/guest_thread.h"
#include "base/log.h"
#include "base/os.h"
#include "gc/heap.h"
#include "safepoint/stops.h"
#include "tests/unit/suite.h"
#include "vm/program.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define SLACK 512 /* as in vm/guest_thread.c */

static struct guest_thread *thread;

static void begin(void)
{
    char message[256];
    log_start(os_now_ns());
    ck_assert_int_eq(stops_start(), ERR_OK);
    ck_assert_int_eq(program_start(message, sizeof message), ERR_OK);
    ck_assert_int_eq(program_attach("main", &thread), ERR_OK);
}

static enum program_result run(const char *source)
{
    struct program *program;
    ck_assert_int_eq(program_compile(thread, source, strlen(source), stderr, &program), PROGRAM_OK);
    enum program_result result = program_run(thread, program, 0, NULL, stderr);
    program_destroy(program);
    return result;
}

static ptrdiff_t registers_of(const struct guest_thread *t) { return t->stack_hard_end - t->stack; }
static ptrdiff_t limit_of(const struct guest_thread *t) { return t->stack_end - t->stack; }

static void check_nil(const value_t *from, const value_t *to)
{
    for (; from < to; from++)
        ck_assert_msg(*from == VALUE_NIL, "register %td holds %llx", from - thread->stack,
                      (unsigned long long)*from);
}

static bool has_leftovers(void)
{
    for (const value_t *v = thread->stack + 1; v < thread->stack_end; v++)
        if (*v != VALUE_NIL)
            return true;
    return false;
}

/* Each call of f needs a few registers. */
static void recurse(int depth)
{
    char source[160];
    snprintf(source, sizeof source,
             "fun f(n) { if (n > 0) { var s = \"a\" + \"b\"; f(n - 1); } } f(%d);", depth);
    ck_assert_int_eq(run(source), PROGRAM_OK);
}

static void forget(void) { thread->mutator.forget_leftovers_at_safepoint(&thread->mutator); }

START_TEST(the_limit_begins_low_and_only_rises_with_need)
{
    begin();
    ck_assert_int_eq(limit_of(thread), 1 + SLACK);
    recurse(10);
    ck_assert_int_eq(limit_of(thread), 1 + SLACK);
    recurse(2000);
    ck_assert_int_gt(limit_of(thread), 2000);
    ck_assert_int_lt(limit_of(thread), 2000 * 16);
    ck_assert_int_lt(limit_of(thread), registers_of(thread));
    check_nil(thread->stack_end, thread->stack_hard_end);
}
END_TEST

START_TEST(all_above_the_frames_is_nil_once_it_is_forgotten)
{
    begin();
    for (int depth = 5; depth < 20000; depth *= 3) {
        recurse(depth);
        ck_assert_msg(has_leftovers(), "depth %d left nothing behind: the test shows nothing",
                      depth);
        forget();
        check_nil(thread->stack + 1, thread->stack_hard_end);
        ck_assert_int_eq(limit_of(thread), 1 + SLACK);
    }
}
END_TEST

START_TEST(a_stack_may_be_used_up_to_its_hard_end)
{
    begin();
    ck_assert_int_eq(run("fun f() { f(); } attempt(f);"), PROGRAM_OK);
    ck_assert_int_eq(limit_of(thread), registers_of(thread));
    forget();
    check_nil(thread->stack + 1, thread->stack_hard_end);
    ck_assert_int_eq(limit_of(thread), 1 + SLACK);
}
END_TEST

START_TEST(a_new_thread_has_its_arguments_below_the_limit)
{
    begin();
    struct guest_thread *spawned = guest_thread_new(NULL, 255);
    ck_assert_ptr_nonnull(spawned);
    ck_assert_int_eq(limit_of(spawned), 256 + SLACK);
    spawned->mutator.forget_leftovers_at_safepoint(&spawned->mutator);
    ck_assert_int_eq(limit_of(spawned), 256 + SLACK);
    heap_attach(&spawned->mutator, NULL);
    guest_thread_detach(spawned);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("guest_thread");
    TCase *tc = tcase_create("guest_thread");
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, the_limit_begins_low_and_only_rises_with_need);
    tcase_add_test(tc, all_above_the_frames_is_nil_once_it_is_forgotten);
    tcase_add_test(tc, a_stack_may_be_used_up_to_its_hard_end);
    tcase_add_test(tc, a_new_thread_has_its_arguments_below_the_limit);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
