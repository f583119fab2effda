/* test_collect.c -- claims about a collection: what lives stays the same, what is dead is gone.
 *
 * Most of them are checked in place and with every object moved to other regions, and with one,
 * two and four workers.
 *
 * SPDX-License-Identifier: MIT */
#include "base/prng.h"
#include "gc/collection.h"
#include "gc/mark.h"
#include "gc/weak.h"
#include "tests/unit/heap_tests.h"

#include <pthread.h>
#include <stdio.h>

#define REGION_64K "-XX:G1HeapRegionSize=64k"
#define MOST_ROOTS 60000

static value_t roots[MOST_ROOTS]; /* common to all threads */
static struct collection_record last;

static void each_root(struct root_visitor *visitor)
{
    root_visit_range(visitor, roots, roots + MOST_ROOTS, "root of the test");
}
static void keep_record(const struct collection_record *record) { last = *record; }

/* Modes of the loop tests: workers and whether all moves. */
static const char *const modes[][2] = {
    { "-XX:ParallelGCThreads=1", "-XX:-FullGCMovesAll" },
    { "-XX:ParallelGCThreads=2", "-XX:-FullGCMovesAll" },
    { "-XX:ParallelGCThreads=4", "-XX:-FullGCMovesAll" },
    { "-XX:ParallelGCThreads=1", "-XX:+FullGCMovesAll" },
    { "-XX:ParallelGCThreads=2", "-XX:+FullGCMovesAll" },
};
/* ThreadSanitizer is slow, and learns nothing from a worker that is alone. */
#ifdef __SANITIZE_THREAD__
enum { FIRST_MODE = 1, IN_PLACE_MODES = 2, MODES = 2 };
#else
enum { FIRST_MODE = 0, IN_PLACE_MODES = 3, MODES = sizeof modes / sizeof *modes };
#endif

/* A heap of `most`, in regions of 64 KiB, with all checks of the collector on. */
static void begin_mode(int mode, const char *most)
{
    roots_set_common(each_root);
    collection_set_observer(keep_record);
    begin_collecting((const char *const[]){
        most, REGION_64K, "-XX:HeapSizePerGCThread=1", "-XX:+VerifyBeforeGC", "-XX:+VerifyDuringGC",
        "-XX:+VerifyAfterGC", modes[mode][0], modes[mode][1], NULL });
}

static void collect(void) { ck_assert(collection_request_mp(&self, COLLECTION_SYSTEM_GC, 0)); }

/* --- content ---------------------------------------------------------------------------- */

/* As ck_assert_msg(), without the system call that check makes for each assertion that holds. */
#define MUST(expression, ...)                                                                      \
    do {                                                                                           \
        if (!(expression))                                                                         \
            ck_abort_msg(__VA_ARGS__);                                                             \
    } while (0)

static uint64_t pattern(uint64_t id, uint64_t i) { return id * 1000003 + i; }

/* DOUBLES of so many words in all, whose raw elements follow from the id. */
static struct object *new_leaf(uint64_t id, uint64_t words)
{
    struct object *leaf = new_of_bytes(&self, words * 8);
    for (uint64_t i = 1; leaf && i < words - 1; i++)
        store_relaxed(&leaf->word[i], pattern(id, i));
    return leaf;
}

static void check_leaf(value_t value, uint64_t id, uint64_t words)
{
    const struct object *leaf = value_as_object(value);
    MUST(value_is_kind(value, OBJECT_DOUBLES) && object_length(leaf) == words - 2,
         "object %llu of %llu words: 0x%llx", (unsigned long long)id, (unsigned long long)words,
         (unsigned long long)value);
    for (uint64_t i = 1; i < words - 1; i++)
        MUST(load_relaxed(&leaf->word[i]) == pattern(id, i),
             "object %llu of %llu words: word %llu is 0x%llx", (unsigned long long)id,
             (unsigned long long)words, (unsigned long long)i,
             (unsigned long long)load_relaxed(&leaf->word[i]));
}

