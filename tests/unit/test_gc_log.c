/* test_gc_log.c -- one full collection as log lines, and the heap at the end.
 *
 * Read next: gc/gc_log.c, then test_gc_summary.c.
 *
 * Golden are full collections as OpenJDK 17.0.15, 21.0.13 and 25.0.5 printed them: a record with
 * their figures must give the same bytes.  Eden and survivor regions are always 0 with us, and
 * lines on metaspace are left out.  Of JDK 11 the form of the lines is known, and the numbers are
 * ours.
 *
 * SPDX-License-Identifier: MIT */
#include "base/flags.h"
#include "gc/heap_priv.h"
#include "tests/unit/gc_log_tests.h"

#include <check.h>
#include <string.h>

static const struct gc_log_space space = { .base = 0xf8000000,
                                           .reserved_bytes = 128 * MIB,
                                           .region_bytes = MIB };

/* Phases follow each other from `first_us` after the begin. */
static struct collection_record record_of(uint64_t number, uint64_t begin_us, uint64_t pause_us,
                                          uint64_t first_us,
                                          const uint64_t phase_us[COLLECTION_PHASES])
{
    struct collection_record r = { .number = number, .workers = 2, .workers_most = 2 };
    r.begin_ns = START_NS + begin_us * US;
    r.end_ns = r.begin_ns + pause_us * US;
    uint64_t at = r.begin_ns + first_us * US;
    for (int p = 0; p < COLLECTION_PHASES; p++) {
        r.phase_begin_ns[p] = at;
        r.phase_ns[p] = phase_us[p] * US;
        at += r.phase_ns[p];
    }
    return r;
}

static struct collection_record record_of_25(void)
{
    struct collection_record r =
        record_of(162, 576150, 3121, 60, (const uint64_t[]){ 1831, 190, 415, 124, 145 });
    r.used_before_bytes = 56905 * KIB;
    r.used_after_bytes = 5382 * KIB;
    r.capacity_before_bytes = 116736 * KIB;
    r.capacity_after_bytes = 24 * MIB;
    r.small_before = 50;
    r.small_after = 3;
    r.humongous_before = r.humongous_after = 4;
    return r;
}

static struct collection_record record_of_21(void)
{
    struct collection_record r =
        record_of(5, 1347600, 2568, 100, (const uint64_t[]){ 1627, 87, 312, 65, 137 });
    r.used_before_bytes = 14 * MIB;
    r.used_after_bytes = 5279 * KIB;
    r.capacity_before_bytes = r.capacity_after_bytes = 24 * MIB;
    r.small_before = 10;
    r.small_after = 3;
    r.humongous_before = r.humongous_after = 4;
    return r;
}

static struct collection_record record_of_17(void)
{
    struct collection_record r =
        record_of(5, 339800, 1105, 100, (const uint64_t[]){ 424, 67, 175, 53, 9 });
    r.used_before_bytes = 13 * MIB;
    r.used_after_bytes = 5174 * KIB;
    r.capacity_before_bytes = r.capacity_after_bytes = 25 * MIB;
    r.small_before = 7;
    r.small_after = 2;
    r.humongous_before = r.humongous_after = 4;
    return r;
}

static const struct gc_log_block *lines_of(enum xlog_dialect dialect,
                                           const struct collection_record *r)
{
    static struct gc_log_block block;
    gc_log_block(dialect, &space, r, &block);
    return &block;
}

/* --- goldens ----------------------------------------------------------------------------- */

