/* scenario_run.c -- see scenario_run.h.
 *
 *   parent                child main thread          child watchdog
 *   fork ---------------> start stops, threads
 *   read the pipe         probe on schedule          every second: did a request end?
 *        |                quit, join, Exit           no for 10 s: states, abort
 *   result or none <----- write the result
 *
 * Probes.  The k-th is due at start + k * every.  A probe that finds later
 * instants due already answers for them: they count as missed, and each is entered
 * in `scheduled` from its own instant, so that a long stop does not hide the probes
 * it has swallowed.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/ttsp/scenario_run.h"

#include "base/crash.h"
#include "base/flags.h"
#include "base/log.h"
#include "base/os.h"
#include "safepoint/operation.h"
#include "safepoint/stops.h"
#include "vm/start.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_THREADS       1100
#define HUNG_AFTER_SECONDS 10
/* What a child may take beyond its probing: threads, joins, 256 MiB buffers. */
#define GRACE_NS UINT64_C(30000000000)

struct scenario_run {
    const struct scenario *scenario;
    const struct scenario_options *options;
    struct scenario_result *result;
    _Atomic uint32_t is_over; /* a futex */
    _Atomic uint32_t ready;   /* threads that are at their work */
    _Atomic uint32_t requests_done;
    _Atomic bool has_failed;
    pthread_t threads[MOST_THREADS];
    uint32_t thread_count;
};

struct thread_start {
    struct scenario_run *run;
    const char *name;
    void (*body)(struct scenario_run *, struct participant *, int);
    void (*plain_body)(struct scenario_run *, int);
    int number;
};

bool scenario_is_over(const struct scenario_run *run) { return load_relaxed(&run->is_over); }

void scenario_fail(struct scenario_run *run, const char *format, ...)
{
    bool was_failed = false;
    if (!compare_exchange_seq(&run->has_failed, &was_failed, true))
        return; /* the first reason is the one to tell */
    va_list ap;
    va_start(ap, format);
    vsnprintf(run->result->failure, sizeof run->result->failure, format, ap);
    va_end(ap);
    run->result->failure_exit = EXIT_CODE_ENVIRONMENT;
}

