/* stop_model_coordinator.c -- the steps of the coordinator: safepoint/coordinator.c,
 * access by access, and the release at the gate.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/model/stop_model.h"

static void must(struct model_moves *moves, struct model_state to, uint32_t pc, const char *text)
{
    to.pc = pc;
    model_must(moves, &to, MODEL_COORDINATOR, text);
}

static void begin(const struct model_variant *v, struct model_state to, struct model_moves *moves)
{
    switch (to.pc) {
    case C_IDLE: /* nobody has to ask for a stop */
        if (to.stops_left == 0)
            return;
        if (to.stops_left != MODEL_NO_LIMIT)
            to.stops_left--;
        to.gate_stop = to.stop + 1;
        to.pc = C_REMAINING;
        model_may(moves, &to, MODEL_COORDINATOR, "begins a stop: waiting := 0");
        break;
    case C_REMAINING:
        to.remaining = v->count_after_walk || v->add_at_issue ? 0 : MODEL_BIAS;
        must(moves, to, C_EPOCH, "sets remaining");
        break;
    case C_EPOCH:
        to.stop++;
        to.is_odd = 1;
        must(moves, to, C_FIRST, "epoch := odd");
        break;
    }
}

static void walk(struct model_state to, struct model_moves *moves)
{
    static const char *const meets[] = { "walk: end of the list", "walk: meets A",
                                         "walk: meets B" };
    to.at = to.pc == C_FIRST ? to.head : to.p[to.at - 1].next;
    must(moves, to, to.at ? C_LOOK : C_UNBIAS, meets[to.at]);
}

static void look(const struct model_variant *v, struct model_state to, struct model_moves *moves)
{
    struct model_participant *p = &to.p[to.at - 1];
    if (p->state != STATE_UNSAFE) {
        must(moves, to, C_STAMP_LOOK, "sees it safe");
        return;
    }
    p->seen = SEEN_UNSAFE;
    uint32_t then = v->add_at_issue ? C_ADD : v->arm_before_issue ? C_ARM : C_ISSUE;
    must(moves, to, then, "sees it unsafe");
}

static void issue(const struct model_variant *v, struct model_state to, struct model_moves *moves)
{
    struct model_participant *p = &to.p[to.at - 1];
    uint32_t after_both = v->no_second_look ? C_NEXT : C_LOOK_AGAIN;
    switch (to.pc) {
    case C_ADD:
        to.remaining++;
        must(moves, to, C_ISSUE, "remaining + 1");
        break;
    case C_ISSUE:
        p->ticket = TICKET_IS_ISSUED;
        p->ticket_stop = to.stop;
        to.issued++;
        must(moves, to, v->global_poll || v->arm_before_issue ? after_both : C_ARM,
             "ticket := ISSUED");
        break;
    case C_ARM:
        p->word = 1;
        must(moves, to, v->arm_before_issue ? C_ISSUE : after_both, "word := 1");
        break;
    }
}

static void see(struct model_state to, struct model_moves *moves)
{
    struct model_participant *p = &to.p[to.at - 1];
    switch (to.pc) {
    case C_STAMP_LOOK:
        p->seen = p->stamp_stop == to.stop ? SEEN_STAMPED : SEEN_SAFE;
        must(moves, to, C_NEXT, p->seen == SEEN_STAMPED ? "finds its stamp" : "finds no stamp");
        break;
    case C_LOOK_AGAIN:
        if (p->state == STATE_UNSAFE)
            must(moves, to, C_NEXT, "looks again: unsafe");
        else
            must(moves, to, C_CLAIM, "looks again: safe");
        break;
    case C_CLAIM:
        if (p->ticket == TICKET_IS_ISSUED && p->ticket_stop == to.stop) {
            p->ticket = TICKET_IS_CLAIMED;
            p->look_won = 1;
            to.own_claims++;
            must(moves, to, C_NEXT, "claims the ticket by its look");
        } else {
            must(moves, to, C_NEXT, "finds the ticket claimed");
        }
        break;
    }
}

