/* vm_thread.c -- serve requests, close and deliver records, sleep.
 *
 *            +------------------------------------------------+
 *            v                                                |
 *   SafepointALot is due: a stop of our own;                  |
 *   take a request --none--> close the open record if its     |
 *            |               waiters are all out; deliver;    |
 *            |               sleep (until it is due, and      |
 *            |               short while one is open) --------+
 *            +-> prepare, stop, finish, answer; deliver ------+
 *
 * SPDX-License-Identifier: MIT */
#include "safepoint/vm_thread.h"

#include "base/atomics.h"
#include "base/flags.h"
#include "base/insist.h"
#include "base/log.h"
#include "base/os.h"
#include "safepoint/coordinator.h"
#include "safepoint/ledger.h"
#include "safepoint/ledger_log.h"
#include "safepoint/operation.h"
#include "safepoint/registry.h"
#include "safepoint/thread_dump.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

/* While a record is open: look again after this, then twice as long, and so on.
 * A futex wake reaches a mutator in 3-22 us here, so one look is usually enough. */
#define FIRST_LOOK_NS 250000
#define LAST_LOOK_NS  16000000

static pthread_t thread;
static _Atomic uint64_t dump_wanted_ns; /* when; 0 = no dump is wanted */
static _Atomic uint64_t stops_done;

uint64_t vm_thread_stops(void) { return load_relaxed(&stops_done); } /* a statistic */

void vm_thread_ask_for_dump(void)
{
    store_seq(&dump_wanted_ns, os_now_ns());
    operation_wake();
}

static void answer_all(struct operation *first, uint64_t epoch)
{
    for (struct operation *next; first; first = next) {
        next = first->next_pending; /* the answered one may vanish */
        first->epoch = epoch;
        operation_answer(first);
    }
}

static uint32_t count_all(const struct operation *first)
{
    uint32_t n = 0;
    for (; first; first = first->next_pending)
        n++;
    return n;
}

static bool is_elided(struct operation *operation)
{
    if (!operation->still_needed || operation->still_needed(operation))
        return false;
    ledger_count_elided();
    answer_all(operation, 0);
    return true;
}

static uint64_t stop_for(struct operation *operation, uint64_t picked_ns)
{
    operation->next_pending = operation_take_equal(operation);
    uint32_t requests = count_all(operation);
    ledger_count_coalesced(requests - 1);
    coordinator_prepare();
    if (operation->prepare)
        operation->prepare(operation);
    static struct stop_record exit_record; /* Exit is never released: no row in the ledger */
    bool is_exit = operation->kind == OPERATION_EXIT;
    struct stop_record *record = is_exit ? &exit_record : ledger_begin();
    record->operation = operation->kind;
    record->schedule = operation->schedule;
    record->requests = requests;
    record->stamp[LEDGER_STAMP_requested] = operation->requested_ns;
    record->stamp[LEDGER_STAMP_picked] = picked_ns;
    coordinator_stop(operation, record);
    if (!is_exit)
        ledger_filled();
    store_relaxed(&stops_done, load_relaxed(&stops_done) + 1); /* we alone write */
    if (operation->finish)
        operation->finish(operation);
    return record->epoch;
}

/* False after Exit. */
static bool serve(struct operation *operation)
{
    uint64_t picked_ns = os_now_ns();
    if (is_elided(operation))
        return true;
    bool is_exit = operation->kind == OPERATION_EXIT;
    if (is_exit)
        ledger_close();
    uint64_t epoch = stop_for(operation, picked_ns);
    if (!is_exit)
        answer_all(operation, epoch);
    coordinator_settle();
    ledger_deliver();
    if (is_exit) {
        ledger_end();
        ledger_totals()->per_operation[OPERATION_EXIT]++;
        ledger_log_summary(ledger_totals());
        log_flush();
        operation_close(1); /* but for Exit's own request */
        answer_all(operation, epoch);
    }
    return !is_exit;
}

static void dump_threads(void)
{
    struct operation dump;
    thread_dump_init(&dump);
    dump.requested_ns = exchange_seq(&dump_wanted_ns, 0);
    dump.next_pending = NULL;
    serve(&dump);
}

/* --- -XX:+SafepointALot -------------------------------------------------------------- */

