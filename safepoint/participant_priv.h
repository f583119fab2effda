/* participant_priv.h -- the body of a participant and the words of a stop.
 *
 * Layer: safepoint/, for its own files and white-box tests.
 *
 *   field                 writer              readers       order
 *   poll_word             any arms, owner     owner         seq_cst, Note [P]
 *                         clears
 *   state                 owner               coordinator   seq_cst, Note [D] [H]
 *   ticket                coordinator issues, both          seq_cst, Note [T]
 *                         the CAS's winner
 *   arrival_ns, _epoch,
 *   _cpu, _place          owner               coordinator   release/acquire, [A]
 *   witness               owner, in GUEST/VM  coordinator   relaxed under [H]
 *   next (of the line)    registry lock       RCU readers   release/acquire
 *   seen (struct)         coordinator         coordinator   -
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_PARTICIPANT_PRIV_H
#define SAFEPOINT_PARTICIPANT_PRIV_H

#include "safepoint/participant.h"

#include <urcu/urcu-memb.h>

/* The epoch: odd = a stop is on.  64 bits; a futex and the global poll look at
 * its low half only, always by equality or by bit 0. */
union stop_epoch {
    _Atomic uint64_t word;
    _Atomic uint32_t half[2];
};
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "half[0] is the low half");

extern union stop_epoch stop_epoch;

static inline bool epoch_is_odd(uint64_t epoch) { return epoch & 1; }

/* Tickets of stop e (e odd); any other value is no ticket for e. */
#define TICKET_ISSUED(e)  ((uint64_t)(e) << 1)
#define TICKET_CLAIMED(e) ((uint64_t)(e) << 1 | 1)

/* What the coordinator's walk reads of each participant: one line, from blocks of them
 * (registry.c), so that the walk runs through packed memory.  (Seen: 1024 sleeping
 * threads cost 8.0 us of TTSP with the words inside each thread's own structure.) */
struct stop_line {
    CACHE_ALIGNED _Atomic uint32_t state;
    _Atomic int32_t arrival_cpu; /* with arrival_ns; -1 = not known */
    _Atomic uint64_t ticket;
    _Atomic uint64_t arrival_epoch, arrival_ns;
    _Atomic uint64_t witness; /* entries into GUEST or VM, polls passed, chunks of bulk work */
    _Atomic(const void *) arrival_place; /* with arrival_ns: the doing's place then */
    _Atomic(struct stop_line *) next;
    struct participant *participant; /* whose line it is */
};
_Static_assert(sizeof(struct stop_line) == CACHE_LINE_BYTES, "one line");

struct participant {
    struct participant_head head;
    _Atomic uint32_t poll_word;
    struct stop_line *line;
    const volatile uint32_t *cpu_word; /* os_cpu_word() of the owner */
    struct trace_ring *trace;          /* stop_trace.h; NULL = off */

    CACHE_ALIGNED struct doing doing;

    /* The coordinator's notes of the stop that is on. */
    CACHE_ALIGNED struct {
        struct participant *next; /* those with a ticket or a stamp */
        uint64_t look_ns;         /* its clock when its look won the ticket, else 0 */
        struct doing_value doing; /* when armed; if late, when the coordinator slept */
        uint32_t state;           /* when armed */
    } seen;

    /* Cold: written once, or by the registry. */
    CACHE_ALIGNED char name[PARTICIPANT_NAME_BYTES];
    enum participant_kind kind;
    int tid;
    uint32_t number;          /* 1, 2, ... in order of attachment */
    struct participant *prev; /* under the registry lock */
    struct rcu_head rcu;
    struct participant *next_ended; /* under the registry lock: kept for its ring */
    void *owner;                    /* the layer's above */
    uint64_t transitions;           /* owner: entries into a safe state; a statistic */

    /* Thread dump: the handler in the thread writes, then dump_answered := request. */
    uint64_t dump_asked; /* the operation's own note */
    _Atomic uint64_t dump_answered;
    int dump_count;
    void *dump_frames[PARTICIPANT_FRAMES];
};

#endif