/* Every size against every place in a block of 64 words, and regions that end in the middle of
 * a block: objects of 2 to 130 words, of which each `step`-th stays. */
START_TEST(objects_of_all_sizes_keep_their_content_at_any_place)
{
    enum { COUNT = 6000 };
    begin_mode(_i, "-Xmx16m");
    for (uint64_t step = 1; step <= 5; step++) {
        for (uint64_t n = 0; n < COUNT; n++) {
            struct object *leaf = new_leaf(n, 2 + n * 7 % 129);
            MUST(leaf, "none of number %llu", (unsigned long long)n);
            roots[n] = value_of_object(leaf);
        }
        for (uint64_t n = 0; n < COUNT; n++)
            if (n % step)
                roots[n] = VALUE_NIL;
        static value_t before[COUNT];
        memcpy(before, roots, sizeof before);
        collect();
        uint64_t bytes = 0, objects = 0;
        for (uint64_t n = 0; n < COUNT; n += step) {
            check_leaf(roots[n], n, 2 + n * 7 % 129);
            if (_i <= 2 && n > 0) /* in place: the order stays */
                MUST((roots[n] > roots[n - step]) == (before[n] > before[n - step]),
                     "objects %llu and %llu have changed places", (unsigned long long)n,
                     (unsigned long long)(n - step));
            bytes += (2 + n * 7 % 129) * 8;
            objects++;
        }
        ck_assert_uint_eq(last.live_objects, objects);
        ck_assert_uint_eq(last.live_bytes, bytes);
        ck_assert_uint_eq(heap_figures().used_bytes, bytes);
        memset(roots, 0, sizeof roots);
    }
}
END_TEST

START_TEST(without_garbage_nothing_moves)
{
    begin_mode(_i, "-Xmx4m");
    for (uint64_t n = 0; n < 5000; n++)
        roots[n] = value_of_object(new_leaf(n, 20));
    collect(); /* closes the gaps that TLABs left */
    collect();
    ck_assert_uint_eq(last.moved_objects, 0);
    ck_assert_uint_eq(last.live_objects, 5000);
}
END_TEST

/* --- graphs ------------------------------------------------------------------------------- */

enum { NODES = 4000, EDGES = 6 };
static int edge[NODES][EDGES]; /* the shadow; -1 = nil */
static bool is_reached[NODES];

/* An ARRAY: its number, then its edges. */
static value_t new_node(int id)
{
    struct object *node = new_with_length(&self, OBJECT_ARRAY, 1 + EDGES + (uint64_t)(id % 40));
    MUST(node, "no node %d", id);
    store_relaxed(&node->word[1], value_of_double(id));
    return value_of_object(node);
}

static void connect(int from, int which, int to)
{
    edge[from][which] = to;
    store_relaxed(&value_as_object(roots[from])->word[2 + which], to < 0 ? VALUE_NIL : roots[to]);
}

/* Walks from a node along the heap's own references, without recursion in C. */
static int check_reachable(int start, value_t start_value)
{
    static struct {
        int id;
        value_t value;
    } stack[NODES * EDGES];
    static value_t place[NODES];
    int depth = 0, reached = 0;
    memset(is_reached, 0, sizeof is_reached);
    stack[depth].id = start, stack[depth++].value = start_value;
    while (depth > 0) {
        int id = stack[--depth].id;
        value_t value = stack[depth].value;
        if (is_reached[id]) {
            MUST(place[id] == value, "node %d is in two places", id);
            continue;
        }
        is_reached[id] = true, place[id] = value, reached++;
        const struct object *node = value_as_object(value);
        MUST(value_is_kind(value, OBJECT_ARRAY), "node %d is no array", id);
        MUST(value_as_double(load_relaxed(&node->word[1])) == id, "node %d is another", id);
        for (int i = 0; i < EDGES; i++) {
            value_t to = load_relaxed(&node->word[2 + i]);
            MUST((edge[id][i] < 0) == (to == VALUE_NIL), "edge %d of node %d", i, id);
            if (edge[id][i] >= 0)
                stack[depth].id = edge[id][i], stack[depth++].value = to;
        }
    }
    return reached;
}

