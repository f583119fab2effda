/* stop_model.h -- the stop protocol as a state machine: its state, steps, properties.
 *
 * Read next: coordinator_steps() in stop_model_coordinator.c, then
 *            participant_steps() in stop_model_participant.c, then explore.h.
 * Layer:     tests/; speaks of safepoint/ but includes nothing of it.
 *
 * Two participants and the coordinator.  A step is one atomic access: every access
 * named here is seq_cst in the code, so the interleavings of these steps are what a
 * machine can do.  A choice or a test without an access is part of the step before
 * it, and so is what is done under the registry's lock: readers see one store of it.
 *
 * Promises
 *   M1  Nothing bounds what a participant does: it attaches, polls, goes native and
 *       ends as often as it likes, and a slot is used again once its memory is free.
 *   M2  The number of stops is not bounded either, unless asked for: stops are
 *       compared by equality only, so states that differ in their numbers are one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_MODEL_STOP_MODEL_H
#define TESTS_MODEL_STOP_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_PARTICIPANTS 2
#define MODEL_COORDINATOR  MODEL_PARTICIPANTS /* "who" beside the participants' numbers */
#define MODEL_BIAS         8                  /* more than any number of participants */
#define MODEL_NO_LIMIT     7                  /* of stops_left */
#define MODEL_MOST_MOVES   16

/* What a participant does next; the comment says which access that is. */
enum model_participant_pc {
    P_OUT,         /* attach: head := self.  Not attached yet, or memory used again */
    P_NATIVE,      /* in NATIVE, free to return or to end */
    P_HINT,        /* leaving: read epoch, a hint */
    P_ANNOUNCE,    /* state := GUEST */
    P_RECHECK,     /* read epoch: the one that decides */
    P_STEP_BACK,   /* state := the safe one */
    P_BACK_READ,   /* read epoch */
    P_BACK_TICKET, /* read ticket */
    P_GATE_LOOK,   /* read epoch */
    P_GATE_ENTER,  /* CAS waiting + 1, if it speaks of our stop */
    P_GATE_READ,   /* read epoch */
    P_GATE_SLEEP,  /* futex: compare the epoch and sleep */
    P_ASLEEP,      /* until woken */
    P_GATE_LEAVE,  /* CAS waiting - 1; in GUEST */
    P_RUN,         /* runs guest code, free to poll, go native or end */
    P_POLL_READ,   /* slow path: read epoch */
    P_CLEAR,       /* word := 0 */
    P_CLEAR_LOOK,  /* read epoch */
    P_REARM,       /* word := 1 */
    P_POLL_STAMP,  /* stamp := stop */
    P_POLL_GATE,   /* as P_GATE_ENTER */
    P_POLL_STORE,  /* state := STOPPED */
    P_ENTERED,     /* safe state stored: read epoch */
    P_STAMP,       /* stamp := stop */
    P_CLAIM_LOOK,  /* read ticket */
    P_CLAIM,       /* CAS ticket, ISSUED to CLAIMED */
    P_COUNT,       /* remaining - 1 */
    P_WAKE_LOOK,   /* read coordinator_sleeps */
    P_WAKE,        /* futex: wake the coordinator */
    P_UNLINK,      /* out of the registry */
    P_DONE,        /* memory waits for the readers to leave */
    P_EARLY_LOOK,  /* mutant 7: read epoch, before the word is cleared */
    P_WIPE_EVEN,   /* mutant 7: word := 0 after an even epoch */
    P_WIPE_ODD,    /* mutant 7: word := 0 after an odd epoch */
    P_LATE_NATIVE, /* control: state := NATIVE after the epoch was read */
    P_LATE_GONE,   /* control: state := GONE after the epoch was read */
    P_COUNT_PCS,
};

enum model_coordinator_pc {
    C_IDLE,       /* between stops: waiting := {stop, 0}, begins one */
    C_REMAINING,  /* remaining := BIAS */
    C_EPOCH,      /* epoch := odd */
    C_FIRST,      /* read the registry's head */
    C_LOOK,       /* read state */
    C_STAMP_LOOK, /* seen safe: read its stamp */
    C_ADD,        /* control: remaining + 1 */
    C_ISSUE,      /* ticket := ISSUED */
    C_ARM,        /* word := 1 */
    C_LOOK_AGAIN, /* read state */
    C_CLAIM,      /* CAS ticket, ISSUED to CLAIMED */
    C_NEXT,       /* read next */
    C_UNBIAS,     /* remaining - (BIAS - issued + own claims) */
    C_SPIN,       /* read remaining */
    C_SLEEP_SAY,  /* coordinator_sleeps := 1 */
    C_SLEEP_LOOK, /* read remaining */
    C_SLEEP,      /* futex: compare remaining and sleep */
    C_ASLEEP,     /* until woken */
    C_SLEEP_END,  /* coordinator_sleeps := 0 */
    C_OPERATION,  /* the operation runs; epoch := even */
    C_OPEN,       /* read waiting: nobody there, no wake */
    C_OPEN_WAKE,  /* futex: wake the gate */
    C_COUNT_PCS,
};

