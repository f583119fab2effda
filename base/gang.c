/* gang.c -- see gang.h.
 *
 * Note [J] One job.  The word `job` holds how many jobs there have been, and in its low 8 bits
 *   how many workers the latest one has besides the caller; it is a futex.
 *
 *     caller                                   worker
 *     work, argument, left                     waits: spins on job, then says that it sleeps
 *     job := next, workers    [1]  ------->    and sleeps on the value it saw      [2]
 *     sleepers? wake                           work(argument, i), when i is one of them
 *     its own part                             left := left - 1                    [3]
 *     waits for left = 0      [4]  <-------    zero, and the caller sleeps? wake
 *
 *   A worker of the job sees its words: [1] releases, reading job acquires.  One that is not of
 *   it learns so from the same word and touches nothing else, however late it comes; so a job's
 *   words may be written once all of its workers have counted themselves off.  [3] releases, [4]
 *   acquires: the caller sees what the workers wrote.
 *   [1] with [2], and [3] with [4], are Dekker pairs, seq_cst: either who goes to sleep sees
 *   the new value, or who stores it sees the sleeper.  The kernel compares once more.
 *   A worker sleeps through 2^24 jobs at most before it could mistake one for another, and it is
 *   woken by each of them.
 *
 * SPDX-License-Identifier: MIT */
#include "base/gang.h"

#include "base/atomics.h"
#include "base/insist.h"
#include "base/os.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPINS       2000 /* some 20 us: longer than the gap between two pieces of one job */
#define HELPER_BITS 8    /* of the job's word */
#define HELPER_MASK ((UINT32_C(1) << HELPER_BITS) - 1)

struct worker {
    struct gang *gang;
    unsigned number;
    uint32_t seen; /* the job's word when it was started */
    pthread_t thread;
};

struct gang {
    void (*work)(void *argument, unsigned worker); /* [J], with argument */
    void *argument;
    CACHE_ALIGNED _Atomic uint32_t job;      /* [J] */
    CACHE_ALIGNED _Atomic uint32_t left;     /* [J]; a futex */
    CACHE_ALIGNED _Atomic uint32_t sleepers; /* workers that are about to sleep */
    _Atomic uint32_t caller_sleeps;
    _Atomic bool must_end;
    _Atomic bool may_spin; /* each worker can have a CPU of its own; a hint */
    unsigned size;         /* the owner's, as all below */
    char name[12];
    struct worker worker[GANG_MOST_WORKERS];
};

_Static_assert(GANG_MOST_WORKERS - 1 <= HELPER_MASK, "the job's word holds the workers");

enum err gang_new(const char *name, struct gang **gang_out)
{
    size_t lines = (sizeof(struct gang) + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES;
    struct gang *gang = aligned_alloc(CACHE_LINE_BYTES, lines * CACHE_LINE_BYTES);
    if (!gang)
        return ERR_NO_MEMORY;
    memset(gang, 0, sizeof *gang);
    snprintf(gang->name, sizeof gang->name, "%s", name);
    gang->size = 1;
    *gang_out = gang;
    return ERR_OK;
}

unsigned gang_size(const struct gang *gang) { return gang->size; }

/* --- a worker -------------------------------------------------------------------------- */

/* Returns the job's word, which is not `seen`. */
static uint32_t wait_for_job(struct gang *gang, uint32_t seen)
{
    uint32_t job;
    for (int i = 0; load_relaxed(&gang->may_spin) && i < SPINS; i++) {
        if ((job = load_acquire(&gang->job)) != seen) /* [J] */
            return job;
        os_cpu_pause();
    }
    fetch_add_seq(&gang->sleepers, 1); /* [J] */
    while ((job = load_seq(&gang->job)) == seen)
        os_futex_wait(&gang->job, seen, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
    fetch_sub_seq(&gang->sleepers, 1);
    return job;
}

static void *worker_main(void *pointer)
{
    struct worker *self = pointer;
    struct gang *gang = self->gang;
    uint32_t job = self->seen;
    char name[32];
    snprintf(name, sizeof name, "%s#%u", gang->name, self->number);
    os_set_thread_name(name);
    for (;;) {
        job = wait_for_job(gang, job);
        if (load_seq(&gang->must_end))
            return NULL;
        if (self->number > (job & HELPER_MASK))
            continue;
        gang->work(gang->argument, self->number);
        if (fetch_sub_seq(&gang->left, 1) == 1 && load_seq(&gang->caller_sleeps)) /* [J] */
            os_futex_wake(&gang->left, 1, OS_FUTEX_ANY);
    }
}

/* --- the owner ------------------------------------------------------------------------------ */

static bool start_worker(struct gang *gang)
{
    static const int own_faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS };
    struct worker *worker = &gang->worker[gang->size];
    sigset_t all, before;
    *worker = (struct worker){ gang, gang->size, load_relaxed(&gang->job), 0 }; /* our own word */
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own_faults / sizeof *own_faults; i++)
        sigdelset(&all, own_faults[i]); /* a blocked fault kills without a report */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&worker->thread, NULL, worker_main, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

unsigned gang_grow(struct gang *gang, unsigned workers)
{
    if (workers > GANG_MOST_WORKERS)
        workers = GANG_MOST_WORKERS;
    if (workers <= gang->size)
        return gang->size;
    while (gang->size < workers && start_worker(gang))
        gang->size++;
    store_relaxed(&gang->may_spin, gang->size <= (unsigned)os_cpus_available()); /* a hint */
    return gang->size;
}

static void publish(struct gang *gang, unsigned helpers)
{
    uint32_t jobs = (load_relaxed(&gang->job) >> HELPER_BITS) + 1; /* we alone change it */
    store_seq(&gang->job, jobs << HELPER_BITS | helpers);          /* [J] */
    if (load_seq(&gang->sleepers))                                 /* [J] */
        os_futex_wake(&gang->job, OS_FUTEX_ALL, OS_FUTEX_ANY);
}

static void wait_for_rest(struct gang *gang)
{
    uint32_t left;
    for (int i = 0; i < SPINS; i++) {
        if (load_acquire(&gang->left) == 0) /* [J] */
            return;
        os_cpu_pause();
    }
    store_seq(&gang->caller_sleeps, 1); /* [J] */
    while ((left = load_seq(&gang->left)) > 0)
        os_futex_wait(&gang->left, left, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
    store_seq(&gang->caller_sleeps, 0);
}

void gang_run(struct gang *gang, unsigned workers, void (*work)(void *argument, unsigned worker),
              void *argument)
{
    INSIST(workers >= 1 && workers <= gang->size, "%u workers of a gang of %u", workers,
           gang->size);
    if (workers == 1) {
        work(argument, 0);
        return;
    }
    gang->work = work;
    gang->argument = argument;
    store_relaxed(&gang->left, workers - 1); /* the job publishes it */
    publish(gang, workers - 1);
    work(argument, 0);
    wait_for_rest(gang);
}

void gang_end(struct gang *gang)
{
    store_seq(&gang->must_end, true);
    publish(gang, 0);
    for (unsigned i = 1; i < gang->size; i++) {
        int error = pthread_join(gang->worker[i].thread, NULL);
        INSIST(error == 0, "pthread_join of a worker: %s", strerror(error));
    }
    free(gang);
}
