/* output.c -- see output.h.  SPDX-License-Identifier: MIT */
#include "tools/output.h"

#include "base/os.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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
    output->file = fopen(output->beside, "w");
    if (!output->file) {
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
    if (has_failed) {
        complain(output->path, "write");
        if (output->beside[0])
            unlink(output->beside);
        return false;
    }
    if (output->beside[0] && rename(output->beside, output->path) != 0) {
        complain(output->path, "write");
        unlink(output->beside);
        return false;
    }
    return true;
}

void output_abandon(struct output *output)
{
    if (!output->file)
        return;
    fclose(output->file);
    output->file = NULL;
    if (output->beside[0])
        unlink(output->beside);
}