static void make_graph(struct prng *random)
{
    for (int n = 0; n < NODES; n++)
        roots[n] = new_node(n);
    for (int n = 0; n < NODES; n++)
        for (int i = 0; i < EDGES; i++)
            connect(n, i, prng_below(random, 3) ? -1 : (int)prng_below(random, NODES));
}

START_TEST(what_a_path_leads_to_lives_and_nothing_else)
{
    struct prng random;
    prng_seed(&random, 17);
    begin_mode(_i, "-Xmx8m");
    for (int round = 0; round < 5; round++) {
        make_graph(&random);
        int start = (int)prng_below(&random, NODES);
        ROOTED(&self, kept, roots[start]);
        memset(roots, 0, sizeof roots);
        collect();
        int reached = check_reachable(start, kept.value);
        ck_assert_msg(last.live_objects == (uint64_t)reached, "%d reached, %llu live", reached,
                      (unsigned long long)last.live_objects);
        collect();
        ck_assert_int_eq(check_reachable(start, kept.value), reached);
    }
}
END_TEST

/* Loop: entries of a stack, 0 = the usual many, which is the control. */
START_TEST(a_full_mark_stack_loses_nothing)
{
    static const uint32_t entries[] = { 0, 4, 16, 64 };
    struct prng random;
    prng_seed(&random, 5);
    mark_set_stack_for_test(entries[_i]);
    begin_mode(1, "-Xmx8m");
    make_graph(&random);
    struct object *all = new_with_length(&self, OBJECT_ARRAY, NODES);
    for (int n = 0; n < NODES; n++)
        store_relaxed(&all->word[1 + n], roots[n]);
    ROOTED(&self, kept, value_of_object(all));
    memset(roots, 0, sizeof roots);
    collect();
    ck_assert_uint_eq(last.live_objects, NODES + 1);
    ck_assert_msg((last.mark_stack_overflows > 0) == (entries[_i] > 0), "%llu walks",
                  (unsigned long long)last.mark_stack_overflows);
    for (int n = 0; n < NODES; n += 997)
        check_reachable(n, load_relaxed(&value_as_object(kept.value)->word[1 + n]));
}
END_TEST

START_TEST(a_list_of_a_million_is_marked_without_recursion)
{
    begin_mode(_i, "-Xmx64m");
    ROOTED(&self, head, VALUE_NIL);
    for (int n = 0; n < 1000000; n++) {
        struct object *cell = new_cell(&self);
        store_relaxed(&cell->word[0], head.value);
        head.value = value_of_object(cell);
    }
    collect();
    ck_assert_uint_eq(last.live_objects, 1000000);
    uint64_t length = 0;
    for (value_t v = head.value; v != VALUE_NIL; v = load_relaxed(&value_as_object(v)->word[0]))
        length++;
    ck_assert_uint_eq(length, 1000000);
}
END_TEST

/* --- a heap that is full --------------------------------------------------------------------- */

static const char *const sizes_most[] = { "-Xmx64k", "-Xmx128k", "-Xmx192k", "-Xmx1m" };
#define FULL_CASES (sizeof sizes_most / sizeof *sizes_most)

/* Leaves of 8 words until there is no room; how many. */
static uint64_t fill(void)
{
    uint64_t n = 0;
    for (struct object *leaf; (leaf = new_leaf(n, 8)) != NULL; n++)
        roots[n] = value_of_object(leaf);
    return n;
}

START_TEST(a_full_heap_says_so_after_a_collection_and_goes_on)
{
    begin_mode(0, sizes_most[_i]);
    uint64_t bytes = heap_figures().reserved_bytes;
    for (int round = 0; round < 3; round++) {
        uint64_t before = collection_count(), count = fill();
        ck_assert_msg(count * 64 == bytes, "%llu objects of 64 bytes in %llu",
                      (unsigned long long)count, (unsigned long long)bytes);
        ck_assert_uint_gt(collection_count(), before);
        for (uint64_t n = 0; n < count; n++)
            check_leaf(roots[n], n, 8);
        verify_or_die();
        memset(roots, 0, sizeof roots);
    }
}
END_TEST

