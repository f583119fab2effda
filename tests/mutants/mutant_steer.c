/* mutant_steer.c -- see mutant_steer.h.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/mutants/mutant_steer.h"

#include "base/log.h"
#include "base/os.h"
#include "safepoint/stops.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic uint32_t events[EVENTS];
static _Thread_local enum role role; /* COORDINATOR unless said: the VM thread cannot say it */
static _Thread_local uint32_t reached[SCHED_POINT_COUNT];
static _Atomic int coordinator_tid;

void mutant_tell(enum event event) { store_seq(&events[event], 1); }
bool mutant_told(enum event event) { return load_seq(&events[event]) != 0; }

void mutant_ready(void) { mutant_tell(role == A ? READY_A : READY_B); }

void mutant_await(enum event event)
{
    while (event != NOTHING && !mutant_told(event))
        os_sleep_ns(20000);
}

static void steer_here(enum sched_point point, void *rows)
{
    uint32_t nth = ++reached[point];
    if (role == COORDINATOR && point == SCHED_POINT_EPOCH_ODD)
        store_seq(&coordinator_tid, os_tid());
    for (const struct steer *s = rows; s->nth != 0; s++) {
        if (s->role != role || s->point != point || s->nth != nth)
            continue;
        mutant_tell(s->tell);
        mutant_await(s->await);
        mutant_tell(s->then_tell);
    }
}

_Noreturn void mutant_broken(const char *format, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text - 1, format, ap);
    va_end(ap);
    strcat(text, "\n");
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(3); /* nobody to tell it to */
    _exit(1);
}

/* Its thread's state in /proc, the field after the name, is S. */
static bool coordinator_is_asleep(void)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", load_seq(&coordinator_tid));
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, sizeof text, file))
        mutant_broken("cannot read %s", path);
    fclose(file);
    const char *end_of_name = strrchr(text, ')');
    return end_of_name && end_of_name[1] == ' ' && end_of_name[2] == 'S';
}

void mutant_until_coordinator_sleeps_or_ran(void)
{
    while (!mutant_told(OPERATION_RAN) && !coordinator_is_asleep())
        os_sleep_ns(100000);
}

/* --- threads and operations --------------------------------------------------------- */

static struct stop_record last_record;
static uint32_t records;
static _Atomic uint32_t operations;

const struct stop_record *mutant_record(void) { return &last_record; }
uint32_t mutant_operations(void) { return load_seq(&operations); }

static void *thread_main(void *argument)
{
    struct thread *t = argument;
    struct participant *self;
    role = NOBODY; /* until it is where the claim wants it */
    if (participant_attach(PARTICIPANT_MUTATOR, t->name, &self) != ERR_OK)
        mutant_broken("cannot attach %s", t->name);
    participant_leave_safe(self, PARTICIPANT_GUEST);
    memset(reached, 0, sizeof reached);
    role = t->role;
    t->body(self);
    role = NOBODY;
    if (participant_self())
        participant_detach(participant_self());
    return NULL;
}

void mutant_start(struct thread *t, const char *name, enum role thread_role,
                  void (*body)(struct participant *))
{
    *t = (struct thread){ .name = name, .role = thread_role, .body = body };
    if (pthread_create(&t->thread, NULL, thread_main, t) != 0)
        mutant_broken("cannot start a thread");
    mutant_await(thread_role == A ? READY_A : READY_B);
}

void mutant_end(struct thread *t)
{
    if (pthread_join(t->thread, NULL) != 0)
        mutant_broken("cannot join %s", t->name);
}

static void keep_record(const struct stop_record *record, void *unused)
{
    (void)unused;
    last_record = *record;
    records++;
}

/* A pointer to a function does not fit a pointer to void. */
struct inside {
    void (*check)(void);
};

static void run_operation(void *check_inside)
{
    if (check_inside)
        ((struct inside *)check_inside)->check();
    fetch_add_seq(&operations, 1);
    mutant_tell(OPERATION_RAN);
}

void mutant_stop(void (*check_inside)(void))
{
    struct inside inside = { check_inside };
    stops_force(run_operation, check_inside ? &inside : NULL);
}

void mutant_check_account(uint32_t stops)
{
    stops_exit();
    struct ledger_audit audit = ledger_audit(ledger_totals());
    if (records != stops || load_seq(&operations) != stops)
        mutant_broken("%u stops asked for, %u ran, %u recorded", stops, load_seq(&operations),
                      records);
    if (!audit.ok)
        mutant_broken("the ledger does not add up: %s", audit.why);
}

void mutant_expect_record(uint32_t tickets, uint32_t arrivals, uint32_t already_safe)
{
    if (last_record.tickets != tickets || last_record.arrivals != arrivals ||
        last_record.already_safe != already_safe)
        mutant_broken("the stop has %u tickets, %u arrivals, %u already safe; expected %u, %u, %u",
                      last_record.tickets, last_record.arrivals, last_record.already_safe, tickets,
                      arrivals, already_safe);
}

void mutant_run_claim(const struct claim *claim)
{
    log_start(os_now_ns());
    role = NOBODY; /* this thread asks for stops; the VM thread is born COORDINATOR */
    sched_point_set_hook(steer_here, (void *)claim->rows);
    ledger_set_sink(keep_record, NULL);
    if (stops_start() != ERR_OK)
        mutant_broken("cannot start the stop machinery");
    claim->check();
}
