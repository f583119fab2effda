/* scenario_lox.h -- scenarios that are guest programs: the built-in ones, and files.
 *
 * Read next: tools/scenarios/calm.lox, scenario_header.h.
 * Layer:     tools/.  Who may call: the command's only thread.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_TTSP_SCENARIO_LOX_H
#define TOOLS_TTSP_SCENARIO_LOX_H

#include "tools/ttsp/scenario.h"

/* The built-in ones; the first scenario_lox_default_count() of them are what a run without a
 * name measures. */
size_t scenario_lox_count(void);
size_t scenario_lox_default_count(void);
const struct scenario *scenario_lox_at(size_t index);
/* NULL when none has this name. */
const struct scenario *scenario_lox_named(const char *name);

/* Does the argument look like a file rather than a name? */
bool scenario_lox_is_path(const char *argument);
/* The file as a scenario, which lives to the end of the process.  NULL: message_out has one
 * line, and *exit_code_out the exit code. */
const struct scenario *scenario_lox_from_file(const char *path, int *exit_code_out,
                                              char *message_out, size_t message_bytes);

#endif
