/* mutant_steer.h -- threads led into one interleaving, and the words of a claim.
 *
 * Read next: mutant_claims.c.
 *
 * How a claim steers.  Its rows say: when a thread of this role reaches this point for
 * the nth time, it tells an event, waits for another, tells a third.  Threads tell and
 * await events too.  Waits have no limit of their own: the parent's limit ends them.
 *
 * Who may call:  [main] the claim   [body] a thread of it   [any] both, and operations
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_MUTANTS_MUTANT_STEER_H
#define TESTS_MUTANTS_MUTANT_STEER_H

#include "base/atomics.h"
#include "safepoint/ledger.h"
#include "safepoint/participant.h"
#include "safepoint/sched_point.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum role { COORDINATOR, A, B, NOBODY };

enum event {
    NOTHING,
    READY_A, /* in the state the claim begins with */
    READY_B,
    EPOCH_IS_ODD,
    FIRST_TICKET, /* issued, its participant not yet looked at again */
    SECOND_TICKET,
    WALK_GOES_ON, /* the coordinator was held, and is no more */
    A_ANNOUNCED,
    A_IS_SAFE, /* has stored a safe state, has not yet read the epoch */
    A_IS_DONE,
    A_LOOKED_EVEN,
    OPERATION_RAN,
    EVENTS
};

struct steer {
    enum role role;
    enum sched_point point;
    uint32_t nth; /* 1 = the first time */
    enum event tell, await, then_tell;
};

/* --- a claim ------------------------------------------------------------------------ */

struct claim {
    const char *name;
    void (*check)(void);
    const struct steer *rows; /* the last has nth 0 */
};
extern const struct claim mutant_claims[]; /* claim n, from 1, is written for mutant n */
extern const size_t mutant_claim_count;

/* [main] The whole of one claim; the process ends in here when it is broken. */
void mutant_run_claim(const struct claim *claim);
/* [any] The claim is broken: one line for the parent, exit 1.  No stdio, since it may
 * come from inside an operation. */
_Noreturn void mutant_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- events and points --------------------------------------------------------------- */

void mutant_tell(enum event event);
bool mutant_told(enum event event);
void mutant_await(enum event event);
/* [body] The thread is in the state that the claim begins with. */
void mutant_ready(void);
/* [body] Until the coordinator, done with its walk, sleeps for the last to arrive, or
 * has gone on.  Where a hold of the walk could be taken for that sleep, WALK_GOES_ON is
 * awaited first. */
void mutant_until_coordinator_sleeps_or_ran(void);

/* --- threads and operations ------------------------------------------------------------ */

struct thread {
    pthread_t thread;
    const char *name;
    enum role role;
    void (*body)(struct participant *self); /* begins in GUEST, may end in any state */
};

/* [main] Returns when the body has called mutant_ready(). */
void mutant_start(struct thread *thread, const char *name, enum role role,
                  void (*body)(struct participant *));
void mutant_end(struct thread *thread);
/* [main] One stop; its operation calls check_inside, if not NULL, tells OPERATION_RAN. */
void mutant_stop(void (*check_inside)(void));
uint32_t mutant_operations(void); /* done so far */

/* [main] Ends the stops; so many have been, and their account adds up. */
void mutant_check_account(uint32_t stops);
/* [main] After that: the last stop's record. */
const struct stop_record *mutant_record(void);
void mutant_expect_record(uint32_t tickets, uint32_t arrivals, uint32_t already_safe);

#endif
