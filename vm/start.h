/* start.h -- from command-line flags to a process whose threads can be stopped.
 *
 * Layer: vm/.  The order: start_early(), start_take_flag() for each argument that
 * is a runtime flag, start_check_flags(), then start_stops() in the process that is
 * to be stopped (a tool may fork in between).
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_START_H
#define VM_START_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* One line for the user, without a final newline. */
struct start_message {
    char text[512];
};

/* [any] First of all: the log's clock, the crash report. */
void start_early(void);
/* True when the argument is spelled like a runtime flag (-X...). */
bool start_is_flag(const char *argument);
/* -XX:..., -Xmx... and the like, or -Xlog...; log files are opened at once.  ERR_BAD_FLAG,
 * ERR_BAD_FILE. -Xlog:help is refused: only a program that owns its stdout can answer it. */
MUST_USE enum err start_take_flag(const char *argument, struct start_message *message_out);
/* Contradictions between flags; after the last of them.  Ergonomic ones get their value. */
MUST_USE enum err start_check_flags(struct start_message *message_out);
/* All flags and the log as before the first argument; before start_stops(), or when it
 * has failed. */
void start_reset_flags(void);
/* What -XX:InjectDelay adds to every stop, 0 = nothing. */
uint64_t start_injected_delay_ns(void);
/* The stop machinery, the log's head, injected delays. */
MUST_USE enum err start_stops(struct start_message *message_out);

#endif
