/* run_lox.c -- runs Lox programs and compares what they do with what they say they do.
 *
 * Read next: lox_case.h for the expectations.
 *
 * Programs run side by side, each in a process of its own with stdout and stderr in pipes;
 * one loop polls the pipes.  A program has ended when both pipes are closed: stillpoint
 * starts no process that could keep them open.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* pipe2, asprintf, memmem, environ */
#include "base/err.h"
#include "base/insist.h"
#include "base/os.h"
#include "tests/lox/lox_case.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_JOBS       64
#define MOST_ARGUMENTS  60
#define MOST_DEPTH      20        /* of folders; a link that leads back ends here */
#define MOST_KEPT_BYTES (1 << 20) /* of one stream of one program */
#define MOST_WORD_BYTES 4000      /* of the flags of one program, and of its arguments */

static const char usage_text[] =
    "usage: run_lox [options] STILLPOINT PATH...\n"
    "  PATH is a program or a folder of programs (folders below it too, but for those\n"
    "  named control).\n"
    "  --flags \"...\"      flags for every program\n"
    "  --jobs N           programs at a time; default: the CPUs there are\n"
    "  --seconds N        how long one program may run; default 30\n"
    "  --at-least N       fail when there are fewer programs\n"
    "  --expect-failures  pass only when every program fails, as its \"// fails:\" says\n";

struct settings {
    const char *stillpoint, *flags;
    unsigned jobs, seconds, at_least;
    bool expects_failures;
};

struct paths {
    char **at;
    size_t count;
};

struct stream {
    int fd; /* -1: closed */
    char *text;
    size_t bytes;
    bool is_cut;
};

struct job {
    bool is_running;
    struct lox_case lox_case;
    int pid;
    uint64_t deadline_ns;
    struct stream out, err;
};

static _Noreturn void quit(int exit_code, const char *what, const char *why)
{
    fprintf(stderr, "run_lox: %s: %s\n", what, why);
    exit(exit_code);
}

/* --- which programs ----------------------------------------------------------------- */

static void add_path(struct paths *paths, const char *path)
{
    paths->at = realloc(paths->at, (paths->count + 1) * sizeof *paths->at);
    char *copy = strdup(path);
    INSIST(paths->at && copy, "no memory for %zu paths", paths->count);
    paths->at[paths->count++] = copy;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool is_program(const char *name)
{
    size_t bytes = strlen(name);
    return bytes > 4 && strcmp(name + bytes - 4, ".lox") == 0;
}

static void add_folder(struct paths *paths, const char *folder, int depth)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, by_bytes);
    if (count < 0)
        quit(EXIT_CODE_ENVIRONMENT, folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        char *path = NULL;
        INSIST(asprintf(&path, "%s/%s", folder, name) > 0, "no memory for %s", name);
        if (name[0] == '.' || strcmp(name, "control") == 0)
            ; /* hidden, or meant to fail */
        else if (is_program(name))
            add_path(paths, path);
        else if (os_is_directory(path) && depth < MOST_DEPTH)
            add_folder(paths, path, depth + 1);
        free(path);
        free(entries[i]);
    }
    free(entries);
}

/* --- one program ---------------------------------------------------------------------- */

