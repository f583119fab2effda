/* stillpoint.h -- stop the threads of a C program, and know who was late.
 *
 * The one public header.  A program starts the machinery, attaches the threads
 * that are to be stopped, and has them poll; any thread may then ask for a stop,
 * run a function while nobody else runs, and read afterwards how long it took
 * until all stood still (time to safepoint, TTSP) and who was last, doing what.
 * tools/examples/ttsp_of_a_loop.c is a whole program.
 *
 * A thread is in one of two conditions:
 *   guest    between leave_native and enter_native: it may touch what stops
 *            protect, and must poll at least once per bounded piece of work
 *   native   after attach, and after enter_native: it must not touch that, may
 *            block or compute for hours, and never delays a stop
 * enter_native never waits; leave_native waits while a stop is on, and so does a
 * poll.  Memory written before a poll or enter_native is visible to the stop's
 * function, and what that writes is visible after.
 *
 * What it takes of the process, from stillpoint_start() on: a thread ("VM Thread"), the
 * signal SIGRTMIN+4 (thread dumps; a blocking call it interrupts may return EINTR),
 * and the handlers of SIGABRT, SEGV, BUS, ILL and FPE, which print a report and then let
 * the signal end the process.  SIGQUIT is left alone.  Forking is supported only
 * before the start.  Misuse that would hang or corrupt aborts with one line that says
 * what is wrong; states and owners are checked at each transition in debug builds only.
 *
 * Who may call: [self] the thread that attached   [any] any thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef STILLPOINT_H
#define STILLPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum stillpoint_result {
    STILLPOINT_OK = 0,
    STILLPOINT_USAGE = 64,       /* a flag is unknown, out of range or contradicts another */
    STILLPOINT_ENVIRONMENT = 74, /* no memory, no thread, a log file cannot be written */
    STILLPOINT_STATE = 1,        /* started already, or not yet, or ended */
};

/* --- the process ----------------------------------------------------------- */

/* [any] Starts the machinery, once per process; a start that failed may be tried again.  flags are
 * spelled as on the command line ("-XX:SafepointPoll=global", "-Xlog:safepoint*"); docs/flags.md
 * lists them.  On failure message_out holds one line that says what to do. */
enum stillpoint_result stillpoint_start(const char *const *flags, int flag_count, char *message_out,
                                        size_t message_bytes);

/* [any, not in guest] Stops all for good, writes what the log still owes and ends
 * the machinery; attached threads stand still until the process ends. */
void stillpoint_shutdown(void);

/* [any] Stops all attached threads, calls run(argument) if run is not NULL, lets
 * them go, returns.  Requests are served one after another; equal requests
 * without a function share a stop.  run() must not allocate, block or call back.  A
 * caller in guest counts as native while it waits.  Before the start and after the
 * shutdown it returns at once. */
void stillpoint_stop(void (*run)(void *argument), void *argument);

/* [any] Stops all and writes every attached thread's state, work and native stack
 * to stderr. */
void stillpoint_dump_threads(void);

/* --- a thread --------------------------------------------------------------- */

/* The head is public because the poll below is inline; all else is private. */
struct stillpoint_thread {
    const uint32_t *poll;
};

/* [any, unattached] Attaches the calling thread, in native.  name, not NULL, is copied and
 * cut to 31 bytes.  The thread must detach before it ends, else the process aborts. */
enum stillpoint_result stillpoint_attach(const char *name, struct stillpoint_thread **self_out);
/* [self] In guest or native.  self is invalid afterwards. */
void stillpoint_detach(struct stillpoint_thread *self);

/* [self] */
void stillpoint_leave_native(struct stillpoint_thread *self);
void stillpoint_enter_native(struct stillpoint_thread *self);

/* [self, in guest] A load and a branch; waits here while a stop is on.  No lock
 * that a stop's function may need may be held. */
void stillpoint_poll_slow(struct stillpoint_thread *self);
static inline void stillpoint_poll(struct stillpoint_thread *self)
{
    if (__builtin_expect(__atomic_load_n(self->poll, __ATOMIC_RELAXED) & 1, 0))
        stillpoint_poll_slow(self);
}

