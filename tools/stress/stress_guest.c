/* stress_guest.c -- see stress_guest.h.
 *
 * What a program needs to know stands in front of its first line, so that its lines keep
 * their numbers: how many threads, how many seconds, and the seed, as a small whole number
 * and as a number between 0 and 1 to draw others from.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/stress/stress_guest.h"

#include "base/flags.h"
#include "base/insist.h"
#include "base/log.h"
#include "base/os.h"
#include "base/prng.h"
#include "safepoint/ledger.h"
#include "safepoint/stops.h"
#include "tools/embedded.h"
#include "tools/process.h"
#include "tools/stress/stress_output.h"
#include "vm/guest_output.h"
#include "vm/program.h"
#include "vm/start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const programs[] = { "fields",  "values", "caches", "sync",
                                        "strings", "prints", "hammer" };
#define PROGRAMS (sizeof programs / sizeof *programs)
/* Not one of them: it must fail, by name only. */
static const char control[] = "unlocked";

#define LONG_NS    UINT64_C(2000000000) /* garbage stays: 2 s of it fit into the heap below */
#define SHORT_NS   UINT64_C(50000000)   /* at least: code and caches are cold for most of it */
#define ROUND_FLAG "-Xmx3g"
#define GRACE_NS   UINT64_C(60000000000) /* a sanitizer's end of a round on a busy machine */

/* Plain data through a pipe. */
struct round {
    uint64_t stops, transitions;
    enum program_result result;
    bool is_refused;   /* by the system, or by the heap's limit: nothing was found out */
    char failure[400]; /* "" = none; else what was wrong, in one line */
    struct hist ttsp;
};

struct plan {
    const char *program;
    uint64_t seed, threads, ns;
};

/* --- the child ---------------------------------------------------------------------------- */

static char *source_of(const struct plan *plan, size_t *bytes_out)
{
    char name[64];
    struct prng prng;
    snprintf(name, sizeof name, "stress/guest/%s.lox", plan->program);
    const struct embedded_file *file = embedded_find(name);
    INSIST(file, "%s is not part of the program", name);
    size_t room = file->length + 200;
    char *source = malloc(room);
    prng_seed(&prng, plan->seed);
    /* Small, so that the programs' sums stay exact; the chance differs for every seed. */
    if (source)
        *bytes_out = (size_t)snprintf(
            source, room,
            "var THREADS = %llu; var SECONDS = %.4f; var SEED = %llu; var CHANCE = %.9f; %s",
            (unsigned long long)plan->threads, (double)plan->ns / 1e9,
            (unsigned long long)(plan->seed % 100000),
            0.1 + 0.8 * (double)prng_below(&prng, 1000000007) / 1000000007, file->bytes);
    return source;
}

/* False: round->failure says what the system refused. */
static bool start_program(struct round *round, struct guest_thread **thread_out)
{
    struct start_message message = { "the system gives no memory for a guest thread" };
    bool is_started = start_stops(&message) == ERR_OK &&
                      program_start(message.text, sizeof message.text) == ERR_OK &&
                      program_attach("main", thread_out) == ERR_OK;
    if (!is_started)
        snprintf(round->failure, sizeof round->failure, "%.300s", message.text);
    return is_started;
}

static void run_program(const struct plan *plan, struct round *round, FILE *errors)
{
    struct guest_thread *thread;
    struct program *program;
    size_t bytes = 0;
    char *source = source_of(plan, &bytes);
    round->result = PROGRAM_NO_MEMORY;
    if (!source || !start_program(round, &thread))
        return;
    stops_handle_sigquit();
    round->result = program_compile(thread, source, bytes, errors, &program);
    if (round->result == PROGRAM_OK)
        round->result = program_run(thread, program, 0, NULL, errors);
    stops_exit();
    guest_output_flush_last();
    round->stops = ledger_totals()->stops;
    round->transitions = stops_figures().transitions;
    if (flags->safepoint_recording)
        round->ttsp = ledger_totals()->span[LEDGER_SPAN_ttsp];
}

/* The line that says most: a thread that fails leaves the others at a barrier, so that main
 * sees a deadlock only. */
static const char *cause_of(const char *text)
{
    static const char deadlock[] = "Deadlock", unraised[] = "that no join raised:\n";
    if (!*text)
        return "the system gives no memory";
    const char *cause = strstr(text, unraised);
    return strncmp(text, deadlock, sizeof deadlock - 1) == 0 && cause ? cause + sizeof unraised - 1
                                                                      : text;
}

