/* code_writer.h -- one function being compiled: instructions, constants, registers, jumps.
 *
 * Read next: compiler.c, which drives it.
 * Layer:     vm/, for compiler*.c.
 *
 * Registers are handed out as a stack: parameters, then locals as their blocks open, then
 * temporaries.  `top` is the first free one; `locals_end` divides locals from temporaries.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_CODE_WRITER_H
#define VM_CODE_WRITER_H

#include "vm/arena.h"
#include "vm/ast.h"
#include "vm/diagnostics.h"
#include "vm/function.h"
#include "vm/globals.h"

#include <stdbool.h>
#include <stdint.h>

/* Every array of a function under construction. */
#define CODE_VECTOR(type)                                                                          \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, capacity;                                                                    \
    }

/* What all functions of one compilation share. */
struct compilation {
    struct arena *arena;
    struct diagnostics *diagnostics;
    struct globals *globals;
    struct function **functions; /* where finished ones are linked */
};

/* Forward jumps that wait for their target: instruction numbers. */
struct jump_list {
    uint32_t *at;
    size_t count, capacity;
};

struct code_writer {
    struct compilation *all;
    struct function_node *node;
    uint32_t line;      /* of the instructions to come */
    struct token token; /* where a limit is reported */
    CODE_VECTOR(struct instruction) code;
    CODE_VECTOR(uint32_t) lines;
    CODE_VECTOR(value_t) constants;
    CODE_VECTOR(struct site) sites;
    CODE_VECTOR(struct class_site) classes;
    CODE_VECTOR(struct function *) functions;
    uint32_t *constant_table; /* hash table of index + 1, 0 = free */
    size_t constant_table_size;
    uint32_t top, locals_end, register_count;
    uint32_t counted_loops; /* around the code to come, without polls or with strips */
    /* Comparisons jump 32767 instructions at most.  A function that needs more is compiled
     * once more without them. */
    bool uses_long_jumps, needs_long_jumps;
    bool has_failed;         /* a limit was reported: no more of this function */
    uint32_t book_constants; /* what the book's compiler would have, -XX:+BookLimits */
    uint64_t book_bytes;
};

/* --- limits ----------------------------------------------------------------- */

/* Reports once per function. */
void code_fail(struct code_writer *w, const char *message);
/* One more constant, bytes more code, in the book's machine. */
void code_book(struct code_writer *w, uint32_t constants, uint32_t bytes);

/* --- registers ---------------------------------------------------------------- */

/* The next free one. */
uint32_t code_take_register(struct code_writer *w);
static inline bool code_is_temporary(const struct code_writer *w, uint32_t reg)
{
    return reg >= w->locals_end;
}

/* --- instructions ---------------------------------------------------------------- */

uint32_t code_here(const struct code_writer *w);
uint32_t code_emit(struct code_writer *w, enum opcode op, uint32_t a, uint32_t b, uint32_t c);
/* With a 32-bit operand in B and C. */
uint32_t code_emit_wide(struct code_writer *w, enum opcode op, uint32_t a, uint32_t wide);

/* --- forward and back jumps ---------------------------------------------------------- */

/* An instruction whose jump operand comes later. */
void code_emit_jump(struct code_writer *w, struct jump_list *list, enum opcode op, uint32_t a,
                    uint32_t b);
/* Lets all of them lead here; the list is empty again. */
void code_land(struct code_writer *w, struct jump_list *list);
/* Back to the instruction target, by a LOOP or one of the BACK rows.  False: too far for op. */
bool code_emit_back(struct code_writer *w, enum opcode op, uint32_t a, uint32_t b, uint32_t target);

/* --- tables ------------------------------------------------------------------------------ */

uint32_t code_constant(struct code_writer *w, value_t value);
/* The same, if it can be a 16-bit operand. */
bool code_small_constant(struct code_writer *w, value_t value, uint32_t *index_out);
uint32_t code_site(struct code_writer *w, struct object *name);
uint32_t code_class_site(struct code_writer *w, struct class_site site);
uint32_t code_function(struct code_writer *w, struct function *function);
uint32_t code_global(struct code_writer *w, struct object *name);

/* --- begin and end -------------------------------------------------------------------------- */

void code_begin(struct code_writer *w, struct compilation *all, struct function_node *node,
                bool uses_long_jumps);
/* The finished function, linked into its list; jumps out of the arena when there is no memory. */
struct function *code_finish(struct code_writer *w);

#endif