static const char golden_25[] =
    "[0.576s][info ][gc,start       ] GC(162) Pause Full (System.gc())\n"
    "[0.576s][info ][gc,task        ] GC(162) Using 2 workers of 2 for full compaction\n"
    "[0.576s][info ][gc,phases,start] GC(162) Phase 1: Mark live objects\n"
    "[0.578s][info ][gc,phases      ] GC(162) Phase 1: Mark live objects 1.831ms\n"
    "[0.578s][info ][gc,phases,start] GC(162) Phase 2: Prepare compaction\n"
    "[0.578s][info ][gc,phases      ] GC(162) Phase 2: Prepare compaction 0.190ms\n"
    "[0.578s][info ][gc,phases,start] GC(162) Phase 3: Adjust pointers\n"
    "[0.579s][info ][gc,phases      ] GC(162) Phase 3: Adjust pointers 0.415ms\n"
    "[0.579s][info ][gc,phases,start] GC(162) Phase 4: Compact heap\n"
    "[0.579s][info ][gc,phases      ] GC(162) Phase 4: Compact heap 0.124ms\n"
    "[0.579s][info ][gc,phases,start] GC(162) Phase 5: Reset Metadata\n"
    "[0.579s][info ][gc,phases      ] GC(162) Phase 5: Reset Metadata 0.145ms\n"
    "[0.579s][info ][gc,heap        ] GC(162) Eden regions: 0->0(0)\n"
    "[0.579s][info ][gc,heap        ] GC(162) Survivor regions: 0->0(0)\n"
    "[0.579s][info ][gc,heap        ] GC(162) Old regions: 50->3\n"
    "[0.579s][info ][gc,heap        ] GC(162) Humongous regions: 4->4\n"
    "[0.579s][info ][gc             ] GC(162) Pause Full (System.gc()) 55M->5M(24M) 3.121ms\n"
    "[0.579s][info ][gc,cpu         ] GC(162) User=0.00s Sys=0.00s Real=0.00s\n";

/* To a file, decorations too.  A line before them sets the columns, as others did in the JDK. */
START_TEST(the_lines_of_25_are_those_of_the_jdk_with_their_decorations)
{
    struct collection_record r = record_of_25();
    configure("-Xlog:gc*=info,safepoint=debug:file=%s:uptime,level,tags", path);
    log_line_at(START_NS, LOG_TAGS_GC_PHASES_START, LOG_LEVEL_INFO, "columns of the tags");
    log_line_at(START_NS, LOG_TAGS_SAFEPOINT, LOG_LEVEL_DEBUG, "columns of the level");
    gc_log_collection(&r);
    log_close();
    const char *text = strstr(read_file(path), "[0.576s]");
    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, golden_25);
}
END_TEST

static const char golden_21[] = "GC(5) Pause Full (System.gc())\n"
                                "GC(5) Using 2 workers of 2 for full compaction\n"
                                "GC(5) Phase 1: Mark live objects\n"
                                "GC(5) Phase 1: Mark live objects 1.627ms\n"
                                "GC(5) Phase 2: Prepare compaction\n"
                                "GC(5) Phase 2: Prepare compaction 0.087ms\n"
                                "GC(5) Phase 3: Adjust pointers\n"
                                "GC(5) Phase 3: Adjust pointers 0.312ms\n"
                                "GC(5) Phase 4: Compact heap\n"
                                "GC(5) Phase 4: Compact heap 0.065ms\n"
                                "GC(5) Phase 5: Reset Metadata\n"
                                "GC(5) Phase 5: Reset Metadata 0.137ms\n"
                                "GC(5) Eden regions: 0->0(0)\n"
                                "GC(5) Survivor regions: 0->0(0)\n"
                                "GC(5) Old regions: 10->3\n"
                                "GC(5) Humongous regions: 4->4\n"
                                "GC(5) Pause Full (System.gc()) 14M->5M(24M) 2.568ms\n"
                                "GC(5) User=0.00s Sys=0.00s Real=0.00s\n";

static const char golden_17[] = "GC(5) Pause Full (System.gc())\n"
                                "GC(5) Using 2 workers of 2 for full compaction\n"
                                "GC(5) Phase 1: Mark live objects\n"
                                "GC(5) Phase 1: Mark live objects 0.424ms\n"
                                "GC(5) Phase 2: Prepare for compaction\n"
                                "GC(5) Phase 2: Prepare for compaction 0.067ms\n"
                                "GC(5) Phase 3: Adjust pointers\n"
                                "GC(5) Phase 3: Adjust pointers 0.175ms\n"
                                "GC(5) Phase 4: Compact heap\n"
                                "GC(5) Phase 4: Compact heap 0.053ms\n"
                                "GC(5) Eden regions: 0->0(0)\n"
                                "GC(5) Survivor regions: 0->0(0)\n"
                                "GC(5) Old regions: 7->2\n"
                                "GC(5) Archive regions: 0->0\n"
                                "GC(5) Humongous regions: 4->4\n"
                                "GC(5) Pause Full (System.gc()) 13M->5M(25M) 1.105ms\n"
                                "GC(5) User=0.00s Sys=0.00s Real=0.00s\n";

