/* test_bulk.c -- alloc/bulk.h and alloc/bulk_kernels.h: field report C25.
 *
 * Read next: alloc/bulk.h, whose promises B1..B5 and K1..K3 the tests cite.
 *
 * The poll is watched through its word: the kernel of a test arms it, as anybody
 * may, and a poll that follows clears it.  The oracle for the bytes is memset on
 * a second arena, compared whole, so a byte too many anywhere is seen.
 *
 * SPDX-License-Identifier: MIT */
#include "alloc/bulk.h"
#include "base/flags.h"
#include "base/os.h"
#include "base/prng.h"
#include "safepoint/operation.h"
#include "safepoint/participant_priv.h"
#include "safepoint/stops.h"

#include "tests/unit/suite.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD_BYTES   128
#define GUARD_PATTERN 0xa5
#define CHUNK         ((size_t)4096)
#define MIB           ((size_t)1 << 20)

static struct participant *self;

static void attach(void)
{
    ck_assert_int_eq(stops_start(), ERR_OK);
    ck_assert_int_eq(participant_attach(PARTICIPANT_MUTATOR, "test", &self), ERR_OK);
    ck_assert_msg(self->head.poll == &self->poll_word, "these tests watch the poll `flag`");
    participant_leave_safe(self, PARTICIPANT_VM);
}

static void detach(void) { participant_detach(self); }

/* --- the bytes ------------------------------------------------------------- */

struct arena {
    unsigned char *bytes, *oracle;
    size_t size;
};

static struct arena arena_create(size_t size)
{
    struct arena a = { os_map(size), os_map(size), size };
    ck_assert_ptr_nonnull(a.bytes);
    ck_assert_ptr_nonnull(a.oracle);
    memset(a.bytes, GUARD_PATTERN, size);
    memset(a.oracle, GUARD_PATTERN, size);
    return a;
}

static void arena_destroy(struct arena *a)
{
    os_unmap(a->bytes, a->size);
    os_unmap(a->oracle, a->size);
}

/* Both arenas are equal but for what the oracle says; then both as before. */
static void check_and_restore(struct arena *a, size_t at, size_t bytes, const char *what,
                              const struct bulk_plan *plan)
{
    memset(a->oracle + at, 0, bytes);
    for (size_t i = 0; memcmp(a->bytes, a->oracle, a->size) != 0 && i < a->size; i++)
        ck_assert_msg(a->bytes[i] == a->oracle[i],
                      "%s: byte %zu is %02x, not %02x, after zeroing [%zu, +%zu) by %s, chunk %zu",
                      what, i, a->bytes[i], a->oracle[i], at, bytes, plan->kernel->name,
                      plan->chunk_bytes);
    memset(a->bytes + at, GUARD_PATTERN, bytes);
    memset(a->oracle + at, GUARD_PATTERN, bytes);
}

static size_t ceil_divide(size_t a, size_t b) { return a == 0 ? 0 : (a - 1) / b + 1; }

/* B1, K1.  Sizes round every edge of a chunk and of a cache line. */
START_TEST(every_kernel_zeroes_exactly_the_range)
{
    const size_t sizes[] = { 0,   1,         2,     63,        64,        65,           127,
                             129, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 1 };
    const size_t offsets[] = { 0, 1, 7, 15, 16, 31, 32, 33, 63 };
    const size_t chunks[] = { 1, 17, 64, CHUNK, 1 << 30 };
    struct arena a = arena_create(2 * GUARD_BYTES + 4 * CHUNK);
    size_t runs = 0;
    for (size_t k = 0; k < bulk_zero_kernel_count(); k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++)
                for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
                    struct bulk_plan plan =
                        bulk_zero_plan(sizes[s], BULK_POLICY_CHUNKED, chunks[c]);
                    plan.kernel = bulk_zero_kernel_at(k);
                    size_t at = GUARD_BYTES + offsets[o];
                    size_t n = bulk_zero_run_mp(self, a.bytes + at, sizes[s], &plan);
                    ck_assert_msg(n == ceil_divide(sizes[s], chunks[c]),
                                  "%zu chunks of %zu for %zu bytes", n, chunks[c], sizes[s]);
                    check_and_restore(&a, at, sizes[s], "edges", &plan);
                    runs++;
                }
    ck_assert_uint_eq(runs, bulk_zero_kernel_count() * 13 * 9 * 5);
    arena_destroy(&a);
}
END_TEST

