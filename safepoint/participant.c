/* participant.c -- the participant's half of the stop protocol.
 *
 *              leave_safe [self], epoch even            enter_safe [self]
 *   NATIVE ------------------------------> GUEST, VM ---------------------> NATIVE
 *   BLOCKED                                  |  ^                           BLOCKED
 *                                            |  |                           GONE
 *                          poll_slow [self], |  | return_to [self],
 *                          epoch odd         v  | epoch even again
 *                                           STOPPED
 *
 * Only the owner writes its state; the coordinator only reads it.  Attaching
 * starts in NATIVE, outside the picture; GONE is left by nobody.
 *
 * Note [D] Dekker.  Two threads each write one word, then read the other's:
 *       participant   state := s            then reads  epoch
 *       coordinator   epoch := odd          then reads  state
 *   All four accesses are seq_cst, so at least one side sees the other.  Weaken
 *   one and a participant can run inside a stop (s = GUEST), or the coordinator
 *   can wait for ever for one that is safe (s = NATIVE).
 *
 * Note [H] Hand-over.  Storing a safe state releases what the participant wrote;
 *   the coordinator's read of it acquires.  The even epoch releases what the
 *   operation wrote; the participant's read of it acquires.  Together: P2.
 *
 * Note [T] Tickets.  For each participant seen unsafe the coordinator stores
 *   ticket := ISSUED(e), then reads the state again; the participant stores a
 *   safe state, then reads the ticket.  A second Dekker pair, seq_cst as well:
 *   either the participant sees its ticket or the coordinator sees it safe.  Who
 *   turns ISSUED(e) into CLAIMED(e) by CAS counts, alone and once; without an
 *   issued ticket nobody counts.  `remaining` starts at BIAS, from which the
 *   coordinator subtracts what it did not issue, after its walk: so early
 *   arrivals cannot make it zero before all tickets are out.
 *
 * Note [A] Arrival times.  The owner stamps {ns, e}: at a poll before it stores
 *   STOPPED, on entering a safe state after it has read the odd epoch and before
 *   it tries its ticket.  The first stamp of a stop stands.  Who steps back
 *   (announced GUEST, found the epoch odd, ran nothing) stamps only if it holds a
 *   ticket.  Where the coordinator's look wins the ticket and there is no
 *   earlier stamp, its clock at that look is the arrival.  The stamp decides, not who won: else a
 *   thread that ran 40 ms and lost its ticket by nanoseconds would be booked as
 *   safe, and nobody named.  ns is stored before e (release), read after (acquire).
 *
 * Note [P] Poll word.  Anybody arms: first the cause (the epoch), then word := 1.
 *   Only the owner clears: word := 0, then it looks at the cause again; if there is
 *   one it re-arms and goes back.  All four are seq_cst: a cause published before
 *   the clearing is seen by the look, one published after it arms again.
 *
 * docs/safepoint.md argues these at length; tests/model walks all interleavings.
 *
 * SPDX-License-Identifier: MIT */
#include "safepoint/participant_priv.h"

#include "base/flags.h"
#include "base/insist.h"
#include "base/lock.h"
#include "base/os.h"
#include "safepoint/coordinator.h"
#include "safepoint/gate.h"
#include "safepoint/registry.h"
#include "safepoint/sched_point.h"
#include "safepoint/stop_trace.h"
#include "safepoint/stops.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct participant *this_participant;

struct participant *participant_self(void) { return this_participant; }
struct doing *participant_doing(struct participant *self) { return &self->doing; }

uint32_t participant_number(const struct participant *participant) { return participant->number; }
void participant_set_owner(struct participant *participant, void *owner)
{
    participant->owner = owner;
}
void *participant_owner(const struct participant *participant) { return participant->owner; }

const char *participant_state_name(uint32_t state)
{
    static const char *const names[] = { "guest", "vm", "native", "blocked", "stopped", "gone" };
    return state < sizeof names / sizeof *names ? names[state] : "?";
}

/* Our own word: nobody else writes it. */
static uint32_t own_state(struct participant *self) { return load_relaxed(&self->line->state); }

/* The witness: words that change only here, in GUEST or VM, after the epoch was
 * read even.  Plain increments by the owner; the coordinator's copy is ordered by
 * [H], and a change under its eyes is the fault it looks for. */
