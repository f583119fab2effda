/* mark.c -- see mark.h.
 *
 *   roots --push--> queue --pop--> ahead (a few entries, prefetched) --> visit: mark, push fields
 *                     ^                                                     |
 *                     +-----------------------------------------------------+
 *
 * An object is marked when it is visited, not when it is pushed: between the two its header
 * and marks come into the cache (Cher, Hosking and Vitek, "Software prefetching for
 * mark-sweep garbage collection", ASPLOS 2004: a first-in-first-out buffer in front of the stack).
 * So an object may stand in queues several times; the first visit wins.
 *
 * Note [M] Marks.  Neighbours in the heap share words of the table, so several workers set bits by
 *   fetch-or, and the one that finds the first bit clear owns the object.  The bits say nothing
 *   about other memory, so relaxed will do: all objects stand still since before the gang began
 *   (J1), and the gang's end publishes the marks.  A worker that is alone reads and stores the
 *   words plainly.  (Tried: keeping the bits of one block back until the next block is visited, so
 *   that fewer locked instructions are needed.  It brought nothing.)
 *
 * Note [I] The end.  A worker counts itself idle after it has found its own queue and every
 *   shared ring empty; it fills its shared ring only while it is not counted.  So when all are
 *   counted, each ring was empty at a moment after its last filling: nothing is left.  The
 *   count is seq_cst; there is nothing else to order.
 *
 * Note [W] Walks.  A stack that is full loses an entry.  The object that was being scanned is
 *   noted, as a range of addresses, and when all are idle one worker scans every marked object
 *   of the range again, and drains its queue whenever it is half full.  What was lost was not
 * marked, so each walk marks one object at least, and the walks come to an end.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/mark.h"

#include "base/gang.h"
#include "base/insist.h"
#include "base/os.h"
#include "gc/heap_priv.h"
#include "gc/live_walk.h"
#include "gc/mark_queue.h"
#include "gc/roots.h"
#include "safepoint/sched_point.h"

#include <sched.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

#define OWN_ENTRIES    SIZE_OR_TINY(16384, 64) /* 128 KiB: fits the second-level cache */
#define SHARED_ENTRIES SIZE_OR_TINY(65536, 64) /* at least */
#define BYTES_PER_ENTRY                                                                            \
    SIZE_OR_TINY(256, 1 << 20) /* of the heap in use: 3 % of it in each ring                       \
                                */
#define MOST_SHARED_ENTRIES (UINT64_C(1) << 26)
#define SHARE_AT_ONCE       64               /* entries moved when somebody is idle */
#define AHEAD               8                /* entries between prefetch and visit; arbitrary */
#define SLICE_WORDS         UINT64_C(1024)   /* of an array that are scanned at once, or more: */
#define MOST_SLICES         UINT64_C(0xfff0) /* their number has 16 bits */
#define ADDRESS_MASK        ((UINT64_C(1) << 48) - 1)
#define SPINS_OF_IDLE       200

struct marker {
    struct mark_queue queue;
    uint64_t ahead[AHEAD];
    uint32_t ahead_next, ahead_count;
    const struct object *parent; /* what is being scanned */
    bool has_lost;
    const char *lost_low, *lost_high; /* [W] */
    size_t bytes;                     /* of this and its rings */
};

static struct marker *markers[GANG_MOST_WORKERS];
static unsigned marker_count;
static uint32_t own_entries_for_test;

/* Of the marking that is on; written before the gang runs. */
static struct {
    unsigned workers;
    uint64_t heap_low, heap_bytes; /* where a reference leads into the heap */
    CACHE_ALIGNED _Atomic uint32_t idle;
} job;

void mark_set_stack_for_test(uint32_t entries) { own_entries_for_test = entries; }

/* --- stacks ------------------------------------------------------------------------ */

/* A power of two.  Depth first, the entries that wait are seldom more than a share of the objects.
 */
static uint32_t shared_entries_for(uint64_t used_bytes)
{
    uint64_t wanted = used_bytes / BYTES_PER_ENTRY, entries = SHARED_ENTRIES;
    if (own_entries_for_test)
        return own_entries_for_test;
    while (entries < wanted && entries < MOST_SHARED_ENTRIES)
        entries *= 2;
    return (uint32_t)entries;
}

