/* test_heap_start.c -- claims about sizes, and about what a start of the heap costs and says.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/heap_sizes.h"
#include "tests/unit/heap_tests.h"

#include <stdio.h>
#include <unistd.h>

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
    ck_assert_msg(strstr(message, "cannot commit 32M for the heap, this machine has "), "%s",
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

int main(void)
{
    Suite *suite = suite_create("heap_start");
    TCase *tc = tcase_create("heap_start");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, the_size_of_an_object_follows_from_its_header_or_its_length);
    tcase_add_test(tc, the_ergonomics_table);
    tcase_add_test(tc, sizes_are_written_as_hotspot_writes_them);
    tcase_add_test(tc, a_start_costs_the_same_whatever_the_maximum);
    tcase_add_test(tc, a_refused_start_says_wanted_and_available_and_keeps_nothing);
    tcase_add_test(tc, the_log_begins_as_hotspots_does);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