/* Sizes of every magnitude up to limit. */
static size_t random_size(struct prng *prng, size_t limit)
{
    return prng_below(prng, limit) >> prng_below(prng, 16);
}

/* B1, K1; replay with BULK_SEED=n. */
START_TEST(random_ranges_agree_with_memset)
{
    const char *given = getenv("BULK_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : os_now_ns();
    struct prng prng;
    prng_seed(&prng, seed);
    printf("random_ranges_agree_with_memset: BULK_SEED=%llu\n", (unsigned long long)seed);
    struct arena a = arena_create(256 << 10);
    char what[64];
    for (int i = 0; i < 400; i++) {
        size_t at = random_size(&prng, a.size - 1);
        size_t bytes = random_size(&prng, a.size - at);
        enum bulk_policy policy = prng_below(&prng, 4) ? BULK_POLICY_CHUNKED : BULK_POLICY_WHOLE;
        struct bulk_plan plan = bulk_zero_plan(bytes, policy, 1 + random_size(&prng, 64 << 10));
        plan.kernel = bulk_zero_kernel_at(prng_below(&prng, bulk_zero_kernel_count()));
        bulk_zero_run_mp(self, a.bytes + at, bytes, &plan);
        snprintf(what, sizeof what, "seed %llu, round %d", (unsigned long long)seed, i);
        check_and_restore(&a, at, bytes, what, &plan);
    }
    arena_destroy(&a);
}
END_TEST

/* B1 through the ordinary entries, at a size where the kernel changes. */
START_TEST(big_unaligned_buffer_is_zero_and_its_neighbours_are_not)
{
    const size_t bytes = BULK_NONTEMPORAL_FROM_BYTES + 5, at = GUARD_BYTES + 3;
    struct arena a = arena_create(bytes + 3 * GUARD_BYTES);
    for (int policy = 0; policy < 2; policy++) {
        enum bulk_policy p = policy ? BULK_POLICY_WHOLE : BULK_POLICY_CHUNKED;
        struct bulk_plan plan = bulk_zero_plan(bytes, p, MIB);
        size_t n = bulk_zero_with_mp(self, a.bytes + at, bytes, p, MIB);
        ck_assert_uint_eq(n, policy ? 1 : BULK_NONTEMPORAL_FROM_BYTES / MIB + 1);
        check_and_restore(&a, at, bytes, policy ? "whole" : "chunked", &plan);
    }
    arena_destroy(&a);
}
END_TEST

START_TEST(plain_call_does_what_the_flags_say)
{
    const size_t chunk = flags->bulk_chunk_bytes, bytes = 3 * chunk + 1;
    struct bulk_plan plan = bulk_zero_plan(bytes, flags->bulk_policy, chunk);
    struct arena a = arena_create(bytes + 2 * GUARD_BYTES);
    size_t n = bulk_zero_mp(self, a.bytes + GUARD_BYTES, bytes);
    ck_assert_uint_eq(n, flags->bulk_policy == BULK_POLICY_WHOLE ? 1 : 4);
    check_and_restore(&a, GUARD_BYTES, bytes, "flags", &plan);
    arena_destroy(&a);
}
END_TEST

/* --- the plan --------------------------------------------------------------- */

/* B4, C1 of bulk_kernels.h: 42 against 95 GB/s when this is wrong. */
START_TEST(chunking_never_changes_the_kernel)
{
    const size_t sizes[] = {
        1,         CHUNK,   MIB, BULK_NONTEMPORAL_FROM_BYTES - 1, BULK_NONTEMPORAL_FROM_BYTES,
        256 * MIB, SIZE_MAX
    };
    const size_t chunks[] = { 1, CHUNK, 64 << 10, MIB, 64 * MIB };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
            struct bulk_plan whole = bulk_zero_plan(sizes[s], BULK_POLICY_WHOLE, chunks[c]);
            struct bulk_plan cut = bulk_zero_plan(sizes[s], BULK_POLICY_CHUNKED, chunks[c]);
            ck_assert_msg(whole.kernel == cut.kernel, "%zu bytes: %s whole, %s in chunks of %zu",
                          sizes[s], whole.kernel->name, cut.kernel->name, chunks[c]);
            ck_assert_uint_eq(whole.chunks, 1);
            ck_assert_uint_eq(cut.chunks, ceil_divide(sizes[s], chunks[c]));
        }
}
END_TEST

