/* test_heap.c -- claims about the way to new objects: zero, to the last word, by few calls.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/heap_tests.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#define REGION_64K "-XX:G1HeapRegionSize=64k"

/* --- new memory ---------------------------------------------------------------------- */

static void check_zero_and_scribble(struct object *object, uint64_t words)
{
    for (uint64_t i = 1; i < words - 1; i++) {
        ck_assert_msg(load_relaxed(&object->word[i]) == 0, "word %llu of %llu is 0x%llx",
                      (unsigned long long)i, (unsigned long long)words,
                      (unsigned long long)load_relaxed(&object->word[i]));
        store_relaxed(&object->word[i], ~UINT64_C(0)); /* doubles: any bits are right */
    }
}

/* Sizes from 2 words to 3 regions, in an order that mixes TLABs, shared regions and
 * humongous objects; a heap handed out twice would show a scribble. */
START_TEST(all_memory_is_zero_and_nobody_elses)
{
    uint64_t random = 12345, objects = 0, words_total = 0;
    BEGIN("-Xmx16m", "-Xms64k", REGION_64K);
    for (;;) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint64_t shift = random >> 60, words = 2 + (random >> 40) % (UINT64_C(1) << shift);
        struct object *object = new_of_bytes(&self, words * 8);
        if (!object)
            break;
        check_zero_and_scribble(object, words);
        words_total += words;
        objects++;
    }
    ck_assert_uint_ge(objects, 500);
    ck_assert_uint_ge(heap_figures().regions_humongous, 4);
    ck_assert_uint_le(words_total * 8, heap_figures().used_bytes);
    verify_or_die();
}
END_TEST

static uint64_t fill_with(uint64_t bytes)
{
    uint64_t objects = 0;
    while (new_of_bytes(&self, bytes))
        objects++;
    return objects;
}

/* Each size fails, then a smaller one goes on, down to the least object there is. */
START_TEST(out_of_heap_is_null_and_smaller_objects_go_on)
{
    static const uint64_t sizes[] = { 150 * KIB, 30000, 5000, 104, 16 };
    char text[200];
    BEGIN("-Xmx2m", REGION_64K);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t objects = fill_with(sizes[i]);
        ck_assert_msg(objects > 0, "none of %llu bytes", (unsigned long long)sizes[i]);
        ck_assert_ptr_null(new_of_bytes(&self, sizes[i]));
        verify_or_die();
    }
    struct heap_figures figures = heap_figures();
    ck_assert_msg(figures.reserved_bytes - figures.used_bytes < 16 * figures.regions_used,
                  "%llu of %llu bytes used", (unsigned long long)figures.used_bytes,
                  (unsigned long long)figures.reserved_bytes);
    ck_assert_uint_eq(figures.committed_bytes, 2 * MIB);
    heap_describe_failure(150 * KIB, text, sizeof text);
    char expected[200];
    snprintf(expected, sizeof expected, "asked for 153600 bytes, %llu of 2097152 available",
             (unsigned long long)(figures.reserved_bytes - figures.used_bytes));
    ck_assert_str_eq(text, expected);
}
END_TEST

/* Loop 0: small objects from the first to the last word; 1: one object of the whole. */
START_TEST(a_heap_of_one_region_works)
{
    BEGIN("-Xmx64k", REGION_64K);
    ck_assert_uint_eq(heap_figures().regions_reserved, 1);
    ck_assert_ptr_null(new_of_bytes(&self, 64 * KIB + 8));
    if (_i == 0) {
        ck_assert_uint_eq(fill_with(16), 64 * KIB / 16); /* one thread wastes nothing */
        ck_assert_uint_eq(heap_figures().used_bytes, 64 * KIB);
    } else {
        ck_assert_ptr_nonnull(new_of_bytes(&self, 64 * KIB));
        ck_assert_ptr_null(new_of_bytes(&self, 16));
    }
    verify_or_die();
}
END_TEST

START_TEST(what_a_thread_leaves_of_its_tlab_goes_back)
{
    struct mutator other = { .participant = NULL };
    BEGIN("-Xmx1m", REGION_64K);
    ck_assert_ptr_nonnull(new_of_bytes(&self, 32));
    ck_assert_uint_gt(heap_figures().used_bytes, 32);
    ck_assert_uint_eq(self.allocated_bytes, heap_figures().used_bytes);
    struct participant *participant = self.participant;
    heap_detach(&self);
    ck_assert_uint_eq(heap_figures().used_bytes, 32);
    heap_attach(&other, participant);
    ck_assert_ptr_eq((char *)new_of_bytes(&other, 16), heap.regions.space.base + 32);
    heap_detach(&other);
    verify_or_die();
}
END_TEST

