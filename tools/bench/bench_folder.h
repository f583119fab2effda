/* bench_folder.h -- a private folder for the files of a benchmark, gone when it ends.
 *
 * Read next: bench_folder_is_to_go() below, what a signal does.
 * Layer:     tools/, for the files of this folder.
 *
 * Promises
 *   P1  The folder is the caller's user's alone, and has a new name.
 *   P2  A signal that would end the process does so after the folder is removed.  Until
 *       then it is noted: who waits for something asks for it, bench_folder_is_to_go().
 * Asks of callers
 *   C1  One folder at a time.
 *   C2  A benchmark that created it removes it, also when it failed.
 *
 * Who may call:  [command] the command's only thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_BENCH_BENCH_FOLDER_H
#define TOOLS_BENCH_BENCH_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Below $TMPDIR, or below /tmp.  False: errno says why. */
bool bench_folder_create(void);
/* A file in it.  False: errno says why. */
bool bench_folder_write(const char *name, const char *bytes, size_t length);
/* Its path, until it is removed. */
const char *bench_folder_path(void);

/* A signal wants the process to end: fail, and so come to bench_folder_remove(). */
bool bench_folder_is_to_go(void);
/* With all its files; it has no folders.  Does not return when a signal was noted. */
void bench_folder_remove(void);

#endif