START_TEST(small_operations_stay_in_the_cache_and_big_ones_go_round_it)
{
    const struct bulk_kernel *small = bulk_zero_kernel_for(BULK_NONTEMPORAL_FROM_BYTES - 1);
    const struct bulk_kernel *big = bulk_zero_kernel_for(BULK_NONTEMPORAL_FROM_BYTES);
    ck_assert_str_eq(small->name, "memset");
    ck_assert_ptr_eq(big, bulk_zero_kernel_at(bulk_zero_kernel_count() - 1));
#ifdef __x86_64__
    ck_assert_msg(strncmp(big->name, "nt-", 3) == 0, "%s for the biggest", big->name);
#endif
}
END_TEST

/* --- the polls --------------------------------------------------------------- */

/* A kernel that arms the poll word each time it is called.  A word found clear at
 * the next call was cleared by a poll in between. */
static struct {
    size_t calls, polls, bytes, biggest;
} watch;

static void zero_and_arm(void *start, size_t bytes)
{
    if (watch.calls > 0 && load_seq(&self->poll_word) == 0)
        watch.polls++;
    memset(start, 0, bytes);
    watch.calls++;
    watch.bytes += bytes;
    if (bytes > watch.biggest)
        watch.biggest = bytes;
    store_seq(&self->poll_word, 1);
}

static const struct bulk_kernel arming = { "arming", zero_and_arm };

static void run_armed(struct arena *a, size_t bytes, enum bulk_policy policy, size_t chunk)
{
    struct bulk_plan plan = bulk_zero_plan(bytes, policy, chunk);
    plan.kernel = &arming;
    memset(&watch, 0, sizeof watch);
    uint64_t witness = load_relaxed(&self->line->witness); /* our own */
    size_t n = bulk_zero_run_mp(self, a->bytes + GUARD_BYTES, bytes, &plan);
    bool polled_after_the_last = watch.calls > 0 && load_seq(&self->poll_word) == 0;
    participant_poll(self); /* leaves the word clear for the next run */

    size_t expected = policy == BULK_POLICY_WHOLE ? bytes > 0 : ceil_divide(bytes, chunk);
    ck_assert_msg(n == expected && watch.calls == expected, "%zu chunks, %zu calls, not %zu", n,
                  watch.calls, expected);
    ck_assert_uint_eq(watch.bytes, bytes);
    ck_assert_uint_le(watch.biggest, plan.chunk_bytes);
    ck_assert_msg(watch.polls == (expected ? expected - 1 : 0), "%zu polls for %zu chunks",
                  watch.polls, expected);
    ck_assert_msg(!polled_after_the_last, "polled after the last of %zu chunks", expected);
    /* Each chunk and each poll that fired: between the chunks, and the one above. */
    ck_assert_msg(load_relaxed(&self->line->witness) - witness == 2 * expected, /* our own */
                  "the witness counts %llu for %zu chunks and as many polls",
                  (unsigned long long)(load_relaxed(&self->line->witness) - witness), expected);
    check_and_restore(a, GUARD_BYTES, bytes, "armed", &plan);
}

/* B2 */
START_TEST(chunked_polls_once_between_two_chunks_and_not_after_the_last)
{
    const size_t sizes[] = { 0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 1, 16 * CHUNK };
    struct arena a = arena_create(2 * GUARD_BYTES + 16 * CHUNK);
    size_t polls = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        run_armed(&a, sizes[s], BULK_POLICY_CHUNKED, CHUNK);
        polls += watch.polls;
    }
    ck_assert_uint_eq(polls, 0 + 0 + 0 + 0 + 1 + 3 + 15);
    arena_destroy(&a);
}
END_TEST

/* The control: the disease. */
START_TEST(whole_never_polls_in_the_middle)
{
    struct arena a = arena_create(2 * GUARD_BYTES + 16 * CHUNK);
    run_armed(&a, 16 * CHUNK, BULK_POLICY_WHOLE, CHUNK);
    ck_assert_uint_eq(watch.calls, 1);
    ck_assert_uint_eq(watch.polls, 0);
    run_armed(&a, 0, BULK_POLICY_WHOLE, CHUNK);
    ck_assert_uint_eq(watch.calls, 0);
    arena_destroy(&a);
}
END_TEST

/* --- a stop in the middle ------------------------------------------------------ */

#define STOPPED_CHUNKS ((size_t)6)

/* One stop is asked for during each chunk but the last; the operation looks at
 * the memory.  Fields are written by one side and read by the other across the
 * stop itself: that is the claim. */