static void count_witness(struct participant *self)
{
    store_relaxed(&self->line->witness, load_relaxed(&self->line->witness) + 1);
}

void participant_count_chunk(struct participant *self) { count_witness(self); }

/* One step of a stop, stop_trace.h; at_ns 0 = now. */
static inline void trace(struct participant *self, enum stop_step step, uint64_t at_ns,
                         uint64_t argument)
{
    if (__builtin_expect(self->trace != NULL, 0))
        trace_put(self->trace, at_ns ? at_ns : os_now_ns(), step, (uint32_t)argument);
}

static STOP_PATH void stamp_arrival(struct participant *self, uint64_t epoch) /* [A] */
{
    if (load_relaxed(&self->line->arrival_epoch) == epoch)
        return; /* the first stamp stands */
    uint64_t now = os_now_ns();
    store_relaxed(&self->line->arrival_ns, now);
    if (self->cpu_word) /* read by the coordinator after the release; may be stale */
        store_relaxed(&self->line->arrival_cpu, (int32_t)*self->cpu_word);
    store_relaxed(&self->line->arrival_place, load_relaxed(&self->doing.place));
    trace(self, STOP_STEP_ARRIVED, now, epoch); /* first: who sees the stamp finds the step */
    store_release(&self->line->arrival_epoch, epoch);
}

static bool holds_ticket(struct participant *self, uint64_t epoch)
{
    return load_seq(&self->line->ticket) == TICKET_ISSUED(epoch); /* [T] */
}

static STOP_PATH void claim_ticket(struct participant *self, uint64_t epoch) /* [T] */
{
    uint64_t issued = TICKET_ISSUED(epoch);
    if (MUTANT(3)) {
        coordinator_count_arrival();
        return;
    }
    if (!holds_ticket(self, epoch) && !MUTANT(4))
        return;
    if (!compare_exchange_seq(&self->line->ticket, &issued, TICKET_CLAIMED(epoch)) &&
        !(MUTANT(4) && issued == TICKET_CLAIMED(epoch)))
        return;
    uint64_t now =
        self->trace ? os_now_ns() : 0; /* before: the coordinator may run instead of us */
    trace(self, STOP_STEP_COUNTED, now, coordinator_count_arrival());
}

/* Safe already, without a poll.  Apart, so that the way without a stop saves no registers
 * for it. */
static STOP_PATH __attribute__((noinline)) void arrive(struct participant *self, uint64_t epoch,
                                                       enum stop_step how)
{
    trace(self, how, 0, epoch);
    stamp_arrival(self, epoch); /* [A] */
    claim_ticket(self, epoch);
}

static STOP_PATH void wait_traced(struct participant *self, uint64_t epoch)
{
    trace(self, STOP_STEP_WAITS, 0, epoch);
    bool was_woken = gate_wait(epoch);
    trace(self, STOP_STEP_AWAKE, 0, epoch);
    if (was_woken && gate_wake_others(epoch) > 0)
        trace(self, STOP_STEP_WAKES, 0, epoch);
}

static STOP_PATH void leave_gate(struct participant *self, uint64_t waited)
{
    uint64_t now = os_now_ns();
    trace(self, STOP_STEP_RESUMED, now, waited); /* first: once all are out, the rings are read */
    gate_leave(waited, now);
}

static void wait_at_gate(struct participant *self, uint64_t epoch, uint64_t *waited_out)
{
    if (gate_enter(epoch))
        *waited_out = epoch;
    wait_traced(self, epoch);
}

/* Announces an unsafe state and looks; false when a stop is on: then we are in
 * `safe` again, having touched nothing, and hold no ticket. */
static STOP_PATH bool try_unsafe(struct participant *self, uint32_t unsafe, uint32_t safe)
{
    if (epoch_is_odd(load_seq(&stop_epoch.word))) /* a hint: the look below decides */
        return false;
    store_seq(&self->line->state, unsafe); /* [D] */
    SCHED_POINT(GUEST_ANNOUNCED, "a stop that begins here must see us, or we it");
    if (!epoch_is_odd(load_seq(&stop_epoch.word)) || MUTANT(2)) { /* [D] [H] */
        count_witness(self);
        return true;
    }
    store_seq(&self->line->state, safe);         /* step back, [D] */
    uint64_t epoch = load_seq(&stop_epoch.word); /* [D] */
    if (epoch_is_odd(epoch) && holds_ticket(self, epoch))
        arrive(self, epoch, STOP_STEP_STEPS_BACK);
    return false;
}

