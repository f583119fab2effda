/* operation.c -- see operation.h.
 *
 * A wait-free queue (liburcu's wfcqueue) hands requests to the VM thread, which
 * moves them to a list of its own, where it can look for equal ones.
 *
 * Note [Q] Sleeping.  `arrived` counts requests and wakes.  The VM thread reads it,
 *   then looks for work of every kind (queue, dump wanted), finds none, says that it
 *   sleeps, and sleeps on the value it read; who brings work publishes it, adds one,
 *   then wakes if the VM thread said it sleeps.  All seq_cst: what came after the
 *   reading has moved the count, and the kernel compares after a full barrier.
 *
 * Note [O] Open.  A requester counts itself in flight, then looks whether the queue is
 *   open; closing shuts the queue, then looks how many are in flight.  A Dekker pair,
 *   seq_cst: either the requester sees it shut and goes away, or closing waits for it.
 *
 * SPDX-License-Identifier: MIT */
#include "safepoint/operation.h"

#include "base/atomics.h"
#include "base/insist.h"
#include "base/lock.h"
#include "base/os.h"
#include "safepoint/participant_priv.h"

#include <stddef.h>

/* ThreadSanitizer cannot see into liburcu: the edge enqueue -> dequeue by hand. */
#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *);
void __tsan_release(void *);
static char queue_edge;
#define EDGE_ACQUIRE() __tsan_acquire(&queue_edge)
#define EDGE_RELEASE() __tsan_release(&queue_edge)
#else
#define EDGE_ACQUIRE() ((void)0)
#define EDGE_RELEASE() ((void)0)
#endif

static struct __cds_wfcq_head head; /* without its mutex: one thread dequeues */
static struct cds_wfcq_tail tail;
static struct operation *first_pending, **last_pending; /* the VM thread's own list */
static CACHE_ALIGNED _Atomic uint32_t arrived;
static _Atomic uint32_t vm_thread_sleeps;
static _Atomic uint32_t is_open;
static _Atomic uint32_t in_flight; /* requests between their look at is_open and their answer */
static _Thread_local bool is_vm_thread; /* whoever takes requests */

static const struct {
    const char *text;
    bool coalesces;
} kinds[] = {
#define X(name, text, coalesces) { text, coalesces },
    OPERATION_LIST(X)
#undef X
};

const char *operation_name(enum operation_kind kind) { return kinds[kind].text; }

void operation_start(void)
{
    __cds_wfcq_init(&head, &tail);
    first_pending = NULL;
    last_pending = &first_pending;
    store_seq(&is_open, 1); /* [O] */
}

void operation_wake(void)
{
    fetch_add_seq(&arrived, 1); /* [Q] */
    if (load_seq(&vm_thread_sleeps))
        os_futex_wake(&arrived, 1, OS_FUTEX_ANY);
}

uint32_t operation_arrived(void) { return load_seq(&arrived); } /* [Q] */

void operation_wait(uint32_t seen, uint64_t timeout_ns)
{
    store_seq(&vm_thread_sleeps, 1);                         /* [Q] */
    os_futex_wait(&arrived, seen, timeout_ns, OS_FUTEX_ANY); /* [Q] */
    store_seq(&vm_thread_sleeps, 0);
}

/* [O]: true when the request may go on; then it counts as in flight. */
static bool enter_queue(void)
{
    fetch_add_seq(&in_flight, 1);
    if (load_seq(&is_open))
        return true;
    fetch_sub_seq(&in_flight, 1);
    return false;
}

bool operation_request(struct operation *operation)
{
    struct participant *self = participant_self();
    ASSERT(lock_none_held(), "a stop is requested with a ranked lock held");
    INSIST(!is_vm_thread, "the VM thread requests a stop and would wait for itself");
    if (!enter_queue())
        return false;
    uint32_t before = self ? load_relaxed(&self->line->state) : PARTICIPANT_BLOCKED; /* our own */
    bool was_unsafe = !participant_state_is_safe(before);
    operation->requested_ns = os_now_ns();
    operation->next_pending = NULL;
    store_relaxed(&operation->done, 0); /* published by the queue */
    if (was_unsafe)
        participant_enter_safe(self, PARTICIPANT_BLOCKED);
    cds_wfcq_node_init(&operation->node);
    EDGE_RELEASE();
    cds_wfcq_enqueue(&head, &tail, &operation->node);
    operation_wake();
    while (!load_acquire(&operation->done)) /* pairs with operation_answer() */
        os_futex_wait(&operation->done, 0, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
    fetch_sub_seq(&in_flight, 1);
    if (was_unsafe)
        participant_leave_safe(self, before); /* after Exit: the gate, for good */
    return true;
}

static void drain_queue(void)
{
    struct cds_wfcq_node *node;
    while ((node = __cds_wfcq_dequeue_blocking(&head, &tail)) != NULL) {
        EDGE_ACQUIRE();
        struct operation *o = (struct operation *)((char *)node - offsetof(struct operation, node));
        *last_pending = o;
        last_pending = &o->next_pending;
    }
}

static struct operation *unlink_at(struct operation **link)
{
    struct operation *o = *link;
    *link = o->next_pending;
    if (last_pending == &o->next_pending)
        last_pending = link;
    o->next_pending = NULL;
    return o;
}

struct operation *operation_take(void)
{
    is_vm_thread = true;
    drain_queue();
    return first_pending ? unlink_at(&first_pending) : NULL;
}

/* One that is not needed any more stays in the list, to be elided in its turn. */
static bool is_equal(struct operation *o, const struct operation *to)
{
    return o->kind == to->kind && o->run == to->run && o->argument == to->argument &&
           o->schedule.count == 0 && to->schedule.count == 0 && /* a probe has its own record */
           (!o->still_needed || o->still_needed(o));
}

struct operation *operation_take_equal(const struct operation *operation)
{
    struct operation *equal = NULL, **end = &equal;
    if (!kinds[operation->kind].coalesces)
        return NULL;
    drain_queue();
    for (struct operation **link = &first_pending; *link;) {
        struct operation *o = *link;
        if (is_equal(o, operation)) {
            *end = unlink_at(link);
            end = &o->next_pending;
        } else {
            link = &o->next_pending;
        }
    }
    return equal;
}

/* Once done is 1 the requester may return and its stack frame, with the
 * operation, be gone; the wake below uses the address only, as a name. */
void operation_answer(struct operation *operation)
{
    _Atomic uint32_t *done = &operation->done;
    store_release(done, 1); /* epoch and results before it; pairs in operation_request() */
    os_futex_wake(done, 1, OS_FUTEX_ANY);
}

void operation_close(uint32_t kept)
{
    store_seq(&is_open, 0);               /* [O] */
    while (load_seq(&in_flight) > kept) { /* [O] */
        struct operation *operation = operation_take();
        if (operation)
            operation_answer(operation);
        else
            os_sleep_ns(100000); /* one is between its count and the queue, or just answered */
    }
}
