/* opcode.h -- opcode.def as a table, for those who read code instead of running it.
 *
 * Read next: checker.c, disasm.c.
 * Layer:     vm/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_OPCODE_H
#define VM_OPCODE_H

#include "vm/function.h"

enum opcode_operand {
    OPERAND_NONE,
    OPERAND_READ,
    OPERAND_WRITE,
    OPERAND_UPDATE,
    OPERAND_CELL,
    OPERAND_NEWCELL,
    OPERAND_CONST,
    OPERAND_NUMBER,
    OPERAND_SITE,
    OPERAND_CAPTURE,
    OPERAND_CLASS,
    OPERAND_COUNT,
    OPERAND_WINDOW,
    OPERAND_WINDOW1,
    OPERAND_JUMP,
    OPERAND_CONST32,
    OPERAND_GLOBAL32,
    OPERAND_FUNCTION32,
    OPERAND_JUMP32,
    OPERAND_HIGH,
};

enum opcode_flow {
    FLOW_NEXT,
    FLOW_CALL,
    FLOW_JUMP,
    FLOW_BRANCH,
    FLOW_LOOP,
    FLOW_BACK,
    FLOW_END,
};

enum opcode_poll { POLL_NONE, POLL_POLL, POLL_STRIP, POLL_NOPOLL, POLL_SLOW };

struct opcode_row {
    const char *name; /* "LOAD_NIL" */
    enum opcode_operand operand[3];
    enum opcode_flow flow;
    enum opcode_poll poll;
    const char *text;
};

extern const struct opcode_row opcode_rows[OPCODE_COUNT];

#endif