START_TEST(the_lines_of_21_and_17_are_those_of_the_jdk)
{
    struct collection_record r = record_of_21();
    ck_assert_str_eq(text_of(lines_of(XLOG_DIALECT_21, &r), LOG_LEVEL_INFO), golden_21);
    r = record_of_17();
    ck_assert_str_eq(text_of(lines_of(XLOG_DIALECT_17, &r), LOG_LEVEL_INFO), golden_17);
}
END_TEST

START_TEST(dialect_11_names_the_task_first_and_the_pause_that_failed)
{
    struct collection_record r = record_of_17();
    r.cause = COLLECTION_ALLOCATION;
    const struct gc_log_block *block = lines_of(XLOG_DIALECT_11, &r);
    ck_assert_str_eq(block->line[0].text, "GC(5) Using 2 workers of 2 for full compaction");
    ck_assert_str_eq(block->line[1].text, "GC(5) Pause Full (G1 Evacuation Pause)");
    must_have(block, "GC(5) Heap before GC invocations=5 (full 5): garbage-first heap   total "
                     "25600K, used 13312K [0x00000000f8000000, 0x0000000100000000)");
    must_have(block, "GC(5) Phase 2: Prepare for compaction 0.067ms");
    must_have(block, "GC(5) Pause Full (G1 Evacuation Pause) 13M->5M(25M) 1.105ms");
    ck_assert(!has_line(block, "GC(5) Archive regions: 0->0"));
    ck_assert_ptr_null(strstr(text_of(block, LOG_LEVEL_TRACE), "Phase 5"));
}
END_TEST

/* The JDK reads what was used twice, before and after it gives TLABs back; we read it once. */
static const struct {
    enum xlog_dialect dialect;
    struct collection_record (*record)(void);
    uint64_t used_before_kib;
    const char *before, *heap_before, *after, *heap_after;
} heaps[] = {
    { XLOG_DIALECT_17, record_of_17, 13088, "GC(5) Heap before GC invocations=5 (full 5):",
      "GC(5)  garbage-first heap   total 25600K, used 13088K [0x00000000f8000000, "
      "0x0000000100000000)",
      "GC(5) Heap after GC invocations=6 (full 6):",
      "GC(5)  garbage-first heap   total 25600K, used 5174K [0x00000000f8000000, "
      "0x0000000100000000)" },
    { XLOG_DIALECT_21, record_of_21, 14316, "GC(5) Heap before GC invocations=5 (full 5):",
      "GC(5)  garbage-first heap   total 24576K, used 14316K [0x00000000f8000000, "
      "0x0000000100000000)",
      "GC(5) Heap after GC invocations=6 (full 6):",
      "GC(5)  garbage-first heap   total 24576K, used 5279K [0x00000000f8000000, "
      "0x0000000100000000)" },
    { XLOG_DIALECT_25, record_of_25, 56905, "GC(162) Heap Before GC invocations=162 (full 162):",
      "GC(162)  garbage-first heap   total reserved 131072K, committed 116736K, used 56905K "
      "[0x00000000f8000000, 0x0000000100000000)",
      "GC(162) Heap After GC invocations=163 (full 163):",
      "GC(162)  garbage-first heap   total reserved 131072K, committed 24576K, used 5382K "
      "[0x00000000f8000000, 0x0000000100000000)" },
};
#define HEAPS (int)(sizeof heaps / sizeof *heaps)

START_TEST(debug_shows_the_heap_before_and_after_as_the_jdk)
{
    struct collection_record r = heaps[_i].record();
    r.used_before_bytes = heaps[_i].used_before_kib * KIB;
    const struct gc_log_block *block = lines_of(heaps[_i].dialect, &r);
    must_have(block, heaps[_i].before);
    must_have(block, heaps[_i].heap_before);
    must_have(block, heaps[_i].after);
    must_have(block, heaps[_i].heap_after);
    char region[80];
    snprintf(region, sizeof region, "GC(%llu)   region size 1024K, 0 young (0K), 0 survivors (0K)",
             (unsigned long long)r.number);
    must_have(block, region);
}
END_TEST

/* --- order, units, causes ------------------------------------------------------------------ */

