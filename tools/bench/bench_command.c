/* bench_command.c -- see bench_command.h.  SPDX-License-Identifier: MIT */
#include "tools/bench/bench_command.h"

#include "base/os.h"
#include "tools/bench/bench_folder.h"
#include "tools/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How soon a signal is obeyed that came between the question for it and the wait. */
#define NAP_MS 100
/* More descriptors than this process ever has open. */
#define MOST_DESCRIPTORS 64

enum { OUT, ERR, STREAMS };

struct stream {
    char *text; /* BENCH_COMMAND_TEXT_BYTES of them, always a string */
    size_t used;
};

/* --- the child ---------------------------------------------------------------------- */

static void forget_environment(void)
{
    static const char *const names[] = { "CLASSPATH",        "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
                                         "JDK_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS", "LUA_INIT",
                                         "LUA_INIT_5_4",     "LUA_PATH",          "LUA_PATH_5_4",
                                         "LUA_CPATH",        "LUA_CPATH_5_4" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

/* A group of its own, so that a program that is a script can be ended with what it runs. */
static _Noreturn void be_program(const char *const *argv, int parent, const int *write_ends)
{
    process_be_child(parent);
    setpgid(0, 0);
    forget_environment();
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
        dup2(write_ends[OUT], STDOUT_FILENO) >= 0 && dup2(write_ends[ERR], STDERR_FILENO) >= 0 &&
        chdir(bench_folder_path()) == 0) {
        for (int fd = STDERR_FILENO + 1; fd < MOST_DESCRIPTORS; fd++)
            close(fd); /* an unfinished result file is none of its business */
        execv(argv[0], (char *const *)argv);
    }
    dprintf(STDERR_FILENO, "cannot be started: %s\n", strerror(errno));
    _exit(127);
}

/* --- the parent ---------------------------------------------------------------------- */

/* Both pipes, or none; all four ends lie above the standard ones, see process_start(). */
static bool open_pipes(int ends[STREAMS][2])
{
    if (pipe(ends[OUT]) != 0)
        return false;
    if (pipe(ends[ERR]) == 0)
        return true;
    close(ends[OUT][0]);
    close(ends[OUT][1]);
    return false;
}

static int start(const char *const *argv, int *read_ends_out)
{
    int ends[STREAMS][2], parent = os_pid();
    if (!open_pipes(ends))
        return -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int write_ends[STREAMS] = { ends[OUT][1], ends[ERR][1] };
        be_program(argv, parent, write_ends);
    }
    int why = errno;
    for (int i = 0; i < STREAMS; i++) {
        close(ends[i][1]);
        read_ends_out[i] = ends[i][0];
        if (pid < 0)
            close(ends[i][0]);
    }
    errno = why;
    return pid;
}

/* False at the end of the stream. */
static bool take(int fd, struct stream *stream)
{
    char chunk[4096];
    ssize_t n = read(fd, chunk, sizeof chunk);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    size_t room = BENCH_COMMAND_TEXT_BYTES - 1 - stream->used;
    size_t kept = (size_t)n < room ? (size_t)n : room;
    memcpy(stream->text + stream->used, chunk, kept);
    stream->used += kept;
    stream->text[stream->used] = '\0';
    return true;
}

/* Until both streams have ended; false when the limit or a signal came first.  The limit
 * counts only once nothing more can be read: this process may have been stopped itself. */
static bool take_all(const int *read_ends, struct stream *streams, uint64_t deadline_ns)
{
    struct pollfd waits[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        waits[i] = (struct pollfd){ .fd = read_ends[i], .events = POLLIN };
    while (waits[OUT].fd >= 0 || waits[ERR].fd >= 0) {
        bool is_late = os_now_ns() >= deadline_ns;
        int ready = poll(waits, STREAMS, is_late ? 0 : NAP_MS);
        if (bench_folder_is_to_go() || (ready == 0 && is_late))
            return false;
        for (int i = 0; i < STREAMS && ready > 0; i++)
            if (waits[i].fd >= 0 && waits[i].revents && !take(waits[i].fd, &streams[i]))
                waits[i].fd = -1; /* poll() passes over it */
    }
    return true;
}

bool bench_command_run(const char *const *argv, uint64_t limit_ns,
                       struct bench_command_result *result_out)
{
    int read_ends[STREAMS];
    struct stream streams[STREAMS] = { { result_out->out, 0 }, { result_out->err, 0 } };
    memset(result_out, 0, sizeof *result_out);
    int pid = start(argv, read_ends);
    if (pid < 0)
        return false;
    uint64_t deadline_ns = os_now_ns() + limit_ns;
    bool is_over = take_all(read_ends, streams, deadline_ns);
    uint64_t now = os_now_ns(), left = now < deadline_ns ? deadline_ns - now : 0;
    result_out->has_ended = is_over && os_wait_child(pid, left, &result_out->status);
    if (!result_out->has_ended) {
        kill(-pid, SIGKILL); /* not after it was waited for: the number may be another's */
        os_kill_child(pid);
    }
    for (int i = 0; i < STREAMS; i++)
        close(read_ends[i]);
    return true;
}

bool bench_command_find(const char *name, char *path_out, size_t bytes)
{
    const char *next = getenv("PATH");
    while (next && *next) {
        size_t length = strcspn(next, ":");
        int n = snprintf(path_out, bytes, "%.*s/%s", (int)length, next, name);
        if (next[0] == '/' && (size_t)n < bytes && !os_is_directory(path_out) &&
            access(path_out, X_OK) == 0)
            return true;
        next += length + (next[length] == ':');
    }
    return false;
}
