/* cli.c -- see cli.h.  SPDX-License-Identifier: MIT */
#include "tools/cli.h"

#include "base/err.h"
#include "base/spelling.h"
#include "vm/start.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cli_start(struct cli *cli, const char *command, int argc, char **argv)
{
    *cli = (struct cli){ .command = command, .argc = argc, .argv = argv };
}

const char *cli_peek(const struct cli *cli)
{
    return cli->at < cli->argc && !cli->has_failed ? cli->argv[cli->at] : NULL;
}

void cli_next(struct cli *cli) { cli->at++; }

void cli_fail(struct cli *cli, int exit_code, const char *format, ...)
{
    if (cli->has_failed)
        return;
    va_list ap;
    fprintf(stderr, "stillpoint %s: ", cli->command);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    cli->has_failed = true;
    cli->exit_code = exit_code;
}

bool cli_switch(struct cli *cli, const char *option)
{
    const char *argument = cli_peek(cli);
    if (!argument || strcmp(argument, option) != 0)
        return false;
    cli->at++;
    return true;
}

bool cli_value(struct cli *cli, const char *option, const char **value_out)
{
    const char *argument = cli_peek(cli);
    size_t length = strlen(option);
    if (!argument || strncmp(argument, option, length) != 0)
        return false;
    if (argument[length] == '=') {
        *value_out = argument + length + 1;
        cli->at++;
        return true;
    }
    if (argument[length] != '\0')
        return false;
    if (cli->at + 1 >= cli->argc) {
        cli_fail(cli, EXIT_CODE_USAGE, "%s needs a value", option);
        return false;
    }
    *value_out = cli->argv[cli->at + 1];
    cli->at += 2;
    return true;
}

bool cli_runtime_flag(struct cli *cli)
{
    struct start_message message;
    const char *argument = cli_peek(cli);
    if (!argument || !start_is_flag(argument))
        return false;
    enum err err = start_take_flag(argument, &message);
    cli->at++;
    if (err != ERR_OK)
        cli_fail(cli, err == ERR_BAD_FLAG ? EXIT_CODE_USAGE : EXIT_CODE_ENVIRONMENT, "%s",
                 message.text);
    return err == ERR_OK;
}

void cli_unknown(struct cli *cli, const char *const *options, size_t count)
{
    const char *argument = cli_peek(cli);
    if (!argument)
        return; /* already failed, or the end */
    const char *near = spelling_nearest(argument, options, count);
    cli_fail(cli, EXIT_CODE_USAGE, "unknown option %s%s%s%s; see stillpoint %s --help", argument,
             near ? ", did you mean " : "", near ? near : "", near ? "?" : "", cli->command);
}