/* Two mutators of one thread: what they take is interleaved as the test wants it. */
START_TEST(what_goes_back_is_found_again)
{
    struct mutator other = { .participant = NULL };
    BEGIN("-Xmx128k", REGION_64K, "-XX:TLABSize=4k");
    heap_attach(&other, self.participant);
    while (heap_figures().used_bytes < 64 * KIB)
        ck_assert_ptr_nonnull(new_of_bytes(&self, 16));
    while (new_of_bytes(&other, 16)) /* the second region; a rest of the first is in a TLAB */
        ;
    heap_detach(&self);
    ck_assert_ptr_nonnull(new_of_bytes(&other, 16));
    verify_or_die();
}
END_TEST

START_TEST(a_thread_that_gets_no_tlab_keeps_the_old_one)
{
    struct mutator other = { .participant = NULL };
    BEGIN("-Xmx64k", REGION_64K, "-XX:TLABSize=4k");
    heap_attach(&other, self.participant);
    ck_assert_ptr_nonnull(new_of_bytes(&self, 16));
    while (new_of_bytes(&other, 16))
        ;
    ck_assert_uint_eq(fill_with(504), (4096 - 16) / 504);
    ck_assert_uint_eq(fill_with(16), (4096 - 16) % 504 / 16);
    verify_or_die();
}
END_TEST

START_TEST(mutators_leave_the_list_in_any_order)
{
    static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                     { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    static struct mutator m[3];
    BEGIN("-Xmx1m");
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        memset(m, 0, sizeof m);
        for (int i = 0; i < 3; i++)
            heap_attach(&m[i], self.participant);
        for (int i = 0, left = 3; i < 3; i++) {
            heap_detach(&m[orders[o][i]]);
            left--;
            int seen = 0;
            for (struct mutator *at = heap.mutators; at && seen < 9; at = at->next, seen++)
                ck_assert_ptr_eq(*at->link, at);
            ck_assert_int_eq(seen, left + 1); /* our own is the last */
        }
    }
}
END_TEST

/* --- regions ------------------------------------------------------------------------- */

START_TEST(humongous_objects_have_neighbouring_regions_to_themselves)
{
    BEGIN("-Xmx1m", REGION_64K);
    char *base = heap.regions.space.base;
    ck_assert_ptr_nonnull(new_of_bytes(&self, 16));       /* region 0 */
    ck_assert_ptr_nonnull(new_of_bytes(&self, 32 * KIB)); /* half a region is not humongous */
    ck_assert_uint_eq(heap_figures().regions_humongous, 0);
    ck_assert_ptr_eq((char *)new_of_bytes(&self, 32 * KIB + 8), base + 64 * KIB);
    ck_assert_uint_eq(heap_figures().regions_humongous, 1);
    ck_assert_ptr_eq((char *)new_of_bytes(&self, 64 * KIB * 3 + 8), base + 2 * 64 * KIB);
    ck_assert_uint_eq(heap_figures().regions_humongous, 5);
    ck_assert_ptr_null(new_of_bytes(&self, 64 * KIB * 11)); /* 10 are left */
    ck_assert_ptr_eq((char *)new_of_bytes(&self, 64 * KIB * 10), base + 6 * 64 * KIB);
    ck_assert_uint_eq(heap_figures().regions_used, 16);
    ck_assert_uint_eq(heap_figures().used_bytes - heap.regions.region[0].used_bytes, 15 * 64 * KIB);
    ck_assert_ptr_nonnull(new_of_bytes(&self, 16)); /* in what is left of region 0 */
    verify_or_die();
}
END_TEST

/* The holes are made by hand. */
START_TEST(regions_are_taken_first_fit)
{
    static const uint32_t holes[] = { 3, 4, 8, 9, 10 };
    struct region_table t;
    struct region_growth growth = { 0, 0 };
    ck_assert_int_eq(region_table_start(&t, 16 * 64 * KIB, 64 * KIB), ERR_OK);
    for (uint32_t i = 0; i < 12; i++)
        ck_assert_uint_eq(region_take(&t, 1, REGION_SMALL, t.reserved, &growth), i);
    for (size_t i = 0; i < sizeof holes / sizeof *holes; i++)
        t.region[holes[i]].state = REGION_FREE;
    t.used -= 5;
    t.first_free = 3;
    ck_assert_uint_eq(region_take(&t, 5, REGION_HUMONGOUS_START, t.reserved, &growth), REGION_NONE);
    ck_assert_uint_eq(region_take(&t, 3, REGION_HUMONGOUS_START, t.reserved, &growth), 8);
    ck_assert_int_eq(t.region[8].state, REGION_HUMONGOUS_START);
    ck_assert_int_eq(t.region[9].state, REGION_HUMONGOUS_NEXT);
    ck_assert_int_eq(t.region[10].state, REGION_HUMONGOUS_NEXT);
    ck_assert_uint_eq(region_take(&t, 1, REGION_SMALL, t.reserved, &growth), 3);
    ck_assert_uint_eq(region_take(&t, 2, REGION_HUMONGOUS_START, t.reserved, &growth), 12);
    ck_assert_uint_eq(region_take(&t, 1, REGION_SMALL, t.reserved, &growth), 4);
    ck_assert_uint_eq(t.first_free, 14);
    ck_assert_uint_eq(region_take(&t, 2, REGION_HUMONGOUS_START, t.reserved, &growth), 14);
    ck_assert_uint_eq(region_take(&t, 1, REGION_SMALL, t.reserved, &growth), REGION_NONE);
    ck_assert_uint_eq(t.used, 16);
    region_table_end(&t);
}
END_TEST