#define MS_NS               UINT64_C(1000000)
#define DEFAULT_INTERVAL_MS 1000 /* HotSpot's */

static _Atomic(void (*)(void)) check;

void vm_thread_set_check(void (*check_at_safepoint)(void))
{
    store_seq(&check, check_at_safepoint);
}

static void run_check(struct operation *operation)
{
    (void)operation;
    void (*check_at_safepoint)(void) = load_seq(&check);
    if (check_at_safepoint)
        check_at_safepoint();
}

/* The instants are start + n * interval, whatever the stops take: no drift. */
struct pace {
    uint64_t interval_ns, due_ns; /* 0, OS_FUTEX_FOREVER = never */
};

static struct pace pace_start(void)
{
    uint64_t ms = flags->guaranteed_safepoint_interval;
    if (!flags->safepoint_alot)
        return (struct pace){ 0, OS_FUTEX_FOREVER };
    uint64_t interval_ns = (ms ? ms : DEFAULT_INTERVAL_MS) * MS_NS;
    return (struct pace){ interval_ns, os_now_ns() + interval_ns };
}

/* Instants that a long stop has slept through are left out: no burst. */
static void pace_next(struct pace *pace)
{
    uint64_t now_ns = os_now_ns();
    if (now_ns >= pace->due_ns)
        pace->due_ns += ((now_ns - pace->due_ns) / pace->interval_ns + 1) * pace->interval_ns;
}

static uint64_t pace_wait_ns(const struct pace *pace, uint64_t most_ns)
{
    if (!pace->interval_ns)
        return most_ns;
    uint64_t now_ns = os_now_ns(), left_ns = pace->due_ns > now_ns ? pace->due_ns - now_ns : 0;
    return left_ns < most_ns ? left_ns : most_ns;
}

/* One request is served between two of these, so that neither starves the other. */
static void stop_if_due(struct pace *pace)
{
    struct operation forced;
    if (!pace->interval_ns || os_now_ns() < pace->due_ns)
        return;
    memset(&forced, 0, sizeof forced);
    forced.kind = OPERATION_FORCE_SAFEPOINT;
    forced.run = STILLPOINT_ASSERT_LEVEL >= 2 ? run_check : NULL;
    forced.requested_ns = os_now_ns();
    serve(&forced);
    pace_next(pace);
}

/* --- the thread -------------------------------------------------------------------- */

static void *vm_thread_main(void *unused)
{
    (void)unused;
    os_set_thread_name("VM Thread");
    /* Timer slack would make the waits for open records 50 us late; harmless, but
     * the injected delays of field report C33 are sleeps of this thread too. */
    os_set_timer_slack_ns(1000);
    os_set_time_slice_ns(100000);
    registry_thread_begins();
    uint64_t look_ns = FIRST_LOOK_NS;
    struct pace pace = pace_start();
    for (;;) {
        uint32_t arrived = operation_arrived(); /* before looking for work: Note [Q] */
        if (load_seq(&dump_wanted_ns)) {        /* first: a full queue must not starve it */
            dump_threads();
            continue;
        }
        stop_if_due(&pace);
        struct operation *operation = operation_take();
        if (operation) {
            look_ns = FIRST_LOOK_NS;
            if (!serve(operation))
                break;
            continue;
        }
        bool is_closed = ledger_try_close();
        ledger_deliver();
        operation_wait(arrived, pace_wait_ns(&pace, is_closed ? OS_FUTEX_FOREVER : look_ns));
        if (!is_closed && look_ns < LAST_LOOK_NS)
            look_ns *= 2;
    }
    registry_thread_ends();
    return NULL;
}

static const int own_faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS };

/* Signals meant for the process go to threads that expect them. */
enum err vm_thread_start(void)
{
    sigset_t all, before;
    operation_start();
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own_faults / sizeof *own_faults; i++)
        sigdelset(&all, own_faults[i]); /* a blocked fault kills without a report */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, vm_thread_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error ? ERR_NO_THREAD : ERR_OK;
}

void vm_thread_join(void)
{
    int error = pthread_join(thread, NULL);
    INSIST(error == 0, "pthread_join of the VM thread: %s", strerror(error));
}