/* text: what the program wrote as errors. */
static void judge_program(struct round *round, const char *text)
{
    struct ledger_audit audit = ledger_audit(ledger_totals());
    const char *cause = cause_of(text);
    if (round->result != PROGRAM_OK && !round->failure[0])
        snprintf(round->failure, sizeof round->failure, "%.*s", (int)strcspn(cause, "\n"), cause);
    else if (round->result == PROGRAM_OK && !audit.ok)
        snprintf(round->failure, sizeof round->failure, "the ledger does not add up: %s",
                 audit.why);
    round->is_refused =
        round->result == PROGRAM_OUTPUT_ERROR || round->result == PROGRAM_NO_MEMORY ||
        (round->result != PROGRAM_OK && strncmp(cause, "OutOfMemory", strlen("OutOfMemory")) == 0);
}

static void set_flags(struct round *round)
{
    static const char *const wanted[] = { "-XX:+SafepointALot", "-XX:GuaranteedSafepointInterval=1",
                                          ROUND_FLAG };
    struct start_message message;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        flags_propose(wanted[i]);
    round->is_refused = start_check_flags(&message) != ERR_OK;
    if (round->is_refused)
        snprintf(round->failure, sizeof round->failure, "%.300s", message.text);
}

static _Noreturn void be_child(const struct plan *plan, int parent, int result_fd, int output_fd)
{
    static struct round round;
    char *text = NULL;
    size_t bytes;
    process_be_child(parent);
    log_reopen();
    guest_output_start(output_fd);
    FILE *errors = open_memstream(&text, &bytes);
    set_flags(&round);
    if (!errors) {
        round.is_refused = true;
        snprintf(round.failure, sizeof round.failure, "the system gives no memory");
    } else if (!round.is_refused) {
        run_program(plan, &round, errors);
        fclose(errors);
        judge_program(&round, text);
        if (round.result != PROGRAM_OK)
            fputs(text, stderr);
    }
    log_close();
    close(output_fd); /* first: the parent reads all that was printed, then the result */
    process_tell_parent(result_fd, &round, sizeof round);
    _exit(0); /* threads may be left after an error */
}

/* --- the parent ------------------------------------------------------------------------------ */

struct pipes {
    int result[2], output[2];
};

static bool open_pipes(struct pipes *p)
{
    if (pipe(p->result) != 0)
        return false;
    if (pipe(p->output) == 0)
        return true;
    close(p->result[0]);
    close(p->result[1]);
    return false;
}

#define LOOK_NS UINT64_C(200000000) /* between two progress lines */

/* Of the run; for progress. */
static const struct stress_protocol_options *running;
static uint64_t running_since_ns, stops_before;

static void show_progress(void)
{
    if (running->progress)
        running->progress(os_now_ns() - running_since_ns, stops_before);
}

/* As read(); 0 at the end and after an error, -1 when the limit has passed. */
static ssize_t read_some(int fd, void *data_out, size_t bytes, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now = os_now_ns();
        if (now >= deadline_ns)
            return -1;
        show_progress();
        if (!os_wait_readable(fd, deadline_ns - now < LOOK_NS ? deadline_ns - now : LOOK_NS))
            continue;
        ssize_t got = read(fd, data_out, bytes);
        if (got >= 0 || errno != EINTR)
            return got > 0 ? got : 0;
    }
}

/* False: the limit has passed, or the child has ended without telling. */
static bool read_round(int fd, struct round *round_out, uint64_t deadline_ns)
{
    size_t got = 0;
    while (got < sizeof *round_out) {
        ssize_t more = read_some(fd, (char *)round_out + got, sizeof *round_out - got, deadline_ns);
        if (more <= 0)
            return false;
        got += (size_t)more;
    }
    return true;
}

static void read_output(int fd, struct stress_output *output, uint64_t deadline_ns)
{
    static char bytes[65536];
    ssize_t got;
    while ((got = read_some(fd, bytes, sizeof bytes, deadline_ns)) > 0)
        stress_output_take(output, bytes, (size_t)got);
}

static enum err give_up(struct stress_protocol_result *result, const char *what)
{
    snprintf(result->failure, sizeof result->failure, "the system gives %s", what);
    return ERR_SYSTEM;
}

static void fail_round(struct stress_protocol_result *result, const struct plan *plan,
                       const char *what, const char *said)
{
    result->failures++;
    if (!result->failure[0])
        snprintf(result->failure, sizeof result->failure, "%s, seed %llu: %.110s%s%.90s",
                 plan->program, (unsigned long long)plan->seed, what, said[0] ? "; it said: " : "",
                 said);
}