/* Cuts text at its spaces and appends the words; they live in *room, of MOST_WORD_BYTES. */
static void add_words(char **arguments, size_t *count, const char *text, size_t bytes, char *room)
{
    if (bytes >= MOST_WORD_BYTES)
        quit(EXIT_CODE_USAGE, "flags or arguments", "too long");
    memcpy(room, text ? text : "", bytes);
    room[bytes] = '\0';
    for (char *rest = NULL, *word = strtok_r(room, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        if (*count == MOST_ARGUMENTS)
            quit(EXIT_CODE_USAGE, word, "too many flags and arguments");
        arguments[(*count)++] = word;
    }
}

static void spawn(struct job *job, const struct settings *settings, int out, int err)
{
    char words[3][MOST_WORD_BYTES], *arguments[MOST_ARGUMENTS + 1];
    const struct lox_case *lox_case = &job->lox_case;
    size_t count = 0;
    arguments[count++] = (char *)settings->stillpoint;
    arguments[count++] = (char *)"run";
    add_words(arguments, &count, settings->flags, strlen(settings->flags), words[0]);
    add_words(arguments, &count, lox_case->flags.at, lox_case->flags.bytes, words[1]);
    arguments[count++] = (char *)lox_case->path;
    add_words(arguments, &count, lox_case->args.at, lox_case->args.bytes, words[2]);
    arguments[count] = NULL;

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, err, 2);
    int error = posix_spawn(&job->pid, settings->stillpoint, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        quit(EXIT_CODE_ENVIRONMENT, settings->stillpoint, strerror(error));
}

static void start_job(struct job *job, const struct settings *settings)
{
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
        quit(EXIT_CODE_ENVIRONMENT, "pipe", strerror(errno));
    spawn(job, settings, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    job->out = (struct stream){ .fd = out[0] };
    job->err = (struct stream){ .fd = err[0] };
    job->deadline_ns = os_now_ns() + settings->seconds * UINT64_C(1000000000);
    job->is_running = true;
}

/* Reads once. */
static void read_stream(struct stream *stream)
{
    char piece[65536];
    ssize_t n = read(stream->fd, piece, sizeof piece);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        close(stream->fd);
        stream->fd = -1;
        return;
    }
    size_t room = MOST_KEPT_BYTES - stream->bytes;
    if ((size_t)n > room) {
        stream->is_cut = true;
        n = (ssize_t)room;
    }
    if (n == 0)
        return;
    stream->text = realloc(stream->text, stream->bytes + (size_t)n);
    INSIST(stream->text, "no memory for the output of a program");
    memcpy(stream->text + stream->bytes, piece, (size_t)n);
    stream->bytes += (size_t)n;
}

static void close_stream(struct stream *stream)
{
    if (stream->fd >= 0)
        close(stream->fd);
    stream->fd = -1;
    free(stream->text);
}

/* The control programs must fail for the reason they state, or a runner that fails
 * everything would pass. */
static bool failed_as_stated(const struct lox_case *lox_case, const char *report, size_t bytes)
{
    const struct slice *stated = &lox_case->fails;
    return stated->bytes && memmem(report, bytes, stated->at, stated->bytes);
}

/* Collects the process, judges, prints; true when all is well. */
static bool end_job(struct job *job, const struct settings *settings)
{
    struct lox_outcome outcome = { .status = -1 };
    char *report = NULL;
    size_t report_bytes = 0;
    uint64_t now = os_now_ns();
    outcome.said_too_much = job->out.is_cut || job->err.is_cut; /* nobody reads the rest */
    uint64_t left = job->deadline_ns > now && !outcome.said_too_much ? job->deadline_ns - now : 0;
    outcome.has_timed_out = !os_wait_child(job->pid, left, &outcome.status);
    if (outcome.has_timed_out)
        os_kill_child(job->pid);
    outcome.out = (struct slice){ job->out.text, job->out.bytes };
    outcome.err = (struct slice){ job->err.text, job->err.bytes };

    FILE *stream = open_memstream(&report, &report_bytes);
    INSIST(stream, "no memory for a report");
    bool is_good = lox_case_judge(&job->lox_case, &outcome, stream);
    fclose(stream);
    if (settings->expects_failures) {
        bool is_stated = failed_as_stated(&job->lox_case, report, report_bytes);
        if (is_good || !is_stated)
            printf("%s: must fail with \"%.*s\"; %s\n%s", job->lox_case.path,
                   (int)job->lox_case.fails.bytes, job->lox_case.fails.at,
                   is_good ? "it passed" : "it failed otherwise:", report);
        is_good = !is_good && is_stated;
    } else if (!is_good) {
        printf("%s: failed\n%s", job->lox_case.path, report);
    }
    fflush(stdout);
    free(report);
    close_stream(&job->out);
    close_stream(&job->err);
    lox_case_free(&job->lox_case);
    job->is_running = false;
    return is_good;
}

/* --- all of them ------------------------------------------------------------------------ */

struct run {
    const struct settings *settings;
    const struct paths *paths;
    size_t next, ran, failed;
    struct job jobs[MOST_JOBS];
};

static void fill(struct run *run)
{
    for (unsigned i = 0; i < run->settings->jobs; i++) {
        struct job *job = &run->jobs[i];
        while (!job->is_running && run->next < run->paths->count) {
            const char *path = run->paths->at[run->next++];
            if (!lox_case_load(&job->lox_case, path))
                quit(EXIT_CODE_ENVIRONMENT, path, strerror(errno));
            if (job->lox_case.is_no_test)
                lox_case_free(&job->lox_case);
            else
                start_job(job, run->settings);
        }
    }
}

/* Waits for output of any program, at most long enough to see a deadline pass. */
static void read_output(struct run *run)
{
    struct pollfd polled[2 * MOST_JOBS];
    struct stream *streams[2 * MOST_JOBS];
    nfds_t count = 0;
    for (unsigned i = 0; i < run->settings->jobs; i++) {
        struct stream *both[] = { &run->jobs[i].out, &run->jobs[i].err };
        for (int k = 0; run->jobs[i].is_running && k < 2; k++) {
            if (both[k]->fd < 0)
                continue;
            streams[count] = both[k];
            polled[count++] = (struct pollfd){ .fd = both[k]->fd, .events = POLLIN };
        }
    }
    if (poll(polled, count, 100) <= 0)
        return;
    for (nfds_t i = 0; i < count; i++)
        if (polled[i].revents)
            read_stream(streams[i]);
}

/* Nothing more is to be read, or wanted. */
static bool has_ended(const struct job *job)
{
    return (job->out.fd < 0 && job->err.fd < 0) || job->out.is_cut || job->err.is_cut ||
           os_now_ns() >= job->deadline_ns;
}

static void run_all(struct run *run)
{
    bool is_busy = true;
    while (is_busy) {
        fill(run);
        read_output(run);
        is_busy = run->next < run->paths->count;
        for (unsigned i = 0; i < run->settings->jobs; i++) {
            struct job *job = &run->jobs[i];
            if (job->is_running && has_ended(job)) {
                run->ran++;
                run->failed += !end_job(job, run->settings);
            }
            is_busy = is_busy || job->is_running;
        }
    }
}

/* --- the command line --------------------------------------------------------------------- */

static unsigned number_option(const char *name, const char *text, unsigned most)
{
    char *end = NULL;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;
    if (!text || text[0] < '0' || text[0] > '9' || *end || value > most)
        quit(EXIT_CODE_USAGE, name, "needs a whole number in its range");
    return (unsigned)value;
}

/* The number of words that options took. */
static int read_options(int argc, char **argv, struct settings *settings)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        const char *name = argv[at], *value = at + 1 < argc ? argv[at + 1] : NULL;
        if (strcmp(name, "--help") == 0) {
            fputs(usage_text, stdout);
            exit(EXIT_CODE_OK);
        } else if (strcmp(name, "--expect-failures") == 0) {
            settings->expects_failures = true;
            continue;
        } else if (strcmp(name, "--flags") == 0 && value) {
            settings->flags = value;
        } else if (strcmp(name, "--jobs") == 0) {
            settings->jobs = number_option(name, value, MOST_JOBS);
        } else if (strcmp(name, "--seconds") == 0) {
            settings->seconds = number_option(name, value, 3600);
        } else if (strcmp(name, "--at-least") == 0) {
            settings->at_least = number_option(name, value, 1000000);
        } else {
            quit(EXIT_CODE_USAGE, name, "unknown option, or its value is missing; see --help");
        }
        at++;
    }
    return at;
}

