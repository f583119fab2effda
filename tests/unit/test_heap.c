/* test_heap.c -- claims about the way to new objects: zero, to the last word, by few calls.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/heap_sizes.h"
#include "tests/unit/heap_tests.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define REGION_64K "-XX:G1HeapRegionSize=64k"

/* --- sizes ----------------------------------------------------------------------- */

START_TEST(the_size_of_an_object_follows_from_its_header_or_its_length)
{
    static const struct {
        enum object_kind kind;
        uint64_t length, words;
    } rows[] = { { OBJECT_STRING, 0, 2 },         { OBJECT_STRING, 1, 3 },
                 { OBJECT_STRING, 8, 3 },         { OBJECT_STRING, 9, 4 },
                 { OBJECT_BYTES, 0, 2 },          { OBJECT_BYTES, 17, 5 },
                 { OBJECT_DOUBLES, 0, 2 },        { OBJECT_DOUBLES, 7, 9 },
                 { OBJECT_ARRAY, 100000, 100002 } };
    uint64_t memory[4];
    struct object *object = (struct object *)(void *)memory;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t hash = rows[i].kind == OBJECT_STRING ? UINT64_C(0xdeadbeef) << 32 : 0;
        store_relaxed(&object->header, object_header(rows[i].kind, 0, 0));
        store_relaxed(&object->word[0], rows[i].length | hash);
        ck_assert_uint_eq(object_words_for_length(rows[i].kind, rows[i].length), rows[i].words);
        ck_assert_uint_eq(object_size_words(object), rows[i].words);
    }
    store_relaxed(&object->header, object_header(OBJECT_INSTANCE, OBJECT_MAX_WORDS, 77));
    ck_assert_uint_eq(object_size_words(object), OBJECT_MAX_WORDS);
    ck_assert_int_eq(object_kind(object), OBJECT_INSTANCE);
    ck_assert_int_eq(object_layout(OBJECT_INSTANCE), OBJECT_LAYOUT_VALUES);
    ck_assert_int_eq(object_layout(OBJECT_ARRAY), OBJECT_LAYOUT_TAIL);
    ck_assert_int_eq(object_layout(OBJECT_STRING), OBJECT_LAYOUT_LEAF);
    ck_assert_str_eq(object_kind_name(OBJECT_FIELD_BLOCK), "FIELD_BLOCK");
}
END_TEST

#define GIB (MIB << 10)

