/* coordinator.c -- one stop: arm, scan, wait, run, release.
 *
 * The participants' half and Notes [D] [H] [T] [A] [P] are in participant.c.
 * Between begin and op_begin, and between op_end and released: no allocation, no
 * stdio, no first touch, no lock.  Collecting arrival times waits until after the
 * release; only the read section keeps ended participants' memory until then.
 *
 * Note [S] Sleeping.  The coordinator says that it sleeps, then sleeps on the value
 *   of `remaining` it has read; the last arriver makes it zero, then reads whether
 *   the coordinator sleeps.  A Dekker pair once more (seq_cst; the kernel compares
 *   after a full barrier): the wake cannot fall between the two.
 *
 * Note [X] Witness.  "Nobody runs" is checked in every build: words that change
 *   only in GUEST or VM after the epoch was read even are copied before the
 *   operation and compared after it.  Of a participant that is safe at the first
 *   look the copy is taken at that look: it cannot run before the epoch is even.
 *
 * SPDX-License-Identifier: MIT */
#include "safepoint/coordinator.h"

#include "base/flags.h"
#include "base/insist.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/os.h"
#include "safepoint/gate.h"
#include "safepoint/participant_priv.h"
#include "safepoint/registry.h"
#include "safepoint/sched_point.h"
#include "safepoint/stop_trace.h"

#include <stdlib.h>
#include <string.h>

#define BIAS (UINT32_C(1) << 30) /* more than any number of participants */

/* HotSpot's waiting, for -XX:SafepointWait=sleep: 10 us naps in the first
 * millisecond, 1 ms naps after it (reference: its safepoint synchronisation). */
#define SHORT_NAP_NS        10000
#define LONG_NAP_NS         1000000
#define SHORT_NAPS_UNTIL_NS 1000000

static CACHE_ALIGNED _Atomic uint32_t remaining;
static _Atomic uint32_t coordinator_sleeps;

struct witness {
    struct stop_line *line;
    uint64_t copy;
};

/* The coordinator's own words, together: after an idle pause every line of them is a
 * miss inside the stop, so there are few, and warm_caches() reads them. */
static struct {
    CACHE_ALIGNED _Atomic uint64_t injected_ns[COORDINATOR_STAGE_COUNT];
    /* Of the flags, which are not looked at again after the start. */
    uint64_t spin_ns;
    enum safepoint_wait wait;
    int cpus;
    bool records;
    struct trace_ring *trace; /* NULL = off */

    bool has_spun_out; /* in this stop we spun in vain ... */
    bool should_move;
    int begin_cpu; /* ... on this CPU */
    /* Those to account for in this stop: with a ticket, or stamped before our look. */
    struct participant *seen_first;
    struct witness *witnesses;
    uint32_t witness_room, witness_count;
} own;

/* Twice what is there now, so that a burst of attaching threads between here and
 * the walk finds room; who does not is counted as unwitnessed. */
static void make_room_for_witnesses(void)
{
    uint32_t wanted = registry_count() * 2 + 64;
    if (wanted <= own.witness_room)
        return;
    struct witness *more = realloc(own.witnesses, wanted * sizeof *more);
    if (!more)
        return;                             /* the old room stays; the missing are counted */
    memset(more, 0, wanted * sizeof *more); /* touched here, not in the stop */
    own.witnesses = more;
    own.witness_room = wanted;
}

enum err coordinator_start(void)
{
    own.cpus = os_cpus_available();
    own.wait = flags->safepoint_wait;
    own.records = flags->safepoint_recording;
    own.trace = stop_trace_coordinator();
    own.spin_ns = flags->safepoint_spin_micros * 1000;
    make_room_for_witnesses();
    return own.witnesses ? ERR_OK : ERR_NO_MEMORY;
}

void coordinator_prepare(void) { make_room_for_witnesses(); }

const char *coordinator_stage_name(enum coordinator_stage stage)
{
    static const char *const names[] = { "lock", "cleanup", "operation", "wake" };
    return names[stage];
}

void coordinator_inject_delay(enum coordinator_stage stage, uint64_t ns)
{
    store_relaxed(&own.injected_ns[stage], ns); /* seen by some later stop */
}

