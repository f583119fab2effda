/* cli.c -- see cli.h.  SPDX-License-Identifier: MIT */
#include "tools/cli.h"

#include "base/err.h"
#include "base/flags.h"
#include "base/log.h"
#include "base/os.h"
#include "base/spelling.h"
#include "tools/process.h"
#include "vm/start.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LOG_OPTIONS 32 /* arbitrary: more than anybody types */

/* Of the one command line that a process has, before and after the command's name. */
static const char *log_options[MOST_LOG_OPTIONS];
static int log_option_count;

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

/* Says no now if it is misspelled; what it asks for waits. */
static void keep_log_option(struct cli *cli, const char *argument)
{
    struct log_error error;
    char path[2048];
    if (log_is_help(argument)) {
        log_print_help(stdout);
        exit(process_end(EXIT_CODE_OK));
    }
    if (log_option_file(argument, path, sizeof path, &error) != ERR_OK)
        cli_fail(cli, EXIT_CODE_USAGE, "%s", error.message);
    else if (log_option_count == MOST_LOG_OPTIONS)
        cli_fail(cli, EXIT_CODE_USAGE, "more than %d -Xlog options", MOST_LOG_OPTIONS);
    else
        log_options[log_option_count++] = argument;
}

static void take_flag(struct cli *cli, const char *argument)
{
    struct start_message message;
    enum err err = start_take_flag(argument, &message);
    if (err != ERR_OK)
        cli_fail(cli, err == ERR_BAD_FLAG ? EXIT_CODE_USAGE : EXIT_CODE_ENVIRONMENT, "%s",
                 message.text);
}

bool cli_runtime_flag(struct cli *cli)
{
    const char *argument = cli_peek(cli);
    if (!argument || !start_is_flag(argument))
        return false;
    cli->at++;
    if (log_is_option(argument))
        keep_log_option(cli, argument);
    else
        take_flag(cli, argument);
    return !cli->has_failed;
}

bool cli_common(struct cli *cli)
{
    if (cli_switch(cli, "--help") || cli_switch(cli, "-h"))
        return cli->wants_help = true;
    if (cli_switch(cli, "--version"))
        return cli->wants_version = true;
    return cli_runtime_flag(cli);
}

void cli_print_version(void)
{
    printf("stillpoint %s (%s)\n", STILLPOINT_VERSION, STILLPOINT_BUILD);
}

/* --- what was asked for, once all of it is right ----------------------------------- */

/* The log would write into the result, and the result's rename throw the log away. */
static void refuse_log_in(struct cli *cli, const char *json_path)
{
    for (int i = 0; i < log_option_count; i++) {
        struct log_error error;
        char path[2048];
        if (log_option_file(log_options[i], path, sizeof path, &error) == ERR_OK && path[0] &&
            os_same_file(path, json_path) && !os_is_special_file(path))
            cli_fail(cli, EXIT_CODE_USAGE, "--json and -Xlog name the same file, %s", json_path);
    }
}

bool cli_open_files(struct cli *cli, struct output *json, const char *json_path)
{
    *json = (struct output){ .file = NULL };
    if (json_path && !json_path[0])
        cli_fail(cli, EXIT_CODE_USAGE, "--json needs the name of a file");
    if (json_path)
        refuse_log_in(cli, json_path);
    if (!cli->has_failed && !output_open(json, json_path)) {
        cli->has_failed = true; /* the line is written */
        cli->exit_code = EXIT_CODE_ENVIRONMENT;
    }
    for (int i = 0; i < log_option_count && !cli->has_failed; i++)
        take_flag(cli, log_options[i]);
    if (cli->has_failed)
        output_abandon(json);
    else if (flags->print_flags_final)
        flags_print_final(stdout);
    return !cli->has_failed;
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