void scenario_sleep_until_over(struct scenario_run *run, struct participant *self)
{
    participant_enter_safe(self, PARTICIPANT_BLOCKED);
    while (!load_acquire(&run->is_over)) /* pairs with end_threads() */
        os_futex_wait(&run->is_over, 0, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
    participant_leave_safe(self, PARTICIPANT_GUEST);
}

static void say_ready(struct scenario_run *run)
{
    fetch_add_seq(&run->ready, 1);
    os_futex_wake(&run->ready, 1, OS_FUTEX_ANY);
}

static void *thread_main(void *argument)
{
    struct thread_start start = *(struct thread_start *)argument;
    struct participant *self = NULL;
    free(argument);
    if (start.plain_body) {
        say_ready(start.run);
        start.plain_body(start.run, start.number);
        return NULL;
    }
    os_set_thread_name(start.name);
    if (participant_attach(PARTICIPANT_MUTATOR, start.name, &self) != ERR_OK) {
        scenario_fail(start.run, "cannot attach thread \"%s\"", start.name);
        say_ready(start.run);
        return NULL;
    }
    participant_leave_safe(self, PARTICIPANT_GUEST);
    say_ready(start.run);
    start.body(start.run, self, start.number);
    participant_detach(self);
    return NULL;
}

static void start_thread(struct scenario_run *run, struct thread_start start)
{
    struct thread_start *copy = malloc(sizeof *copy);
    int error = copy ? 0 : ENOMEM;
    if (run->thread_count == MOST_THREADS)
        error = EAGAIN;
    if (!error) {
        *copy = start;
        error = pthread_create(&run->threads[run->thread_count], NULL, thread_main, copy);
    }
    if (error) {
        free(copy);
        scenario_fail(run, "cannot start thread %u: %s", run->thread_count + 1, strerror(error));
        return;
    }
    run->thread_count++;
}

void scenario_thread(struct scenario_run *run, const char *name,
                     void (*body)(struct scenario_run *, struct participant *, int), int number)
{
    start_thread(run, (struct thread_start){ run, name, body, NULL, number });
}

void scenario_plain_thread(struct scenario_run *run, void (*body)(struct scenario_run *, int),
                           int number)
{
    start_thread(run, (struct thread_start){ run, "", NULL, body, number });
}

/* --- the child ---------------------------------------------------------------- */

static void on_stop(const struct stop_record *record, void *argument)
{
    struct scenario_run *run = argument;
    for (uint32_t i = 0; i < record->kind_count; i++) {
        if (strcmp(record->kinds[i]->kind, run->scenario->focus) == 0) {
            hist_record(&run->result->focus, (uint64_t)stop_record_span(record, LEDGER_SPAN_ttsp));
            return;
        }
    }
}

static void *watchdog_main(void *argument)
{
    struct scenario_run *run = argument;
    uint32_t seen = 0;
    for (int quiet = 0; quiet < HUNG_AFTER_SECONDS;) {
        os_sleep_ns(1000000000);
        uint32_t now = load_relaxed(&run->requests_done); /* any change will do */
        quiet = now == seen && !scenario_is_over(run) ? quiet + 1 : 0;
        seen = now;
    }
    crash_write("stillpoint: %s: no stop has ended for %d s\n", run->scenario->name,
                HUNG_AFTER_SECONDS);
    abort(); /* the crash report has the states of all threads */
}

static bool start_watchdog(struct scenario_run *run)
{
    pthread_t watchdog;
    return pthread_create(&watchdog, NULL, watchdog_main, run) == 0 &&
           pthread_detach(watchdog) == 0;
}

static void wait_until_ready(struct scenario_run *run)
{
    uint32_t ready;
    while ((ready = load_seq(&run->ready)) < run->thread_count)
        os_futex_wait(&run->ready, ready, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
}

static void probe_on_schedule(struct scenario_run *run)
{
    uint64_t every = run->options->every_ns;
    uint64_t start = os_now_ns(), end = start + run->options->seconds_ns, due = start + every;
    os_set_timer_slack_ns(1); /* else every probe is up to 50 us late */
    os_set_time_slice_ns(100000);
    while (due < end && !load_relaxed(&run->has_failed)) { /* a late look costs one probe */
        os_sleep_until_ns(due);
        uint64_t late = os_now_ns() - due;
        struct operation probe;
        memset(&probe, 0, sizeof probe);
        probe.kind = OPERATION_FORCE_SAFEPOINT;
        probe.schedule = (struct operation_schedule){ due, every, (uint32_t)(late / every) + 1 };
        operation_request(&probe);
        due += every * probe.schedule.count;
        fetch_add_relaxed(&run->requests_done, 1); /* for the watchdog */
    }
    run->result->elapsed_ns = os_now_ns() - start;
}

static void end_threads(struct scenario_run *run)
{
    store_release(&run->is_over, 1);
    os_futex_wake(&run->is_over, OS_FUTEX_ALL, OS_FUTEX_ANY);
    while (run->thread_count > 0)
        pthread_join(run->threads[--run->thread_count], NULL);
}

static void measure(struct scenario_run *run)
{
    struct start_message message;
    struct scenario_result *result = run->result;
    enum err err;
    if (load_seq(&run->has_failed))
        return;
    if (run->scenario->focus)
        ledger_set_sink(on_stop, run);
    if ((err = start_stops(&message)) != ERR_OK) {
        scenario_fail(run, "%s", message.text);
        return;
    }
    stops_handle_sigquit();
    if (!start_watchdog(run))
        scenario_fail(run, "cannot start the watchdog thread");
    run->scenario->start(run);
    wait_until_ready(run);
    probe_on_schedule(run);
    end_threads(run);
    stops_exit();
    memcpy(&result->sums, ledger_totals(), sizeof result->sums);
    struct ledger_audit audit = ledger_audit(&result->sums);
    if (!audit.ok && !load_seq(&run->has_failed)) {
        scenario_fail(run, "self-check failed: %s", audit.why);
        result->failure_exit = EXIT_CODE_SELF_CHECK;
    }
}

static void write_all(int fd, const void *data, size_t bytes)
{
    const char *next = data;
    while (bytes > 0) {
        ssize_t n = write(fd, next, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* the parent is gone */
        next += n;
        bytes -= (size_t)n;
    }
}

/* The command has checked that its own flags do not contradict these. */
static void apply_flags(struct scenario_run *run)
{
    struct flags_error error;
    for (const char *const *flag = run->scenario->flags; *flag; flag++)
        if (!flags_override(*flag, &error))
            scenario_fail(run, "%s", error.message);
}

static _Noreturn void be_child(const struct scenario *scenario,
                               const struct scenario_options *options, int fd)
{
    static struct scenario_run run;
    static struct scenario_result result; /* half a megabyte */
    os_die_with_parent();
    run.scenario = scenario;
    run.options = options;
    run.result = &result;
    result.cpus = os_cpus_available();
    apply_flags(&run);
    flags_describe_set(result.flags, sizeof result.flags);
    measure(&run);
    result.is_complete = true;
    write_all(fd, &result, sizeof result);
    log_close();
    _exit(0);
}

/* --- the parent ----------------------------------------------------------------- */

/* Reads the result as it comes; false when the child ended or hung before. */
static bool collect(int fd, uint64_t limit_ns, void (*progress)(void *, uint64_t), void *argument,
                    struct scenario_result *result_out)
{
    uint64_t start = os_now_ns();
    size_t got = 0;
    while (got < sizeof *result_out) {
        uint64_t elapsed = os_now_ns() - start;
        if (elapsed > limit_ns)
            return false;
        if (progress)
            progress(argument, elapsed);
        if (!os_wait_readable(fd, 100000000))
            continue;
        ssize_t n = read(fd, (char *)result_out + got, sizeof *result_out - got);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        got += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void describe_end(struct scenario_result *result_out, bool has_ended, int status)
{
    result_out->failure_exit = EXIT_CODE_SELF_CHECK;
    if (!has_ended)
        snprintf(result_out->failure, sizeof result_out->failure,
                 "the child hung and was ended by the watchdog");
    else if (status >= 256)
        snprintf(result_out->failure, sizeof result_out->failure, "the child died of signal %d",
                 status - 256);
    else
        snprintf(result_out->failure, sizeof result_out->failure,
                 "the child ended with exit code %d before its result", status);
}

bool scenario_run_in_child(const struct scenario *scenario, const struct scenario_options *options,
                           void (*progress)(void *, uint64_t), void *argument,
                           struct scenario_result *result_out)
{
    int ends[2], status;
    memset(result_out, 0, sizeof *result_out);
    pid_t child = -1;
    if (pipe(ends) == 0) {
        fflush(NULL);
        child = fork();
        if (child == 0) {
            close(ends[0]);
            be_child(scenario, options, ends[1]);
        }
        close(ends[1]);
    }
    if (child < 0) {
        snprintf(result_out->failure, sizeof result_out->failure, "cannot start a process: %s",
                 strerror(errno));
        result_out->failure_exit = EXIT_CODE_ENVIRONMENT;
        return false;
    }
    bool is_whole =
        collect(ends[0], options->seconds_ns + GRACE_NS, progress, argument, result_out);
    close(ends[0]);
    bool has_ended = os_wait_child(child, is_whole ? GRACE_NS : UINT64_C(2000000000), &status);
    if (!has_ended)
        os_kill_child(child);
    if (!is_whole) {
        memset(result_out, 0, sizeof *result_out);
        describe_end(result_out, has_ended, status);
    }
    return true;
}
