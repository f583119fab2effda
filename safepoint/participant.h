/* participant.h -- one registered thread: its state, its ticket, its poll word.
 *
 * Read next: participant.c (the owner's half of the protocol), coordinator.c.
 * Layer:     safepoint/ sees base/ only.
 *
 * Promises
 *   P1  While an operation runs no participant is in GUEST or VM.
 *   P2  What a participant stored before it stopped, the operation sees; what
 *       the operation stored, a participant sees once it runs again.
 *   P3  A participant in NATIVE or BLOCKED never delays a stop.
 *   P4  Attaching and detaching never wait for a stop, nor a stop for them.
 * Asks of callers
 *   C1  In GUEST and VM, poll at least once per bounded piece of work.
 *   C2  Hold no ranked lock and no RCU read section at a poll.  [checked, ASSERT]
 *   C3  In NATIVE and BLOCKED, touch no memory a stop may change.
 *   C4  Detach before the thread ends.                        [checked, INSIST]
 *
 * Who may call:  [self] the thread that owns the participant   [any] any thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_PARTICIPANT_H
#define SAFEPOINT_PARTICIPANT_H

#include "base/atomics.h"
#include "base/err.h"
#include "base/lock.h"
#include "safepoint/doing.h"

#include <stdbool.h>
#include <stdint.h>

/* Unsafe states first: safe is one comparison. */
enum participant_state {
    PARTICIPANT_GUEST,   /* runs guest code */
    PARTICIPANT_VM,      /* runs the runtime's code, may touch the heap */
    PARTICIPANT_NATIVE,  /* foreign code: touches nothing of ours */
    PARTICIPANT_BLOCKED, /* waits: for a lock, a join, an operation */
    PARTICIPANT_STOPPED, /* arrived at a poll, waits at the gate */
    PARTICIPANT_GONE,    /* ended; never comes back */
};

enum participant_kind {
    PARTICIPANT_MUTATOR, /* may run guest code */
    PARTICIPANT_WORKER,  /* a runtime thread; VM at most */
};

static inline bool participant_state_is_safe(uint32_t state) { return state >= PARTICIPANT_NATIVE; }
const char *participant_state_name(uint32_t state);

#define PARTICIPANT_NAME_BYTES 32
#define PARTICIPANT_FRAMES     48

struct participant; /* body in participant_priv.h, but for the head below */

/* The head that an inline poll reads; first member of struct participant. */
struct participant_head {
    /* The word a poll tests, bit 0: the owner's own poll word (flag), or the
     * low half of the epoch (global).  Set once, when the thread attaches. */
    _Atomic uint32_t *poll;
};

/* [any, unattached] Registers the calling thread, in NATIVE.  name is copied
 * and cut.  ERR_NO_MEMORY; ERR_STATE when stops were never started. */
MUST_USE enum err participant_attach(enum participant_kind kind, const char *name,
                                     struct participant **participant_out);
/* [self] From any state; the participant is invalid afterwards. */
void participant_detach(struct participant *self);
/* The calling thread's participant, or NULL. */
struct participant *participant_self(void);
/* [any] 1, 2, ... in order of attachment, as in thread dumps. */
uint32_t participant_number(const struct participant *participant);
/* A word for the layer that runs the thread; it brings its own order and lifetime. */
void participant_set_owner(struct participant *participant, void *owner);
void *participant_owner(const struct participant *participant);

/* [self] NATIVE or BLOCKED -> GUEST or VM.  Waits at the gate while a stop is on. */
void participant_leave_safe(struct participant *self, enum participant_state unsafe);
/* [self] GUEST or VM -> NATIVE or BLOCKED.  Never waits. */
void participant_enter_safe(struct participant *self, enum participant_state safe);
/* [self] Between GUEST and VM: no protocol, both are unsafe. */
void participant_set_unsafe(struct participant *self, enum participant_state unsafe);

/* [self] In GUEST or VM: takes a marked lock (base/lock.h), one that operations
 * take as well, without ever delaying a stop.  Release it with lock_release(), before
 * the next poll. */
void participant_lock(struct participant *self, struct lock *lock);

/* [self] The poll: a load and a predictable branch.  Relaxed is enough because a
 * stale "not armed" only puts the stop off to the next poll; all ordering
 * happens in participant_poll_slow().  Partner: issue_ticket() in coordinator.c. */
void participant_poll_slow(struct participant *self) STOP_PATH __attribute__((noinline));

static inline void participant_poll(struct participant *self)
{
    _Atomic uint32_t *word = ((struct participant_head *)self)->poll;
    if (__builtin_expect(load_relaxed(word) & 1, 0))
        participant_poll_slow(self);
}

/* [self] What this thread says it is doing (doing.h). */
struct doing *participant_doing(struct participant *self);
/* [self] One more chunk of a bulk operation that polls; part of the witness. */
void participant_count_chunk(struct participant *self);

#endif