static struct {
    unsigned char *start;
    size_t done;              /* kernel */
    size_t stops, wrong;      /* operation */
    size_t served_too_late;   /* kernel */
    _Atomic size_t asked_for; /* kernel -> requester */
} stop;

static void look_at_memory(struct operation *unused)
{
    (void)unused;
    stop.stops++;
    for (size_t i = 0; i < STOPPED_CHUNKS * CHUNK; i++)
        stop.wrong += stop.start[i] != (i < stop.done ? 0 : GUARD_PATTERN);
}

static void *ask_for_stops(void *unused)
{
    for (size_t k = 1; k < STOPPED_CHUNKS; k++) {
        while (load_acquire(&stop.asked_for) < k)
            os_cpu_pause();
        struct operation op = { .kind = OPERATION_FORCE_SAFEPOINT, .run = look_at_memory };
        operation_request(&op);
    }
    return unused;
}

static void zero_and_wait_for_arming(void *start, size_t bytes)
{
    bulk_zero_kernel_at(bulk_zero_kernel_count() - 1)->zero(start, bytes);
    stop.served_too_late += stop.stops != stop.done / CHUNK;
    stop.done += bytes;
    if (stop.done == STOPPED_CHUNKS * CHUNK)
        return;
    store_release(&stop.asked_for, stop.done / CHUNK); /* pairs with ask_for_stops */
    while (!(load_relaxed(self->head.poll) & 1))       /* only a hint: the poll decides */
        os_cpu_pause();
}

static const struct bulk_kernel stopping_kernel = { "stopping", zero_and_wait_for_arming };

/* B2, B3: no stop asked for in a chunk waits longer than for that chunk. */
START_TEST(stop_asked_for_in_a_chunk_runs_before_the_next_and_sees_what_was_written)
{
    struct arena a = arena_create(2 * GUARD_BYTES + STOPPED_CHUNKS * CHUNK);
    pthread_t thread;
    stop.start = a.bytes + GUARD_BYTES;
    ck_assert_int_eq(pthread_create(&thread, NULL, ask_for_stops, NULL), 0);
    struct bulk_plan plan = bulk_zero_plan(STOPPED_CHUNKS * CHUNK, BULK_POLICY_CHUNKED, CHUNK);
    plan.kernel = &stopping_kernel;
    bulk_zero_run_mp(self, stop.start, STOPPED_CHUNKS * CHUNK, &plan);
    participant_enter_safe(self, PARTICIPANT_BLOCKED);
    pthread_join(thread, NULL);
    participant_leave_safe(self, PARTICIPANT_VM);
    ck_assert_uint_eq(stop.stops, STOPPED_CHUNKS - 1);
    ck_assert_msg(stop.served_too_late == 0, "%zu stops came after the next chunk",
                  stop.served_too_late);
    ck_assert_msg(stop.wrong == 0, "%zu bytes were not as written at a stop", stop.wrong);
    check_and_restore(&a, GUARD_BYTES, STOPPED_CHUNKS * CHUNK, "stopped", &plan);
    arena_destroy(&a);
}
END_TEST

/* --- the progress ------------------------------------------------------------ */

/* What the other thread saw last, of operations of kind "zero" only. */
static _Atomic uint64_t seen_done, seen_complete;
static _Atomic int quit;
static _Atomic uint64_t went_back;
static _Atomic(struct participant *) watched;

static void *watch_progress(void *unused)
{
    struct doing *doing = participant_doing(load_acquire(&watched)); /* from the test */
    while (!load_acquire(&quit)) {
        struct doing_value v = doing_read(doing);
        if (!v.what || v.total == 0 || strcmp(v.what->kind, "zero") != 0)
            continue;
        if (v.done < load_relaxed(&seen_done)) /* written by us, and by the test between runs */
            fetch_add_relaxed(&went_back, 1);  /* a count, read after a wait on seen_done */
        store_release(&seen_done, v.done);
        if (v.done == v.total)
            store_release(&seen_complete, v.total);
    }
    return unused;
}

static _Atomic size_t written;

/* Goes on only when the watcher has seen all that was written before. */
static void zero_when_seen(void *start, size_t bytes)
{
    size_t before = load_relaxed(&written); /* our own */
    while (load_acquire(&seen_done) != before)
        os_cpu_pause();
    memset(start, 0, bytes);
    store_relaxed(&written, before + bytes);
}

static const struct bulk_kernel waiting_kernel = { "waiting", zero_when_seen };

