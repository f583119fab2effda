/* bench_folder.c -- see bench_folder.h.
 *
 *   field    writer                     readers
 *   noted    signal handler             command; 0 = no signal came
 *   path     command, "" = no folder    command
 *
 * SPDX-License-Identifier: MIT */
#include "tools/bench/bench_folder.h"

#include "base/insist.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int end_signals[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
#define END_SIGNALS (sizeof end_signals / sizeof *end_signals)

static volatile sig_atomic_t noted;
static struct sigaction before[END_SIGNALS];
static char path[PATH_MAX];

static void on_signal(int signal_number) { noted = signal_number; }

/* What is ignored stays ignored.  No SA_RESTART: a wait is to end. */
static void note_signals(void)
{
    struct sigaction action;
    noted = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < END_SIGNALS; i++)
        if (sigaction(end_signals[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(end_signals[i], &action, NULL);
}

static void obey_signals(void)
{
    for (size_t i = 0; i < END_SIGNALS; i++)
        sigaction(end_signals[i], &before[i], NULL);
    if (noted)
        raise(noted);
}

bool bench_folder_create(void)
{
    INSIST(!path[0], "%s is still there", path);
    const char *parent = getenv("TMPDIR");
    if (!parent || parent[0] != '/')
        parent = "/tmp";
    if ((size_t)snprintf(path, sizeof path, "%s/stillpoint-bench-XXXXXX", parent) >= sizeof path) {
        path[0] = '\0';
        errno = ENAMETOOLONG;
        return false;
    }
    note_signals(); /* before it is there: no moment to miss */
    if (mkdtemp(path))
        return true;
    int why = errno;
    path[0] = '\0';
    obey_signals();
    errno = why;
    return false;
}

const char *bench_folder_path(void) { return path; }
bool bench_folder_is_to_go(void) { return noted != 0; }

bool bench_folder_write(const char *name, const char *bytes, size_t length)
{
    char file_path[PATH_MAX + 64];
    if ((size_t)snprintf(file_path, sizeof file_path, "%s/%s", path, name) >= sizeof file_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    FILE *file = fopen(file_path, "wx");
    if (!file)
        return false;
    bool is_written = fwrite(bytes, 1, length, file) == length;
    return fclose(file) == 0 && is_written;
}

static void remove_files(void)
{
    DIR *folder = opendir(path);
    if (!folder)
        return;
    const struct dirent *entry;
    while ((entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
}

void bench_folder_remove(void)
{
    if (!path[0])
        return;
    remove_files();
    if (rmdir(path) != 0)
        fprintf(stderr, "stillpoint: cannot remove %s: %s\n", path, strerror(errno));
    path[0] = '\0';
    obey_signals();
}