/* One object in a hundred is dropped; its room is found, all of it. */
START_TEST(a_heap_with_99_percent_live_data_is_collected)
{
    begin_mode(0, sizes_most[_i]);
    uint64_t count = fill(), dropped = 0;
    for (int round = 0; round < 5; round++) {
        for (uint64_t n = (uint64_t)round; n < count; n += 100, dropped++)
            roots[n] = VALUE_NIL;
        for (uint64_t n = (uint64_t)round; n < count; n += 100) {
            struct object *leaf = new_leaf(n, 8);
            ck_assert_msg(leaf, "round %d: none for number %llu", round, (unsigned long long)n);
            roots[n] = value_of_object(leaf);
        }
        for (uint64_t n = 0; n < count; n++)
            check_leaf(roots[n], n, 8);
    }
    ck_assert_uint_gt(dropped, 0);
}
END_TEST

/* --- humongous objects -------------------------------------------------------------------------
 */

START_TEST(humongous_objects_stay_whole_and_go_whole)
{
    begin_mode(_i, "-Xmx2m");
    for (uint64_t n = 0; n < 6; n++)
        roots[n] = value_of_object(new_leaf(n, 20000)); /* 160,000 bytes: three regions */
    value_t before[6];
    memcpy(before, roots, sizeof before);
    roots[1] = roots[2] = roots[4] = VALUE_NIL;
    collect();
    ck_assert_uint_eq(last.humongous_before, 18);
    ck_assert_uint_eq(last.humongous_after, 9);
    for (uint64_t n = 0; n < 6; n++)
        if (roots[n] != VALUE_NIL) {
            ck_assert_uint_eq(roots[n], before[n]);
            check_leaf(roots[n], n, 20000);
        }
    roots[1] = value_of_object(new_leaf(7, 45000)); /* six regions: where 1 and 2 were */
    ck_assert_uint_eq(roots[1], before[1]);
    check_leaf(roots[1], 7, 45000);
}
END_TEST

/* Small objects all over the heap, then one as large as all that is left. */
START_TEST(scattered_objects_make_way_for_a_large_one)
{
    begin_mode(1, "-Xmx2m");
    uint64_t count = fill();
    for (uint64_t n = 0; n < count; n++)
        if (n % 64)
            roots[n] = VALUE_NIL;
    uint64_t words = (2 * MIB - 64 * KIB) / 8;
    struct object *large = new_leaf(1, words);
    ck_assert_ptr_nonnull(large);
    ck_assert_int_eq(last.cause, COLLECTION_HUMONGOUS);
    check_leaf(value_of_object(large), 1, words);
    for (uint64_t n = 0; n < count; n += 64)
        check_leaf(roots[n], n, 8);
}
END_TEST

/* --- memory that is used again
 * -------------------------------------------------------------------- */

static _Atomic bool must_end;

static void *collect_all_the_time(void *unused)
{
    struct mutator other;
    (void)unused;
    memset(&other, 0, sizeof other);
    attach(&other, "collects");
    while (!load_relaxed(&must_end)) /* told by a store; nothing else hangs on it */
        collection_request_mp(&other, COLLECTION_STRESS, 0);
    detach(&other);
    return NULL;
}

static void check_zero_and_scribble(struct object *object, uint64_t words)
{
    ck_assert_uint_eq(object_size_words(object), words);
    for (uint64_t i = 1; i < words - 1; i++) {
        MUST(load_relaxed(&object->word[i]) == 0, "word %llu of %llu is 0x%llx",
             (unsigned long long)i, (unsigned long long)words,
             (unsigned long long)load_relaxed(&object->word[i]));
        store_relaxed(&object->word[i], ~UINT64_C(0)); /* doubles: any bits are right */
    }
}

/* Small ones, ones that are cleared in pieces and may move meanwhile, humongous ones; another
 * thread collects all the time. */