START_TEST(the_ergonomics_table)
{
    static const struct {
        struct heap_sizes asked;
        uint64_t memory;
        struct heap_sizes expected;
    } rows[] = {
        /* nothing asked: a quarter, 1/64, 2048 regions */
        { { 0, 0, 0, 0 }, 16 * GIB, { 4 * GIB, 256 * MIB, 2 * MIB, 64 * KIB } },
        { { 0, 0, 0, 0 }, 1 * GIB, { 256 * MIB, 16 * MIB, 1 * MIB, 64 * KIB } },
        { { 0, 0, 0, 0 }, 3 * GIB, { 768 * MIB, 48 * MIB, 1 * MIB, 64 * KIB } },
        { { 0, 0, 0, 0 }, 1024 * GIB, { 256 * GIB, 16 * GIB, 32 * MIB, 64 * KIB } },
        { { 0, 0, 0, 0 }, 1 * MIB, { 1 * MIB, 1 * MIB, 1 * MIB, 64 * KIB } },
        /* -Xmx */
        { { 64 * MIB, 0, 0, 0 }, 16 * GIB, { 64 * MIB, 64 * MIB, 1 * MIB, 64 * KIB } },
        { { 16 * GIB, 0, 0, 0 }, 16 * GIB, { 16 * GIB, 256 * MIB, 8 * MIB, 64 * KIB } },
        { { 12 * GIB, 0, 0, 0 }, 16 * GIB, { 12 * GIB, 256 * MIB, 4 * MIB, 64 * KIB } },
        { { 1, 0, 0, 0 }, 16 * GIB, { 1 * MIB, 1 * MIB, 1 * MIB, 64 * KIB } },
        { { 2 * MIB + 1, 0, 0, 0 }, 16 * GIB, { 3 * MIB, 3 * MIB, 1 * MIB, 64 * KIB } },
        /* -Xms, alone above the default maximum too */
        { { 64 * MIB, 1, 0, 0 }, 16 * GIB, { 64 * MIB, 1 * MIB, 1 * MIB, 64 * KIB } },
        { { 0, 8 * GIB, 0, 0 }, 16 * GIB, { 8 * GIB, 8 * GIB, 4 * MIB, 64 * KIB } },
        { { 64 * MIB, 65 * MIB, 0, 0 }, 16 * GIB, { 64 * MIB, 64 * MIB, 1 * MIB, 64 * KIB } },
        /* regions and TLABs */
        { { 64 * KIB, 0, 64 * KIB, 0 }, 16 * GIB, { 64 * KIB, 64 * KIB, 64 * KIB, 4 * KIB } },
        { { 65 * KIB, 0, 64 * KIB, 0 }, 16 * GIB, { 128 * KIB, 128 * KIB, 64 * KIB, 4 * KIB } },
        { { 1 * GIB, 0, 512 * MIB, 0 }, 16 * GIB, { 1 * GIB, 512 * MIB, 512 * MIB, 64 * KIB } },
        { { 64 * MIB, 0, 3 * MIB, 0 }, 16 * GIB, { 64 * MIB, 64 * MIB, 2 * MIB, 64 * KIB } },
        { { 64 * MIB, 0, 0, 1001 }, 16 * GIB, { 64 * MIB, 64 * MIB, 1 * MIB, 1000 } },
        { { 64 * MIB, 0, 0, 1 }, 16 * GIB, { 64 * MIB, 64 * MIB, 1 * MIB, 64 } },
        { { 64 * MIB, 0, 0, 1 * GIB }, 16 * GIB, { 64 * MIB, 64 * MIB, 1 * MIB, 512 * KIB } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heap_sizes got = heap_sizes_for(rows[i].asked, rows[i].memory);
        const struct heap_sizes *expected = &rows[i].expected;
        uint64_t tlab = expected->tlab_bytes;
#ifdef STILLPOINT_SCHED_POINTS /* tiny, when nobody asks */
        tlab = rows[i].asked.tlab_bytes ? tlab : 1000;
#endif
        ck_assert_msg(
            got.max_bytes == expected->max_bytes && got.initial_bytes == expected->initial_bytes &&
                got.region_bytes == expected->region_bytes && got.tlab_bytes == tlab,
            "row %zu: max %lluk initial %lluk region %lluk tlab %llu", i,
            (unsigned long long)got.max_bytes >> 10, (unsigned long long)got.initial_bytes >> 10,
            (unsigned long long)got.region_bytes >> 10, (unsigned long long)got.tlab_bytes);
    }
}
END_TEST

START_TEST(sizes_are_written_as_hotspot_writes_them)
{
    static const struct {
        uint64_t size;
        const char *text;
    } rows[] = { { 0, "0B" },         { 1000, "1000B" },       { 64 * KIB, "64K" },
                 { 1 * MIB, "1M" },   { 1025 * KIB, "1025K" }, { 512 * MIB, "512M" },
                 { 16 * GIB, "16G" }, { 1536 * MIB, "1536M" } };
    char text[32];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        heap_sizes_text(rows[i].size, text, sizeof text);
        ck_assert_str_eq(text, rows[i].text);
    }
}
END_TEST

/* --- starting ---------------------------------------------------------------------- */

/* Faults are counted, not time: a record or a card touched at the start is a page. */
START_TEST(a_start_costs_the_same_whatever_the_maximum)
{
    static const char *const max[] = { "-Xmx64m", "-Xmx16g" };
    uint64_t faults[2];
    flags_set_for_test("-Xms16m");
    for (int round = 0; round < 3; round++) /* the first warms up code and stack */
        for (int i = 0; i < 2; i++) {
            flags_set_for_test(max[i]);
            uint64_t before = os_thread_faults().minor;
            heap_start_or_die();
            faults[i] = os_thread_faults().minor - before;
            ck_assert_uint_eq(heap_figures().commit_calls, 1);
            ck_assert_uint_eq(heap_figures().committed_bytes, 16 * MIB);
            ck_assert_uint_eq(heap_figures().regions_used, 0);
            heap_end();
            ck_assert(!heap_is_on());
        }
#ifdef __SANITIZE_THREAD__ /* its shadow of the reservation is touched: 31 pages more */
    faults[1] = faults[0];
#endif
    ck_assert_msg(faults[1] <= faults[0] + 4, "%llu page faults for 64m, %llu for 16g",
                  (unsigned long long)faults[0], (unsigned long long)faults[1]);
}
END_TEST

START_TEST(a_refused_start_says_wanted_and_available_and_keeps_nothing)
{
    char message[200];
    flags_set_for_test("-Xmx64m");
    flags_set_for_test("-Xms32m");
    vspace_refuse_longer_for_test(16 * MIB);
    ck_assert_int_eq(heap_start(message, sizeof message), ERR_NO_MEMORY);
    ck_assert_msg(strstr(message, "cannot commit 32M for the heap (-Xms), this machine has "), "%s",
                  message);
    ck_assert(!strchr(message, '\n') && !heap_is_on() && !heap_contains(message));
    ck_assert_ptr_null(heap.regions.region);
    vspace_refuse_longer_for_test(0);
    heap_start_or_die();
    heap_end();
}
END_TEST

