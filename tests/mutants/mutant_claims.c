/* mutant_claims.c -- claims on the stop protocol, claim n written for mutant n.
 *
 * Read next: mutant_steer.h, then coordinator_waits_for_the_last() below.
 * Nothing here depends on luck or on a delay being long enough: rows of struct steer
 * lead the threads into the one interleaving that matters.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/mutants/mutant_steer.h"

#include "base/os.h"

#define BUSY_NS UINT64_C(40000000) /* a late thread's work without a poll */

/* --- 1: no operation before the last one has arrived ---------------------------------- */

static _Atomic uint32_t has_arrived; /* set by a thread just before it arrives */

static void check_arrived(void)
{
    if (!load_seq(&has_arrived))
        mutant_broken("the operation runs while a mutator is in GUEST and has not arrived");
}

static const struct steer waits_rows[] = {
    { COORDINATOR, SCHED_POINT_TICKET_ISSUED, 1, FIRST_TICKET, NOTHING, WALK_GOES_ON },
    { 0 },
};

/* The coordinator has nothing left to do but sleep, or has gone on: then it is too early. */
static void arrive_late(struct participant *self)
{
    mutant_ready();
    mutant_await(WALK_GOES_ON);
    mutant_until_coordinator_sleeps_or_ran();
    store_seq(&has_arrived, 1);
    while (!mutant_told(OPERATION_RAN))
        participant_poll(self);
}

static void coordinator_waits_for_the_last(void)
{
    struct thread a;
    mutant_start(&a, "late", A, arrive_late);
    mutant_stop(check_arrived);
    mutant_end(&a);
    mutant_check_account(1);
    mutant_expect_record(1, 1, 0);
}

/* --- 2: who leaves a safe state in a stop comes back after it -------------------------- */

static const struct steer leaving_rows[] = {
    { A, SCHED_POINT_GUEST_ANNOUNCED, 1, A_ANNOUNCED, FIRST_TICKET, NOTHING },
    { COORDINATOR, SCHED_POINT_TICKET_ISSUED, 1, FIRST_TICKET, NOTHING, NOTHING },
    { 0 },
};

/* Announces GUEST before the stop, looks after it has begun. */
static void leave_in_a_stop(struct participant *self)
{
    participant_enter_safe(self, PARTICIPANT_NATIVE);
    mutant_ready();
    participant_leave_safe(self, PARTICIPANT_GUEST);
    if (!mutant_told(OPERATION_RAN))
        mutant_broken(
            "a mutator came back from NATIVE into a stop whose operation is still to run");
}

static void leaving_looks_again_after_announcing(void)
{
    struct thread a;
    mutant_start(&a, "leaver", A, leave_in_a_stop);
    mutant_await(A_ANNOUNCED);
    mutant_stop(NULL);
    mutant_end(&a);
    mutant_check_account(1);
    mutant_expect_record(1, 1, 0);
}

/* --- 3: without a ticket nobody counts -------------------------------------------------- */

static const struct steer no_ticket_rows[] = {
    { COORDINATOR, SCHED_POINT_EPOCH_ODD, 1, EPOCH_IS_ODD, A_IS_DONE, NOTHING },
    { 0 },
};

static void be_safe_before_the_walk(struct participant *self)
{
    mutant_ready();
    mutant_await(EPOCH_IS_ODD);
    participant_enter_safe(self, PARTICIPANT_NATIVE);
    mutant_tell(A_IS_DONE);
    mutant_await(OPERATION_RAN);
}

static void arrival_without_a_ticket_is_not_counted(void)
{
    struct thread a;
    mutant_start(&a, "early", A, be_safe_before_the_walk);
    mutant_stop(NULL);
    mutant_end(&a);
    mutant_check_account(1);
    mutant_expect_record(0, 1, 0); /* it ran when the stop began: an arrival, by its own stamp */
}

/* --- 4: a ticket counts once ------------------------------------------------------------ */

/* A's ticket is claimed by the coordinator's look while A still means to claim it; a
 * second count would stand for B, which has not arrived.  The walk meets the newest
 * participant first: A. */
static const struct steer once_rows[] = {
    { COORDINATOR, SCHED_POINT_TICKET_ISSUED, 1, FIRST_TICKET, A_IS_SAFE, NOTHING },
    { A, SCHED_POINT_STATE_STORED, 1, A_IS_SAFE, SECOND_TICKET, NOTHING },
    { COORDINATOR, SCHED_POINT_TICKET_ISSUED, 2, SECOND_TICKET, A_IS_DONE, WALK_GOES_ON },
    { 0 },
};

static void lose_the_ticket(struct participant *self)
{
    mutant_ready();
    mutant_await(FIRST_TICKET);
    participant_enter_safe(self, PARTICIPANT_NATIVE);
    mutant_tell(A_IS_DONE);
    mutant_await(OPERATION_RAN);
}

static void ticket_is_counted_once(void)
{
    struct thread a, b;
    mutant_start(&b, "last", B, arrive_late);
    mutant_start(&a, "loser", A, lose_the_ticket);
    mutant_stop(check_arrived);
    mutant_end(&a);
    mutant_end(&b);
    mutant_check_account(1);
    mutant_expect_record(2, 2, 0);
    if (mutant_record()->by_look != 1)
        mutant_broken("%u tickets were claimed by the coordinator's look, not 1",
                      mutant_record()->by_look);
}

