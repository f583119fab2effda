/* disasm_command.c -- see disasm_command.h.
 *
 * Read next: vm/disasm.h, which it drives.
 *
 * Flags count here as they do for `run`: the forms of counted loops depend on them.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/disasm/disasm_command.h"

#include "base/err.h"
#include "tools/cli.h"
#include "tools/output.h"
#include "tools/process.h"
#include "tools/run/session.h"
#include "tools/run/source.h"
#include "vm/disasm.h"
#include "vm/function_list.h"
#include "vm/opcode.h"
#include "vm/program.h"
#include "vm/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: stillpoint disasm [flags] PROGRAM.lox [--explain]\n"
    "\n"
    "Compiles a guest program and prints its code instead of running it.  PROGRAM - is standard\n"
    "input.  The first column says where the code polls:\n"
    "\n"
    "  poll      at each jump back, and on the way out of a function\n"
    "  strip     at a jump back, once per -XX:LoopStripMiningIter iterations\n"
    "  no poll   a jump back that does not: a stop waits for the end of the loop\n"
    "\n"
    "  --explain          what each of the instructions does, at the end\n"
    "  -XX:... -Xlog:...  runtime flags, see stillpoint flags and -Xlog:help\n"
    "  --help, --version  this text; which version this is\n"
    "\n"
    "Exit codes: 0 done, 64 what was typed is wrong, 65 the program does not compile, 74 the\n"
    "system refused a file or a resource.\n";

static const char *const options_known[] = { "--explain", "--help", "--version" };

struct command {
    const char *path;
    bool wants_explanation;
};

/* --- the listing ---------------------------------------------------------------------- */

/* In the order of opcode.def, each one that occurs. */
static void explain(struct function *script)
{
    bool occurs[OPCODE_COUNT] = { false };
    struct function_list list;
    if (!function_list_make(script, &list)) {
        puts("no memory for the explanation");
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        for (uint32_t at = 0; at < list.at[i]->code_count; at++)
            occurs[list.at[i]->code[at].op] = true;
    function_list_free(&list);
    int widest = 0;
    for (int op = 0; op < OPCODE_COUNT; op++)
        if (occurs[op] && (int)strlen(opcode_rows[op].name) > widest)
            widest = (int)strlen(opcode_rows[op].name);
    putchar('\n');
    for (int op = 0; op < OPCODE_COUNT; op++)
        if (occurs[op])
            printf("%-*s  %s\n", widest, opcode_rows[op].name, opcode_rows[op].text);
}

struct job {
    const struct command *command;
    const char *source;
    size_t bytes;
};

/* In a runtime, because compiling interns names. */
static int compile_and_print(struct guest_thread *thread, void *argument)
{
    const struct job *job = argument;
    struct program *program;
    enum program_result result = program_compile(thread, job->source, job->bytes, stderr, &program);
    if (result == PROGRAM_COMPILE_ERROR)
        return EXIT_CODE_COMPILE_ERROR;
    if (result != PROGRAM_OK) {
        fputs("stillpoint disasm: the system has no memory for the program\n", stderr);
        return EXIT_CODE_ENVIRONMENT;
    }
    disasm_print(stdout, program_script(program), job->source, job->bytes, program_global_name,
                 program);
    if (job->command->wants_explanation)
        explain(program_script(program));
    program_destroy(program);
    return EXIT_CODE_OK;
}

/* --- the command line ------------------------------------------------------------------- */

static void take_path(struct command *command, struct cli *cli)
{
    const char *argument = cli_peek(cli);
    if (!argument)
        return; /* already failed */
    if (argument[0] == '-' && argument[1] != '\0')
        cli_unknown(cli, options_known, sizeof options_known / sizeof *options_known);
    else if (command->path)
        cli_fail(cli, EXIT_CODE_USAGE, "one program at a time, not %s and %s", command->path,
                 argument);
    command->path = argument;
    cli_next(cli);
}

static void parse(struct command *command, struct cli *cli)
{
    struct start_message message;
    while (cli_peek(cli)) {
        if (cli_switch(cli, "--explain"))
            command->wants_explanation = true;
        else if (!cli_common(cli))
            take_path(command, cli);
    }
    if (!cli->has_failed && start_check_flags(&message) != ERR_OK)
        cli_fail(cli, EXIT_CODE_USAGE, "%s", message.text);
    if (!cli->has_failed && !cli->wants_help && !cli->wants_version && !command->path)
        cli_fail(cli, EXIT_CODE_USAGE, "no program; stillpoint disasm PROGRAM.lox");
}

int disasm_main(int argc, char **argv)
{
    struct command command = { .path = NULL };
    struct cli cli;
    struct output none;
    char *source = NULL, message[512];
    size_t bytes = 0;
    cli_start(&cli, "disasm", argc, argv);
    parse(&command, &cli);
    if (cli.has_failed)
        return cli.exit_code;
    if (cli.wants_help || cli.wants_version) {
        if (cli.wants_help)
            fputs(help, stdout);
        else
            cli_print_version();
        return EXIT_CODE_OK;
    }
    if (!source_read(command.path, &source, &bytes, message, sizeof message)) {
        fprintf(stderr, "stillpoint disasm: %s\n", message);
        return EXIT_CODE_ENVIRONMENT;
    }
    struct job job = { &command, source, bytes };
    int code = cli_open_files(&cli, &none, NULL)
                   ? session_run("disasm", compile_and_print, &job, NULL)
                   : cli.exit_code;
    free(source);
    return code;
}