static struct marker *new_marker(uint32_t shared)
{
    uint32_t own = own_entries_for_test ? own_entries_for_test : OWN_ENTRIES;
    size_t head =
        (sizeof(struct marker) + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
    size_t bytes = head + ((size_t)own + shared) * sizeof(uint64_t);
    char *memory = os_map(bytes);
    if (!memory)
        return NULL;
    for (size_t at = 0; at < bytes; at += os_page_bytes())
        *(volatile char *)(memory + at) = 0; /* now, not in the stop */
    struct marker *m = (struct marker *)(void *)memory;
    m->bytes = bytes;
    m->queue.own = (uint64_t *)(void *)(memory + head);
    m->queue.own_mask = own - 1;
    m->queue.shared = (_Atomic uint64_t *)(void *)(m->queue.own + own);
    m->queue.shared_mask = shared - 1;
    return m;
}

/* False: there is none, and no memory for one. */
static bool ensure_marker(unsigned i, uint32_t shared)
{
    struct marker *old = i < marker_count ? markers[i] : NULL;
    if (old && old->queue.shared_mask + 1 >= shared)
        return true;
    struct marker *made = new_marker(shared);
    if (!made)
        return old != NULL; /* a smaller one will do */
    if (old)
        os_unmap(old, old->bytes);
    else
        marker_count++;
    markers[i] = made;
    return true;
}

unsigned mark_prepare(unsigned workers, uint64_t used_bytes)
{
    uint32_t shared = shared_entries_for(used_bytes);
    unsigned ready = 0;
    INSIST(workers <= GANG_MOST_WORKERS, "%u workers mark", workers);
    while (ready < workers && ensure_marker(ready, shared))
        ready++;
    return ready;
}

void mark_end(void)
{
    while (marker_count > 0) {
        struct marker *m = markers[--marker_count];
        os_unmap(m, m->bytes);
    }
}

/* --- pushing -------------------------------------------------------------------------- */

static void lose(struct marker *m) /* [W] */
{
    const char *parent = (const char *)m->parent;
    INSIST(parent, "the mark stack is full of roots");
    if (!m->has_lost || parent < m->lost_low)
        m->lost_low = parent;
    if (!m->has_lost || parent > m->lost_high)
        m->lost_high = parent;
    m->has_lost = true;
}

static __attribute__((noinline)) bool make_room(struct marker *m)
{
    return mark_queue_share(&m->queue, m->queue.own_mask / 2 + 1) > 0;
}

static ALWAYS_INLINE void push_entry(struct marker *m, uint64_t entry)
{
    if (__builtin_expect(mark_queue_is_full(&m->queue), 0) && !make_room(m))
        lose(m);
    else
        mark_queue_push(&m->queue, entry);
}

static ALWAYS_INLINE void push_value(struct marker *m, value_t value)
{
    if (value - job.heap_low < job.heap_bytes &&
        !is_marked(&heap.side, (const void *)(uintptr_t)value))
        push_entry(m, value);
}

/* --- visiting ------------------------------------------------------------------------- */

/* The marks of words beyond the first block. */
static void set_rest(_Atomic uint64_t *marks, uint64_t count)
{
    for (; count >= BLOCK_WORDS; count -= BLOCK_WORDS)
        store_relaxed(marks++, ~UINT64_C(0)); /* [M]: nobody else's words */
    if (count > 0)
        fetch_or_relaxed(marks, (UINT64_C(1) << count) - 1); /* [M] */
}

/* Bits of one block, of an object whose first is `first`.  False: it had been marked. */
static ALWAYS_INLINE bool set_bits(_Atomic uint64_t *marks, uint64_t mask, uint64_t first,
                                   const bool is_parallel)
{
    if (is_parallel)
        return !(fetch_or_relaxed(marks, mask) & first); /* [M] */
    uint64_t before = load_relaxed(marks);
    store_relaxed(marks, before | mask); /* [M] */
    return !(before & first);
}

/* Marks the first `bits` words; false: another visit was first. */
static ALWAYS_INLINE bool try_mark(const struct object *object, uint64_t bits,
                                   const bool is_parallel)
{
    _Atomic uint64_t *marks = &heap.side.marks[block_of(&heap.side, object)];
    unsigned at = bit_of(&heap.side, object);
    uint64_t first = UINT64_C(1) << at;
    if (at + bits <= BLOCK_WORDS) {
        uint64_t mask = bits == BLOCK_WORDS ? ~UINT64_C(0) : ((UINT64_C(1) << bits) - 1) << at;
        return set_bits(marks, mask, first, is_parallel);
    }
    if (!set_bits(marks, ~UINT64_C(0) << at, first, is_parallel))
        return false;
    set_rest(marks + 1, bits - (BLOCK_WORDS - at));
    return true;
}

static ALWAYS_INLINE void scan_words(struct marker *m, const struct object *object, uint64_t from,
                                     uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        push_value(m, load_relaxed(&object->word[i])); /* all have stopped */
}

/* One slice of the words [first, to); what follows goes into the queue before it, so that
 * others can take it. */
static void scan_slice(struct marker *m, const struct object *object, uint64_t first, uint64_t to,
                       uint64_t number)
{
    uint64_t slice = (to - first) / MOST_SLICES + 1;
    if (slice < SLICE_WORDS)
        slice = SLICE_WORDS;
    uint64_t from = first + number * slice, end = from + slice;
    if (end < to)
        push_entry(m, (uint64_t)(uintptr_t)object | (number + 1) << 48);
    scan_words(m, object, from, end < to ? end : to);
}

static ALWAYS_INLINE void scan(struct marker *m, const struct object *object, uint64_t header,
                               uint64_t words, uint64_t number)
{
    uint64_t first, to = object_value_words(header, words, &first);
    m->parent = object;
    if (__builtin_expect(to - first > SLICE_WORDS, 0))
        scan_slice(m, object, first, to, number);
    else
        scan_words(m, object, first, to);
}

static ALWAYS_INLINE void visit(struct marker *m, uint64_t entry, const bool is_parallel)
{
    const struct object *object = (const struct object *)(uintptr_t)(entry & ADDRESS_MASK);
    uint64_t number = entry >> 48;
    if (number == 0 && is_marked(&heap.side, object))
        return;
    uint64_t header = load_relaxed(&object->header);
    uint64_t words = object_words_of(object, header);
    bool is_humongous = heap_is_humongous(words * OBJECT_WORD_BYTES);
    if (number == 0 && !try_mark(object, is_humongous ? 1 : words - 1, is_parallel))
        return;
    scan(m, object, header, words, number);
}

static ALWAYS_INLINE void prefetch(uint64_t entry)
{
    const void *object = (const void *)(uintptr_t)(entry & ADDRESS_MASK);
    __builtin_prefetch(object);
    __builtin_prefetch(&heap.side.marks[block_of(&heap.side, object)], 1);
}

/* The entry that was popped AHEAD pops ago; 0 = the queue is empty. */
static ALWAYS_INLINE uint64_t next_entry(struct marker *m)
{
    for (;;) {
        uint64_t incoming = mark_queue_pop(&m->queue);
        if (incoming)
            prefetch(incoming);
        else if (m->ahead_count == 0)
            return 0;
        uint64_t *place = &m->ahead[m->ahead_next++ % AHEAD], entry = *place;
        *place = incoming;
        m->ahead_count += (incoming != 0) - (entry != 0);
        if (entry)
            return entry;
    }
}

static ALWAYS_INLINE void drain(struct marker *m, const bool is_parallel)
{
    uint64_t entry;
    while ((entry = next_entry(m)) != 0) {
        visit(m, entry, is_parallel);
        if (is_parallel && __builtin_expect(load_relaxed(&job.idle) != 0, 0) && /* a hint */
            mark_queue_count(&m->queue) > 1 && !mark_queue_has_shared(&m->queue))
            mark_queue_share(&m->queue, mark_queue_count(&m->queue) < 2 * SHARE_AT_ONCE
                                            ? mark_queue_count(&m->queue) / 2
                                            : SHARE_AT_ONCE);
    }
}

static void drain_alone(struct marker *m) { drain(m, false); }
static void drain_together(struct marker *m) { drain(m, true); }

static void drain_with(struct marker *m)
{
    if (job.workers == 1)
        drain_alone(m);
    else
        drain_together(m);
}

/* --- working together ------------------------------------------------------------------- */

/* Our own ring first: it is in our cache. */
static bool take_some(struct marker *m, unsigned worker)
{
    for (unsigned i = 0; i < job.workers; i++) {
        struct mark_queue *from = &markers[(worker + i) % job.workers]->queue;
        uint64_t entry = mark_queue_take(from);
        if (!entry)
            continue;
        do
            mark_queue_push(&m->queue, entry); /* our queue is empty: there is room */
        while (mark_queue_count(&m->queue) < SHARE_AT_ONCE / 2 && (entry = mark_queue_take(from)));
        return true;
    }
    return false;
}

static bool is_something_shared(void)
{
    for (unsigned i = 0; i < job.workers; i++)
        if (mark_queue_has_shared(&markers[i]->queue))
            return true;
    return false;
}

/* False: all is done, [I]. */
static bool find_work(struct marker *m, unsigned worker)
{
    if (take_some(m, worker))
        return true;
    fetch_add_seq(&job.idle, 1); /* [I] */
    for (unsigned spins = 0; load_seq(&job.idle) < job.workers;) {
        if (is_something_shared()) {
            fetch_sub_seq(&job.idle, 1); /* [I] */
            if (take_some(m, worker))
                return true;
            fetch_add_seq(&job.idle, 1); /* [I] */
        } else if (++spins % SPINS_OF_IDLE == 0) {
            sched_yield(); /* whoever has work may need this CPU */
        } else {
            os_cpu_pause();
        }
    }
    return false;
}

static void mark_work(void *unused, unsigned worker)
{
    (void)unused;
    do
        drain_with(markers[worker]);
    while (find_work(markers[worker], worker));
}

/* --- roots -------------------------------------------------------------------------------- */

struct root_marker {
    struct root_visitor visitor;
    struct marker *m;
};

/* While no other worker runs. */
static void keep_half_empty(struct marker *m)
{
    if (mark_queue_count(&m->queue) > m->queue.own_mask / 2)
        drain_alone(m);
}

static void mark_root(struct root_visitor *visitor, value_t *slot, const char *what)
{
    struct marker *m = ((struct root_marker *)visitor)->m;
    (void)what;
    keep_half_empty(m);
    push_value(m, *slot);
}

/* --- walks, [W] ------------------------------------------------------------------------------ */

static void rescan(struct marker *m, const struct object *object)
{
    uint64_t header = load_relaxed(&object->header); /* all have stopped */
    uint64_t first, to = object_value_words(header, object_words_of(object, header), &first);
    m->parent = object;
    for (uint64_t i = first; i < to; i++) {
        value_t value = load_relaxed(&object->word[i]);
        if (value - job.heap_low >= job.heap_bytes ||
            is_marked(&heap.side, (const void *)(uintptr_t)value))
            continue;
        keep_half_empty(m);
        m->parent = object; /* the draining has changed it */
        push_value(m, value);
    }
}

struct range {
    const char *low, *high; /* of objects, both included */
};

/* By one worker: a walk reads marks of neighbours that belong together, and marking by others
 * would change them between two reads. */
static void walk(struct marker *m, struct range range)
{
    uint32_t end = region_index(&heap.regions, range.high) + 1;
    for (uint32_t i = region_index(&heap.regions, range.low); i < end; i++) {
        struct live_walk walk = live_walk_of_region(i);
        for (const struct object *o; (o = live_walk_next(&walk)) != NULL;)
            if ((const char *)o >= range.low && (const char *)o <= range.high)
                rescan(m, o);
    }
}

/* True: something was lost. */
static bool take_lost(struct range *range_out)
{
    bool has_lost = false;
    for (unsigned i = 0; i < job.workers; i++) {
        struct marker *m = markers[i];
        if (!m->has_lost)
            continue;
        if (!has_lost || m->lost_low < range_out->low)
            range_out->low = m->lost_low;
        if (!has_lost || m->lost_high > range_out->high)
            range_out->high = m->lost_high;
        m->has_lost = false;
        has_lost = true;
    }
    return has_lost;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void begin(unsigned workers)
{
    INSIST(workers >= 1 && workers <= marker_count, "%u workers with %u stacks", workers,
           marker_count);
    job.workers = workers;
    job.heap_low = (uint64_t)(uintptr_t)heap.regions.space.base;
    job.heap_bytes = (uint64_t)heap.regions.high << heap.regions.region_shift;
    store_relaxed(&job.idle, 0); /* the gang's start publishes it */
    for (unsigned i = 0; i < workers; i++) {
        struct marker *m = markers[i];
        m->has_lost = false;
        m->parent = NULL;
    }
}

uint64_t mark_all(unsigned workers)
{
    uint64_t walks = 0;
    begin(workers);
    struct root_marker roots = { { mark_root }, markers[0] };
    roots_visit_locked(&roots.visitor);
    gang_run(heap.gang, workers, mark_work, NULL);
    for (struct range range; take_lost(&range); walks++) {
        walk(markers[0], range);
        store_relaxed(&job.idle, 0); /* the gang's start publishes it */
        gang_run(heap.gang, workers, mark_work, NULL);
    }
    return walks;
}
