/* process.c -- see process.h.
 *
 *   field        writer             readers
 *   owner_pid    process_start      signal handlers, of this process and its children
 *   child_pid    main thread        signal handler
 *
 * SPDX-License-Identifier: MIT */
#include "tools/process.h"

#include "base/err.h"
#include "base/log.h"
#include "base/os.h"
#include "tools/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int owner_pid;
static volatile sig_atomic_t child_pid;

/* The lowest free descriptor is the one that open() gives.  For reading only: what is
 * written to a closed stdout must fail and be reported, not vanish. */
static void fill_closed_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* A child that still has this handler must not remove its parent's files. */
static void on_end(int signal_number)
{
    if (os_pid() == owner_pid)
        output_remove_unfinished();
    raise(signal_number); /* SA_RESETHAND: this one ends the process */
}

static void on_sigquit(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code == SI_USER && child_pid > 0 && os_pid() == owner_pid)
        kill(child_pid, signal_number);
}

/* What was ignored when the process started, as by nohup, stays ignored. */
static void take_end_signals(void)
{
    static const int signals[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN)
            continue;
        memset(&action, 0, sizeof action);
        action.sa_handler = on_end;
        action.sa_flags = SA_RESETHAND;
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
}

void process_start(void)
{
    fill_closed_descriptors();
    owner_pid = os_pid();
    signal(SIGCHLD, SIG_DFL);
    take_end_signals();
}

int process_end(int exit_code)
{
    int code = exit_code;
    bool is_written = fflush(stdout) == 0;
    if (!is_written || ferror(stdout)) {
        fputs("stillpoint: cannot write to standard output\n", stderr);
        code = EXIT_CODE_ENVIRONMENT;
    }
    log_close();
    if (log_has_failed()) /* said by the log itself */
        code = EXIT_CODE_ENVIRONMENT;
    return exit_code == EXIT_CODE_OK ? code : exit_code;
}

void process_forward_sigquit(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_sigquit;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGQUIT, &action, NULL);
}

void process_set_child(int pid) { child_pid = pid; }
void process_ignore_sigquit(void) { signal(SIGQUIT, SIG_IGN); }

void process_be_child(int parent_pid)
{
    os_die_with_parent();
    if (getppid() != parent_pid)
        _exit(EXIT_CODE_ENVIRONMENT);
}

void process_tell_parent(int fd, const void *data, size_t bytes)
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

int process_failure_exit(bool has_ended, int status)
{
    static const int own[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    bool is_own = !has_ended || (status >= 0 && status < 256);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        is_own = is_own || status == 256 + own[i];
    return is_own ? EXIT_CODE_SELF_CHECK : EXIT_CODE_ENVIRONMENT;
}
