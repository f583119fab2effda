/* stress_guest.c -- see stress_guest.h.
 *
 * What a program needs to know stands in front of its first line, so that its lines keep
 * their numbers: how many threads, how many seconds, and a seed.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/stress/stress_guest.h"

#include "base/flags.h"
#include "base/insist.h"
#include "base/log.h"
#include "base/os.h"
#include "safepoint/ledger.h"
#include "safepoint/stops.h"
#include "tools/embedded.h"
#include "tools/process.h"
#include "vm/guest_output.h"
#include "vm/program.h"
#include "vm/start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const programs[] = { "fields", "values", "caches", "sync", "strings", "hammer" };
#define PROGRAMS (sizeof programs / sizeof *programs)

#define ROUND_NS     UINT64_C(2000000000) /* garbage stays: 2 s of it fit into the heap below */
#define ROUND_FLAG   "-Xmx3g"
#define GRACE_NS     UINT64_C(60000000000) /* a sanitizer's end of a round on a busy machine */
#define OUTPUT_BYTES 512

/* Plain data through a pipe. */
struct round {
    uint64_t stops;
    enum program_result result;
    bool adds_up;
    char failure[OUTPUT_BYTES]; /* "" = none; else what was wrong, in one line */
};

struct plan {
    const char *program;
    uint64_t seed, threads, ns;
};

/* --- the child ---------------------------------------------------------------------------- */

static char *source_of(const struct plan *plan, size_t *bytes_out)
{
    char name[64];
    snprintf(name, sizeof name, "stress/guest/%s.lox", plan->program);
    const struct embedded_file *file = embedded_find(name);
    INSIST(file, "%s is not part of the program", name);
    size_t room = file->length + 200;
    char *source = malloc(room);
    if (source)
        *bytes_out = (size_t)snprintf(source, room,
                                      "var THREADS = %llu; var SECONDS = %.3f; var SEED = %llu; %s",
                                      (unsigned long long)plan->threads, (double)plan->ns / 1e9,
                                      (unsigned long long)plan->seed, file->bytes);
    return source;
}

static void run_program(const struct plan *plan, struct round *round, FILE *errors)
{
    struct start_message message;
    struct guest_thread *thread;
    struct program *program;
    size_t bytes = 0;
    char *source = source_of(plan, &bytes);
    round->result = PROGRAM_NO_MEMORY;
    if (!source || start_stops(&message) != ERR_OK ||
        program_start(message.text, sizeof message.text) != ERR_OK ||
        program_attach("main", &thread) != ERR_OK)
        return;
    stops_handle_sigquit();
    round->result = program_compile(thread, source, bytes, errors, &program);
    if (round->result == PROGRAM_OK)
        round->result = program_run(thread, program, 0, NULL, errors);
    stops_exit();
    guest_output_flush_last();
    round->stops = ledger_totals()->stops;
    round->adds_up = ledger_audit(ledger_totals()).ok;
}