START_TEST(memory_that_is_used_again_is_zero)
{
    pthread_t thread;
    struct prng random;
    prng_seed(&random, 3);
    roots_set_common(each_root);
    begin_collecting((const char *const[]){ "-Xmx8m", "-Xms8m", "-XX:G1HeapRegionSize=256k",
                                            "-XX:BulkChunkBytes=4k", modes[_i][0], modes[_i][1],
                                            NULL });
    ck_assert_int_eq(pthread_create(&thread, NULL, collect_all_the_time, NULL), 0);
    for (int n = 0; n < 40; n++) {
        static const uint64_t most[] = { 200, 14000, 60000 };
        uint64_t words = 2 + prng_below(&random, most[n % 3]);
        struct object *object = new_of_bytes(&self, words * 8);
        ck_assert_ptr_nonnull(object);
        check_zero_and_scribble(object, words);
        roots[n % 20] = n % 7 ? value_of_object(object) : VALUE_NIL;
    }
    store_relaxed(&must_end, true);
    participant_enter_safe(self.participant, PARTICIPANT_NATIVE);
    pthread_join(thread, NULL);
    participant_leave_safe(self.participant, PARTICIPANT_GUEST);
    verify_or_die();
}
END_TEST

/* --- weak records
 * ------------------------------------------------------------------------------------ */

enum { RECORDS = 300 };
static struct record {
    struct weak weak;
    _Atomic int cleaned;
    int refusals;
} records[RECORDS];

static bool clean_record(struct weak *weak)
{
    struct record *record = (struct record *)weak;
    if (record->refusals > 0) {
        record->refusals--;
        return false;
    }
    fetch_add_seq(&record->cleaned, 1);
    return true;
}

static void clean_dead(void)
{
    participant_enter_safe(self.participant, PARTICIPANT_NATIVE);
    weak_clean_dead();
    participant_leave_safe(self.participant, PARTICIPANT_GUEST);
}

START_TEST(a_record_is_cleaned_once_when_its_object_is_dead)
{
    begin_mode(_i, "-Xmx2m");
    for (int n = 0; n < RECORDS; n++) {
        roots[n] = value_of_object(new_leaf((uint64_t)n, 4 + (uint64_t)n % 9));
        records[n].weak.clean = clean_record;
        records[n].refusals = n == 10;
        weak_watch(&records[n].weak, roots[n]);
    }
    for (int n = 0; n < RECORDS; n++)
        if (n % 3 == 1)
            roots[n] = VALUE_NIL;
    collect();
    ck_assert_uint_eq(last.weak_cleared, RECORDS / 3);
    clean_dead();
    clean_dead(); /* the one that refused is asked again */
    collect();
    clean_dead();
    for (int n = 0; n < RECORDS; n++) {
        ck_assert_msg(records[n].cleaned == (n % 3 == 1), "record %d was cleaned %d times", n,
                      records[n].cleaned);
        ck_assert(n % 3 == 1 || records[n].weak.object == roots[n]); /* follows the object */
    }
    participant_enter_safe(self.participant, PARTICIPANT_NATIVE);
    weak_clean_all();
    for (int n = 0; n < RECORDS; n++)
        ck_assert_int_eq(records[n].cleaned, 1);
}
END_TEST

/* --- requests, stress, TLABs
 * ---------------------------------------------------------------------------- */

START_TEST(epsilon_collects_nothing_and_stops_nobody)
{
    BEGIN("-Xmx1m", REGION_64K);
    uint64_t stops = stops_figures().stops;
    ck_assert(!collection_request_mp(&self, COLLECTION_SYSTEM_GC, 0));
    while (new_of_bytes(&self, 1000))
        ;
    ck_assert_uint_eq(collection_count(), 0);
    ck_assert_uint_eq(stops_figures().stops, stops);
}
END_TEST

START_TEST(stress_collects_as_often_as_the_flag_says)
{
    roots_set_common(each_root);
    begin_collecting((const char *const[]){ "-Xmx4m", REGION_64K, "-XX:GCStressInterval=3", NULL });
    for (int n = 0; n < 300; n++)
        ck_assert_ptr_nonnull(new_leaf(1, 4));
    ck_assert_uint_eq(collection_count(), 100);
}
END_TEST

