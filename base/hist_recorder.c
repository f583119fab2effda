/* hist_recorder.c -- two halves, one written, one read, and a phaser between them.
 *
 * The idea is the WriterReaderPhaser of HdrHistogram (Gil Tene, 2014): writers count
 * themselves in at a start word and out at the end word of their phase, and the reader
 * turns the phase and waits until as many went out as had come in.  There the active
 * histogram is a pointer of its own beside the phaser; here the phase *is* the half:
 *
 *     start    bit 63: the phase, 0 or 1, which is the index of the half to write;
 *              bits 0..62: how many writers came in during this phase
 *     end[i]   how many writers of half i are done in its current phase
 *
 *   writer                                     reader
 *     1  s := start, start += 1                  a  end[next] := 0
 *     2  write half[s >> 63]                     b  s := start, start := next << 63
 *     3  end[s >> 63] += 1                       c  wait until end[old] == count in s
 *                                                d  read half[old], then clear it
 *
 * So one atomic step, 1, decides the interval of a sample (T1), and what b returns is
 * the count of the interval, found without looking at its buckets: hist_verify() of an
 * interval compares two counts that were kept apart (T2).
 *
 * Note [P] Phase.  1 and b are read-modify-writes of one word, so they are totally
 *   ordered whatever their memory order.  A writer before b wrote the old half, and b
 *   counted it; a writer after b goes to the other one.  No third case, hence T1.
 *
 * Note [I] In.  A writer may add to a half only after the reader has cleared it (d of
 *   the take before) and has reset its end word (a).  Both come before b in the reader;
 *   b releases, 1 acquires.  A writer that reads start from an earlier writer instead of
 *   from b still sees them: a chain of read-modify-writes continues b's release.
 *
 * Note [O] Out.  The reader may read and clear a half only after its last writer is
 *   done.  3 releases what 2 wrote; the load of c acquires.  The value c waits for is
 *   the end of a chain of read-modify-writes, one of each writer, and it continues all
 *   their releases, not only the last one's.  Therefore every access of 2 and d can be
 *   relaxed.  None is plain, because writers of one half meet in it.
 *
 * Note [A] a is a relaxed store: the end word of the half that is not in use was left
 *   for good by its last writer, or c of the take before would still be waiting, and it
 *   is published with b, Note [I].
 *
 * 1, b and 3 are written with the seq_cst wrappers.  Acquire, acquire with release, and
 * release would do; on x86-64 they are the same locked instructions.
 *
 * SPDX-License-Identifier: MIT */
#include "base/hist_recorder.h"
#include "base/atomics.h"
#include "base/insist.h"
#include "base/os.h"

#include <stdlib.h>
#include <string.h>

#define PHASE_SHIFT 63
#define COUNT_MASK  ((UINT64_C(1) << PHASE_SHIFT) - 1)

/* writers: 2, relaxed, Note [O]; the reader: d, relaxed, Notes [I] and [O] */
struct half {
    CACHE_ALIGNED _Atomic uint64_t sum; /* modulo 2^64 */
    _Atomic uint64_t sum_saturated;     /* 1 once an addition to sum has wrapped */
    _Atomic uint64_t overflow;
    _Atomic uint64_t max;
    _Atomic uint64_t min_inverted; /* so that zero is the empty state */
    CACHE_ALIGNED _Atomic uint64_t bucket[HIST_BUCKETS];
};

/* field    written by                       order
 * start    writers 1, reader b              seq_cst, Notes [P] and [I]
 * end      writers 3, reader a              seq_cst, relaxed [A]; read by c, acquire [O]
 * taking   reader                           seq_cst; only finds a second reader, C1 */
struct hist_recorder {
    CACHE_ALIGNED _Atomic uint64_t start;
    _Atomic uint64_t end[2]; /* on start's line: every writer needs both */
    CACHE_ALIGNED _Atomic uint32_t taking;
    struct half half[2];
};

enum err hist_recorder_create(struct hist_recorder **recorder_out)
{
    struct hist_recorder *r = aligned_alloc(CACHE_LINE_BYTES, sizeof *r);
    if (!r)
        return ERR_NO_MEMORY;
    memset(r, 0, sizeof *r); /* phase 0, both halves empty; not calloc: touched now */
    *recorder_out = r;
    return ERR_OK;
}