/* --- what a thread is doing -------------------------------------------------- */

/* One kind of work, in static storage. */
struct stillpoint_work {
    const char *kind; /* short and stable, reports group by it: "parse" */
    const char *text; /* a phrase without numbers: "parsing the file" */
    const char *unit; /* of done and total: "lines" */
};

/* [self] Says what comes now, total = 0 if the amount is unknown.  Not nested. */
void stillpoint_work_begin(struct stillpoint_thread *self, const struct stillpoint_work *work,
                           uint64_t total);
void stillpoint_work_progress(struct stillpoint_thread *self, uint64_t done);
void stillpoint_work_end(struct stillpoint_thread *self);

/* [self, in guest] Zeroes a buffer, polling between chunks as -XX:BulkPolicy and
 * -XX:BulkChunkBytes say; announces itself as work. */
void stillpoint_zero(struct stillpoint_thread *self, void *start, size_t bytes);

/* --- a heap --------------------------------------------------------------------
 *
 * Objects of references and raw bytes, collected and moved by stops.  A pointer to an object is
 * good until the next call that may stop: stillpoint_allocate, stillpoint_collect,
 * stillpoint_poll, leaving guest and coming back, making a handle.  What has to live longer stands
 * in a slot, which collections see and keep up to date:
 *
 *     STILLPOINT_SLOT(m, left, make_tree(m, depth - 1));
 *     STILLPOINT_SLOT(m, right, make_tree(m, depth - 1));
 *     struct stillpoint_object *node = stillpoint_allocate(m, 2, 0);
 *     stillpoint_set(node, 0, left.object);   where it is now
 *
 * or in a handle, which any thread may use.  tools/examples/binary_trees.c is a whole
 * program. */

struct stillpoint_object; /* in the heap */

/* A slot of one thread.  Slots close in the opposite order, before the thread leaves the block. */
struct stillpoint_slot {
    struct stillpoint_object *object; /* NULL or an object; may be read and stored */
    struct stillpoint_slot *private_outer;
    struct stillpoint_mutator *private_owner;
};

/* What the heap knows of one thread. */
struct stillpoint_mutator {
    char *private_top, *private_end;
    void *private_thread;
    struct stillpoint_slot *private_slots;
};

/* [any] After stillpoint_start(), whose flags say how large it is (-Xmx64m) and who collects it.  A
 * process that runs guest programs has its heap already. */
enum stillpoint_result stillpoint_heap_start(char *message_out, size_t message_bytes);
/* [self] Once per thread that uses the heap; ends before stillpoint_detach(). */
enum stillpoint_result stillpoint_heap_attach(struct stillpoint_thread *self,
                                              struct stillpoint_mutator **mutator_out);
void stillpoint_heap_detach(struct stillpoint_mutator *m);

#define STILLPOINT_PRIVATE_KIND       (UINT64_C(17) << 32)
#define STILLPOINT_PRIVATE_MOST_WORDS 65535u
static inline uint64_t stillpoint_private_words(uint32_t references, size_t raw_bytes)
{
    uint64_t words = 1 + (uint64_t)references + (raw_bytes + 7) / 8;
    return words < 2 ? 2 : words;
}
struct stillpoint_object *stillpoint_allocate_slow(struct stillpoint_mutator *m,
                                                   uint32_t references, size_t raw_bytes);

/* [self, in guest] An object of so many references, all NULL, and raw bytes, all zero; together 512
 * KiB at most.  NULL: it is too large, or the heap is full after a collection. */
static inline struct stillpoint_object *stillpoint_allocate(struct stillpoint_mutator *m,
                                                            uint32_t references, size_t raw_bytes)
{
    uint64_t words = stillpoint_private_words(references, raw_bytes);
    uint64_t *start = (uint64_t *)(void *)m->private_top;
    if (__builtin_expect(words > (uint64_t)(m->private_end - m->private_top) / 8 ||
                             words > STILLPOINT_PRIVATE_MOST_WORDS,
                         0))
        return stillpoint_allocate_slow(m, references, raw_bytes);
    m->private_top += words * 8;
    __atomic_store_n(start, words << 48 | STILLPOINT_PRIVATE_KIND | references, __ATOMIC_RELAXED);
    return (struct stillpoint_object *)(void *)start;
}

