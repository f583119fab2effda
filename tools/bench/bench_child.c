/* bench_child.c -- runs one variant in a process of its own and brings its figures back.
 *
 * Through a pipe come an answer, which may be a failure in words, and then the figures.
 * A child that ends or hangs before both are there has failed.
 *
 * SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "base/flags.h"
#include "base/log.h"
#include "base/os.h"
#include "tools/bench/bench_priv.h"
#include "tools/process.h"
#include "vm/start.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* More than the slowest child needs (64 spinning threads, all woken at once) by far. */
#define CHILD_LIMIT_NS UINT64_C(120000000000)

/* --- the child ---------------------------------------------------------------------- */

/* What comes through the pipe, and after it the figures. */
struct answer {
    char failure[BENCH_FAILURE_BYTES];
    int failure_exit;
};

static int answer_fd;

void bench_child_fail(int exit_code, const char *format, ...)
{
    struct answer answer = { .failure_exit = exit_code };
    va_list ap;
    va_start(ap, format);
    vsnprintf(answer.failure, sizeof answer.failure, format, ap);
    va_end(ap);
    process_tell_parent(answer_fd, &answer, sizeof answer);
    _exit(exit_code);
}

void bench_child_start_stops(void)
{
    struct start_message message;
    if (start_stops(&message) != ERR_OK)
        bench_child_fail(EXIT_CODE_ENVIRONMENT, "%s", message.text);
}

static _Noreturn void be_child(const struct bench_child *child, int parent, int fd, double *figures,
                               size_t figure_count)
{
    struct answer fine = { .failure = "" };
    struct flags_error error;
    process_be_child(parent);
    answer_fd = fd;
    for (const char *const *flag = child->flags; *flag; flag++)
        if (!flags_override(*flag, &error))
            bench_child_fail(EXIT_CODE_USAGE, "needs %s: %.180s", *flag, error.message);
    child->run(child->argument, figures);
    log_flush();
    if (log_has_failed())
        bench_child_fail(EXIT_CODE_ENVIRONMENT, "lines of the log are lost");
    process_tell_parent(fd, &fine, sizeof fine);
    process_tell_parent(fd, figures, figure_count * sizeof *figures);
    log_close();
    _exit(0); /* threads that still run or stand still end here */
}

/* --- the parent ---------------------------------------------------------------------- */

static void fail(struct bench *bench, int exit_code, const char *name, const char *why)
{
    if (bench->failure[0])
        return;
    snprintf(bench->failure, sizeof bench->failure, "%.60s: %.180s", name, why);
    bench->failure_exit = exit_code;
}

/* False when the child ended or hung before it was all there. */
static bool read_all(int fd, uint64_t deadline_ns, void *data_out, size_t bytes)
{
    size_t got = 0;
    while (got < bytes) {
        uint64_t now = os_now_ns();
        if (now >= deadline_ns || !os_wait_readable(fd, deadline_ns - now))
            return false;
        ssize_t n = read(fd, (char *)data_out + got, bytes - got);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        got += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void fail_by_end(struct bench *bench, const char *name, bool has_ended, int status)
{
    char why[80];
    if (!has_ended)
        snprintf(why, sizeof why, "the child hung and was ended");
    else if (status >= 256)
        snprintf(why, sizeof why, "the child died of signal %d", status - 256);
    else
        snprintf(why, sizeof why, "the child ended with exit code %d before its result", status);
    fail(bench, process_failure_exit(has_ended, status), name, why);
}

static bool are_flags_allowed(struct bench *bench, const struct bench_child *child)
{
    struct flags_error error;
    char why[sizeof bench->failure];
    for (const char *const *flag = child->flags; *flag; flag++)
        if (!flags_allow(*flag, &error)) {
            snprintf(why, sizeof why, "needs %s: %.180s", *flag, error.message);
            fail(bench, EXIT_CODE_USAGE, bench->running, why);
        }
    return !bench->failure[0];
}

static int fork_child(const struct bench_child *child, double *figures, size_t figure_count,
                      int *fd_out)
{
    int ends[2], parent = os_pid();
    if (pipe(ends) != 0)
        return -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_child(child, parent, ends[1], figures, figure_count);
    }
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    *fd_out = ends[0];
    return pid;
}

bool bench_in_child(struct bench *bench, const struct bench_child *child, double *figures_out,
                    size_t figure_count)
{
    int fd, status;
    struct answer answer;
    if (bench->failure[0])
        return false;
    for (size_t i = 0; i < figure_count; i++)
        figures_out[i] = NAN;
    if (bench->only_checks_flags)
        return are_flags_allowed(bench, child);
    int pid = fork_child(child, figures_out, figure_count, &fd);
    if (pid < 0) {
        fail(bench, EXIT_CODE_ENVIRONMENT, child->name, strerror(errno));
        return false;
    }
    uint64_t deadline_ns = os_now_ns() + CHILD_LIMIT_NS;
    bool is_whole = read_all(fd, deadline_ns, &answer, sizeof answer);
    if (is_whole && answer.failure[0])
        fail(bench, answer.failure_exit, child->name, answer.failure);
    else if (is_whole)
        is_whole = read_all(fd, deadline_ns, figures_out, figure_count * sizeof *figures_out);
    close(fd);
    bool has_ended = os_wait_child(pid, UINT64_C(5000000000), &status);
    if (!has_ended)
        os_kill_child(pid);
    if (!is_whole)
        fail_by_end(bench, child->name, has_ended, status);
    return !bench->failure[0];
}
