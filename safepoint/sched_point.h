/* sched_point.h -- race windows held open on purpose.
 *
 * Layer: safepoint/.  SCHED_POINT(name, "why this window matters") costs
 * nothing in an ordinary build.  With STILLPOINT_SCHED_POINTS (the stress preset
 * and every mutant) it calls sched_point_reach(), which either runs the hook a
 * test has set, or sleeps now and then: rarely, because a sleeping thread is
 * seldom in GUEST and then finds nothing.
 *
 * MUTANT(n) is 1 in the build that carries planted fault n (docs/safepoint.md
 * lists them) and a constant 0 in every other.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_SCHED_POINT_H
#define SAFEPOINT_SCHED_POINT_H

#ifdef STILLPOINT_MUTANT
#define MUTANT(n) (STILLPOINT_MUTANT == (n))
#else
#define MUTANT(n) 0
#endif

#define SCHED_POINT_LIST(X)                                                                        \
    X(STATE_STORED)     /* safe state stored, epoch not yet read */                                \
    X(GUEST_ANNOUNCED)  /* GUEST stored, epoch not yet read */                                     \
    X(POLL_FIRED)       /* in the slow path, epoch not yet read */                                 \
    X(POLL_LOOKED_EVEN) /* saw an even epoch, word not yet cleared (or, mutant, seen again) */     \
    X(TICKET_ISSUED)    /* coordinator: ticket issued, state not yet read again */                 \
    X(EPOCH_ODD)        /* coordinator: epoch odd, walk not begun */                               \
    X(TICKET_WON)       /* ticket claimed, not yet subtracted */                                   \
    X(LAST_ARRIVED)     /* remaining made zero, coordinator not yet woken */                       \
    X(GATE_ENTERED)     /* counted as waiting, not yet asleep */                                   \
    X(UNLINKING)        /* GONE, not yet out of the registry */                                    \
    X(RELEASED)         /* epoch even, nobody woken */

enum sched_point {
#define X(name) SCHED_POINT_##name,
    SCHED_POINT_LIST(X)
#undef X
        SCHED_POINT_COUNT
};

#ifdef STILLPOINT_SCHED_POINTS
void sched_point_reach(enum sched_point point);

/* [test] Replaces the random sleeps by hook(point, argument), run in the thread
 * that reaches the point; NULL brings them back.  Set before threads start. */
void sched_point_set_hook(void (*hook)(enum sched_point, void *), void *argument);
/* [test] Random sleeps of the next run; sleep_one_in 0 switches them off. */
void sched_point_seed(unsigned seed, unsigned sleep_one_in);
#define SCHED_POINT(name, why) sched_point_reach(SCHED_POINT_##name)
/* Odd tiny sizes bring the edges of every block and ring into each run. */
#define SIZE_OR_TINY(size, tiny) (tiny)
#else
#define SIZE_OR_TINY(size, tiny) (size)
#define SCHED_POINT(name, why)   ((void)SCHED_POINT_##name)
#endif

#endif
