/* mutators.h -- threads to be stopped, for the unit tests of safepoint/.
 *
 * Each test of check runs in a process of its own, forked before any thread, so
 * the machinery is started afresh in each.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_MUTATORS_H
#define TESTS_UNIT_MUTATORS_H

#include "base/atomics.h"
#include "base/flags.h"
#include "base/log.h"
#include "base/os.h"
#include "safepoint/coordinator.h"
#include "safepoint/ledger.h"
#include "safepoint/operation.h"
#include "safepoint/participant_priv.h"
#include "safepoint/registry.h"
#include "safepoint/stops.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__ || defined STILLPOINT_SCHED_POINTS
#define TESTS_ARE_SLOW 1
#else
#define TESTS_ARE_SLOW 0
#endif

#define MS UINT64_C(1000000)

/* What a late stop may take on a shared 2-core machine before a test calls it wrong:
 * generous on purpose. */
#define ALLOWANCE_NS (2000 * MS)

static inline void start_stops_or_die(const char *flag)
{
    log_start(os_now_ns());
    if (flag)
        flags_set_for_test(flag);
    ck_assert_int_eq(stops_start(), ERR_OK);
}

struct mutator {
    pthread_t thread;
    const char *name;
    void (*body)(struct mutator *, struct participant *);
    int number;
    _Atomic uint32_t is_ready, quit, go;
    int64_t plain; /* deliberately not atomic: only the protocol protects it */
    uint64_t time_ns;
};

static inline void *mutator_main(void *argument)
{
    struct mutator *m = argument;
    struct participant *self;
    if (participant_attach(PARTICIPANT_MUTATOR, m->name, &self) != ERR_OK)
        return NULL;
    participant_leave_safe(self, PARTICIPANT_GUEST);
    store_release(&m->is_ready, 1); /* pairs with mutator_start() */
    m->body(m, self);
    participant_detach(self);
    return NULL;
}

static inline void mutator_start(struct mutator *m, const char *name,
                                 void (*body)(struct mutator *, struct participant *))
{
    m->name = name;
    m->body = body;
    ck_assert_int_eq(pthread_create(&m->thread, NULL, mutator_main, m), 0);
    while (!load_acquire(&m->is_ready))
        os_sleep_ns(100000);
}

static inline void mutator_end(struct mutator *m)
{
    store_release(&m->quit, 1);
    pthread_join(m->thread, NULL);
}

static inline void poll_until_quit(struct mutator *m, struct participant *self)
{
    while (!load_acquire(&m->quit)) {
        m->plain++;
        participant_poll(self);
    }
}

static inline void sleep_until_quit(struct mutator *m, struct participant *self)
{
    participant_enter_safe(self, PARTICIPANT_BLOCKED);
    while (!load_acquire(&m->quit))
        os_sleep_ns(1 * MS);
    participant_leave_safe(self, PARTICIPANT_GUEST);
}

/* Keeps the CPU for ns without polling. */
static inline void spin_for(uint64_t ns)
{
    uint64_t end = os_now_ns() + ns;
    while (os_now_ns() < end)
        os_cpu_pause();
}

/* A copy of the delivered records, by the sink; count publishes them. */
#define MOST_RECORDS 4096
struct records {
    _Atomic uint32_t count;
    struct stop_record record[MOST_RECORDS];
};

static inline void keep_record(const struct stop_record *record, void *argument)
{
    struct records *r = argument;
    uint32_t count = load_relaxed(&r->count); /* the VM thread alone writes */
    if (count == MOST_RECORDS)
        return;
    r->record[count] = *record;
    store_release(&r->count, count + 1); /* pairs with the readers' loads of count */
}

#endif
