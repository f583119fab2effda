/* weak.c -- see weak.h.
 *
 * Note [Q] Lists.  `watched` grows by CAS while mutators run; a collection alone takes
 *   from it, while they have stopped.  `dead` is filled by a collection and emptied as a
 *   whole, by an exchange: so each record is cleaned by one thread.  `cleaning` counts those
 *   who hold a list that they have taken, and is raised before the exchange: who finds `dead`
 *   empty and then `cleaning` zero knows that all of it is done.  All seq_cst.
 *
 * The cleaner is no participant: it never touches the heap, so no stop has to wait for it.
 *
 * SPDX-License-Identifier: MIT */
#include "gc/weak.h"

#include "base/atomics.h"
#include "base/insist.h"
#include "base/os.h"
#include "gc/heap_priv.h"
#include "gc/slide.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#define LOOK_AGAIN_NS UINT64_C(100000) /* while another thread cleans */

static _Atomic(struct weak *) watched, dead; /* [Q] */
static _Atomic uint32_t cleaning;            /* [Q] */

static struct {
    pthread_t thread;
    bool is_on;
    _Atomic uint32_t wakes; /* a futex */
    _Atomic bool must_end;
} cleaner;

void weak_watch(struct weak *weak, value_t object)
{
    INSIST(weak->clean, "a record without clean() is watched");
    weak->object = object;
    weak->next = load_relaxed(&watched);                       /* checked by the exchange */
    while (!compare_exchange_seq(&watched, &weak->next, weak)) /* [Q] */
        ;
}

static void add_dead(struct weak *weak)
{
    weak->next = load_relaxed(&dead);                       /* checked by the exchange */
    while (!compare_exchange_seq(&dead, &weak->next, weak)) /* [Q] */
        ;
}

uint64_t weak_find_dead_at_safepoint(void)
{
    struct weak *alive = NULL, *next;
    uint64_t count = 0;
    for (struct weak *w = exchange_seq(&watched, NULL); w; w = next) { /* [Q] */
        next = w->next;
        if (is_marked(&heap.side, value_as_object(w->object))) {
            w->object = slide_new_value(w->object);
            w->next = alive;
            alive = w;
        } else {
            w->object = VALUE_NIL;
            add_dead(w);
            count++;
        }
    }
    store_seq(&watched, alive); /* [Q]: nobody has added one meanwhile */
    return count;
}

/* --- cleaning ---------------------------------------------------------------------------- */

static void clean_list(struct weak *list)
{
    struct weak *next, *later = NULL;
    for (struct weak *w = list; w; w = next) {
        next = w->next;
        if (w->clean(w))
            continue;
        w->next = later;
        later = w;
    }
    for (struct weak *w = later; w; w = next) {
        next = w->next;
        add_dead(w);
    }
}

static void clean_once(void)
{
    fetch_add_seq(&cleaning, 1); /* [Q] */
    clean_list(exchange_seq(&dead, NULL));
    fetch_sub_seq(&cleaning, 1); /* [Q] */
}

void weak_clean_dead(void)
{
    clean_once();
    while (load_seq(&cleaning) > 0) /* [Q] */
        os_sleep_ns(LOOK_AGAIN_NS);
}

void weak_clean_all(void)
{
    weak_clean_dead();
    clean_list(exchange_seq(&watched, NULL));
}

static void *clean_until_the_end(void *unused)
{
    (void)unused;
    os_set_thread_name("Cleaner");
    for (;;) {
        uint32_t seen = load_seq(&cleaner.wakes); /* before the look: no wake is lost */
        clean_once();
        if (load_seq(&cleaner.must_end))
            return NULL;
        os_futex_wait(&cleaner.wakes, seen, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
    }
}

static void start_cleaner(void)
{
    sigset_t all, before;
    sigfillset(&all);
    static const int own_faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS };
    for (size_t i = 0; i < sizeof own_faults / sizeof *own_faults; i++)
        sigdelset(&all, own_faults[i]); /* a blocked fault kills without a report */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    store_seq(&cleaner.must_end, false);
    cleaner.is_on = pthread_create(&cleaner.thread, NULL, clean_until_the_end, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void wake(void)
{
    fetch_add_seq(&cleaner.wakes, 1);
    os_futex_wake(&cleaner.wakes, 1, OS_FUTEX_ANY);
}

/* When the system starts no thread, the next who needs direct memory cleans. */
void weak_wake_cleaner(void)
{
    if (!load_seq(&dead))
        return;
    if (!cleaner.is_on)
        start_cleaner();
    else
        wake();
}

void weak_end(void)
{
    if (!cleaner.is_on)
        return;
    store_seq(&cleaner.must_end, true);
    wake();
    int error = pthread_join(cleaner.thread, NULL);
    INSIST(error == 0, "pthread_join of the cleaner: %s", strerror(error));
    cleaner.is_on = false;
}
