/* disasm_command.h -- stillpoint disasm: a guest program's code, with its polls marked.
 *
 * Layer: tools/.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_DISASM_DISASM_COMMAND_H
#define TOOLS_DISASM_DISASM_COMMAND_H

/* Arguments after the command's name; returns the exit code. */
int disasm_main(int argc, char **argv);

#endif