static void delay_on_purpose(enum coordinator_stage stage)
{
    uint64_t ns = load_relaxed(&own.injected_ns[stage]);
    if (__builtin_expect(ns != 0, 0))
        os_sleep_ns(ns);
}

bool coordinator_count_arrival(void)
{
    SCHED_POINT(TICKET_WON, "claimed, not yet subtracted");
    if (fetch_sub_seq(&remaining, 1) != 1) /* [S] [T] */
        return false;
    SCHED_POINT(LAST_ARRIVED, "the coordinator may be about to sleep");
    if (load_seq(&coordinator_sleeps) && !MUTANT(5)) /* [S] */
        os_futex_wake(&remaining, 1, OS_FUTEX_ANY);
    return true;
}

/* One step of the stop, stop_trace.h; at_ns 0 = now. */
static inline void trace(enum stop_step step, uint64_t at_ns, uint64_t argument)
{
    if (__builtin_expect(own.trace != NULL, 0))
        trace_put(own.trace, at_ns ? at_ns : os_now_ns(), step, (uint32_t)argument);
}

static void note_witness(struct stop_line *line, struct stop_record *record) /* [X] */
{
    if (own.witness_count == own.witness_room) {
        record->unwitnessed++;
        return;
    }
    own.witnesses[own.witness_count++] = (struct witness){ line, load_relaxed(&line->witness) };
}

static void check_witnesses(uint64_t epoch) /* [X] */
{
    for (uint32_t i = 0; i < own.witness_count; i++) {
        uint64_t now = load_relaxed(&own.witnesses[i].line->witness);
        INSIST(now == own.witnesses[i].copy,
               "\"%s\" ran inside stop %llu: its witness went from %llu to %llu",
               own.witnesses[i].line->participant->name, (unsigned long long)epoch,
               (unsigned long long)own.witnesses[i].copy, (unsigned long long)now);
    }
}

static void see(struct participant *p, uint32_t state)
{
    p->seen.look_ns = 0;
    p->seen.state = state;
    p->seen.next = own.seen_first;
    own.seen_first = p;
}

/* Our look found it safe after all: whoever turns the ticket counts. */
static uint32_t claim_by_look(struct participant *p, uint64_t epoch) /* [T] */
{
    uint64_t issued = TICKET_ISSUED(epoch);
    if (!compare_exchange_seq(&p->line->ticket, &issued, TICKET_CLAIMED(epoch)))
        return 0;
    p->seen.look_ns = os_now_ns(); /* [A] */
    if (__builtin_expect(own.trace != NULL, 0))
        trace(STOP_STEP_FOUND_SAFE, p->seen.look_ns, STOP_STEP_ABOUT(p->number, 0));
    return 1;
}

static STOP_PATH uint32_t issue_ticket(struct participant *p, uint64_t epoch, uint32_t state)
{
    store_seq(&p->line->ticket, TICKET_ISSUED(epoch)); /* [T] */
    if (p->head.poll == &p->poll_word)
        store_seq(&p->poll_word, 1); /* [P]: the epoch is odd already */
    SCHED_POINT(TICKET_ISSUED, "it may have become safe without seeing its ticket");
    see(p, state);
    if (own.records)
        p->seen.doing = doing_read(&p->doing);
    return participant_state_is_safe(load_seq(&p->line->state)) ? claim_by_look(p, epoch)
                                                                : 0; /* [T] */
}

/* In the branch: the number is in a line that the walk must not touch. */
static inline void trace_seen(enum stop_step step, const struct stop_line *line, uint32_t state)
{
    if (__builtin_expect(own.trace != NULL, 0))
        trace(step, 0, STOP_STEP_ABOUT(line->participant->number, state));
}

