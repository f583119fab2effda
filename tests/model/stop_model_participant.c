/* stop_model_participant.c -- the steps of a participant: safepoint/participant.c and
 * gate.c, access by access.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/model/stop_model.h"

/* A step under construction: the state after it. */
struct step {
    const struct model_variant *v;
    const struct model_state *from;
    struct model_moves *moves;
    uint32_t who;
    struct model_state to;
};

static struct step begin(const struct model_variant *v, const struct model_state *s, uint32_t who,
                         struct model_moves *moves)
{
    return (struct step){ .v = v, .from = s, .moves = moves, .who = who, .to = *s };
}

static void must(struct step *step, uint32_t pc, const char *text)
{
    step->to.p[step->who].pc = pc;
    model_must(step->moves, &step->to, step->who, text);
}

static void may(struct step *step, uint32_t pc, const char *text)
{
    step->to.p[step->who].pc = pc;
    model_may(step->moves, &step->to, step->who, text);
}

static struct model_participant *mine(struct step *step) { return &step->to.p[step->who]; }

/* Where a participant goes on when its arrival is dealt with. */
static uint32_t after_arrival(const struct model_participant *p)
{
    if (p->state == STATE_GONE)
        return P_UNLINK;
    if (p->is_returning)
        return P_GATE_LOOK;
    return p->is_in_poll ? P_GATE_READ : P_NATIVE;
}

/* Announced and not sent back: it runs, or goes round the slow path once more. */
static uint32_t begin_to_run(struct model_participant *p)
{
    p->is_returning = 0;
    return p->is_in_poll ? P_POLL_READ : P_RUN;
}

static void registry(struct step *step)
{
    struct model_participant *p = mine(step);
    uint32_t self = step->who + 1;
    switch (step->from->p[step->who].pc) {
    case P_OUT:
        p->next = step->to.head;
        p->state = STATE_NATIVE;
        step->to.head = self;
        may(step, P_NATIVE, "attaches in NATIVE: head := self");
        break;
    case P_UNLINK: /* with two, whoever stands before us is the other one */
        if (step->to.head == self)
            step->to.head = p->next;
        else
            step->to.p[1 - step->who].next = p->next;
        must(step, P_DONE, "unlinks");
        break;
    case P_DONE: /* the coordinator has left its read section */
        if (step->from->pc == C_IDLE) {
            *p = (struct model_participant){ .pc = P_OUT };
            may(step, P_OUT, "is freed");
        }
        break;
    }
}

static void hint(struct step *step, bool is_free)
{
    mine(step)->is_returning = 1;
    bool is_odd = !step->v->no_hint && step->from->is_odd;
    uint32_t pc = is_odd ? P_GATE_LOOK : P_ANNOUNCE;
    const char *text = is_odd ? "wants to run, glances: odd" : "wants to run, glances: even";
    if (step->v->no_hint) {
        mine(step)->state = STATE_UNSAFE;
        pc = P_RECHECK;
        text = "state := GUEST";
    }
    (is_free ? may : must)(step, pc, text);
}

static void native(struct step step)
{
    struct step end = step;
    hint(&step, true);
    mine(&end)->state = STATE_GONE;
    may(&end, P_UNLINK, "ends in NATIVE: state := GONE"); /* safe before and after */
}

static void announce(struct step *step)
{
    struct model_participant *p = mine(step);
    p->state = STATE_UNSAFE;
    if (!step->v->exit_swapped) {
        must(step, P_RECHECK, "state := GUEST");
        return;
    }
    must(step, p->waited_stop ? P_GATE_LEAVE : begin_to_run(p), "state := GUEST, runs");
}

static void recheck(struct step *step)
{
    struct model_participant *p = mine(step);
    if (step->from->is_odd && step->v->mutant != 2)
        must(step, P_STEP_BACK, "reads epoch: odd");
    else
        must(step, p->waited_stop ? P_GATE_LEAVE : begin_to_run(p),
             step->from->is_odd ? "reads epoch: odd, runs" : "reads epoch: even, runs");
}

static void step_back(struct step *step)
{
    struct model_participant *p = mine(step);
    const struct model_state *s = step->from;
    switch (p->pc) {
    case P_STEP_BACK:
        p->state = p->is_in_poll ? STATE_STOPPED : STATE_NATIVE;
        must(step, P_BACK_READ, "steps back: state := safe again");
        break;
    case P_BACK_READ:
        p->local_stop = s->stop;
        must(step, s->is_odd ? P_BACK_TICKET : P_GATE_LOOK,
             s->is_odd ? "reads epoch: odd" : "reads epoch: even");
        break;
    case P_BACK_TICKET:
        if (p->ticket == TICKET_IS_ISSUED && p->ticket_stop == p->local_stop)
            must(step, P_STAMP, "reads ticket: issued");
        else
            must(step, P_GATE_LOOK, "reads ticket: none");
        break;
    }
}

