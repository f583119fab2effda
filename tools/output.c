/* output.c -- see output.h.  SPDX-License-Identifier: MIT */
#include "tools/output.h"

#include "base/os.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MOST_UNFINISHED 4 /* arbitrary: a command has one */

/* Written by the main thread, read by signal handlers. */
static const char *volatile unfinished[MOST_UNFINISHED];

static void note_unfinished(const char *path)
{
    for (int i = 0; i < MOST_UNFINISHED; i++)
        if (!unfinished[i]) {
            unfinished[i] = path;
            return;
        }
}

static void forget_unfinished(const char *path)
{
    for (int i = 0; i < MOST_UNFINISHED; i++)
        if (unfinished[i] == path)
            unfinished[i] = NULL;
}

void output_remove_unfinished(void)
{
    for (int i = 0; i < MOST_UNFINISHED; i++)
        if (unfinished[i])
            unlink(unfinished[i]);
}

static bool complain(const char *path, const char *doing_what)
{
    fprintf(stderr, "stillpoint: cannot %s %s: %s\n", doing_what, path, strerror(errno));
    return false;
}

bool output_open(struct output *output, const char *path)
{
    memset(output, 0, sizeof *output);
    if (!path)
        return true;
    if (strlen(path) >= sizeof output->path) {
        errno = ENAMETOOLONG;
        return complain(path, "write");
    }
    strcpy(output->path, path);
    if (os_is_special_file(path)) {
        output->file = fopen(path, "w");
        return output->file ? true : complain(path, "write");
    }
    if (os_is_directory(path)) {
        errno = EISDIR;
        return complain(path, "write");
    }
    snprintf(output->beside, sizeof output->beside, "%s.part-%d", path, os_pid());
    note_unfinished(output->beside); /* before it is there: no moment to miss */
    output->file = fopen(output->beside, "w");
    if (!output->file) {
        forget_unfinished(output->beside);
        output->beside[0] = '\0';
        return complain(path, "write");
    }
    return true;
}

bool output_commit(struct output *output)
{
    if (!output->file)
        return true;
    bool has_failed = ferror(output->file) != 0;
    has_failed |= fclose(output->file) != 0;
    output->file = NULL;
    if (!has_failed && output->beside[0])
        has_failed = rename(output->beside, output->path) != 0;
    if (has_failed) {
        complain(output->path, "write");
        if (output->beside[0])
            unlink(output->beside);
    }
    forget_unfinished(output->beside);
    return !has_failed;
}

void output_abandon(struct output *output)
{
    if (!output->file)
        return;
    fclose(output->file);
    output->file = NULL;
    if (output->beside[0])
        unlink(output->beside);
    forget_unfinished(output->beside);
}
