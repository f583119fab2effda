/* main.c -- stillpoint, one program with subcommands.
 *
 * Read next: tools/ttsp/ttsp.c, the command that ./run runs.
 *
 * SPDX-License-Identifier: MIT */
#include "base/flags.h"
#include "base/spelling.h"
#include "tools/bench/bench.h"
#include "tools/cli.h"
#include "tools/disasm/disasm_command.h"
#include "tools/explain/explain.h"
#include "tools/process.h"
#include "tools/run/run.h"
#include "tools/stress/stress.h"
#include "tools/ttsp/ttsp.h"
#include "vm/start.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: stillpoint COMMAND [flags] [arguments]\n"
    "\n"
    "Stops real threads and accounts for every stop: who was late, doing what, why.\n"
    "\n"
    "  run PROGRAM.lox         run a guest program\n"
    "  disasm PROGRAM.lox      a guest program's code, with its polls marked\n"
    "  ttsp [SCENARIO...]      measure time to safepoint: stops, percentiles, last thread\n"
    "  explain [SCENARIO]      one stop, told step by step\n"
    "  stress protocol|guest   threads, native calls and stops against each other\n"
    "  bench [NAME...]         microbenchmarks against their limits, and other engines\n"
    "  flags                   every runtime flag\n"
    "\n"
    "  --version, --help       also COMMAND --help\n"
    "  -XX:+PrintFlagsFinal    the flags' values and origins\n"
    "\n"
    "Exit codes: 0 done, 64 what was typed is wrong, 65 a guest program does not compile, 70 it\n"
    "ended with an error, 71 it ran out of heap, 74 the system refused a file or a resource, 75\n"
    "a self-check failed.\n";

static int flags_main(int argc, char **argv)
{
    struct cli cli;
    bool wants_markdown = false;
    struct output none;
    struct start_message message;
    static const char *const known[] = { "--markdown", "--help", "--version" };
    cli_start(&cli, "flags", argc, argv);
    while (cli_peek(&cli)) {
        if (cli_switch(&cli, "--markdown"))
            wants_markdown = true;
        else if (!cli_common(&cli))
            cli_unknown(&cli, known, sizeof known / sizeof *known);
    }
    if (!cli.has_failed && cli.wants_help) {
        puts("usage: stillpoint flags [--markdown]\n\n"
             "Prints every runtime flag: name, default, range, meaning.");
        return EXIT_CODE_OK;
    }
    if (!cli.has_failed && cli.wants_version) {
        cli_print_version();
        return EXIT_CODE_OK;
    }
    if (!cli.has_failed && start_check_flags(&message) != ERR_OK)
        cli_fail(&cli, EXIT_CODE_USAGE, "%s", message.text);
    if (cli.has_failed || !cli_open_files(&cli, &none, NULL))
        return cli.exit_code;
    if (wants_markdown)
        flags_print_markdown(stdout);
    else
        flags_print_table(stdout);
    return EXIT_CODE_OK;
}

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
} commands[] = {
    { "run", run_main },         { "disasm", disasm_main }, { "ttsp", ttsp_main },
    { "explain", explain_main }, { "stress", stress_main }, { "bench", bench_main },
    { "flags", flags_main },
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static int unknown_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    const char *near = spelling_nearest(name, names, COMMAND_COUNT);
    fprintf(stderr, "stillpoint: unknown command %s%s%s%s; see stillpoint --help\n", name,
            near ? ", did you mean " : "", near ? near : "", near ? "?" : "");
    return EXIT_CODE_USAGE;
}

/* Runtime flags may stand before the command; -XX:+PrintFlagsFinal needs none. */
static int flags_only(struct cli *cli)
{
    struct start_message message;
    struct output none;
    if (!cli->has_failed && start_check_flags(&message) != ERR_OK)
        cli_fail(cli, EXIT_CODE_USAGE, "%s", message.text);
    if (cli->has_failed)
        return cli->exit_code;
    if (!flags->print_flags_final) {
        fputs("stillpoint: no command; see stillpoint --help\n", stderr);
        return EXIT_CODE_USAGE;
    }
    return cli_open_files(cli, &none, NULL) ? EXIT_CODE_OK : cli->exit_code; /* prints them */
}

static int run(int argc, char **argv)
{
    struct cli cli;
    cli_start(&cli, "flags", argc - 1, argv + 1);
    while (cli_runtime_flag(&cli))
        ;
    const char *name = cli_peek(&cli);
    if (!name)
        return flags_only(&cli);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        fputs(help, stdout);
        return EXIT_CODE_OK;
    }
    if (strcmp(name, "--version") == 0) {
        cli_print_version();
        return EXIT_CODE_OK;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].main(cli.argc - cli.at - 1, cli.argv + cli.at + 1);
    return unknown_command(name);
}

int main(int argc, char **argv)
{
    process_start();
    start_early();
    return process_end(run(argc, argv));
}