void hist_recorder_destroy(struct hist_recorder *r) { free(r); }

/* Lets *extreme be at least value.  Relaxed, Note [O]: the word is compared with nothing
 * but itself until the interval is over.  A stale first load costs one more round. */
static void raise_to(_Atomic uint64_t *extreme, uint64_t value)
{
    uint64_t seen = load_relaxed(extreme);
    while (value > seen && !compare_exchange_seq(extreme, &seen, value))
        continue; /* seen is now what another writer stored */
}

/* Step 2.  An addition wraps exactly when the sum before it leaves no room, and the
 * additions are totally ordered, so a true sum above UINT64_MAX wraps at least one. */
static void add(struct half *half, uint64_t ns)
{
    if (__builtin_expect(ns > HIST_MOST_NS, 0))
        fetch_add_relaxed(&half->overflow, 1); /* [O] */
    else
        fetch_add_relaxed(&half->bucket[hist_bucket_of(ns)], 1); /* [O] */
    uint64_t before = fetch_add_relaxed(&half->sum, ns);         /* [O] */
    if (__builtin_expect(ns > UINT64_MAX - before, 0))
        store_relaxed(&half->sum_saturated, 1); /* [O]; all who store here store 1 */
    raise_to(&half->max, ns);
    raise_to(&half->min_inverted, ~ns);
}

void hist_recorder_record(struct hist_recorder *r, uint64_t ns)
{
    uint64_t entered = fetch_add_seq(&r->start, 1); /* 1, [P] [I] */
    unsigned phase = (unsigned)(entered >> PHASE_SHIFT);
    add(&r->half[phase], ns);
    fetch_add_seq(&r->end[phase], 1); /* 3, [O] */
}

/* Step c.  A writer is inside for some tens of ns, so a short spin nearly always does; one
 * that lost its CPU there is waited for in sleeps, so that it can have ours. */
static void wait_for_writers(_Atomic uint64_t *end, uint64_t count)
{
    for (int rounds = 0; load_acquire(end) != count; rounds++) { /* c, [O] */
        if (rounds < 200)
            os_cpu_pause();
        else
            os_sleep_ns(20000); /* arbitrary: below the default timer slack of 50 us */
    }
}

/* Reads a word of a quiet half and leaves it zero; relaxed, Notes [O] and [I]. */
static uint64_t drain(_Atomic uint64_t *word)
{
    uint64_t value = load_relaxed(word);
    if (value) /* most buckets are empty: their lines stay clean */
        store_relaxed(word, 0);
    return value;
}

/* Step d. */
static void drain_half(struct half *half, uint64_t count, struct hist *interval_out)
{
    interval_out->count = count;
    interval_out->overflow = drain(&half->overflow);
    interval_out->sum = drain(&half->sum);
    interval_out->sum_saturated = drain(&half->sum_saturated);
    if (interval_out->sum_saturated)
        interval_out->sum = UINT64_MAX;
    interval_out->max = drain(&half->max);
    uint64_t inverted = drain(&half->min_inverted);
    interval_out->min = count ? ~inverted : 0;
    for (unsigned i = 0; i < HIST_BUCKETS; i++)
        interval_out->bucket[i] = drain(&half->bucket[i]);
}

void hist_recorder_take(struct hist_recorder *r, struct hist *interval_out)
{
    bool is_alone = exchange_seq(&r->taking, 1) == 0;
    INSIST(is_alone, "two threads take intervals of one recorder"); /* C1 */
    /* Relaxed: only the reader changes the phase; the count in it is not used yet. */
    uint64_t old = load_relaxed(&r->start) >> PHASE_SHIFT, next = 1 - old;
    store_relaxed(&r->end[next], 0);                                /* a, [A] */
    uint64_t turned = exchange_seq(&r->start, next << PHASE_SHIFT); /* b, [P] [I] */
    uint64_t count = turned & COUNT_MASK;
    wait_for_writers(&r->end[old], count);          /* c, [O] */
    drain_half(&r->half[old], count, interval_out); /* d */
    store_seq(&r->taking, 0);
}