START_TEST(times_never_go_back_and_every_line_fits)
{
    struct collection_record r = record_of_25();
    r.begin_ns -= 7 * MS;
    r.end_ns += 11 * MS;
    r.verify_before_ns = 7 * MS;
    for (int p = 1; p < COLLECTION_PHASES; p++)
        r.phase_begin_ns[p] += 2 * MS;
    r.verify_during_ns = 2 * MS;
    r.verify_after_ns = 9 * MS;
    r.number = r.moved_objects = r.moved_bytes = r.live_objects = r.live_bytes = UINT64_MAX - 1;
    r.mark_stack_overflows = r.weak_cleared = r.faults = UINT64_MAX;
    for (int d = 0; d < LOG_DIALECTS; d++) {
        const struct gc_log_block *block = lines_of(d, &r);
        for (int i = 1; i < block->count; i++) {
            ck_assert_msg(block->line[i].event_ns >= block->line[i - 1].event_ns, "line %d: %s", i,
                          block->line[i].text);
            ck_assert_uint_lt(strlen(block->line[i].text), GC_LOG_TEXT_BYTES - 1);
        }
        ck_assert_int_lt(block->count, GC_LOG_LINES_MOST);
    }
}
END_TEST

static const struct {
    uint64_t before, after, capacity, pause_us;
    const char *line;
} pauses[] = {
    { 57 * MIB - 1, 5 * MIB, 24 * MIB, 3121, "56M->5M(24M) 3.121ms" }, /* cut off */
    { 99 * GIB, MIB - 1, 200 * GIB, 1234567, "101376M->0M(204800M) 1234.567ms" },
    { 4 * MIB, 2 * MIB, 4 * MIB, 7, "4M->2M(4M) 0.007ms" },
    { 3 * MIB, 65 * KIB, 3 * MIB, 1000, "3072K->65K(3072K) 1.000ms" }, /* no JDK is so small */
    { 64 * KIB, 1, 64 * KIB, 0, "64K->0K(64K) 0.000ms" },
};
#define PAUSES (int)(sizeof pauses / sizeof *pauses)

START_TEST(a_pause_is_told_in_whole_megabytes_and_milliseconds_with_three_decimals)
{
    char line[200];
    struct collection_record r = record_of_25();
    r.used_before_bytes = pauses[_i].before;
    r.used_after_bytes = pauses[_i].after;
    r.capacity_before_bytes = r.capacity_after_bytes = pauses[_i].capacity;
    r.end_ns = r.begin_ns + pauses[_i].pause_us * US;
    snprintf(line, sizeof line, "GC(162) Pause Full (System.gc()) %s", pauses[_i].line);
    must_have(lines_of(XLOG_DIALECT_25, &r), line);
}
END_TEST

START_TEST(a_heap_that_shrank_below_4m_is_still_told_in_megabytes)
{
    struct collection_record r = record_of_25();
    r.capacity_after_bytes = 2 * MIB;
    r.used_after_bytes = MIB;
    must_have(lines_of(XLOG_DIALECT_25, &r),
              "GC(162) Pause Full (System.gc()) 55M->1M(2M) 3.121ms");
}
END_TEST

START_TEST(each_cause_is_one_that_readers_know)
{
    static const char *const known = "|G1 Evacuation Pause|G1 Humongous Allocation|GCLocker "
                                     "Initiated GC|G1 Preventive Collection|Metadata GC Threshold|"
                                     "G1 Compaction Pause|System.gc()|Diagnostic Command|Metadata "
                                     "GC Clear Soft References|";
    char line[100], word[60];
    struct collection_record r = record_of_25();
    for (int c = 0; c < COLLECTION_CAUSES; c++) {
        r.cause = c;
        snprintf(word, sizeof word, "|%s|", collection_cause_text(c));
        ck_assert_msg(strstr(known, word) != NULL, "%s", word);
        snprintf(line, sizeof line, "GC(162) Pause Full (%s)", collection_cause_text(c));
        for (int d = XLOG_DIALECT_17; d < LOG_DIALECTS; d++)
            must_have(lines_of(d, &r), line);
    }
}
END_TEST

START_TEST(cpu_times_have_two_decimals)
{
    struct collection_record r = record_of_25();
    r.user_ns = 1234 * MS;
    r.system_ns = 6 * MS;
    r.end_ns = r.begin_ns + 700 * MS;
    must_have(lines_of(XLOG_DIALECT_25, &r), "GC(162) User=1.23s Sys=0.01s Real=0.70s");
}
END_TEST

/* --- lines of ours --------------------------------------------------------------------------- */

