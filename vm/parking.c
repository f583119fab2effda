/* parking.c -- see parking.h.  SPDX-License-Identifier: MIT */
#include "vm/parking.h"

#include "base/insist.h"
#include "base/os.h"
#include "safepoint/sched_point.h"

#include <stdlib.h>
#include <string.h>

static _Atomic uint32_t active;          /* [N] */
static _Atomic bool is_everyone_parked;  /* [N]; never taken back: the program ends */
static struct parker *main_parker;       /* written before other threads exist */
static _Atomic uint32_t main_has_waited; /* a futex */

/* --- waiting ------------------------------------------------------------------------ */

void waitable_init(struct waitable *waitable, const char *what, uint32_t number,
                   const _Atomic uint32_t *holder)
{
    waitable->what = what;
    waitable->number = number;
    waitable->name = NULL;
    waitable->holder = holder;
    pthread_mutex_init(&waitable->guard, NULL); /* cannot fail with default attributes */
    waitable->first = waitable->last = NULL;
}

static void stand_in_line(struct parker *self, struct waitable *waitable, bool as_first)
{
    self->next_waiting = as_first ? waitable->first : NULL;
    if (as_first)
        waitable->first = self;
    else if (waitable->last)
        waitable->last->next_waiting = self;
    else
        waitable->first = self;
    if (!as_first || !waitable->last)
        waitable->last = self;
}

struct parker *waitable_take(struct waitable *waitable)
{
    struct parker *first = waitable->first;
    if (!first)
        return NULL;
    waitable->first = first->next_waiting;
    if (!waitable->first)
        waitable->last = NULL;
    if (!MUTANT(41))
        fetch_add_seq(&active, 1); /* [N]: before it runs, and while we do */
    return first;
}

void unpark(struct parker *parker)
{
    store_release(&parker->is_parked, 0); /* pairs with park() */
    os_futex_wake(&parker->is_parked, 1, OS_FUTEX_ANY);
}

/* All stand in queues, and the main thread is told; it stays in its queue, which nobody
 * will look at again. */
static void take_off_active(void)
{
    uint32_t before = fetch_sub_seq(&active, 1); /* [N] */
    INSIST(before > 0, "more threads are parked than there are");
    if (before > 1)
        return;
    store_seq(&is_everyone_parked, true);
    if (!MUTANT(42))
        unpark(main_parker);
}

void parking_note_main_waits(struct parker *self)
{
    if (self != main_parker || load_relaxed(&main_has_waited)) /* our own word */
        return;
    store_seq(&main_has_waited, 1);
    os_futex_wake(&main_has_waited, OS_FUTEX_ALL, OS_FUTEX_ANY);
}

bool park(struct parker *self, struct waitable *waitable, bool as_first)
{
    stand_in_line(self, waitable, as_first);
    store_relaxed(&self->is_parked, 1);        /* the guard publishes it to who takes us */
    store_release(&self->waits_for, waitable); /* for dumps */
    parking_note_main_waits(self);
    take_off_active();
    pthread_mutex_unlock(&waitable->guard);
    while (load_acquire(&self->is_parked)) /* pairs with unpark() */
        os_futex_wait(&self->is_parked, 1, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
    if (self == main_parker && load_seq(&is_everyone_parked))
        return false; /* waits_for stays: the dump shows it */
    store_release(&self->waits_for, NULL);
    return true;
}

/* --- who counts ------------------------------------------------------------------------ */

void parking_begin(struct parker *parker)
{
    main_parker = parker;
    store_seq(&is_everyone_parked, false);
    store_seq(&main_has_waited, 0);
    store_seq(&active, 1);
}

void parking_add_active(void) { fetch_add_seq(&active, 1); }
void parking_end_active(void) { take_off_active(); }

bool parking_await_main(uint64_t timeout_ns)
{
    uint64_t deadline = os_now_ns() + timeout_ns;
    while (!load_acquire(&main_has_waited)) {
        uint64_t now = os_now_ns();
        if (now >= deadline)
            return false;
        os_futex_wait(&main_has_waited, 0, deadline - now, OS_FUTEX_ANY);
    }
    return true;
}
