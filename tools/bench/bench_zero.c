/* bench_zero.c -- do polls between chunks slow the zeroing of a big buffer?
 *
 * Question   Throughput of one thread that zeroes a buffer, in one piece and in chunks
 *            with a poll between two of them, while nobody stops it.
 * Unit       GB/s (10^9 bytes).
 * Memory     256 MiB (--quick: 64), mapped once, written twice before the first round,
 *            and used again in each: page faults are not asked for here.
 * Warm-up    Each timed pass comes after an untimed one that goes round the cache, so
 *            that no variant pays for the dirty lines the one before it left there.
 * Rounds     31 (--quick: 3) of one pass per variant, the order turned by one each.
 *
 * The trap: libc's memset chooses its method by the size of one call.  A big buffer in
 * small calls of it runs at a fraction of the speed, and the polls get blamed.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/bench/bench_priv.h"

#include "alloc/bulk.h"
#include "base/err.h"
#include "base/os.h"
#include "safepoint/participant.h"

#include <string.h>

#define FULL_BYTES  ((size_t)256 << 20)
#define QUICK_BYTES ((size_t)64 << 20)

static const struct variant {
    const char *name;
    bool is_libc;
    size_t chunk_bytes; /* 0 = whole */
    const char *baseline;
    double least_ratio; /* 0 = no goal */
} variants[] = {
    { "libc-whole", true, 0, NULL, 0 },
    { "libc-1m", true, (size_t)1 << 20, "libc-whole", 0 }, /* the trap */
    { "bulk-whole", false, 0, "libc-whole", 0 },
    { "bulk-1m", false, (size_t)1 << 20, "bulk-whole", 0.98 },
    { "bulk-256k", false, (size_t)256 << 10, "bulk-whole", 0 },
    { "bulk-64k", false, (size_t)64 << 10, "bulk-whole", 0 },
};
#define VARIANTS (sizeof variants / sizeof *variants)

struct plan {
    size_t bytes;
    uint32_t rounds;
};

/* Through a pointer the compiler cannot see into: a buffer that nobody reads must be
 * written all the same. */
static void *(*volatile libc_memset)(void *, int, size_t) = memset;

static void zero_by_libc(char *buffer, size_t bytes, size_t chunk_bytes)
{
    void *(*set)(void *, int, size_t) = libc_memset;
    for (size_t done = 0; done < bytes; done += chunk_bytes)
        set(buffer + done, 0, chunk_bytes < bytes - done ? chunk_bytes : bytes - done);
}

static void zero_by(const struct variant *v, struct participant *self, char *buffer, size_t bytes)
{
    if (v->is_libc)
        zero_by_libc(buffer, bytes, v->chunk_bytes ? v->chunk_bytes : bytes);
    else
        bulk_zero_with_mp(self, buffer, bytes,
                          v->chunk_bytes ? BULK_POLICY_CHUNKED : BULK_POLICY_WHOLE,
                          v->chunk_bytes ? v->chunk_bytes : bytes);
}

static double one_pass(const struct variant *v, struct participant *self, char *buffer,
                       size_t bytes)
{
    bulk_zero_with_mp(self, buffer, bytes, BULK_POLICY_WHOLE, bytes);
    uint64_t start = os_now_ns();
    zero_by(v, self, buffer, bytes);
    return (double)bytes / (double)(os_now_ns() - start);
}

/* [child] All rounds in one process: fresh memory for each would measure page faults. */
static void measure(const void *argument, double *figures_out)
{
    const struct plan *plan = argument;
    struct participant *self;
    bench_child_start_stops();
    char *buffer = os_map(plan->bytes);
    if (!buffer || participant_attach(PARTICIPANT_MUTATOR, "zeroer", &self) != ERR_OK)
        bench_child_fail(EXIT_CODE_ENVIRONMENT, "no memory for %zu bytes", plan->bytes);
    libc_memset(buffer, 1, plan->bytes);
    libc_memset(buffer, 2, plan->bytes);
    participant_leave_safe(self, PARTICIPANT_GUEST);
    for (uint32_t round = 0; round < plan->rounds; round++)
        for (size_t i = 0; i < VARIANTS; i++) {
            size_t v = (i + round) % VARIANTS;
            figures_out[round * VARIANTS + v] = one_pass(&variants[v], self, buffer, plan->bytes);
        }
    participant_detach(self);
    os_unmap(buffer, plan->bytes);
}

static const struct bench_row *row_of(struct bench_row *const *rows, const char *name)
{
    for (size_t v = 0; name && v < VARIANTS; v++)
        if (strcmp(variants[v].name, name) == 0)
            return rows[v];
    return NULL;
}

void bench_zero(struct bench *bench)
{
    static const char *const no_flags[] = { NULL };
    static double figures[BENCH_MOST_ROUNDS * VARIANTS];
    struct bench_row *rows[VARIANTS] = { NULL };
    struct plan plan = { bench->is_quick ? QUICK_BYTES : FULL_BYTES, bench_rounds(bench, 31, 3) };
    struct bench_child child = { "zero", no_flags, measure, &plan };

    for (size_t v = 0; v < VARIANTS; v++) { /* baselines stand above their users */
        rows[v] = bench_add(bench, "GB/s", row_of(rows, variants[v].baseline), "zero/%s",
                            variants[v].name);
        if (variants[v].least_ratio > 0)
            bench_set_goal(rows[v], BENCH_GOAL_RATIO_AT_LEAST, variants[v].least_ratio);
    }
    if (!bench_goes_on(bench, 0, 1) ||
        !bench_in_child(bench, &child, figures, plan.rounds * VARIANTS))
        return;
    for (uint32_t round = 0; round < plan.rounds; round++)
        for (size_t v = 0; v < VARIANTS; v++)
            bench_put(rows[v], round, figures[round * VARIANTS + v]);
}