START_TEST(what_is_ours_stands_at_debug)
{
    struct collection_record r = record_of_25();
    r.verify_before_ns = 10 * US;
    r.verify_during_ns = 15 * US;
    r.verify_after_ns = 20 * US;
    r.live_objects = 12;
    r.live_bytes = 3456;
    r.moved_objects = 7;
    r.moved_bytes = 890;
    r.weak_cleared = 3;
    r.mark_stack_overflows = 1;
    r.faults = 17;
    r.allocated_bytes = 2000;
    r.tlab_waste_bytes = 50;
    r.tlab_refills = 4;
    const struct gc_log_block *block = lines_of(XLOG_DIALECT_25, &r);
    must_have(block, "GC(162) Verifying Before GC");
    must_have(block, "GC(162) Verifying Before GC 0.010ms");
    must_have(block, "GC(162) Verifying During GC (full)");
    must_have(block, "GC(162) Verifying During GC (full) 0.015ms");
    must_have(block, "GC(162) Verifying After GC 0.020ms");
    must_have(block, "GC(162) TLAB totals: refills: 4 waste:  2.5% (50B) allocated: 2000B");
    must_have(block, "GC(162) Live: 12 objects 3456B, moved: 7 objects 890B");
    must_have(block, "GC(162) Weak references cleared: 3");
    must_have(block, "GC(162) Mark stack overflows: 1");
    must_have(block, "GC(162) Page faults: 17");
    for (int i = 0; i < block->count; i++)
        if (strcmp(block->line[i].text, "GC(162) Verifying Before GC 0.010ms") == 0)
            ck_assert_uint_eq(block->line[i].event_ns, r.begin_ns + 10 * US);
    ck_assert_ptr_null(strstr(text_of(block, LOG_LEVEL_INFO), "Verifying"));
    ck_assert_ptr_null(strstr(text_of(block, LOG_LEVEL_INFO), "objects 3456B"));
    r.verify_before_ns = r.verify_during_ns = r.verify_after_ns = r.mark_stack_overflows = 0;
    block = lines_of(XLOG_DIALECT_25, &r);
    ck_assert_ptr_null(strstr(text_of(block, LOG_LEVEL_TRACE), "Verifying"));
    ck_assert_ptr_null(strstr(text_of(block, LOG_LEVEL_TRACE), "overflows"));
}
END_TEST

START_TEST(each_output_gets_the_lines_of_its_own_dialect)
{
    struct collection_record r = record_of_25();
    configure("-Xlog:gc+phases:file=%s:none:dialect=17", path);
    gc_log_collection(&r);
    log_close();
    ck_assert_str_eq(read_file(path), "GC(162) Phase 1: Mark live objects 1.831ms\n"
                                      "GC(162) Phase 2: Prepare for compaction 0.190ms\n"
                                      "GC(162) Phase 3: Adjust pointers 0.415ms\n"
                                      "GC(162) Phase 4: Compact heap 0.124ms\n");
}
END_TEST

START_TEST(one_kind_of_line_can_be_had_alone)
{
    static const char *const selections[] = { "gc",      "gc+start",        "gc+heap",
                                              "gc+task", "gc+phases+start", "gc+phases",
                                              "gc+cpu",  "gc+tlab=debug",   "gc+ref=debug" };
    struct collection_record r = record_of_25();
    for (size_t i = 0; i < sizeof selections / sizeof *selections; i++) {
        char option[100];
        snprintf(option, sizeof option, "-Xlog:%s:file=%%s:none", selections[i]);
        configure(option, path);
        gc_log_collection(&r);
        log_close();
        ck_assert_msg(strncmp(read_file(path), "GC(162) ", 8) == 0, "%s", option);
    }
}
END_TEST

START_TEST(parallel_workers_are_told_as_the_jdk)
{
    configure("-Xlog:gc+init:file=%s:tags", path);
    gc_log_init(2);
    log_close();
    ck_assert_str_eq(read_file(path), "[gc,init] Parallel Workers: 2\n");
}
END_TEST

/* --- the end -----------------------------------------------------------------------------------
 */