START_TEST(the_log_begins_as_hotspots_does)
{
    static const char *const lines[] = {
        "[gc,heap] Minimum heap 1048576  Initial heap 1048576  Maximum heap 67108864\n",
        "[gc     ] Using Epsilon\n",
        "[gc,init] Heap Region Size: 1M\n",
        "[gc,init] Heap Min Capacity: 1M\n",
        "[gc,init] Heap Initial Capacity: 1M\n",
        "[gc,init] Heap Max Capacity: 64M\n",
        "[gc,init] Pre-touch: Disabled\n",
        "[gc,ergo,heap] Expand the heap. requested expansion amount: 4194304B expansion amount: "
        "4194304B\n",
    };
    char path[] = "/tmp/test_heap_XXXXXX", option[80], text[2000];
    struct log_error error;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    log_start(os_now_ns());
    snprintf(option, sizeof option, "-Xlog:gc*=debug:file=%s:tags", path);
    ck_assert_msg(log_configure(option, &error) == ERR_OK, "%s", error.message);
    BEGIN("-Xms1m", "-Xmx64m");
    ck_assert_msg(log_configure(option, &error) == ERR_OK, "%s", error.message);
    ck_assert_ptr_nonnull(new_of_bytes(&self, 5 * MIB));
    ssize_t bytes = read(fd, text, sizeof text - 1);
    unlink(path);
    text[bytes > 0 ? bytes : 0] = '\0';
    const char *at = text;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        at = strstr(at, lines[i]);
        ck_assert_msg(at != NULL, "no %s at its place in\n%s", lines[i], text);
    }
}
END_TEST

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

/* Nobody frees regions yet, so the holes are made by hand. */
START_TEST(regions_are_taken_first_fit)
{
    static const uint32_t holes[] = { 3, 4, 8, 9, 10 };
    struct region_table t;
    struct region_growth growth = { 0, 0 };
    ck_assert_int_eq(region_table_start(&t, 16 * 64 * KIB, 64 * KIB), ERR_OK);
    for (uint32_t i = 0; i < 12; i++)
        ck_assert_uint_eq(region_take(&t, 1, REGION_SMALL, &growth), i);
    for (size_t i = 0; i < sizeof holes / sizeof *holes; i++)
        t.region[holes[i]].state = REGION_FREE;
    t.used -= 5;
    t.first_free = 3;
    ck_assert_uint_eq(region_take(&t, 5, REGION_HUMONGOUS_START, &growth), REGION_NONE);
    ck_assert_uint_eq(region_take(&t, 3, REGION_HUMONGOUS_START, &growth), 8);
    ck_assert_int_eq(t.region[8].state, REGION_HUMONGOUS_START);
    ck_assert_int_eq(t.region[9].state, REGION_HUMONGOUS_NEXT);
    ck_assert_int_eq(t.region[10].state, REGION_HUMONGOUS_NEXT);
    ck_assert_uint_eq(region_take(&t, 1, REGION_SMALL, &growth), 3);
    ck_assert_uint_eq(region_take(&t, 2, REGION_HUMONGOUS_START, &growth), 12);
    ck_assert_uint_eq(region_take(&t, 1, REGION_SMALL, &growth), 4);
    ck_assert_uint_eq(t.first_free, 14);
    ck_assert_uint_eq(region_take(&t, 2, REGION_HUMONGOUS_START, &growth), 14);
    ck_assert_uint_eq(region_take(&t, 1, REGION_SMALL, &growth), REGION_NONE);
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
    tcase_add_test(tc, the_size_of_an_object_follows_from_its_header_or_its_length);
    tcase_add_test(tc, the_ergonomics_table);
    tcase_add_test(tc, sizes_are_written_as_hotspot_writes_them);
    tcase_add_test(tc, a_start_costs_the_same_whatever_the_maximum);
    tcase_add_test(tc, a_refused_start_says_wanted_and_available_and_keeps_nothing);
    tcase_add_test(tc, the_log_begins_as_hotspots_does);
    tcase_add_test(tc, all_memory_is_zero_and_nobody_elses);
    tcase_add_test(tc, out_of_heap_is_null_and_smaller_objects_go_on);
    tcase_add_loop_test(tc, a_heap_of_one_region_works, 0, 2);
    tcase_add_test(tc, what_a_thread_leaves_of_its_tlab_goes_back);
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