static int report_end(const struct run *run)
{
    const struct settings *settings = run->settings;
    bool is_enough = run->ran > 0 && run->ran >= settings->at_least;
    if (!is_enough)
        printf("too few programs: expected at least %u\n",
               settings->at_least ? settings->at_least : 1);
    printf("%zu programs, %zu failed\n", run->ran, run->failed);
    if (fflush(stdout) != 0)
        quit(EXIT_CODE_ENVIRONMENT, "stdout", strerror(errno));
    return is_enough && run->failed == 0 ? EXIT_CODE_OK : 1;
}

int main(int argc, char **argv)
{
    static struct run run;
    struct settings settings = { .flags = "", .seconds = 30 };
    struct paths paths = { NULL, 0 };
    int at = read_options(argc, argv, &settings);
    if (argc - at < 2)
        quit(EXIT_CODE_USAGE, "a program to run with and a path are needed", "see --help");
    settings.stillpoint = argv[at++];
    if (settings.jobs == 0)
        settings.jobs = os_cpus_available() < MOST_JOBS ? (unsigned)os_cpus_available() : MOST_JOBS;
    if (access(settings.stillpoint, X_OK) != 0)
        quit(EXIT_CODE_ENVIRONMENT, settings.stillpoint, strerror(errno));
    for (; at < argc; at++) {
        if (os_is_directory(argv[at]))
            add_folder(&paths, argv[at], 0);
        else
            add_path(&paths, argv[at]);
    }
    run.settings = &settings;
    run.paths = &paths;
    run_all(&run);
    for (size_t i = 0; i < paths.count; i++)
        free(paths.at[i]);
    free(paths.at);
    return report_end(&run);
}