/* From a safe state to an unsafe one, through the gate as often as it is shut.
 * waited: the stop that this thread was counted in for, 0 if none. */
static STOP_PATH void return_to(struct participant *self, uint32_t unsafe, uint64_t waited)
{
    uint32_t safe = own_state(self);
    while (!try_unsafe(self, unsafe, safe)) {
        uint64_t epoch = load_seq(&stop_epoch.word);
        if (epoch_is_odd(epoch))
            wait_at_gate(self, epoch, &waited);
    }
    if (waited)
        leave_gate(self, waited);
}

void participant_leave_safe(struct participant *self, enum participant_state unsafe)
{
    ASSERT(self == this_participant, "\"%s\" is moved by another thread", self->name);
    ASSERT(participant_state_is_safe(own_state(self)), "%s leaves a safe state but is in %s",
           self->name, participant_state_name(own_state(self)));
    ASSERT(lock_none_held(), "%s may wait at the gate with a ranked lock held", self->name);
    return_to(self, unsafe, 0);
}

void participant_enter_safe(struct participant *self, enum participant_state safe)
{
    ASSERT(!participant_state_is_safe(own_state(self)), "%s enters %s but is in %s", self->name,
           participant_state_name(safe), participant_state_name(own_state(self)));
    ASSERT(lock_none_held(), "%s enters %s with a ranked lock held", self->name,
           participant_state_name(safe));
    self->transitions++;
    store_seq(&self->line->state, safe); /* [D] [H] */
    SCHED_POINT(STATE_STORED, "the coordinator may see us safe before we see its epoch");
    uint64_t epoch = load_seq(&stop_epoch.word); /* [D] */
    if (epoch_is_odd(epoch))
        arrive(self, epoch, STOP_STEP_ENTERS_SAFE);
}

void participant_set_unsafe(struct participant *self, enum participant_state unsafe)
{
    ASSERT(!participant_state_is_safe(own_state(self)), "%s is in %s", self->name,
           participant_state_name(own_state(self)));
    store_relaxed(&self->line->state, unsafe); /* unsafe either way: nobody decides on it */
}

/* The epoch is odd and cannot change before we arrive: we are in GUEST or VM and
 * were before it became odd, so the walk sees us and waits. */
static STOP_PATH void stop_at_poll(struct participant *self, uint64_t epoch)
{
    uint32_t unsafe = own_state(self);
    stamp_arrival(self, epoch);                         /* [A] */
    uint64_t waited = gate_enter(epoch) ? epoch : 0;    /* before the ticket: when all have
                                                           arrived, all waiters are counted */
    store_seq(&self->line->state, PARTICIPANT_STOPPED); /* [D] [H] */
    SCHED_POINT(STATE_STORED, "stopped, ticket not yet tried");
    claim_ticket(self, epoch);
    wait_traced(self, epoch);
    return_to(self, unsafe, waited);
}

/* True when the word is clear and no stop is on. */
static bool clear_poll_word(struct participant *self) /* [P] */
{
    if (MUTANT(7)) {
        bool is_even = !epoch_is_odd(load_seq(&stop_epoch.word));
        SCHED_POINT(POLL_LOOKED_EVEN, "a stop that arms here is wiped out");
        store_seq(&self->poll_word, 0);
        return is_even;
    }
    SCHED_POINT(POLL_LOOKED_EVEN, "a stop that arms here must be seen by the look below");
    store_seq(&self->poll_word, 0);
    if (!epoch_is_odd(load_seq(&stop_epoch.word)))
        return true;
    store_seq(&self->poll_word, 1);
    return false;
}

void participant_poll_slow(struct participant *self)
{
    ASSERT(!participant_state_is_safe(own_state(self)), "%s polls in %s", self->name,
           participant_state_name(own_state(self)));
    ASSERT(lock_none_held(), "%s polls with a ranked lock held", self->name);
    ASSERT(!registry_is_reading(), "%s polls inside an RCU read section", self->name);
    bool has_own_word = self->head.poll == &self->poll_word;
    for (;;) {
        SCHED_POINT(POLL_FIRED, "the epoch may turn even or odd again");
        uint64_t epoch = load_seq(&stop_epoch.word); /* [P] */
        trace(self, STOP_STEP_POLL_FIRED, 0, epoch);
        if (epoch_is_odd(epoch))
            stop_at_poll(self, epoch);
        else if (!has_own_word || clear_poll_word(self))
            break;
    }
    count_witness(self); /* a poll passed */
}