static void set_flags(struct round *round)
{
    static const char *const wanted[] = { "-XX:+SafepointALot", "-XX:GuaranteedSafepointInterval=1",
                                          ROUND_FLAG };
    struct start_message message;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        flags_propose(wanted[i]);
    if (start_check_flags(&message) != ERR_OK)
        snprintf(round->failure, sizeof round->failure, "%s", message.text);
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
    if (errors && !round.failure[0]) {
        run_program(plan, &round, errors);
        fclose(errors);
        if (round.result != PROGRAM_OK)
            snprintf(round.failure, sizeof round.failure, "ended with result %d: %.*s",
                     (int)round.result, (int)strcspn(text, "\n"), text);
        else if (!round.adds_up)
            snprintf(round.failure, sizeof round.failure, "the ledger does not add up");
        fputs(text, stderr);
    }
    log_close();
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

/* Up to bytes of what comes; false: the limit has passed. */
static bool read_all(int fd, void *data_out, size_t bytes, uint64_t deadline_ns, size_t *got_out)
{
    *got_out = 0;
    while (*got_out < bytes) {
        uint64_t now = os_now_ns();
        if (now >= deadline_ns)
            return false;
        show_progress();
        if (!os_wait_readable(fd, deadline_ns - now < LOOK_NS ? deadline_ns - now : LOOK_NS))
            continue;
        ssize_t n = read(fd, (char *)data_out + *got_out, bytes - *got_out);
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            break;
        *got_out += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void fail_round(struct stress_protocol_result *result, const struct plan *plan,
                       const char *what)
{
    result->failures++;
    if (!result->failure[0])
        snprintf(result->failure, sizeof result->failure, "%s, seed %llu: %.200s", plan->program,
                 (unsigned long long)plan->seed, what);
}

/* The last line is the number of checks. */
static void take_round(struct stress_protocol_result *result, const struct plan *plan,
                       const struct round *round, const char *output)
{
    char *end;
    double checks = strtod(output, &end);
    result->stops += round->stops;
    if (round->failure[0])
        fail_round(result, plan, round->failure);
    else if (strcmp(end, "\n") != 0 || !(checks > 0))
        fail_round(result, plan, "it did not print how many checks it made");
    else
        result->checks += (uint64_t)checks;
}

static enum err run_round(const struct plan *plan, struct stress_protocol_result *result)
{
    struct pipes pipes;
    static struct round round;
    char output[OUTPUT_BYTES];
    size_t got, output_bytes;
    int status = -1, parent = os_pid();
    if (!open_pipes(&pipes))
        return ERR_NO_MEMORY;
    fflush(NULL);
    int child = fork();
    if (child == 0) {
        close(pipes.result[0]);
        close(pipes.output[0]);
        be_child(plan, parent, pipes.result[1], pipes.output[1]);
    }
    close(pipes.result[1]);
    close(pipes.output[1]);
    if (child > 0) {
        uint64_t deadline = os_now_ns() + plan->ns + GRACE_NS;
        process_set_child(child);
        bool is_told =
            read_all(pipes.result[0], &round, sizeof round, deadline, &got) &&
            got == sizeof round &&
            read_all(pipes.output[0], output, sizeof output - 1, deadline, &output_bytes);
        process_set_child(0);
        bool has_ended = os_wait_child(child, is_told ? GRACE_NS : UINT64_C(2000000000), &status);
        if (!has_ended)
            os_kill_child(child);
        output[is_told ? output_bytes : 0] = '\0';
        if (is_told)
            take_round(result, plan, &round, output);
        else
            fail_round(result, plan, has_ended ? "the child died" : "the child hung");
    }
    close(pipes.result[0]);
    close(pipes.output[0]);
    return child > 0 ? ERR_OK : ERR_NO_THREAD;
}

bool stress_guest_has_program(const char *name)
{
    for (size_t i = 0; i < PROGRAMS; i++)
        if (strcmp(programs[i], name) == 0)
            return true;
    return false;
}

enum err stress_guest_run(const struct stress_protocol_options *options,
                          struct stress_protocol_result *result_out)
{
    memset(result_out, 0, sizeof *result_out);
    uint64_t end = os_now_ns() + options->seconds_ns;
    running = options;
    running_since_ns = os_now_ns();
    stops_before = 0;
    /* Alone, the one that makes no garbage needs no end. */
    bool is_one_round = options->program && strcmp(options->program, "hammer") == 0;
    uint64_t round_ns = is_one_round ? options->seconds_ns : ROUND_NS;
    for (uint64_t round = 0; os_now_ns() < end && result_out->failures == 0; round++) {
        uint64_t left = end - os_now_ns();
        struct plan plan = { options->program ? options->program : programs[round % PROGRAMS],
                             options->seed + round, options->threads,
                             left < round_ns ? left : round_ns };
        enum err err = run_round(&plan, result_out);
        if (err != ERR_OK) {
            snprintf(result_out->failure, sizeof result_out->failure,
                     "the system starts no process");
            return err;
        }
        result_out->attaches++;
        stops_before = result_out->stops;
    }
    return ERR_OK;
}
