/* stop_model_rules.c -- what holds for every step and in every state: the properties,
 * and which of a state's fields still matter.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/model/stop_model.h"

#include <stddef.h>
#include <string.h>

#define MOST_STOPS 8 /* a field of three bits */

static bool minds_its_epoch(const struct model_participant *p)
{
    switch ((enum model_participant_pc)p->pc) {
    case P_BACK_TICKET:
    case P_GATE_ENTER:
    case P_GATE_READ:
    case P_GATE_SLEEP:
    case P_ASLEEP:
    case P_POLL_STAMP:
    case P_POLL_GATE:
    case P_POLL_STORE:
    case P_STAMP:
    case P_CLAIM_LOOK:
    case P_CLAIM:
    case P_LATE_NATIVE:
    case P_LATE_GONE:
        return true;
    case P_COUNT:
    case P_WAKE_LOOK:
    case P_WAKE: /* goes on to the gate */
        return p->is_in_poll && !p->is_returning && p->state != STATE_GONE;
    default:
        return false;
    }
}

/* A stop's number matters while somebody may still compare it with another. */
static void forget(struct model_state *s)
{
    if (s->pc != C_SLEEP)
        s->out = 0;
    for (uint32_t i = 0; i < MODEL_PARTICIPANTS; i++) {
        struct model_participant *p = &s->p[i];
        if (!minds_its_epoch(p))
            p->local_stop = 0;
        if (p->stamp_stop != p->local_stop && !(s->is_odd && p->stamp_stop == s->stop))
            p->stamp_stop = 0;
        if (p->ticket_stop != p->local_stop && !(s->is_odd && p->ticket_stop == s->stop))
            p->ticket_stop = 0;
        if (p->ticket_stop == 0)
            p->ticket = TICKET_NONE;
        if (p->waited_stop != s->gate_stop && p->pc != P_GATE_LEAVE)
            p->waited_stop = 0; /* leaving the gate would change nothing */
    }
}

/* Renames the stops to 1, 2, ... in their order; all that is ever asked of two of them
 * is whether they are equal, and a new one only has to be greater than all. */
static void rename_stops(struct model_state *s)
{
    uint8_t name[MOST_STOPS] = { 0 };
    name[s->stop] = name[s->gate_stop] = 1;
    for (uint32_t i = 0; i < MODEL_PARTICIPANTS; i++) {
        const struct model_participant *p = &s->p[i];
        name[p->local_stop] = name[p->stamp_stop] = 1;
        name[p->ticket_stop] = name[p->waited_stop] = 1;
    }
    name[0] = 0;
    for (uint8_t stop = 1, last = 0; stop < MOST_STOPS; stop++)
        if (name[stop])
            name[stop] = ++last;
    s->stop = name[s->stop];
    s->gate_stop = name[s->gate_stop];
    for (uint32_t i = 0; i < MODEL_PARTICIPANTS; i++) {
        struct model_participant *p = &s->p[i];
        p->local_stop = name[p->local_stop];
        p->stamp_stop = name[p->stamp_stop];
        p->ticket_stop = name[p->ticket_stop];
        p->waited_stop = name[p->waited_stop];
    }
}

void model_may(struct model_moves *moves, const struct model_state *to, uint32_t who,
               const char *text)
{
    struct model_move *move = &moves->move[moves->count++];
    *move = (struct model_move){ .to = *to, .who = who, .text = text };
    forget(&move->to);
    rename_stops(&move->to);
}

void model_must(struct model_moves *moves, const struct model_state *to, uint32_t who,
                const char *text)
{
    model_may(moves, to, who, text);
    moves->is_live = true;
}

struct model_state model_start(uint32_t stops)
{
    struct model_state s;
    memset(&s, 0, sizeof s);
    s.stop = s.gate_stop = 1; /* 0 says "none"; this one is long over */
    s.stops_left = stops;
    return s;
}

void model_steps(const struct model_variant *v, const struct model_state *s,
                 struct model_moves *moves_out)
{
    moves_out->count = 0;
    moves_out->is_live = false;
    for (uint32_t i = 0; i < MODEL_PARTICIPANTS; i++)
        participant_steps(v, s, i, moves_out);
    coordinator_steps(v, s, moves_out);
}