/* [self, in guest] Reference number i, of those the object was made with.  What a thread stored in
 * an object before it stored the object, whoever finds it sees. */
static inline struct stillpoint_object *stillpoint_get(const struct stillpoint_object *object,
                                                       uint32_t i)
{
    return (struct stillpoint_object *)__atomic_load_n((const uintptr_t *)object + 1 + i,
                                                       __ATOMIC_ACQUIRE);
}
static inline void stillpoint_set(struct stillpoint_object *object, uint32_t i,
                                  struct stillpoint_object *value)
{
    __atomic_store_n((uintptr_t *)object + 1 + i, (uintptr_t)value, __ATOMIC_RELEASE);
}
/* [self, in guest] Its raw bytes; they move with it. */
static inline void *stillpoint_raw(struct stillpoint_object *object)
{
    uint64_t *words = (uint64_t *)(void *)object;
    return words + 1 + (uint32_t)__atomic_load_n(words, __ATOMIC_RELAXED);
}

void stillpoint_slot_misused(const char *what);

/* [self, in guest] */
static inline void stillpoint_slot_open(struct stillpoint_mutator *m, struct stillpoint_slot *slot,
                                        struct stillpoint_object *object)
{
    struct stillpoint_slot *address = slot;
    __asm__("" : "+r"(address)); /* compilers warn of a local's address that a struct keeps */
    slot->object = object;
    slot->private_outer = m->private_slots;
    slot->private_owner = m;
    m->private_slots = address;
}
static inline void stillpoint_slot_close(struct stillpoint_slot *slot)
{
    if (slot->private_owner->private_slots != slot)
        stillpoint_slot_misused("closed out of order");
    slot->private_owner->private_slots = slot->private_outer;
}
/* A slot that the end of the block closes. */
#define STILLPOINT_SLOT(m, name, initial)                                                          \
    struct stillpoint_slot name __attribute__((cleanup(stillpoint_slot_close)));                   \
    stillpoint_slot_open((m), &name, (initial))

/* A root that any thread may make, read, store and free; NULL: the system has no memory. */
struct stillpoint_handle;
struct stillpoint_handle *stillpoint_handle_new(struct stillpoint_mutator *m,
                                                struct stillpoint_object *object);
struct stillpoint_object *stillpoint_handle_get(const struct stillpoint_handle *handle);
void stillpoint_handle_set(struct stillpoint_handle *handle, struct stillpoint_object *object);
void stillpoint_handle_free(struct stillpoint_handle *handle);

/* [self, in guest] Collects now.  False: nothing collects (-XX:+UseEpsilonGC). */
bool stillpoint_collect(struct stillpoint_mutator *m);

/* --- the account -------------------------------------------------------------- */

struct stillpoint_percentiles {
    /* 0 where there are fewer than 10 / (1 - p) samples */
    uint64_t p50_ns, p90_ns, p99_ns, max_ns;
};

struct stillpoint_summary {
    uint64_t stops;
    struct stillpoint_percentiles ttsp, lag, operation, leave, resume, total;
    char last_thread[32], last_doing[96]; /* of the stop with the largest TTSP */
    bool adds_up; /* the self-audit: all arrivals and spans agree; false with recording off */
};

struct stillpoint_heap_figures {
    uint64_t used_bytes, committed_bytes, most_bytes;
    uint64_t allocated_bytes; /* since the start */
    uint64_t collections, pauses_sum_ns;
    struct stillpoint_percentiles pause;
};

/* [any] Once the heap is on, while no collection is under way: not beside threads that allocate. */
void stillpoint_get_heap_figures(struct stillpoint_heap_figures *figures_out);

/* [any] After stillpoint_shutdown(). */
enum stillpoint_result stillpoint_get_summary(struct stillpoint_summary *summary_out);

#ifdef __cplusplus
}
#endif

#endif
