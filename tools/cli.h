/* cli.h -- the arguments of one subcommand, one after another.
 *
 * Layer: tools/.  Errors are one line on stderr; the caller returns the exit code.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_CLI_H
#define TOOLS_CLI_H

#include <stdbool.h>
#include <stddef.h>

struct cli {
    const char *command; /* "ttsp" */
    int argc, at;
    char **argv;
    bool has_failed; /* a line has been written */
    int exit_code;
};

void cli_start(struct cli *cli, const char *command, int argc, char **argv);
/* The argument to look at, or NULL at the end or after an error. */
const char *cli_peek(const struct cli *cli);
void cli_next(struct cli *cli);
/* True when the argument is this option; it is taken. */
bool cli_switch(struct cli *cli, const char *option);
/* True when it is "--json FILE" or "--json=FILE"; both are taken. */
bool cli_value(struct cli *cli, const char *option, const char **value_out);
/* True when it is a runtime flag (-XX:..., -Xlog...); it is taken and applied. */
bool cli_runtime_flag(struct cli *cli);
/* One line and the exit code; the loop ends. */
void cli_fail(struct cli *cli, int exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The argument is unknown: names the nearest of the options. */
void cli_unknown(struct cli *cli, const char *const *options, size_t count);

#endif
