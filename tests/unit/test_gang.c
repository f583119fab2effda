/* test_gang.c -- claims about a team of threads: each once, all seen, nobody late, asleep between.
 *
 * SPDX-License-Identifier: MIT */
#include "base/atomics.h"
#include "base/gang.h"
#include "base/os.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <time.h>

#define MOST 8

static struct gang *gang;

/* Plain words: ThreadSanitizer tells whether the gang orders them. */
static struct {
    uint64_t job;
    struct {
        CACHE_ALIGNED uint64_t calls, job;
    } worker[MOST];
} seen;

static void note(void *argument, unsigned worker)
{
    ck_assert_ptr_eq(argument, &seen);
    seen.worker[worker].calls++;
    seen.worker[worker].job = seen.job;
}

static void begin(unsigned workers)
{
    ck_assert_int_eq(gang_new("test", &gang), ERR_OK);
    ck_assert_uint_eq(gang_size(gang), 1);
    ck_assert_uint_eq(gang_grow(gang, workers), workers);
}

/* Loop: how many workers. */
START_TEST(every_worker_is_called_once_per_run_and_the_caller_sees_what_it_wrote)
{
    unsigned workers = (unsigned)_i;
    uint64_t runs = workers <= 2 ? 20000 : 3000;
    begin(workers);
    for (uint64_t run = 1; run <= runs; run++) {
        seen.job = run;
        gang_run(gang, workers, note, &seen);
        for (unsigned i = 0; i < workers; i++)
            ck_assert_msg(seen.worker[i].calls == run && seen.worker[i].job == run,
                          "run %llu: worker %u was called %llu times, last in %llu",
                          (unsigned long long)run, i, (unsigned long long)seen.worker[i].calls,
                          (unsigned long long)seen.worker[i].job);
    }
    gang_end(gang);
}
END_TEST

/* Small and large jobs in turn: a worker that is not of a small one must not take part in it
 * late, when the next one is being written. */
START_TEST(workers_that_are_not_of_a_job_leave_it_alone)
{
    uint64_t calls[MOST] = { 0 };
    begin(4);
    for (uint64_t run = 1; run <= 5000; run++) {
        unsigned workers = 1 + (unsigned)(run * 7 % 4);
        seen.job = run;
        gang_run(gang, workers, note, &seen);
        for (unsigned i = 0; i < 4; i++) {
            calls[i] += i < workers;
            ck_assert_msg(seen.worker[i].calls == calls[i],
                          "run %llu of %u: worker %u was called %llu times, not %llu",
                          (unsigned long long)run, workers, i,
                          (unsigned long long)seen.worker[i].calls, (unsigned long long)calls[i]);
        }
    }
    gang_end(gang);
}
END_TEST

START_TEST(a_gang_grows_between_jobs_and_never_shrinks)
{
    begin(1);
    for (unsigned workers = 1; workers <= MOST; workers++) {
        ck_assert_uint_eq(gang_grow(gang, workers), workers);
        ck_assert_uint_eq(gang_grow(gang, 1), workers);
        seen.job = workers;
        gang_run(gang, workers, note, &seen);
        for (unsigned i = 0; i < workers; i++)
            ck_assert_uint_eq(seen.worker[i].job, workers);
    }
    gang_end(gang);
}
END_TEST

static uint64_t process_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Also after a sleep they come when they are called. */
START_TEST(workers_that_wait_sleep)
{
    begin(4);
    for (uint64_t run = 1; run <= 3; run++) {
        seen.job = run;
        gang_run(gang, 4, note, &seen);
        os_sleep_ns(20000000); /* they spin a little first */
        uint64_t before_ns = process_cpu_ns();
        os_sleep_ns(200000000);
        uint64_t used_ns = process_cpu_ns() - before_ns;
        ck_assert_msg(used_ns < 50000000, "%llu ns of CPU in 200 ms of waiting",
                      (unsigned long long)used_ns);
    }
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_eq(seen.worker[i].calls, 3);
    gang_end(gang);
}
END_TEST

START_TEST(a_gang_ends_at_once_busy_or_never_used)
{
    for (int i = 0; i < 100; i++) {
        begin(3);
        seen.job = 1;
        if (i % 2)
            gang_run(gang, 3, note, &seen);
        gang_end(gang);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gang");
    TCase *tc = tcase_create("gang");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, every_worker_is_called_once_per_run_and_the_caller_sees_what_it_wrote,
                        1, MOST + 1);
    tcase_add_test(tc, workers_that_are_not_of_a_job_leave_it_alone);
    tcase_add_test(tc, a_gang_grows_between_jobs_and_never_shrinks);
    tcase_add_test(tc, workers_that_wait_sleep);
    tcase_add_test(tc, a_gang_ends_at_once_busy_or_never_used);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