/* In GUEST for good: not just announced, to look and step back. */
static bool is_running(const struct model_participant *p)
{
    return p->state == STATE_UNSAFE && p->pc != P_OUT && p->pc != P_RECHECK && p->pc != P_STEP_BACK;
}

/* It stamped (or should have) at a poll of the stop that is on, and waits there. */
static bool stopped_at_a_poll(const struct model_participant *p, const struct model_state *s)
{
    return p->is_in_poll && !p->is_returning && p->local_stop == s->stop;
}

/* How the ledger books a participant: docs/safepoint.md, "arrival times". */
static const char *booking_fault(const struct model_variant *v, const struct model_participant *p,
                                 const struct model_state *s)
{
    bool is_booked_safe = p->seen == SEEN_SAFE || (v->mutant == 8 && p->look_won);
    bool has_arrival = p->stamp_stop == s->stop || p->look_won;
    if (p->seen == SEEN_UNSAFE && (p->ticket != TICKET_IS_CLAIMED || p->ticket_stop != s->stop))
        return "the operation begins with a ticket out";
    if (p->seen == SEEN_UNSAFE && is_booked_safe)
        return "a participant seen unsafe is booked already-safe";
    if (is_booked_safe && stopped_at_a_poll(p, s))
        return "a participant that stopped at a poll is booked already-safe";
    if (p->seen != SEEN_NOT && !is_booked_safe && !has_arrival)
        return "a participant is not safe from the start and has no arrival";
    return NULL;
}

static const char *operation_fault(const struct model_variant *v, const struct model_state *s)
{
    static const char *const runs[MODEL_PARTICIPANTS] = { "the operation runs while A runs",
                                                          "the operation runs while B runs" };
    for (uint32_t i = 0; i < MODEL_PARTICIPANTS; i++)
        if (is_running(&s->p[i]))
            return runs[i];
    if (s->remaining != 0)
        return "the operation runs and remaining is not zero";
    for (uint32_t i = 0; i < MODEL_PARTICIPANTS; i++) {
        const char *fault = booking_fault(v, &s->p[i], s);
        if (fault)
            return fault;
    }
    return NULL;
}

/* Nobody can be woken any more: all that has to move has moved. */
static bool is_quiet(const struct model_state *s)
{
    for (uint32_t i = 0; i < MODEL_PARTICIPANTS; i++)
        if (s->p[i].pc == P_ASLEEP)
            return false;
    return s->pc == C_IDLE;
}

const char *model_fault(const struct model_variant *v, const struct model_state *s,
                        const struct model_moves *moves)
{
    if (s->remaining < 0)
        return "remaining is below zero";
    if (s->pc == C_SPIN && s->remaining > (int32_t)s->issued)
        return "more tickets are out than were issued";
    if (s->pc == C_LOOK && s->p[s->at - 1].seen != SEEN_NOT)
        return "the walk meets a participant twice";
    if (s->pc == C_OPERATION) {
        const char *fault = operation_fault(v, s);
        if (fault)
            return fault;
    }
    if (!moves->is_live && !is_quiet(s))
        return s->pc == C_ASLEEP ? "hang: the coordinator sleeps for ever"
                                 : "hang: somebody sleeps at the gate for ever";
    return NULL;
}

#define BIT(pc) (UINT64_C(1) << (pc))

uint64_t model_participant_pcs(const struct model_variant *v)
{
    uint64_t pcs = BIT(P_EARLY_LOOK) - 1; /* what follows is of mutants and controls */
    if (v->global_poll)
        pcs &= ~(BIT(P_CLEAR) | BIT(P_CLEAR_LOOK) | BIT(P_REARM));
    if (v->no_hint)
        pcs &= ~BIT(P_ANNOUNCE);
    return pcs;
}

uint64_t model_coordinator_pcs(const struct model_variant *v)
{
    uint64_t pcs = BIT(C_COUNT_PCS) - 1;
    if (!v->add_at_issue)
        pcs &= ~BIT(C_ADD);
    if (v->global_poll)
        pcs &= ~BIT(C_ARM);
    return pcs;
}
