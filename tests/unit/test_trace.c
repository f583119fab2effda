/* test_trace.c -- rings of events: whole, in order, and honest about what is lost.
 *
 * SPDX-License-Identifier: MIT */
#include "base/os.h"
#include "base/trace.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static struct trace_event events[2 * TRACE_EVENTS];

START_TEST(events_come_back_in_order_from_the_moment_that_is_asked_for)
{
    struct trace_ring *ring = trace_ring_create();
    uint64_t lost;
    ck_assert_ptr_nonnull(ring);
    ck_assert_uint_eq(trace_read(ring, 0, events, 10, &lost), 0);
    for (uint32_t i = 1; i <= 100; i++)
        trace_put(ring, i * 10, i, ~i);
    ck_assert_uint_eq(trace_read(ring, 510, events, 2 * TRACE_EVENTS, &lost), 50);
    ck_assert_uint_eq(lost, 0);
    for (uint32_t i = 0; i < 50; i++) {
        ck_assert_uint_eq(events[i].ns, 510 + 10 * i);
        ck_assert_uint_eq(events[i].what, 51 + i);
        ck_assert_uint_eq(events[i].argument, ~(51 + i));
    }
    trace_ring_destroy(ring);
}
END_TEST

START_TEST(what_was_overwritten_or_did_not_fit_is_told)
{
    struct trace_ring *ring = trace_ring_create();
    uint64_t lost;
    for (uint32_t i = 0; i < 3 * TRACE_EVENTS; i++)
        trace_put(ring, i, i, i);
    size_t count = trace_read(ring, 0, events, 2 * TRACE_EVENTS, &lost);
    ck_assert_uint_ge(count, TRACE_EVENTS - 1); /* the slot that may be written next is not told */
    ck_assert_uint_eq(events[count - 1].what, 3 * TRACE_EVENTS - 1);
    ck_assert_uint_ge(lost, 1);
    count = trace_read(ring, 0, events, 10, &lost);
    ck_assert_uint_eq(count, 10);
    ck_assert_uint_eq(events[9].what, 3 * TRACE_EVENTS - 1);
    ck_assert_uint_ge(lost, 1);
    trace_read(ring, 3 * TRACE_EVENTS - 5, events, 10, &lost);
    ck_assert_uint_eq(lost, 0); /* all that was asked for */
    trace_ring_destroy(ring);
}
END_TEST

/* --- a writer that does not wait ----------------------------------------------------------- */

static struct trace_ring *shared;
static _Atomic bool is_over;

static uint32_t mixed(uint64_t ns) { return (uint32_t)(ns * 2654435761u >> 7); }

static void *put_many(void *unused)
{
    for (uint64_t ns = 1; !load_relaxed(&is_over); ns++)
        trace_put(shared, ns, mixed(ns), ~mixed(ns));
    return unused;
}

START_TEST(a_reader_beside_the_writer_gets_whole_events_only)
{
    pthread_t writer;
    uint64_t reads = 0, told = 0, overtaken = 0, lost;
    shared = trace_ring_create();
    pthread_create(&writer, NULL, put_many, NULL);
    /* Until enough was seen; a reader that is always overtaken has ten seconds to be lucky. */
    for (uint64_t end = os_now_ns() + 10000000000; told < 20000 && os_now_ns() < end;) {
        size_t most = reads % 2 ? 2 * TRACE_EVENTS : 100; /* the whole ring is often overtaken */
        size_t count = trace_read(shared, 0, events, most, &lost);
        for (size_t i = 0; i < count; i++) {
            ck_assert_uint_eq(events[i].what, mixed(events[i].ns));
            ck_assert_uint_eq(events[i].argument, ~mixed(events[i].ns));
            if (i > 0)
                ck_assert_uint_eq(events[i].ns, events[i - 1].ns + 1);
        }
        reads++;
        told += count;
        overtaken += lost > 1;
    }
    store_relaxed(&is_over, true);
    pthread_join(writer, NULL);
    printf("%llu reads, %llu events whole, overtaken by the writer in %llu reads\n",
           (unsigned long long)reads, (unsigned long long)told, (unsigned long long)overtaken);
    ck_assert_uint_gt(told, 0);
    trace_ring_destroy(shared);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace");
    TCase *tc = tcase_create("rings");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, events_come_back_in_order_from_the_moment_that_is_asked_for);
    tcase_add_test(tc, what_was_overwritten_or_did_not_fit_is_told);
    tcase_add_test(tc, a_reader_beside_the_writer_gets_whole_events_only);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
