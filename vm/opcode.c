/* opcode.c -- see opcode.h.  SPDX-License-Identifier: MIT */
#include "vm/opcode.h"

const struct opcode_row opcode_rows[OPCODE_COUNT] = {
#define OPCODE(name, a, b, c, flow, poll, text)                                                    \
    { #name, { OPERAND_##a, OPERAND_##b, OPERAND_##c }, FLOW_##flow, POLL_##poll, text },
#include "vm/opcode.def"
};

/* The checker and the disassembler read the 32-bit operands from B and C: whatever has one
 * says so in both, and has no jump of the other kind. */
#define IS_WIDE(kind)                                                                              \
    (OPERAND_##kind == OPERAND_CONST32 || OPERAND_##kind == OPERAND_GLOBAL32 ||                    \
     OPERAND_##kind == OPERAND_FUNCTION32 || OPERAND_##kind == OPERAND_JUMP32)
#define OPCODE(name, a, b, c, flow, poll, text)                                                    \
    _Static_assert(!IS_WIDE(a) && !IS_WIDE(c) && OPERAND_##b != OPERAND_JUMP &&                    \
                       (OPERAND_##c == OPERAND_HIGH) == IS_WIDE(b),                                \
                   #name);                                                                         \
    _Static_assert((FLOW_##flow >= FLOW_JUMP && FLOW_##flow <= FLOW_BACK) ==                       \
                       (OPERAND_##b == OPERAND_JUMP32 || OPERAND_##c == OPERAND_JUMP),             \
                   #name);
#include "vm/opcode.def"