/* B5: the late-thread line of a stop has "bytes done/total" from it. */
START_TEST(progress_is_visible_to_another_thread_at_every_chunk_and_reaches_the_total)
{
    const size_t bytes = 8 * CHUNK + 1;
    struct arena a = arena_create(2 * GUARD_BYTES + bytes);
    pthread_t thread;
    store_release(&watched, self);
    ck_assert_int_eq(pthread_create(&thread, NULL, watch_progress, NULL), 0);

    struct bulk_plan plan = bulk_zero_plan(bytes, BULK_POLICY_CHUNKED, CHUNK);
    plan.kernel = &waiting_kernel;
    ck_assert_uint_eq(bulk_zero_run_mp(self, a.bytes + GUARD_BYTES, bytes, &plan), 9);
    check_and_restore(&a, GUARD_BYTES, bytes, "progress", &plan);
    ck_assert_uint_ge(load_acquire(&seen_done), 8 * CHUNK);
    ck_assert_uint_eq(load_relaxed(&went_back), 0); /* see above */

    /* done == total stands for a few ns only, until doing_end(); so repeat until
     * the watcher has met it.  A run that never shows it fails by the time limit. */
    while (load_acquire(&seen_complete) != 16)
        bulk_zero_with_mp(self, a.bytes + GUARD_BYTES, 16, BULK_POLICY_CHUNKED, 8);

    store_release(&quit, 1);
    pthread_join(thread, NULL);
    arena_destroy(&a);
}
END_TEST

/* B5 */
START_TEST(what_was_said_before_is_said_again_afterwards)
{
    static const struct doing_what outer = { "test", "running a test", "steps" };
    char bytes[3 * 64];
    struct doing *doing = participant_doing(self);
    struct doing_value before = doing_begin(doing, &outer, 7);
    doing_progress(doing, 5);
    ck_assert_uint_eq(bulk_zero_with_mp(self, bytes, sizeof bytes, BULK_POLICY_CHUNKED, 64), 3);
    struct doing_value after = doing_read(doing);
    ck_assert_ptr_eq(after.what, &outer);
    ck_assert_uint_eq(after.done, 5);
    ck_assert_uint_eq(after.total, 7);
    doing_end(doing, before);
}
END_TEST

/* --- misuse ------------------------------------------------------------------- */

START_TEST(zeroing_without_a_participant_aborts)
{
    char byte = 1;
    bulk_zero_with_mp(NULL, &byte, 1, BULK_POLICY_CHUNKED, CHUNK);
}
END_TEST

START_TEST(a_chunk_of_no_bytes_aborts)
{
    char byte = 1;
    bulk_zero_with_mp(self, &byte, 1, BULK_POLICY_CHUNKED, 0);
}
END_TEST

START_TEST(a_plan_for_another_size_aborts)
{
    char bytes[128];
    struct bulk_plan plan = bulk_zero_plan(64, BULK_POLICY_CHUNKED, 64);
    bulk_zero_run_mp(self, bytes, sizeof bytes, &plan);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("bulk");
    TCase *tc = tcase_create("bulk");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, attach, detach);
    tcase_add_test(tc, every_kernel_zeroes_exactly_the_range);
    tcase_add_test(tc, random_ranges_agree_with_memset);
    tcase_add_test(tc, big_unaligned_buffer_is_zero_and_its_neighbours_are_not);
    tcase_add_test(tc, plain_call_does_what_the_flags_say);
    tcase_add_test(tc, chunking_never_changes_the_kernel);
    tcase_add_test(tc, small_operations_stay_in_the_cache_and_big_ones_go_round_it);
    tcase_add_test(tc, chunked_polls_once_between_two_chunks_and_not_after_the_last);
    tcase_add_test(tc, whole_never_polls_in_the_middle);
    tcase_add_test(tc, stop_asked_for_in_a_chunk_runs_before_the_next_and_sees_what_was_written);
    tcase_add_test(tc, progress_is_visible_to_another_thread_at_every_chunk_and_reaches_the_total);
    tcase_add_test(tc, what_was_said_before_is_said_again_afterwards);
    tcase_add_test_raise_signal(tc, zeroing_without_a_participant_aborts, SIGABRT);
    tcase_add_test_raise_signal(tc, a_chunk_of_no_bytes_aborts, SIGABRT);
    tcase_add_test_raise_signal(tc, a_plan_for_another_size_aborts, SIGABRT);
    suite_add_tcase(s, tc);
    return s;
}

int main(void) { return run_suite(suite()); }