/* Returns how many tickets are still out, as far as the walk knows. */
static STOP_PATH uint32_t scan(uint64_t epoch, struct stop_record *record)
{
    uint32_t issued = 0, own_claims = 0;
    own.seen_first = NULL;
    own.witness_count = 0;
    registry_for_each (line) {
        uint32_t state = load_seq(&line->state); /* [D] [H] */
        record->participants++;
        if (!participant_state_is_safe(state)) {
            trace_seen(STOP_STEP_SEEN_UNSAFE, line, state);
            own_claims += issue_ticket(line->participant, epoch, state);
            issued++;
            continue;
        }
        note_witness(line, record);
        if (load_acquire(&line->arrival_epoch) == epoch) { /* [A]: it ran when we began */
            trace_seen(STOP_STEP_SEEN_ARRIVED, line, state);
            see(line->participant, state);
            memset(&line->participant->seen.doing, 0, sizeof line->participant->seen.doing);
        } else {
            trace_seen(STOP_STEP_SEEN_SAFE, line, state);
            record->already_safe++;
            record->at_gate += state == PARTICIPANT_STOPPED;
        }
    }
    record->tickets = issued;
    return fetch_sub_seq(&remaining, BIAS - issued + own_claims) - (BIAS - issued + own_claims);
}

static bool may_spin(uint32_t outstanding) { return outstanding + 1 <= (uint32_t)own.cpus; }

/* Spins while every thread that is still out can have a CPU of its own. */
static STOP_PATH bool spin_until_all_here(uint64_t limit_ns)
{
    uint64_t deadline = 0;
    for (uint32_t i = 0;; i++) {
        uint32_t out = load_seq(&remaining); /* [H] through the claims' release */
        if (out == 0)
            return true;
        if (limit_ns != UINT64_MAX && !may_spin(out))
            return false;
        if (limit_ns != UINT64_MAX && i % 16 == 0) { /* a clock reading costs 20 ns */
            uint64_t now = os_now_ns();
            if (deadline == 0)
                deadline = now + limit_ns;
            if (now >= deadline) {
                own.has_spun_out = true;
                return false;
            }
        }
        os_cpu_pause();
    }
}

static void nap_until_all_here(void)
{
    uint64_t start = os_now_ns();
    while (load_seq(&remaining) != 0)
        os_sleep_ns(os_now_ns() - start < SHORT_NAPS_UNTIL_NS ? SHORT_NAP_NS : LONG_NAP_NS);
}

/* Who is still out when we go to sleep is late; what it is at now tells more than
 * what it was at when armed, which may have been the step before. */
static void look_at_late_ones(uint64_t epoch)
{
    if (!own.records)
        return;
    for (struct participant *p = own.seen_first; p; p = p->seen.next) {
        if (load_relaxed(&p->line->ticket) != TICKET_ISSUED(epoch)) /* a picture */
            continue;
        struct doing_value now = doing_read(&p->doing);
        if (now.what)
            p->seen.doing = now;
    }
}