static void unbias(const struct model_variant *v, struct model_state to, struct model_moves *moves)
{
    if (v->count_after_walk)
        to.remaining = to.issued - to.own_claims;
    else if (v->add_at_issue)
        to.remaining -= to.own_claims;
    else
        to.remaining -= MODEL_BIAS - to.issued + to.own_claims;
    must(moves, to, to.remaining == 0 || v->mutant == 1 ? C_OPERATION : C_SPIN,
         "takes what it did not issue off remaining");
}

/* Spinning is staying here; how long it spins is no business of the model's. */
static void wait_for_all(struct model_state to, struct model_moves *moves)
{
    switch (to.pc) {
    case C_SPIN:
        must(moves, to, to.remaining ? C_SLEEP_SAY : C_OPERATION,
             to.remaining ? "has spun enough" : "reads remaining: all are here");
        break;
    case C_SLEEP_SAY:
        to.sleeps = 1;
        must(moves, to, C_SLEEP_LOOK, "says that it sleeps");
        break;
    case C_SLEEP_LOOK:
        to.out = to.remaining;
        must(moves, to, to.remaining ? C_SLEEP : C_SLEEP_END,
             to.remaining ? "reads remaining: not all" : "reads remaining: all are here");
        break;
    case C_SLEEP:
        must(moves, to, to.remaining == to.out ? C_ASLEEP : C_SLEEP_LOOK,
             to.remaining == to.out ? "sleeps" : "does not sleep: remaining has changed");
        break;
    case C_SLEEP_END:
        to.sleeps = 0;
        must(moves, to, C_OPERATION, "says that it does not sleep");
        break;
    }
}

static bool somebody_is_counted_in(const struct model_state *s)
{
    for (uint32_t i = 0; i < MODEL_PARTICIPANTS; i++)
        if (s->p[i].waited_stop == s->gate_stop)
            return true;
    return false;
}

static void release(struct model_state to, struct model_moves *moves)
{
    switch (to.pc) {
    case C_OPERATION:
        to.is_odd = 0;
        to.issued = to.own_claims = 0;
        for (uint32_t i = 0; i < MODEL_PARTICIPANTS; i++)
            to.p[i].seen = to.p[i].look_won = 0;
        must(moves, to, C_OPEN, "has run its operation, epoch := even");
        break;
    case C_OPEN:
        if (somebody_is_counted_in(&to))
            must(moves, to, C_OPEN_WAKE, "reads waiting: somebody");
        else
            must(moves, to, C_IDLE, "reads waiting: nobody");
        break;
    case C_OPEN_WAKE: /* those who wait for this stop, by the futex's mask */
        for (uint32_t i = 0; i < MODEL_PARTICIPANTS; i++)
            if (to.p[i].pc == P_ASLEEP && to.p[i].local_stop == to.stop)
                to.p[i].pc = P_GATE_READ;
        must(moves, to, C_IDLE, "wakes the gate");
        break;
    }
}

void coordinator_steps(const struct model_variant *v, const struct model_state *s,
                       struct model_moves *moves)
{
    switch ((enum model_coordinator_pc)s->pc) {
    case C_IDLE:
    case C_REMAINING:
    case C_EPOCH:
        begin(v, *s, moves);
        break;
    case C_FIRST:
    case C_NEXT:
        walk(*s, moves);
        break;
    case C_LOOK:
        look(v, *s, moves);
        break;
    case C_ADD:
    case C_ISSUE:
    case C_ARM:
        issue(v, *s, moves);
        break;
    case C_STAMP_LOOK:
    case C_LOOK_AGAIN:
    case C_CLAIM:
        see(*s, moves);
        break;
    case C_UNBIAS:
        unbias(v, *s, moves);
        break;
    case C_SPIN:
    case C_SLEEP_SAY:
    case C_SLEEP_LOOK:
    case C_SLEEP:
    case C_SLEEP_END:
        wait_for_all(*s, moves);
        break;
    case C_OPERATION:
    case C_OPEN:
    case C_OPEN_WAKE:
        release(*s, moves);
        break;
    case C_ASLEEP:
    case C_COUNT_PCS:
        break;
    }
}
