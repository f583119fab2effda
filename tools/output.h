/* output.h -- result files: opened before the run, written beside, renamed at the end.
 *
 * Layer: tools/.  A run that fails half way leaves the old file as it was.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *file; /* NULL: nothing was asked for */
    char path[1024], beside[1060];
};

/* path NULL = no output.  False: one line has been written to stderr (exit 74).
 * Devices and pipes (/dev/stdout) are written directly. */
bool output_open(struct output *output, const char *path);
/* Flushes, closes, renames.  False: one line has been written to stderr (exit 74). */
bool output_commit(struct output *output);
/* Throws away what was written; the file of that name stays as it was. */
void output_abandon(struct output *output);
/* [signal handler] Removes the files of outputs that are still open; the process is
 * about to end. */
void output_remove_unfinished(void);

#endif