static void sleep_until_all_here(uint32_t issued)
{
    uint32_t out;
    look_at_late_ones(load_relaxed(&stop_epoch.word));    /* our own word */
    store_seq(&coordinator_sleeps, 1);                    /* [S] */
    trace(STOP_STEP_SLEEPS, 0, load_relaxed(&remaining)); /* a picture */
    while ((out = load_seq(&remaining)) != 0) {           /* [S] */
        INSIST(out <= issued, "%u tickets out of %u are outstanding", out, issued);
        os_futex_wait(&remaining, out, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
    }
    store_seq(&coordinator_sleeps, 0);
}

static STOP_PATH void wait_for_all(uint32_t outstanding, uint32_t issued)
{
    INSIST(outstanding <= issued, "%u tickets out of %u are outstanding", outstanding, issued);
    if (outstanding == 0 || MUTANT(1))
        return;
    trace(STOP_STEP_SPINS, 0, outstanding);
    switch (own.wait) {
    case SAFEPOINT_WAIT_SPIN:
        spin_until_all_here(UINT64_MAX);
        break;
    case SAFEPOINT_WAIT_SLEEP:
        nap_until_all_here();
        break;
    case SAFEPOINT_WAIT_FUTEX:
        if (own.spin_ns == 0 || !spin_until_all_here(own.spin_ns))
            sleep_until_all_here(issued);
        break;
    }
}

static void run_operation(struct operation *operation)
{
    lock_operation_begins();
    log_forbid(true);
    if (operation->run)
        operation->run(operation);
    delay_on_purpose(COORDINATOR_STAGE_OPERATION);
    log_forbid(false);
    lock_operation_ends();
}

/* When p arrived, or 0: its own stamp, unless our look came first. */
static uint64_t arrival_of(struct participant *p, uint64_t epoch, bool *by_look_out) /* [A] */
{
    uint64_t look = p->seen.look_ns, stamped = 0;
    if (load_acquire(&p->line->arrival_epoch) == epoch)
        stamped = load_relaxed(&p->line->arrival_ns);
    *by_look_out = look != 0 && (stamped == 0 || look < stamped);
    return *by_look_out ? look : stamped;
}

static void note_kind(struct stop_record *record, const struct doing_what *what)
{
    if (!what)
        return;
    for (uint32_t i = 0; i < record->kind_count; i++)
        if (record->kinds[i] == what)
            return;
    if (record->kind_count < LEDGER_MOST_KINDS)
        record->kinds[record->kind_count++] = what;
}

/* Work that says what it is was begun where the thread said so; else the place is that of
 * the poll at which it arrived, if it stamped its arrival itself. */
static const void *last_place(const struct participant *p)
{
    if (p->seen.doing.what || p->seen.look_ns)
        return p->seen.doing.place;
    return load_relaxed(&p->line->arrival_place); /* after arrival_of() read the epoch, [A] */
}

static void note_last(struct stop_record *record, const struct participant *p)
{
    record->last = LEDGER_LAST_THREAD;
    doing_describe_place(last_place(p), record->last_place, sizeof record->last_place);
    memcpy(record->last_thread, p->name, sizeof record->last_thread);
    record->last_doing = p->seen.doing;
    record->last_state = p->seen.state;
}

/* After the release, still in the read section: who arrived when, who was last. */
static void collect_arrivals(uint64_t epoch, struct stop_record *record)
{
    uint64_t latest = record->stamp[LEDGER_STAMP_scanned];
    const struct participant *last = NULL;
    for (struct participant *p = own.seen_first; p; p = p->seen.next) {
        bool by_look;
        uint64_t arrival = arrival_of(p, epoch, &by_look);
        note_kind(record, p->seen.doing.what);
        if (MUTANT(8) && p->seen.look_ns) {
            record->already_safe++;
            continue;
        }
        if (arrival == 0) {
            record->missing++;
            continue;
        }
        record->arrivals++;
        record->by_look += by_look;
        if (arrival > latest) {
            latest = arrival;
            last = p;
        }
    }
    if (last)
        note_last(record, last);
    else if (record->arrivals > 0)
        record->last = LEDGER_LAST_COORDINATOR;
    else if (record->at_gate > 0)
        record->last = LEDGER_LAST_GATE;
    record->stamp[LEDGER_STAMP_last_arrival] = latest;
}

static void stamp(struct stop_record *record, enum ledger_stamp which)
{
    static const enum stop_step steps[LEDGER_STAMPS] = {
        [LEDGER_STAMP_begin] = STOP_STEP_BEGIN,       [LEDGER_STAMP_armed] = STOP_STEP_ARMED,
        [LEDGER_STAMP_scanned] = STOP_STEP_SCANNED,   [LEDGER_STAMP_noticed] = STOP_STEP_NOTICED,
        [LEDGER_STAMP_op_begin] = STOP_STEP_OP_BEGIN, [LEDGER_STAMP_op_end] = STOP_STEP_OP_END,
        [LEDGER_STAMP_released] = STOP_STEP_RELEASED, [LEDGER_STAMP_woken] = STOP_STEP_WOKEN,
    };
    record->stamp[which] = os_now_ns();
    trace(steps[which], record->stamp[which], record->epoch);
}

/* Pulls what the stop will touch into this core's cache, lines that it will write
 * as its own: misses that would fall between begin and the last arrival otherwise.
 * (Seen: 64 sleeping threads 3.9 us of TTSP without and 0.5 with; one polling mutator
 * 0.8 and 0.4.) */
static void warm_caches(void)
{
    uint32_t states = 0;
    registry_for_each (line) {
        uint32_t state = load_relaxed(&line->state); /* nothing is decided on it */
        states += state;
        if (participant_state_is_safe(state))
            continue;
        __builtin_prefetch(&line->state, 1);
        __builtin_prefetch(&line->participant->doing, 0);
        __builtin_prefetch(&line->participant->seen, 1);
    }
    __builtin_prefetch(&stop_epoch.word, 1);
    __builtin_prefetch(&coordinator_sleeps, 1);
    for (int stage = 0; stage < COORDINATOR_STAGE_COUNT; stage++)
        states += (uint32_t)load_relaxed(&own.injected_ns[stage]); /* and the words beside */
    states += own.records + own.witness_room;
    __asm__ volatile("" : : "r"(states)); /* the loads have a use */
}

/* All that can be done before anybody is affected: before begin. */
static void make_ready(uint64_t epoch)
{
    struct gate_count before = gate_arm(epoch);
    ledger_note_leftover(before.waiting, before.last_out_ns);
    store_relaxed(&remaining, BIAS); /* published by the odd epoch */
    own.has_spun_out = false;
    warm_caches();
    own.begin_cpu = os_cpu();
}

static STOP_PATH void bring_to_a_stop(uint64_t epoch, struct stop_record *record)
{
    stamp(record, LEDGER_STAMP_begin);
    delay_on_purpose(COORDINATOR_STAGE_LOCK);
    store_seq(&stop_epoch.word, epoch); /* [D] [P] */
    SCHED_POINT(EPOCH_ODD, "nobody has a ticket yet");
    if (own.records)
        stamp(record, LEDGER_STAMP_armed);
    uint32_t outstanding = scan(epoch, record);
    if (own.records)
        stamp(record, LEDGER_STAMP_scanned);
    wait_for_all(outstanding, record->tickets);
    if (own.records)
        stamp(record, LEDGER_STAMP_noticed);
    for (struct participant *p = own.seen_first; p; p = p->seen.next)
        if (!participant_state_is_safe(p->seen.state)) /* the others were noted in the scan */
            note_witness(p->line, record);
    delay_on_purpose(COORDINATOR_STAGE_CLEANUP);
}

/* A wake-up may put us on the CPU of the very thread we then wait for: it cannot arrive
 * while we spin, and the kernel leaves us there for the next wake-up too (seen: TTSP of
 * one polling mutator 23 us instead of 0.5).  So when the last to arrive came from our
 * CPU after we had spun in vain, we move, once the stop is over and answered. */
static bool sat_on_the_last_one(uint64_t epoch)
{
    uint64_t latest = 0;
    int cpu = -1;
    for (struct participant *p = own.seen_first; p && own.has_spun_out; p = p->seen.next)
        if (load_acquire(&p->line->arrival_epoch) == epoch && /* [A] */
            load_relaxed(&p->line->arrival_ns) > latest) {
            latest = load_relaxed(&p->line->arrival_ns);
            cpu = load_relaxed(&p->line->arrival_cpu);
        }
    return cpu >= 0 && cpu == own.begin_cpu;
}

void coordinator_settle(void)
{
    if (own.should_move)
        os_leave_cpu(own.begin_cpu);
    own.should_move = false;
}

void coordinator_stop(struct operation *operation, struct stop_record *record)
{
    uint64_t epoch = load_relaxed(&stop_epoch.word) + 1; /* we alone change it */
    struct os_faults before = os_thread_faults();
    record->epoch = epoch;
    registry_read_lock();
    make_ready(epoch);
    bring_to_a_stop(epoch, record);
    stamp(record, LEDGER_STAMP_op_begin);
    run_operation(operation);
    stamp(record, LEDGER_STAMP_op_end);
    check_witnesses(epoch);
    if (operation->kind == OPERATION_EXIT) {
        registry_read_unlock(); /* never released: who is stopped stays so */
        return;
    }
    delay_on_purpose(COORDINATOR_STAGE_WAKE);
    stamp(record, LEDGER_STAMP_released); /* before the store: nobody resumes earlier */
    gate_note_release(record->stamp[LEDGER_STAMP_released]);
    store_seq(&stop_epoch.word, epoch + 1); /* [H] */
    gate_open(epoch);
    stamp(record, LEDGER_STAMP_woken);
    if (own.records)
        collect_arrivals(epoch, record);
    own.should_move = sat_on_the_last_one(epoch);
    registry_read_unlock();
    struct os_faults after = os_thread_faults();
    record->faults = after.minor - before.minor + after.major - before.major;
}