/* --- 5: the last one to arrive wakes the coordinator ------------------------------------- */

static void arrive_by_going_native(struct participant *self)
{
    mutant_ready();
    mutant_await(WALK_GOES_ON);
    mutant_until_coordinator_sleeps_or_ran();
    participant_enter_safe(self, PARTICIPANT_NATIVE);
    mutant_await(OPERATION_RAN); /* a coordinator that is not woken sleeps for ever */
}

static void last_arrival_wakes_the_coordinator(void)
{
    struct thread a;
    mutant_start(&a, "waker", A, arrive_by_going_native);
    mutant_stop(NULL);
    mutant_end(&a);
    mutant_check_account(1);
    mutant_expect_record(1, 1, 0);
}

/* --- 6: who ends arrives ------------------------------------------------------------------ */

static void arrive_by_ending(struct participant *self)
{
    mutant_ready();
    mutant_await(WALK_GOES_ON);
    mutant_until_coordinator_sleeps_or_ran();
    participant_detach(self);
    mutant_await(OPERATION_RAN);
}

static void ending_in_guest_arrives(void)
{
    struct thread a;
    mutant_start(&a, "ender", A, arrive_by_ending);
    mutant_stop(NULL);
    mutant_end(&a);
    mutant_check_account(1);
    mutant_expect_record(1, 1, 0);
}

/* --- 7: a poll word armed while it is cleared stays armed ---------------------------------- */

/* After the first stop the poll sees an even epoch and clears its word; the second stop
 * arms it just between. */
static const struct steer rearmed_rows[] = {
    { A, SCHED_POINT_POLL_LOOKED_EVEN, 1, A_LOOKED_EVEN, SECOND_TICKET, NOTHING },
    { COORDINATOR, SCHED_POINT_TICKET_ISSUED, 2, SECOND_TICKET, NOTHING, NOTHING },
    { 0 },
};

static void poll_through_two_stops(struct participant *self)
{
    mutant_ready();
    while (mutant_operations() < 2) /* a word wiped out: no poll fires any more */
        participant_poll(self);
}

static void poll_word_armed_while_cleared_stays_armed(void)
{
    struct thread a;
    mutant_start(&a, "poller", A, poll_through_two_stops);
    mutant_stop(NULL);
    mutant_await(A_LOOKED_EVEN);
    mutant_stop(NULL);
    mutant_end(&a);
    mutant_check_account(2);
    mutant_expect_record(1, 1, 0);
}

/* --- 8: who ran when the stop began is no bystander ------------------------------------------ */

/* The look wins the ticket between the thread's state and its stamp. */
static const struct steer by_look_rows[] = {
    { COORDINATOR, SCHED_POINT_TICKET_ISSUED, 1, FIRST_TICKET, A_IS_SAFE, NOTHING },
    { A, SCHED_POINT_STATE_STORED, 1, A_IS_SAFE, OPERATION_RAN, NOTHING },
    { 0 },
};

static void work_without_a_poll(struct participant *self)
{
    mutant_ready();
    mutant_await(FIRST_TICKET);
    os_sleep_ns(BUSY_NS); /* as good as a loop, and leaves the CPU to others */
    participant_enter_safe(self, PARTICIPANT_NATIVE);
}

/* The look ends before the walk does, so the scan has the last word in time; but the
 * stop had one that was late, and is not booked as one in which all were safe. */
static void ticket_lost_to_the_look_is_an_arrival(void)
{
    struct thread a;
    mutant_start(&a, "busy", A, work_without_a_poll);
    mutant_stop(NULL);
    mutant_end(&a);
    mutant_check_account(1);
    mutant_expect_record(1, 1, 0);
    const struct stop_record *record = mutant_record();
    int64_t ttsp = stop_record_span(record, LEDGER_SPAN_ttsp);
    if (record->by_look != 1 || record->last == LEDGER_LAST_NONE || ttsp < (int64_t)BUSY_NS)
        mutant_broken("last is %s after %lld ns, %u by look; expected somebody, at least %llu, 1",
                      stop_record_last_thread(record), (long long)ttsp, record->by_look,
                      (unsigned long long)BUSY_NS);
}

/* --- the table ---------------------------------------------------------------------------- */

/* clang-format off */
#define CLAIM(name, rows) { #name, name, rows }
/* clang-format on */
const struct claim mutant_claims[] = {
    CLAIM(coordinator_waits_for_the_last, waits_rows),
    CLAIM(leaving_looks_again_after_announcing, leaving_rows),
    CLAIM(arrival_without_a_ticket_is_not_counted, no_ticket_rows),
    CLAIM(ticket_is_counted_once, once_rows),
    CLAIM(last_arrival_wakes_the_coordinator, waits_rows),
    CLAIM(ending_in_guest_arrives, waits_rows),
    CLAIM(poll_word_armed_while_cleared_stays_armed, rearmed_rows),
    CLAIM(ticket_lost_to_the_look_is_an_arrival, by_look_rows),
};
#undef CLAIM
const size_t mutant_claim_count = sizeof mutant_claims / sizeof *mutant_claims;
