/* bench_command.h -- runs another program, shortly, and keeps what it prints.
 *
 * Read next: bench_command_run() in bench_command.c.
 * Layer:     tools/, for the files of this folder.
 *
 * Promises
 *   P1  Returns soon after the limit, whatever the program does.  One that hung is gone then,
 *       with all that it started in its process group.
 *   P2  What it prints is kept from the first byte on as far as there is room; the rest is
 *       read and dropped, so that it does not block.
 *   P3  It reads nothing, runs in the folder of bench_folder.h, dies with this process, and
 *       is not told by the environment to be another engine than it is (JAVA_TOOL_OPTIONS,
 *       LUA_INIT and the like).
 *
 * Who may call:  [command] the command's only thread, while the folder is there
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_BENCH_BENCH_COMMAND_H
#define TOOLS_BENCH_BENCH_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_COMMAND_TEXT_BYTES 1024

struct bench_command_result {
    bool has_ended; /* false: it hung, or a signal wants this process to end */
    int status;     /* as of os_wait_child(); 127 and a line in err: it could not be started */
    char out[BENCH_COMMAND_TEXT_BYTES], err[BENCH_COMMAND_TEXT_BYTES];
};

/* argv[0] is the program's path, the last one NULL.  False: no process could be made, and
 * errno says why. */
bool bench_command_run(const char *const *argv, uint64_t limit_ns,
                       struct bench_command_result *result_out);
/* The path of an executable file of this name in $PATH.  Folders that are not named from
 * the root are passed over: they would mean another place inside the private folder. */
bool bench_command_find(const char *name, char *path_out, size_t bytes);

#endif