enum model_state_word { STATE_UNSAFE, STATE_NATIVE, STATE_STOPPED, STATE_GONE };
enum model_ticket { TICKET_NONE, TICKET_IS_ISSUED, TICKET_IS_CLAIMED };

/* What the coordinator's walk noted. */
enum model_seen { SEEN_NOT, SEEN_UNSAFE, SEEN_STAMPED, SEEN_SAFE };

/* Fields called stop hold the number of a stop, 0 = none that matters any more. */
struct model_participant {
    uint32_t pc : 6;
    uint32_t state : 2;
    uint32_t ticket : 2;
    uint32_t ticket_stop : 3;
    uint32_t word : 1;
    uint32_t local_stop : 3;  /* the odd epoch it has read */
    uint32_t stamp_stop : 3;  /* its arrival stamp */
    uint32_t waited_stop : 3; /* counted in at the gate for */
    uint32_t is_in_poll : 1;
    uint32_t is_returning : 1; /* from a safe state, its ticket dealt with */
    uint32_t next : 2;         /* a link: 0, or a participant's number + 1 */
    uint32_t seen : 2;         /* the coordinator's notes: */
    uint32_t look_won : 1;
};

struct model_state {
    struct model_participant p[MODEL_PARTICIPANTS];
    uint32_t pc : 5; /* the coordinator's */
    uint32_t at : 2; /* a link: where its walk is */
    uint32_t issued : 2;
    uint32_t own_claims : 2;
    int32_t out : 6; /* the value of remaining it is about to sleep on */
    uint32_t stops_left : 3;
    uint32_t unused : 12;
    uint32_t stop : 3; /* the latest stop; the epoch is odd or even by is_odd */
    uint32_t is_odd : 1;
    int32_t remaining : 6;
    uint32_t sleeps : 1;
    uint32_t gate_stop : 3; /* the tag of waiting; its count follows from waited_stop */
    uint32_t head : 2;      /* a link */
    uint32_t unused_too : 16;
};
_Static_assert(sizeof(struct model_state) == 16, "the explorer hashes two 64-bit words");

enum model_expectation { EXPECT_CLEAN, EXPECT_BROKEN };

/* A protocol to walk: as built, unless a field says otherwise. */
struct model_variant {
    const char *name;
    const char *text;
    enum model_expectation expectation;
    uint32_t mutant;       /* the same numbers as STILLPOINT_MUTANT, 0 = none */
    uint32_t least_stops;  /* it takes these many until it can break; 0 = one */
    bool global_poll;      /* polls read the epoch; no poll words */
    bool no_hint;          /* announces an unsafe state without a glance at the epoch */
    bool entry_swapped;    /* entering a safe state: reads the epoch, then stores the state */
    bool exit_swapped;     /* leaving a safe state: reads the epoch, then stores the state */
    bool no_second_look;   /* the coordinator does not look again after issuing */
    bool arm_before_issue; /* poll word first, then the ticket */
    bool count_after_walk; /* no bias: remaining := tickets out, after the walk */
    bool add_at_issue;     /* no bias: remaining + 1 before each ticket */
    bool stamp_late;       /* at a poll: STOPPED, then the stamp */
    bool sleep_blind;      /* at the gate: sleeps without comparing the epoch */
};

struct model_move {
    struct model_state to;
    uint32_t who;
    const char *text;
};

/* What can happen next.  is_live: a thread that must move can. */
struct model_moves {
    uint32_t count;
    bool is_live;
    struct model_move move[MODEL_MOST_MOVES];
};

/* A step that its thread takes sooner or later, and one that it may put off for ever. */
void model_must(struct model_moves *moves, const struct model_state *to, uint32_t who,
                const char *text);
void model_may(struct model_moves *moves, const struct model_state *to, uint32_t who,
               const char *text);

void participant_steps(const struct model_variant *v, const struct model_state *s, uint32_t who,
                       struct model_moves *moves);
void coordinator_steps(const struct model_variant *v, const struct model_state *s,
                       struct model_moves *moves);

struct model_state model_start(uint32_t stops);
void model_steps(const struct model_variant *v, const struct model_state *s,
                 struct model_moves *moves_out);
/* Which property fails in this state, whose moves are given; NULL = none. */
const char *model_fault(const struct model_variant *v, const struct model_state *s,
                        const struct model_moves *moves);

/* The program counters that a clean variant has to reach, bit n = counter n; a walk that
 * misses one has proved less than it says. */
uint64_t model_participant_pcs(const struct model_variant *v);
uint64_t model_coordinator_pcs(const struct model_variant *v);

#endif
