/* run.c -- see run.h.
 *
 * Read next: vm/program.h, which it drives.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/run/run.h"

#include "base/err.h"
#include "base/os.h"
#include "gc/collection.h"
#include "tools/cli.h"
#include "tools/output.h"
#include "tools/run/gc_summary.h"
#include "tools/run/session.h"
#include "tools/run/source.h"
#include "vm/guest_output.h"
#include "vm/program.h"
#include "vm/start.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: stillpoint run [flags] PROGRAM.lox [ARGUMENT...]\n"
    "\n"
    "Runs a guest program: Lox as the book Crafting Interpreters defines it, and arrays, see\n"
    "docs/language.md.  PROGRAM - is standard input.  The program finds the arguments in args.\n"
    "\n"
    "  -Xmx64m -Xms8m -Xss1m  heap at most, heap at first, stack of the guest thread\n"
    "  -XX:... -Xlog:...      runtime flags, see stillpoint flags and -Xlog:help\n"
    "  --gc-summary           what all collections came to, on stderr at the end\n"
    "  --help, --version      this text; which version this is\n"
    "\n"
    "SIGQUIT (Ctrl-\\) prints a thread dump.\n"
    "\n"
    "Exit codes: 0 done, 64 what was typed is wrong, 65 the program does not compile, 70 it\n"
    "ended with a run-time error, 71 it ran out of heap, 74 the system refused a file or a\n"
    "resource.\n";

static const char *const options_known[] = { "--gc-summary", "--help", "--version" };

static int exit_code_of(enum program_result result)
{
    switch (result) {
    case PROGRAM_OK:
        return EXIT_CODE_OK;
    case PROGRAM_COMPILE_ERROR:
        return EXIT_CODE_COMPILE_ERROR;
    case PROGRAM_RUNTIME_ERROR:
        return EXIT_CODE_RUNTIME_ERROR;
    case PROGRAM_OUT_OF_MEMORY:
        return EXIT_CODE_OUT_OF_MEMORY;
    case PROGRAM_OUTPUT_ERROR:
        fprintf(stderr, "stillpoint run: cannot write to stdout: %s\n",
                strerror(guest_output_errno()));
        return EXIT_CODE_ENVIRONMENT;
    case PROGRAM_NO_MEMORY:
        break;
    }
    fputs("stillpoint run: the system has no memory for the program\n", stderr);
    return EXIT_CODE_ENVIRONMENT;
}

struct job {
    const char *source;
    size_t bytes;
    int argument_count;
    char **arguments;
};

static int compile_and_run(struct guest_thread *thread, void *argument)
{
    const struct job *job = argument;
    struct program *program = NULL;
    guest_output_start(STDOUT_FILENO);
    enum program_result result = program_compile(thread, job->source, job->bytes, stderr, &program);
    if (result == PROGRAM_OK)
        result = program_run(thread, program, job->argument_count, job->arguments, stderr);
    program_destroy(program);
    return exit_code_of(result);
}

static void print_gc_summary(void) { gc_summary_print(collection_totals(), os_now_ns(), stderr); }

/* Flags up to the program's name; all that follows it is the program's own. */
static const char *parse(struct cli *cli, bool *wants_gc_summary_out)
{
    struct start_message message;
    const char *path = NULL;
    while (!path && cli_peek(cli)) {
        const char *argument = cli_peek(cli);
        if (cli_common(cli))
            continue;
        if (cli_switch(cli, "--gc-summary")) {
            *wants_gc_summary_out = true;
            continue;
        }
        if (argument[0] == '-' && argument[1] != '\0')
            cli_unknown(cli, options_known, sizeof options_known / sizeof *options_known);
        else
            path = argument;
        cli_next(cli);
    }
    if (!cli->has_failed && start_check_flags(&message) != ERR_OK)
        cli_fail(cli, EXIT_CODE_USAGE, "%s", message.text);
    if (!cli->has_failed && !cli->wants_help && !cli->wants_version && !path)
        cli_fail(cli, EXIT_CODE_USAGE, "no program; stillpoint run PROGRAM.lox");
    return path;
}

int run_main(int argc, char **argv)
{
    struct cli cli;
    struct output none;
    char *source = NULL, message[512];
    size_t bytes = 0;
    bool wants_gc_summary = false;
    cli_start(&cli, "run", argc, argv);
    const char *path = parse(&cli, &wants_gc_summary);
    if (cli.has_failed)
        return cli.exit_code;
    if (cli.wants_help || cli.wants_version) {
        if (cli.wants_help)
            fputs(help, stdout);
        else
            cli_print_version();
        return EXIT_CODE_OK;
    }
    if (!source_read(path, &source, &bytes, message, sizeof message)) {
        fprintf(stderr, "stillpoint run: %s\n", message);
        return EXIT_CODE_ENVIRONMENT;
    }
    struct job job = { source, bytes, argc - cli.at, argv + cli.at };
    int code =
        cli_open_files(&cli, &none, NULL)
            ? session_run("run", compile_and_run, &job, wants_gc_summary ? print_gc_summary : NULL)
            : cli.exit_code;
    free(source);
    return code;
}