static void judge_round(struct stress_protocol_result *result, const struct plan *plan,
                        const struct round *round, struct stress_output *output)
{
    uint64_t checks;
    result->stops += round->stops;
    result->transitions += round->transitions;
    hist_merge(&result->ttsp, &round->ttsp);
    if (round->failure[0])
        fail_round(result, plan, round->failure, output->said);
    else if (!stress_output_end(output, &checks))
        fail_round(result, plan, output->wrong, "");
    else
        result->checks += checks;
}

/* A sanitizer's findings are in the exit code only, also of a child that told its round. */
static enum err judge_end(struct stress_protocol_result *result, const struct plan *plan,
                          bool is_told, bool has_ended, int status)
{
    char what[80];
    if (is_told && has_ended && status <= 0) /* 0, or the system does not tell */
        return ERR_OK;
    if (!has_ended)
        snprintf(what, sizeof what, "the child hung");
    else if (status > 256)
        snprintf(what, sizeof what, "the child was ended by signal %d", status - 256);
    else
        snprintf(what, sizeof what, "the child ended with code %d%s", status,
                 is_told ? ", see above" : " and told nothing");
    fail_round(result, plan, what, "");
    if (is_told || process_failure_exit(has_ended, status) != EXIT_CODE_ENVIRONMENT)
        return ERR_OK;
    result->failures--; /* a kill from outside says nothing about us */
    return ERR_SYSTEM;
}

static enum err watch_child(const struct plan *plan, int child, int result_fd, int output_fd,
                            struct stress_protocol_result *result)
{
    static struct round round;
    struct stress_output output = { .length = 0 };
    int status = -1;
    uint64_t deadline = os_now_ns() + plan->ns + GRACE_NS;
    process_set_child(child);
    read_output(output_fd, &output, deadline);
    bool is_told = read_round(result_fd, &round, deadline);
    process_set_child(0);
    bool has_ended = os_wait_child(child, is_told ? GRACE_NS : UINT64_C(2000000000), &status);
    if (!has_ended)
        os_kill_child(child);
    if (is_told && round.is_refused) {
        snprintf(result->failure, sizeof result->failure, "%s, seed %llu: %.200s", plan->program,
                 (unsigned long long)plan->seed, round.failure);
        return ERR_SYSTEM;
    }
    if (is_told)
        judge_round(result, plan, &round, &output);
    return judge_end(result, plan, is_told, has_ended, status);
}

static enum err run_round(const struct plan *plan, struct stress_protocol_result *result)
{
    struct pipes pipes;
    int parent = os_pid();
    if (!open_pipes(&pipes))
        return give_up(result, "no pipe");
    fflush(NULL);
    int child = fork();
    if (child == 0) {
        close(pipes.result[0]);
        close(pipes.output[0]);
        be_child(plan, parent, pipes.result[1], pipes.output[1]);
    }
    close(pipes.result[1]);
    close(pipes.output[1]);
    enum err err = child > 0 ? watch_child(plan, child, pipes.result[0], pipes.output[0], result)
                             : give_up(result, "no process");
    close(pipes.result[0]);
    close(pipes.output[0]);
    return err;
}

bool stress_guest_has_program(const char *name)
{
    for (size_t i = 0; i < PROGRAMS; i++)
        if (strcmp(programs[i], name) == 0)
            return true;
    return strcmp(name, control) == 0;
}

/* By the seed alone, so that one round of a campaign can be run again.  Half of them are
 * short: a site's first use by all threads at once happens at a start only. */
static uint64_t round_ns(const struct stress_protocol_options *options, const char *program,
                         uint64_t seed)
{
    struct prng prng;
    /* Alone, the one that makes no garbage needs no end. */
    if (options->program && strcmp(program, "hammer") == 0)
        return options->seconds_ns;
    prng_seed(&prng, seed);
    return prng_below(&prng, 2) ? LONG_NS : SHORT_NS + prng_below(&prng, 4 * SHORT_NS);
}

enum err stress_guest_run(const struct stress_protocol_options *options,
                          struct stress_protocol_result *result_out)
{
    memset(result_out, 0, sizeof *result_out);
    running = options;
    running_since_ns = os_now_ns();
    stops_before = 0;
    uint64_t end = running_since_ns + options->seconds_ns, now = running_since_ns;
    for (uint64_t round = 0; now < end && result_out->failures == 0; round++) {
        struct plan plan = { options->program ? options->program : programs[round % PROGRAMS],
                             options->seed + round, options->threads, end - now };
        uint64_t ns = round_ns(options, plan.program, plan.seed);
        if (ns < plan.ns)
            plan.ns = ns;
        enum err err = run_round(&plan, result_out);
        if (err != ERR_OK)
            return err;
        result_out->attaches++;
        stops_before = result_out->stops;
        now = os_now_ns();
    }
    return ERR_OK;
}
