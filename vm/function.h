/* function.h -- compiled code: instructions, constants, property sites.
 *
 * Read next: opcode.def, then compiler.h (who makes it), checker.h (who proves it safe),
 *            interp.h (who runs it).
 * Layer:     vm/.
 *
 * Functions lie outside the heap, never move and live as long as their program; a closure
 * in the heap points to its function.  Constants are numbers and interned strings, so no
 * collector has to look here.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_FUNCTION_H
#define VM_FUNCTION_H

#include "base/atomics.h"
#include "gc/object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opcode {
#define OPCODE(name, a, b, c, flow, poll, text) OP_##name,
#include "vm/opcode.def"
    OPCODE_COUNT
};

struct instruction {
    uint16_t op, a, b, c;
};
_Static_assert(sizeof(struct instruction) == 8, "one 64-bit word");

#define INSTRUCTION_MAX_OPERAND UINT16_MAX

/* The 32-bit operand in B (low half) and C. */
static inline uint32_t instruction_wide(struct instruction i) { return (uint32_t)i.c << 16 | i.b; }
/* Jump distances, from the next instruction. */
static inline int32_t instruction_jump32(struct instruction i)
{
    return (int32_t)instruction_wide(i);
}
static inline int32_t instruction_jump16(struct instruction i) { return (int16_t)i.c; }

/* A place in the code that names a property.  cache is one 64-bit atomic word
 * {shape:32, slot:24, kind:8}, see shape.h; 0 = empty; right for any content. */
struct site {
    _Atomic uint64_t cache;
    struct object *name; /* interned */
};

/* What CLOSURE takes: a register of the running frame that holds a cell, or one of the
 * running closure's own captures. */
struct capture {
    bool is_register;
    uint16_t index;
};

struct class_site {
    struct object *name;   /* interned */
    uint32_t method_count; /* own methods, different names */
    uint32_t field_hint;   /* how many fields its own methods seem to set */
};

struct function {
    struct object *name; /* interned; NULL = the script */
    uint32_t arity;
    uint32_t register_count; /* parameters, locals, temporaries; at least arity + 1 */
    struct instruction *code;
    uint32_t code_count;
    uint32_t *lines; /* of each instruction */
    value_t *constants;
    uint32_t constant_count;
    struct site *sites;
    uint32_t site_count;
    struct capture *captures; /* what a closure of it takes from the frame around */
    uint32_t capture_count;
    struct function **functions; /* the functions declared in it */
    uint32_t function_count;
    struct class_site *classes;
    uint32_t class_count;
    bool is_checked;       /* checker_check() has accepted it; the interpreter runs no other */
    bool catches;          /* the frame of `attempt`: errors from below end here */
    struct function *next; /* in its program's list, for the end */
};

#endif
