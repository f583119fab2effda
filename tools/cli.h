/* cli.h -- the arguments of one subcommand, one after another.
 *
 * Layer: tools/.  Errors are one line on stderr; the caller returns the exit code.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_CLI_H
#define TOOLS_CLI_H

#include "tools/output.h"

#include <stdbool.h>
#include <stddef.h>

struct cli {
    const char *command; /* "ttsp" */
    int argc, at;
    char **argv;
    bool has_failed; /* a line has been written */
    int exit_code;
    bool wants_help, wants_version;
};

void cli_start(struct cli *cli, const char *command, int argc, char **argv);
/* The argument to look at, or NULL at the end or after an error. */
const char *cli_peek(const struct cli *cli);
void cli_next(struct cli *cli);
/* True when the argument is this option; it is taken. */
bool cli_switch(struct cli *cli, const char *option);
/* True when it is "--json FILE" or "--json=FILE"; both are taken. */
bool cli_value(struct cli *cli, const char *option, const char **value_out);
/* True when it is a runtime flag; it is taken.  -XX:... is applied, -Xlog... waits for
 * cli_open_files(), but for -Xlog:help, which ends the program. */
bool cli_runtime_flag(struct cli *cli);
/* True when it is a runtime flag, --help, -h or --version; it is taken. */
bool cli_common(struct cli *cli);
void cli_print_version(void);
/* The whole command line was accepted: opens the result file (NULL = none), applies
 * what -Xlog asked for, before the command as well, and prints the flags for
 * -XX:+PrintFlagsFinal.  False: one line has been written, no file is left or emptied. */
bool cli_open_files(struct cli *cli, struct output *json, const char *json_path);
/* One line and the exit code; the loop ends. */
void cli_fail(struct cli *cli, int exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The argument is unknown: names the nearest of the options. */
void cli_unknown(struct cli *cli, const char *const *options, size_t count);

#endif
