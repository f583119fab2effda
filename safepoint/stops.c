/* stops.c -- see stops.h.  SPDX-License-Identifier: MIT */
#include "safepoint/stops.h"

#include "base/atomics.h"
#include "base/crash.h"
#include "base/insist.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/unwind.h"
#include "safepoint/coordinator.h"
#include "safepoint/operation.h"
#include "safepoint/participant_priv.h"
#include "safepoint/registry.h"
#include "safepoint/stop_trace.h"
#include "safepoint/thread_dump.h"
#include "safepoint/vm_thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum { OFF, ON, EXITING, EXITED };

static struct lock lifecycle = LOCK_INITIALIZER(LIFECYCLE);
static _Atomic uint32_t state;
static _Atomic uint64_t transitions_of_ended;

bool stops_are_on(void) { return load_acquire(&state) == ON; } /* pairs with stops_start() */

bool stops_have_ended(void) { return load_acquire(&state) == EXITED; } /* with stops_exit() */

enum err stops_start(void)
{
    enum err err = ERR_STATE;
    lock_acquire(&lifecycle);
    if (load_relaxed(&state) == OFF) { /* written under our lock */
        unwind_prime();
        thread_dump_install();
        registry_start();
        err = stop_trace_start() ? coordinator_start() : ERR_NO_MEMORY;
        if (err == ERR_OK)
            err = vm_thread_start();
        if (err == ERR_OK) {
            crash_set_describe(stops_describe);
            store_release(&state, ON);
        }
    }
    lock_release(&lifecycle);
    return err;
}

void stops_exit(void)
{
    struct operation exit_stop;
    struct participant *self = participant_self();
    INSIST(!self || participant_state_is_safe(load_relaxed(&self->line->state)),
           "\"%s\" asks for the last stop from guest code and would wait for itself", self->name);
    lock_acquire(&lifecycle);
    bool was_on = load_relaxed(&state) == ON; /* written under our lock */
    if (was_on)
        store_release(&state, EXITING);
    lock_release(&lifecycle);
    while (!was_on && load_acquire(&state) == EXITING)
        os_sleep_ns(1000000); /* another thread is at it */
    if (!was_on)
        return;
    memset(&exit_stop, 0, sizeof exit_stop);
    exit_stop.kind = OPERATION_EXIT;
    operation_request(&exit_stop);
    vm_thread_join();
    store_release(&state, EXITED); /* publishes the ledger's totals */
}

/* C has no closures: the callback and its argument travel in this. */
struct forced {
    struct operation operation;
    void (*run)(void *);
    void *argument;
};

static void run_forced(struct operation *operation)
{
    struct forced *forced = operation->argument;
    forced->run(forced->argument);
}

void stops_force(void (*run)(void *), void *argument)
{
    struct forced forced;
    memset(&forced, 0, sizeof forced);
    forced.operation.kind = OPERATION_FORCE_SAFEPOINT;
    forced.run = run;
    forced.argument = argument;
    if (run) {
        forced.operation.run = run_forced;
        forced.operation.argument = &forced; /* its own: never equal to another */
    }
    operation_request(&forced.operation);
}

void stops_set_check(void (*check_at_safepoint)(void)) { vm_thread_set_check(check_at_safepoint); }

void stops_dump_threads(void)
{
    struct operation dump;
    thread_dump_init(&dump);
    operation_request(&dump);
}

static void on_sigquit(int signal_number)
{
    (void)signal_number;
    int before = errno;
    vm_thread_ask_for_dump();
    errno = before;
}

void stops_handle_sigquit(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_sigquit;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGQUIT, &action, NULL);
}

struct stops_figures stops_figures(void)
{
    return (struct stops_figures){
        .stops = vm_thread_stops(),
        .attached = registry_attached(),
        .transitions = load_relaxed(&transitions_of_ended), /* a statistic */
    };
}

void stops_count_transitions(uint64_t transitions)
{
    fetch_add_relaxed(&transitions_of_ended, transitions); /* a statistic */
}

/* No read section: the crashing thread may hold anything.  A participant that
 * ends meanwhile can make this walk fault, which ends the report, not the truth
 * written so far. */
void stops_describe(void)
{
    struct participant *self = participant_self();
    uint64_t epoch = load_seq(&stop_epoch.word);
    crash_write("# this thread: %s%s%s\n", self ? "\"" : "",
                self ? self->name : "not a participant", self ? "\"" : "");
    crash_write("# stops done: %llu, epoch %llu%s\n", (unsigned long long)vm_thread_stops(),
                (unsigned long long)epoch, epoch_is_odd(epoch) ? ": a stop is on" : "");
    crash_write("# participants (%u), newest first:\n", registry_count());
    int written = 0;
    registry_for_each (line) {
        struct participant *p = line->participant;
        if (!p)
            break; /* a line that was handed back under our eyes */
        char doing[96];
        uint64_t ticket = load_relaxed(&p->line->ticket); /* a picture, not a decision */
        doing_format(doing_read(&p->doing), doing, sizeof doing);
        crash_write("#   \"%s\" tid=%d %s%s%s%s\n", p->name, p->tid,
                    participant_state_name(load_relaxed(&p->line->state)),
                    !epoch_is_odd(epoch)              ? ""
                    : ticket == TICKET_ISSUED(epoch)  ? ", NOT ARRIVED"
                    : ticket == TICKET_CLAIMED(epoch) ? ", arrived"
                                                      : ", no ticket",
                    doing[0] ? ", " : "", doing);
        if (++written == 64) {
            crash_write("#   ...\n");
            break;
        }
    }
}