START_TEST(a_run_of_regions_is_committed_in_one_call)
{
    BEGIN("-Xmx64m", "-Xms64k", REGION_64K);
    ck_assert_uint_eq(heap_figures().commit_calls, 1);
    ck_assert_ptr_nonnull(new_of_bytes(&self, 64 * KIB * 100));
    ck_assert_uint_eq(heap_figures().commit_calls, 2);
    ck_assert_uint_eq(heap_figures().regions_committed, 100); /* region 0 was free */
    ck_assert_ptr_nonnull(new_of_bytes(&self, 64 * KIB * 2));
    ck_assert_uint_eq(heap_figures().commit_calls, 3);
    ck_assert_uint_eq(heap_figures().regions_committed, 125);
    fill_with(30000);
    ck_assert_uint_eq(heap_figures().regions_committed, 1024);
    ck_assert_msg(heap_figures().commit_calls <= 16, "%llu calls for 1024 regions",
                  (unsigned long long)heap_figures().commit_calls);
}
END_TEST

START_TEST(a_refused_run_is_halved_down_to_what_is_needed)
{
    char text[200];
    BEGIN("-Xmx64m", "-Xms8m", REGION_64K); /* 128 regions */
    ck_assert_ptr_nonnull(new_of_bytes(&self, 8 * MIB));
    vspace_refuse_longer_for_test(9 * 64 * KIB);
    ck_assert_ptr_nonnull(new_of_bytes(&self, 16)); /* wants 32, 16, gets 8 */
    ck_assert_uint_eq(heap_figures().regions_committed, 136);
    ck_assert_uint_eq(heap_figures().commit_calls, 4);
    ck_assert_ptr_nonnull(new_of_bytes(&self, 64 * KIB * 16)); /* needs 9: 34, 17, 9 */
    ck_assert_uint_eq(heap_figures().regions_committed, 145);
    ck_assert_ptr_null(new_of_bytes(&self, 64 * KIB * 10));
    heap_describe_failure(64 * KIB * 10, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "available, but the system gives no more"));
    verify_or_die();
    vspace_refuse_longer_for_test(1);
    ck_assert_uint_eq(fill_with(16), 4096 - 1); /* region 128 to its end */
    vspace_refuse_longer_for_test(0);
    ck_assert_ptr_nonnull(new_of_bytes(&self, 64 * KIB * 10));
    ck_assert_ptr_nonnull(new_of_bytes(&self, 16));
    heap_describe_failure(1, text, sizeof text);
    ck_assert_ptr_null(strstr(text, "system"));
    fill_with(30000); /* a rest of 5536 bytes in each region, though none was left before */
    ck_assert_uint_ge(fill_with(5000), 100);
    verify_or_die();
}
END_TEST

/* --- threads ---------------------------------------------------------------------------- */

enum { THREADS = 4 };

struct allocator {
    pthread_t thread;
    struct mutator mutator;
    uint64_t number, objects;
    bool is_right;
    _Atomic bool has_ended;
};

/* A list, newest first: ARRAY(3) of stamp, next, and a number of its own. */
static void allocate_until_full(struct allocator *a)
{
    ROOTED(&a->mutator, list, VALUE_NIL);
    for (struct object *o; (o = new_with_length(&a->mutator, OBJECT_ARRAY, 3)); a->objects++) {
        store_relaxed(&o->word[1], value_of_double((double)(a->objects * THREADS + a->number)));
        store_relaxed(&o->word[2], list.value);
        list.value = value_of_object(o);
    }
    uint64_t left = a->objects;
    value_t at = list.value;
    while (left > 0 && value_is_kind(at, OBJECT_ARRAY)) {
        left--;
        if (load_relaxed(&value_as_object(at)->word[1]) !=
            value_of_double((double)(left * THREADS + a->number)))
            return;
        at = load_relaxed(&value_as_object(at)->word[2]);
    }
    a->is_right = left == 0 && at == VALUE_NIL;
}

static void *allocator_main(void *argument)
{
    struct allocator *a = argument;
    attach(&a->mutator, "allocator");
    allocate_until_full(a);
    detach(&a->mutator);
    store_release(&a->has_ended, true); /* pairs with all_have_ended() */
    return NULL;
}

