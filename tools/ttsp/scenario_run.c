/* scenario_run.c -- see scenario_run.h.
 *
 *   parent                child main thread          child watchdog
 *   fork ---------------> start stops, threads
 *   read the pipe         probe on schedule          every second: did the step end?
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

#include "base/flags.h"
#include "base/log.h"
#include "base/os.h"
#include "safepoint/operation.h"
#include "safepoint/stops.h"
#include "tools/process.h"
#include "vm/guest_output.h"
#include "vm/program.h"
#include "vm/threads.h"
#include "tools/watchdog.h"
#include "vm/start.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_THREADS 1100
/* What a child may take beyond its probing and the delays that were injected: the steps
 * that its own watchdog allows (threads, the last probe, joins, the exit), and some. */
#define GRACE_NS    UINT64_C(50000000000)
#define GRACE_STOPS 4

/* What the guest program has come to. */
enum guest_step { GUEST_COMPILES, GUEST_RUNS, GUEST_ENDED };

struct scenario_run {
    const struct scenario *scenario;
    const struct scenario_options *options;
    struct scenario_result *result;
    _Atomic uint32_t is_over; /* a futex */
    _Atomic uint32_t ready;   /* threads that are at their work */
    _Atomic bool has_failed;
    _Atomic uint32_t guest_step; /* a futex */
    pthread_t guest_main;
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

/* --- a guest program ------------------------------------------------------------- */

static void reach(struct scenario_run *run, enum guest_step step)
{
    store_seq(&run->guest_step, step);
    os_futex_wake(&run->guest_step, OS_FUTEX_ALL, OS_FUTEX_ANY);
}

static bool has_guest_ended(struct scenario_run *run)
{
    return run->scenario->source && load_seq(&run->guest_step) == GUEST_ENDED;
}

static void fail_guest(struct scenario_run *run, enum program_result result, const char *errors)
{
    static const struct {
        const char *what;
        int exit_code;
    } ends[] = {
        [PROGRAM_COMPILE_ERROR] = { "it does not compile", EXIT_CODE_COMPILE_ERROR },
        [PROGRAM_RUNTIME_ERROR] = { "a run-time error", EXIT_CODE_RUNTIME_ERROR },
        [PROGRAM_OUT_OF_MEMORY] = { "out of memory", EXIT_CODE_OUT_OF_MEMORY },
        [PROGRAM_OUTPUT_ERROR] = { "its output cannot be written", EXIT_CODE_ENVIRONMENT },
        [PROGRAM_NO_MEMORY] = { "the system has no memory for it", EXIT_CODE_ENVIRONMENT },
    };
    scenario_fail(run, "%s: %.*s", ends[result].what, (int)strcspn(errors, "\n"), errors);
    run->result->failure_exit = ends[result].exit_code;
}

/* A thread that ended with an error fails the scenario, even if the others run for ever. */
static void look_for_thread_errors(struct scenario_run *run)
{
    char *text = NULL;
    size_t bytes;
    FILE *errors = open_memstream(&text, &bytes);
    if (!errors)
        return;
    enum program_result result = program_left_errors(errors);
    fclose(errors);
    fputs(text, stderr);
    const char *message = strchr(text, '\n'); /* behind the line that names the thread */
    if (result != PROGRAM_OK)
        fail_guest(run, result, message ? message + 1 : text);
    free(text);
}

/* What it says goes to stderr whole; its first line is what the report says. */
static enum program_result run_guest(struct scenario_run *run, struct guest_thread *thread,
                                     FILE *errors)
{
    const struct scenario *scenario = run->scenario;
    struct program *program;
    enum program_result result =
        program_compile(thread, scenario->source, scenario->source_bytes, errors, &program);
    if (result != PROGRAM_OK)
        return result;
    reach(run, GUEST_RUNS);
    result = program_run(thread, program, 0, NULL, errors);
    program_destroy(program);
    return result;
}

static _Noreturn void wait_for_the_end(void)
{
    for (;;)
        os_sleep_ns(UINT64_C(1000000000));
}

static void *guest_main(void *argument)
{
    struct scenario_run *run = argument;
    struct guest_thread *thread;
    char *text = NULL;
    size_t bytes;
    os_set_thread_name("main");
    FILE *errors = open_memstream(&text, &bytes);
    if (!errors || program_attach("main", &thread) != ERR_OK) {
        scenario_fail(run, "no memory for the guest thread");
        reach(run, GUEST_ENDED);
        return NULL;
    }
    enum program_result result = run_guest(run, thread, errors);
    fclose(errors);
    fputs(text, stderr);
    if (result != PROGRAM_OK)
        fail_guest(run, result, text);
    free(text);
    reach(run, GUEST_ENDED);
    if (program_threads_are_left())
        wait_for_the_end(); /* of the child: attached, in NATIVE */
    program_detach(thread);
    return NULL;
}

/* Returns when the main guest thread waits, or has ended, or has had its time. */
static void start_guest(struct scenario_run *run)
{
    char message[256];
    guest_output_start(STDERR_FILENO); /* the table has stdout */
    if (program_start(message, sizeof message) != ERR_OK) {
        scenario_fail(run, "%s", message);
        reach(run, GUEST_ENDED);
        return;
    }
    int error = pthread_create(&run->guest_main, NULL, guest_main, run);
    if (error) {
        scenario_fail(run, "cannot start the guest's main thread: %s", strerror(error));
        reach(run, GUEST_ENDED);
        return;
    }
    while (load_seq(&run->guest_step) == GUEST_COMPILES)
        os_futex_wait(&run->guest_step, GUEST_COMPILES, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
    if (load_seq(&run->guest_step) == GUEST_RUNS)
        threads_await_main(run->scenario->setup_ns);
}

/* --- the child ---------------------------------------------------------------- */

static void on_stop(const struct stop_record *record, void *argument)
{
    struct scenario_run *run = argument;
    int64_t ttsp_ns = stop_record_span(record, LEDGER_SPAN_ttsp);
    run->result->stops_at_gate += record->at_gate > 0;
    if (run->options->watch)
        run->options->watch->on_stop(record);
    if (!run->scenario->focus || ttsp_ns < 0)
        return; /* a negative one is counted and told by the ledger */
    for (uint32_t i = 0; i < record->kind_count; i++) {
        if (strcmp(record->kinds[i]->kind, run->scenario->focus) == 0) {
            hist_record(&run->result->focus, (uint64_t)ttsp_ns);
            return;
        }
    }
}

static void wait_until_ready(struct scenario_run *run)
{
    uint32_t ready;
    while ((ready = load_seq(&run->ready)) < run->thread_count)
        os_futex_wait(&run->ready, ready, OS_FUTEX_FOREVER, OS_FUTEX_ANY);
}

/* How many instants the probe that is due at due answers now: those that have passed
 * and lie before the end. */
static uint32_t instants_answered(uint64_t due, uint64_t every, uint64_t end)
{
    uint64_t now = os_now_ns(), last = now < end ? now : end - 1;
    return last > due ? (uint32_t)((last - due) / every) + 1 : 1;
}

static void probe_on_schedule(struct scenario_run *run)
{
    uint64_t every = run->options->every_ns;
    uint64_t start = os_now_ns(), end = start + run->options->seconds_ns, due = start + every;
    os_set_timer_slack_ns(1); /* else every probe is up to 50 us late */
    os_set_time_slice_ns(100000);
    while (due < end && !load_relaxed(&run->has_failed)) { /* a late look costs one probe */
        os_sleep_until_ns(due);
        if (has_guest_ended(run))
            break;
        struct operation probe;
        memset(&probe, 0, sizeof probe);
        probe.kind = OPERATION_FORCE_SAFEPOINT;
        probe.schedule =
            (struct operation_schedule){ due, every, instants_answered(due, every, end) };
        watchdog_begin("no stop has ended");
        operation_request(&probe);
        watchdog_end();
        due += every * probe.schedule.count;
    }
    run->result->elapsed_ns = os_now_ns() - start;
    run->result->has_program_ended = has_guest_ended(run);
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
    ledger_set_sink(on_stop, run);
    if ((err = start_stops(&message)) != ERR_OK) {
        scenario_fail(run, "%s", message.text);
        return;
    }
    stops_handle_sigquit();
    if (!watchdog_start(run->scenario->name))
        scenario_fail(run, "cannot start the watchdog thread");
    if (run->scenario->source)
        start_guest(run);
    else
        run->scenario->start(run); /* not watched here: it may fault in much memory */
    watchdog_begin("its threads have not started");
    wait_until_ready(run);
    watchdog_end();
    probe_on_schedule(run);
    watchdog_begin("its threads have not ended");
    end_threads(run);
    watchdog_begin("the last stop has not ended");
    stops_exit();
    watchdog_end();
    if (run->scenario->source && !has_guest_ended(run))
        look_for_thread_errors(run);
    guest_output_flush_last();
    memcpy(&result->sums, ledger_totals(), sizeof result->sums);
    struct ledger_audit audit = ledger_audit(&result->sums);
    if (result->has_program_ended && result->sums.stops == 0 && !load_seq(&run->has_failed)) {
        scenario_fail(run, "the program ended before the first probe; see --every");
        result->failure_exit = EXIT_CODE_USAGE;
    }
    if (!audit.ok && !load_seq(&run->has_failed)) {
        scenario_fail(run, "self-check failed: %s", audit.why);
        result->failure_exit = EXIT_CODE_SELF_CHECK;
    }
}

/* The command has checked that its own flags do not contradict those of one in C; over those
 * of a guest program they win. */
static void apply_flags(struct scenario_run *run)
{
    struct flags_error error;
    struct start_message message;
    for (const char *const *flag = run->scenario->flags; *flag; flag++)
        if (run->scenario->source)
            flags_propose(*flag);
        else if (!flags_override(*flag, &error))
            scenario_fail(run, "%s", error.message);
    if (start_check_flags(&message) != ERR_OK) {
        scenario_fail(run, "%s", message.text);
        run->result->failure_exit = EXIT_CODE_USAGE;
    } else if (!flags->safepoint_recording) { /* the command refuses it when it is typed */
        scenario_fail(run, "-XX:-SafepointRecording leaves nothing to report");
        run->result->failure_exit = EXIT_CODE_USAGE;
    }
}

static _Noreturn void be_child(const struct scenario *scenario,
                               const struct scenario_options *options, int parent, int fd)
{
    static struct scenario_run run;
    static struct scenario_result result; /* half a megabyte */
    process_be_child(parent);
    log_reopen();
    run.scenario = scenario;
    run.options = options;
    run.result = &result;
    result.cpus = os_cpus_available();
    apply_flags(&run);
    flags_describe_set(result.flags, sizeof result.flags);
    measure(&run);
    log_close(); /* before the result is sent: it may still fail */
    if (log_has_failed())
        scenario_fail(&run, "lines of the log are lost");
    result.is_complete = true;
    process_tell_parent(fd, &result, sizeof result);
    if (options->watch)
        process_tell_parent(fd, options->watch->data, options->watch->bytes);
    _exit(0);
}

/* --- the parent ----------------------------------------------------------------- */

/* Reads what the child tells as it comes; false when it ended or hung before. */
static bool collect(int fd, uint64_t limit_ns, void (*progress)(void *, uint64_t), void *argument,
                    void *data_out, size_t bytes)
{
    uint64_t start = os_now_ns();
    size_t got = 0;
    while (got < bytes) {
        uint64_t elapsed = os_now_ns() - start;
        if (elapsed > limit_ns)
            return false;
        if (progress)
            progress(argument, elapsed);
        if (!os_wait_readable(fd, 100000000))
            continue;
        ssize_t n = read(fd, (char *)data_out + got, bytes - got);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        got += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void describe_end(struct scenario_result *result_out, bool has_ended, int status)
{
    result_out->failure_exit = process_failure_exit(has_ended, status);
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
    int ends[2], status = -1, error, parent = os_pid();
    memset(result_out, 0, sizeof *result_out);
    pid_t child = -1;
    if (pipe(ends) == 0) {
        fflush(NULL);
        child = fork();
        if (child == 0) {
            close(ends[0]);
            be_child(scenario, options, parent, ends[1]);
        }
        error = errno;
        close(ends[1]);
        if (child < 0)
            close(ends[0]);
    } else {
        error = errno;
    }
    if (child < 0) {
        snprintf(result_out->failure, sizeof result_out->failure, "cannot start a process: %s",
                 strerror(error));
        result_out->failure_exit = EXIT_CODE_ENVIRONMENT;
        return false;
    }
    uint64_t limit = options->seconds_ns + GRACE_NS + GRACE_STOPS * start_injected_delay_ns();
    process_set_child(child);
    bool is_whole = collect(ends[0], limit, progress, argument, result_out, sizeof *result_out) &&
                    (!options->watch || collect(ends[0], GRACE_NS, NULL, NULL, options->watch->data,
                                                options->watch->bytes));
    process_set_child(0);
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