/* A marked lock is taken by operations too, so nobody may wait for it, or hold it
 * at the gate, in an unsafe state: try; else wait for it in BLOCKED; if a stop is on
 * when it is ours, let go, wait at the gate, and begin again. */
void participant_lock(struct participant *self, struct lock *lock)
{
    uint32_t unsafe = own_state(self);
    ASSERT(lock_is_marked(lock->rank), "%s takes an unmarked lock this way", self->name);
    if (lock_try(lock))
        return;
    participant_enter_safe(self, PARTICIPANT_BLOCKED);
    for (uint64_t waited = 0;;) {
        lock_acquire(lock);
        if (try_unsafe(self, unsafe, PARTICIPANT_BLOCKED)) {
            if (waited)
                leave_gate(self, waited);
            return;
        }
        lock_release(lock);
        uint64_t epoch = load_seq(&stop_epoch.word);
        if (epoch_is_odd(epoch))
            wait_at_gate(self, epoch, &waited);
    }
}

/* A thread that ends attached would leave a hole in the registry: every later stop would
 * wait for it, or read its freed memory through liburcu's list. */
static pthread_key_t end_of_thread;
static pthread_once_t end_of_thread_once = PTHREAD_ONCE_INIT;

static void complain_of_missing_detach(void *participant)
{
    struct participant *p = participant;
    INSIST(false, "thread \"%s\" ends without detaching", p->name);
}

static void make_end_of_thread(void)
{
    int error = pthread_key_create(&end_of_thread, complain_of_missing_detach);
    INSIST(error == 0, "pthread_key_create: %s", strerror(error));
}

static struct participant *create(enum participant_kind kind, const char *name)
{
    size_t bytes =
        (sizeof(struct participant) + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
    struct participant *p = aligned_alloc(CACHE_LINE_BYTES, bytes);
    struct trace_ring *ring = stop_trace_is_on() ? trace_ring_create() : NULL;
    struct stop_line *line = p && (ring || !stop_trace_is_on()) ? registry_take_line() : NULL;
    if (!line) {
        trace_ring_destroy(ring);
        free(p);
        return NULL;
    }
    memset(p, 0, bytes); /* and thereby touched: no first touch of it inside a stop */
    p->trace = ring;
    line->participant = p;
    p->line = line;
    p->head.poll =
        flags->safepoint_poll == SAFEPOINT_POLL_GLOBAL ? &stop_epoch.half[0] : &p->poll_word;
    p->kind = kind;
    p->tid = os_tid();
    p->cpu_word = os_cpu_word();
    snprintf(p->name, sizeof p->name, "%s", name);
    return p;
}

enum err participant_attach(enum participant_kind kind, const char *name,
                            struct participant **participant_out)
{
    INSIST(!this_participant, "thread attaches twice, as \"%s\" and \"%s\"", this_participant->name,
           name);
    if (!stops_are_on())
        return ERR_STATE;
    struct participant *p = create(kind, name);
    if (!p)
        return ERR_NO_MEMORY;
    pthread_once(&end_of_thread_once, make_end_of_thread);
    pthread_setspecific(end_of_thread, p);
    registry_thread_begins();
    this_participant = p; /* before others can find it and send it the dump's signal */
    registry_add(p);
    *participant_out = p;
    return ERR_OK;
}

void participant_detach(struct participant *self)
{
    INSIST(self == this_participant, "participant \"%s\" is detached by another thread",
           self->name);
    ASSERT(lock_none_held() && !registry_is_reading(), "%s ends with a lock held", self->name);
    if (MUTANT(6))
        store_seq(&self->line->state, PARTICIPANT_GONE);
    else if (!participant_state_is_safe(own_state(self)))
        participant_enter_safe(self, PARTICIPANT_GONE);
    else
        store_seq(&self->line->state,
                  PARTICIPANT_GONE); /* safe before and after: no ticket of ours */
    stops_count_transitions(self->transitions);
    SCHED_POINT(UNLINKING, "gone, still in the list");
    this_participant = NULL;
    pthread_setspecific(end_of_thread, NULL);
    registry_remove(self);
    registry_thread_ends();
}