static bool all_have_ended(struct allocator *a)
{
    for (int i = 0; i < THREADS; i++)
        if (!load_acquire(&a[i].has_ended))
            return false;
    return true;
}

/* Counts what is in the heap without the verifier's walk. */
static uint64_t count_objects(void)
{
    uint64_t objects = 0;
    for (uint32_t r = 0; r < heap.regions.high; r++) {
        const char *at = region_bottom(&heap.regions, r);
        const char *end = at + heap.regions.region[r].used_bytes;
        while (at < end) {
            const struct object *o = (const struct object *)(const void *)at;
            bool is_object = load_relaxed(&o->header) != 0;
            objects += is_object;
            at += 8 * (is_object ? object_size_words(o) : 1);
        }
    }
    return objects;
}

START_TEST(threads_that_allocate_at_once_share_the_heap_and_stop)
{
    static struct allocator a[THREADS];
    uint64_t objects = 0, stops = 0;
    BEGIN("-Xmx4m", "-Xms64k", REGION_64K);
    for (int i = 0; i < THREADS; i++) {
        a[i].number = (uint64_t)i;
        ck_assert_int_eq(pthread_create(&a[i].thread, NULL, allocator_main, &a[i]), 0);
    }
    for (; !all_have_ended(a); stops++)
        verify_or_die();
    participant_enter_safe(self.participant, PARTICIPANT_BLOCKED);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(a[i].thread, NULL);
        ck_assert_msg(a[i].is_right, "thread %d lost one of %llu objects", i,
                      (unsigned long long)a[i].objects);
        objects += a[i].objects;
    }
    participant_leave_safe(self.participant, PARTICIPANT_GUEST);
    verify_or_die();
    ck_assert_uint_ge(stops, 1);
    ck_assert_uint_eq(count_objects(), objects);
    ck_assert_uint_ge(objects * 40, 3 * MIB); /* the TLABs' tails are the rest */
}
END_TEST

static void read_used(void *used_out) { *(uint64_t *)used_out = heap.used_bytes; }

/* Without a poll in the slow half a stop could come before the first object or after the
 * last: alone, the thread never waits for the lock, where it could be stopped as well. */
START_TEST(a_thread_that_only_allocates_can_be_stopped)
{
    static struct allocator a;
    uint64_t in_between = 0;
    BEGIN("-Xmx64m", "-Xms64k", REGION_64K);
    ck_assert_int_eq(pthread_create(&a.thread, NULL, allocator_main, &a), 0);
    while (!load_acquire(&a.has_ended)) { /* pairs with allocator_main() */
        uint64_t used = 0;
        stops_force(read_used, &used);
        in_between += used > 1 * MIB && used < 63 * MIB;
    }
    participant_enter_safe(self.participant, PARTICIPANT_BLOCKED);
    pthread_join(a.thread, NULL);
    ck_assert(a.is_right);
    ck_assert_uint_ge(in_between, 1);
}
END_TEST

/* Loop 0: without heap_attach(); 1: with a ROOTED slot alive; 2: the heap goes first. */
START_TEST(misuse_aborts)
{
    struct mutator stranger = { .participant = NULL };
    struct rooted slot = { VALUE_NIL, NULL, &self };
    BEGIN("-Xmx1m");
    if (_i == 0) {
        new_cell(&stranger);
    } else if (_i == 1) {
        mutator_root(&slot);
        heap_detach(&self);
    } else {
        heap_end();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("heap");
    TCase *tc = tcase_create("heap");
    tcase_set_timeout(tc, 100);
    tcase_add_test(tc, all_memory_is_zero_and_nobody_elses);
    tcase_add_test(tc, out_of_heap_is_null_and_smaller_objects_go_on);
    tcase_add_loop_test(tc, a_heap_of_one_region_works, 0, 2);
    tcase_add_test(tc, what_a_thread_leaves_of_its_tlab_goes_back);
    tcase_add_test(tc, what_goes_back_is_found_again);
    tcase_add_test(tc, a_thread_that_gets_no_tlab_keeps_the_old_one);
    tcase_add_test(tc, mutators_leave_the_list_in_any_order);
    tcase_add_test(tc, humongous_objects_have_neighbouring_regions_to_themselves);
    tcase_add_test(tc, regions_are_taken_first_fit);
    tcase_add_test(tc, a_run_of_regions_is_committed_in_one_call);
    tcase_add_test(tc, a_refused_run_is_halved_down_to_what_is_needed);
    tcase_add_test(tc, threads_that_allocate_at_once_share_the_heap_and_stop);
    tcase_add_test(tc, a_thread_that_only_allocates_can_be_stopped);
    tcase_add_loop_test_raise_signal(tc, misuse_aborts, SIGABRT, 0, 3);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