static uint64_t collections_with(const char *seed)
{
    begin_collecting((const char *const[]){ "-Xmx4m", REGION_64K, "-XX:+GCALot",
                                            "-XX:GCALotInterval=10", seed, NULL });
    for (int n = 0; n < 2000; n++)
        ck_assert_ptr_nonnull(new_leaf(1, 4));
    return collection_count();
}

/* Loop: each case in a process of its own.  The distances are drawn from 1 to 20, so one in 10.5
 * allocations collects; of the seed, and so the same in every run. */
START_TEST(random_collections_follow_the_seed)
{
    static const char *const seeds[] = { "-XX:GCALotSeed=7", "-XX:GCALotSeed=7",
                                         "-XX:GCALotSeed=8" };
    static const uint64_t expected[] = { 190, 190, 187 };
    uint64_t count = collections_with(seeds[_i]);
    ck_assert_msg(count == expected[_i], "%s: %llu collections", seeds[_i],
                  (unsigned long long)count);
}
END_TEST

START_TEST(a_thread_that_allocates_little_takes_little)
{
    struct mutator idle = { .participant = NULL };
    roots_set_common(each_root);
    collection_set_observer(keep_record);
    begin_collecting((const char *const[]){ "-Xmx64m", "-Xms64m", "-XX:TLABSize=64k", NULL });
    heap_attach(&idle, self.participant);
    new_of_bytes(&idle, 64);
    ck_assert_int_le(idle.tlab.end - idle.tlab.top, 2048);
    for (int n = 0; n < 100000; n++)
        MUST(new_leaf(1, 8), "none of number %d", n);
    ck_assert_int_gt(self.tlab_figures.wanted_bytes, 60000);
    collect();
    ck_assert_uint_ge(last.allocated_bytes - last.tlab_waste_bytes, 100000 * 64 + 64);
    ck_assert_uint_le(last.tlab_waste_bytes, 2 * 64 * KIB);
    ck_assert_uint_eq(idle.tlab_figures.wanted_bytes, 2048);
    ck_assert_uint_gt(self.tlab_figures.wanted_bytes, 30000);
    heap_detach(&idle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("collect");
    TCase *tc = tcase_create("collect");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, objects_of_all_sizes_keep_their_content_at_any_place, FIRST_MODE,
                        MODES);
    tcase_add_loop_test(tc, without_garbage_nothing_moves, FIRST_MODE, IN_PLACE_MODES);
    tcase_add_loop_test(tc, what_a_path_leads_to_lives_and_nothing_else, FIRST_MODE, MODES);
    tcase_add_loop_test(tc, a_full_mark_stack_loses_nothing, 0, 4);
    tcase_add_loop_test(tc, a_list_of_a_million_is_marked_without_recursion, FIRST_MODE, 2);
    tcase_add_loop_test(tc, a_full_heap_says_so_after_a_collection_and_goes_on, 0, (int)FULL_CASES);
    tcase_add_loop_test(tc, a_heap_with_99_percent_live_data_is_collected, 0, (int)FULL_CASES);
    tcase_add_loop_test(tc, humongous_objects_stay_whole_and_go_whole, FIRST_MODE, MODES);
    tcase_add_test(tc, scattered_objects_make_way_for_a_large_one);
    tcase_add_loop_test(tc, memory_that_is_used_again_is_zero, FIRST_MODE, 2);
    tcase_add_loop_test(tc, memory_that_is_used_again_is_zero, 4, 5);
    tcase_add_loop_test(tc, a_record_is_cleaned_once_when_its_object_is_dead, FIRST_MODE, MODES);
    tcase_add_test(tc, epsilon_collects_nothing_and_stops_nobody);
    tcase_add_test(tc, stress_collects_as_often_as_the_flag_says);
    tcase_add_loop_test(tc, random_collections_follow_the_seed, 0, 3);
    tcase_add_test(tc, a_thread_that_allocates_little_takes_little);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
