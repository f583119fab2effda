/* checker_priv.h -- the two halves of the checker: single instructions, and the ways through them.
 *
 * Layer: vm/, for checker.c and checker_flow.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_CHECKER_PRIV_H
#define VM_CHECKER_PRIV_H

#include "vm/checker.h"
#include "vm/opcode.h"

struct check {
    const struct function *f; /* the one that is looked at */
    uint32_t global_count;
    struct checker_fault *fault; /* to be filled */
};

/* Returns false, for `return checker_refuse(...)`. */
bool checker_refuse(struct check *check, uint32_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Behind the counter of a strip: its end, and the step. */
#define STRIP_REGISTERS 2

/* The row of an instruction whose opcode is one. */
static inline const struct opcode_row *checker_row(struct instruction i)
{
    return &opcode_rows[i.op];
}
static inline bool checker_has_jump(const struct opcode_row *row)
{
    return row->operand[1] == OPERAND_JUMP32 || row->operand[2] == OPERAND_JUMP;
}
/* Where it jumps; outside the function if it is not checked yet. */
static inline int64_t checker_jump_target(const struct opcode_row *row, struct instruction i,
                                          uint32_t at)
{
    int32_t offset =
        row->operand[1] == OPERAND_JUMP32 ? instruction_jump32(i) : instruction_jump16(i);
    return (int64_t)at + 1 + offset;
}

/* Of a function whose instructions are each right for themselves: no way through it leads
 * over its end, and what is used as a cell is one on every way. */
enum checker_result checker_check_flow(struct check *check);

#endif