/* Counts in only while the gate's word speaks of the stop it has read. */
static void count_in(struct step *step, uint32_t then)
{
    struct model_participant *p = mine(step);
    bool is_ours = step->from->gate_stop == p->local_stop;
    if (is_ours)
        p->waited_stop = p->local_stop;
    must(step, then, is_ours ? "waiting + 1" : "waiting speaks of a later stop");
}

static void gate(struct step *step)
{
    struct model_participant *p = mine(step);
    const struct model_state *s = step->from;
    bool is_same = s->is_odd && s->stop == p->local_stop;
    switch (p->pc) {
    case P_GATE_LOOK:
        p->local_stop = s->stop;
        must(step, s->is_odd ? P_GATE_ENTER : P_HINT,
             s->is_odd ? "reads epoch: odd, to the gate" : "reads epoch: even again");
        break;
    case P_GATE_ENTER:
        count_in(step, P_GATE_READ);
        break;
    case P_GATE_READ:
        must(step, is_same ? P_GATE_SLEEP : P_HINT,
             is_same ? "at the gate: epoch is the same" : "at the gate: epoch has changed");
        break;
    case P_GATE_SLEEP:
        is_same |= step->v->sleep_blind;
        must(step, is_same ? P_ASLEEP : P_GATE_READ,
             is_same ? "sleeps at the gate" : "does not sleep: epoch has changed");
        break;
    case P_GATE_LEAVE:
        p->waited_stop = 0;
        must(step, begin_to_run(p), "waiting - 1");
        break;
    }
}

static void enter_safe(struct step step, uint32_t state)
{
    bool is_native = state == STATE_NATIVE;
    if (step.v->entry_swapped) {
        mine(&step)->local_stop = step.from->is_odd ? step.from->stop : 0;
        may(&step, is_native ? P_LATE_NATIVE : P_LATE_GONE,
            step.from->is_odd ? "reads epoch: odd, before its store"
                              : "reads epoch: even, before its store");
        return;
    }
    mine(&step)->state = state;
    bool is_silent = step.v->mutant == 6 && !is_native;
    may(&step, is_silent ? P_UNLINK : P_ENTERED,
        is_native ? "goes native: state := NATIVE" : "ends: state := GONE");
}

static void run(struct step step)
{
    enter_safe(step, STATE_NATIVE);
    enter_safe(step, STATE_GONE);
    if (step.v->global_poll ? step.from->is_odd : mine(&step)->word) {
        mine(&step)->is_in_poll = 1;
        must(&step, P_POLL_READ, "polls: armed");
    }
}

static void late_entry(struct step *step)
{
    struct model_participant *p = mine(step);
    p->state = p->pc == P_LATE_NATIVE ? STATE_NATIVE : STATE_GONE;
    must(step, p->local_stop ? P_STAMP : after_arrival(p), "stores its safe state");
}

static void return_from_poll(struct step *step, const char *text)
{
    mine(step)->is_in_poll = 0;
    must(step, P_RUN, text);
}

static void poll_read(struct step *step)
{
    if (step->from->is_odd) {
        mine(step)->local_stop = step->from->stop;
        must(step, step->v->stamp_late ? P_POLL_GATE : P_POLL_STAMP, "slow path: odd");
    } else if (step->v->global_poll) {
        return_from_poll(step, "slow path: even, runs");
    } else {
        must(step, step->v->mutant == 7 ? P_EARLY_LOOK : P_CLEAR, "slow path: even");
    }
}

static void poll_stop(struct step *step)
{
    struct model_participant *p = mine(step);
    switch (p->pc) {
    case P_POLL_STAMP:
        p->stamp_stop = p->local_stop;
        must(step, P_POLL_GATE, "stamps its arrival");
        break;
    case P_POLL_GATE:
        count_in(step, P_POLL_STORE);
        break;
    case P_POLL_STORE:
        p->state = STATE_STOPPED;
        must(step, step->v->stamp_late ? P_STAMP : P_CLAIM_LOOK, "state := STOPPED");
        break;
    }
}

static void poll_word(struct step *step)
{
    struct model_participant *p = mine(step);
    bool is_odd = step->from->is_odd;
    switch (p->pc) {
    case P_CLEAR:
        p->word = 0;
        must(step, P_CLEAR_LOOK, "word := 0");
        break;
    case P_CLEAR_LOOK:
        if (is_odd)
            must(step, P_REARM, "looks again: odd");
        else
            return_from_poll(step, "looks again: even, runs");
        break;
    case P_REARM:
        p->word = 1;
        must(step, P_POLL_READ, "word := 1");
        break;
    case P_EARLY_LOOK:
        must(step, is_odd ? P_WIPE_ODD : P_WIPE_EVEN,
             is_odd ? "looks before it clears: odd" : "looks before it clears: even");
        break;
    case P_WIPE_EVEN:
        p->word = 0;
        return_from_poll(step, "word := 0, runs");
        break;
    case P_WIPE_ODD:
        p->word = 0;
        must(step, P_POLL_READ, "word := 0");
        break;
    }
}