START_TEST(at_exit_the_heap_is_told_as_the_jdk)
{
    struct gc_log_block block;
    gc_log_exit_block(XLOG_DIALECT_25, &space, 24 * MIB, 5433 * KIB, START_NS, &block);
    ck_assert_str_eq(text_of(&block, LOG_LEVEL_INFO),
                     "Heap\n garbage-first heap   total reserved 131072K, committed 24576K, used "
                     "5433K [0x00000000f8000000, 0x0000000100000000)\n  region size 1024K, 0 young "
                     "(0K), 0 survivors (0K)\n");
    ck_assert_int_eq(block.line[0].tags, LOG_TAGS_GC_EXIT);
    gc_log_exit_block(XLOG_DIALECT_21, &space, 24 * MIB, 5320 * KIB, START_NS, &block);
    ck_assert_str_eq(block.line[1].text, " garbage-first heap   total 24576K, used 5320K "
                                         "[0x00000000f8000000, 0x0000000100000000)");
    ck_assert_int_eq(block.line[0].tags, LOG_TAGS_GC_HEAP_EXIT);
}
END_TEST

/* With a heap of 16 regions, and a plan that is not Epsilon. */
START_TEST(at_exit_the_log_has_the_heap_of_the_process_and_the_totals)
{
    static const struct plan other = { .name = "other", .collects = true };
    char message[200], expected[400];
    flags_set_for_test("-Xmx16m");
    flags_set_for_test("-Xms4m");
    flags_set_for_test("-XX:G1HeapRegionSize=1m");
    ck_assert_int_eq(heap_start(message, sizeof message), ERR_OK);
    heap.plan = &other;
    configure("-Xlog:gc*=info:file=%s:tags", path);
    gc_log_exit();
    log_close();
    unsigned long long base = (uintptr_t)heap.regions.space.base;
    snprintf(
        expected, sizeof expected,
        "[gc,exit] Heap\n[gc,exit]  garbage-first heap   total reserved 16384K, committed 4096K, "
        "used 0K [0x%016llx, 0x%016llx)\n[gc,exit]   region size 1024K, 0 young (0K), 0 "
        "survivors (0K)\n[gc,stats] Collections: 0\n",
        base, base + 16 * MIB);
    ck_assert_str_eq(read_file(path), expected);
    heap_end();
    flags_reset();
}
END_TEST

START_TEST(at_exit_a_heap_that_is_never_collected_has_one_line)
{
    char message[200];
    flags_set_for_test("-Xmx16m");
    flags_set_for_test("-Xms4m");
    flags_set_for_test("-XX:+UseEpsilonGC");
    ck_assert_int_eq(heap_start(message, sizeof message), ERR_OK);
    configure("-Xlog:gc*=info:file=%s:tags", path);
    gc_log_exit();
    log_close();
    ck_assert_str_eq(read_file(path),
                     "[gc] Heap: 16384K reserved, 4096K (25.00%) committed, 0K (0.00%) used\n");
    heap_end();
    flags_reset();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gc_log");
    TCase *goldens = add_case(suite, "goldens");
    tcase_add_test(goldens, the_lines_of_25_are_those_of_the_jdk_with_their_decorations);
    tcase_add_test(goldens, the_lines_of_21_and_17_are_those_of_the_jdk);
    tcase_add_test(goldens, dialect_11_names_the_task_first_and_the_pause_that_failed);
    tcase_add_loop_test(goldens, debug_shows_the_heap_before_and_after_as_the_jdk, 0, HEAPS);
    TCase *lines = add_case(suite, "lines");
    tcase_add_test(lines, times_never_go_back_and_every_line_fits);
    tcase_add_loop_test(
        lines, a_pause_is_told_in_whole_megabytes_and_milliseconds_with_three_decimals, 0, PAUSES);
    tcase_add_test(lines, a_heap_that_shrank_below_4m_is_still_told_in_megabytes);
    tcase_add_test(lines, each_cause_is_one_that_readers_know);
    tcase_add_test(lines, cpu_times_have_two_decimals);
    tcase_add_test(lines, what_is_ours_stands_at_debug);
    tcase_add_test(lines, each_output_gets_the_lines_of_its_own_dialect);
    tcase_add_test(lines, one_kind_of_line_can_be_had_alone);
    tcase_add_test(lines, parallel_workers_are_told_as_the_jdk);
    TCase *at_the_end = add_case(suite, "the end");
    tcase_add_test(at_the_end, at_exit_the_heap_is_told_as_the_jdk);
    tcase_add_test(at_the_end, at_exit_the_log_has_the_heap_of_the_process_and_the_totals);
    tcase_add_test(at_the_end, at_exit_a_heap_that_is_never_collected_has_one_line);
    return run_suite(suite);
}
