/* stress_checks.h -- what actors and operations share, and the checks on it.
 *
 * Read next: the note in stress_checks.c, which names the checks; stress_protocol.c.
 * Layer:     tools/, for the files of this folder.
 *
 * The shared state is plain memory: the protocol alone orders it, so ThreadSanitizer sees
 * a broken hand-over as a race.
 *
 * Who may call:  [start] the only thread, before others start   [any] any thread
 *                [guest] an actor, in GUEST or VM   [asker] an actor, in GUEST or NATIVE,
 *                or a thread that is no participant   [end] when all others have ended
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_STRESS_STRESS_CHECKS_H
#define TOOLS_STRESS_STRESS_CHECKS_H

#include "base/prng.h"
#include "safepoint/participant.h"

#include <stdbool.h>
#include <stdint.h>

/* Who looks: an actor, or the prober. */
struct stress_checker {
    struct prng prng;
    uint64_t checks;
    uint64_t generation; /* the newest it has seen of the world */
    uint32_t number;     /* of an actor: whose counter it moves */
};

/* One comparison; when it fails, a line in the manner of printf. */
#define STRESS_CHECK(checks, condition, ...)                                                       \
    do {                                                                                           \
        (checks)++;                                                                                \
        if (!(condition))                                                                          \
            stress_checks_fail(__VA_ARGS__);                                                       \
    } while (0)

/* [any] The first one is kept.  May run inside an operation: no allocation, no stdio but
 * for vsnprintf. */
void stress_checks_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* [any] As long by the clock.  An opaque call: it parts two readings for the compiler. */
void stress_checks_spin_ns(uint64_t ns);

/* [start] At most STRESS_PROTOCOL_MOST_THREADS, numbered from 0. */
void stress_checks_start(uint64_t actors);

/* --- what an actor does with the shared state -------------------------------------- */

/* [guest] Moves its counter. */
void stress_checks_bump(struct stress_checker *c);
/* [guest] The world is of one generation, and of no older one than before. */
void stress_checks_look_at_world(struct stress_checker *c);
/* [guest] Changes what the marked lock protects; slowly: an operation may find it taken. */
void stress_checks_use_lock(struct stress_checker *c, struct participant *self, bool slowly);

/* --- requests ------------------------------------------------------------------------ */

/* [asker] A stop whose operation checks and changes everything.  Returns the generation
 * it gave the world. */
uint64_t stress_checks_request_work(struct stress_checker *c);
/* [asker] One that does nothing, and may share its stop with others like it, or that
 * is not needed. */
void stress_checks_request_nothing(struct stress_checker *c);
/* [asker] A thread dump without its text. */
void stress_checks_request_dump(struct stress_checker *c);

/* [any] How many were answered: what moves as long as nothing hangs. */
_Atomic uint32_t *stress_checks_requests(void);

/* --- the end --------------------------------------------------------------------------- */

/* [end] All participants are gone, something was tested (unless may_be_idle), the ledger
 * adds up.  Adds the operations' checks to those of c. */
void stress_checks_end(struct stress_checker *c, uint32_t participants_before, bool may_be_idle);
/* [end] How many checks failed; the first of them in words, "" = none. */
uint64_t stress_checks_failures(const char **first_out);

#endif