static void arrive(struct step *step)
{
    struct model_participant *p = mine(step);
    switch (p->pc) {
    case P_ENTERED:
        p->local_stop = step->from->stop;
        if (step->from->is_odd)
            must(step, P_STAMP, "reads epoch: odd");
        else
            must(step, after_arrival(p), "reads epoch: even");
        break;
    case P_STAMP: /* the first stamp of a stop stands; here they are equal */
        p->stamp_stop = p->local_stop;
        must(step, P_CLAIM_LOOK, "stamps its arrival");
        break;
    }
}

static void claim(struct step *step)
{
    struct model_participant *p = mine(step);
    uint32_t mutant = step->v->mutant;
    bool is_ours = p->ticket_stop == p->local_stop;
    bool is_issued = is_ours && p->ticket == TICKET_IS_ISSUED;
    bool is_claimed = is_ours && p->ticket == TICKET_IS_CLAIMED;
    if (p->pc == P_CLAIM_LOOK && (is_issued || mutant == 3 || mutant == 4)) {
        must(step, mutant == 3 ? P_COUNT : P_CLAIM,
             is_issued ? "reads ticket: issued" : "does not ask for a ticket");
    } else if (p->pc == P_CLAIM && is_issued) {
        p->ticket = TICKET_IS_CLAIMED;
        must(step, P_COUNT, "claims its ticket");
    } else if (p->pc == P_CLAIM && is_claimed && mutant == 4) {
        must(step, P_COUNT, "finds its ticket claimed, counts all the same");
    } else {
        must(step, after_arrival(p), "has no ticket to claim");
    }
}

static void count(struct step *step)
{
    struct model_participant *p = mine(step);
    switch (p->pc) {
    case P_COUNT:
        step->to.remaining--;
        must(step, step->from->remaining == 1 ? P_WAKE_LOOK : after_arrival(p), "remaining - 1");
        break;
    case P_WAKE_LOOK:
        if (step->from->sleeps && step->v->mutant != 5)
            must(step, P_WAKE, "is the last: the coordinator sleeps");
        else
            must(step, after_arrival(p), "is the last: no wake");
        break;
    case P_WAKE:
        if (step->from->pc == C_ASLEEP)
            step->to.pc = C_SLEEP_LOOK;
        must(step, after_arrival(p), "wakes the coordinator");
        break;
    }
}

void participant_steps(const struct model_variant *v, const struct model_state *s, uint32_t who,
                       struct model_moves *moves)
{
    struct step step = begin(v, s, who, moves);
    switch ((enum model_participant_pc)s->p[who].pc) {
    case P_OUT:
    case P_UNLINK:
    case P_DONE:
        registry(&step);
        break;
    case P_NATIVE:
        native(step);
        break;
    case P_HINT:
        hint(&step, false);
        break;
    case P_ANNOUNCE:
        announce(&step);
        break;
    case P_RECHECK:
        recheck(&step);
        break;
    case P_STEP_BACK:
    case P_BACK_READ:
    case P_BACK_TICKET:
        step_back(&step);
        break;
    case P_GATE_LOOK:
    case P_GATE_ENTER:
    case P_GATE_READ:
    case P_GATE_SLEEP:
    case P_GATE_LEAVE:
        gate(&step);
        break;
    case P_RUN:
        run(step);
        break;
    case P_LATE_NATIVE:
    case P_LATE_GONE:
        late_entry(&step);
        break;
    case P_POLL_READ:
        poll_read(&step);
        break;
    case P_POLL_STAMP:
    case P_POLL_GATE:
    case P_POLL_STORE:
        poll_stop(&step);
        break;
    case P_CLEAR:
    case P_CLEAR_LOOK:
    case P_REARM:
    case P_EARLY_LOOK:
    case P_WIPE_EVEN:
    case P_WIPE_ODD:
        poll_word(&step);
        break;
    case P_ENTERED:
    case P_STAMP:
        arrive(&step);
        break;
    case P_CLAIM_LOOK:
    case P_CLAIM:
        claim(&step);
        break;
    case P_COUNT:
    case P_WAKE_LOOK:
    case P_WAKE:
        count(&step);
        break;
    case P_ASLEEP:
    case P_COUNT_PCS:
        break;
    }
}
