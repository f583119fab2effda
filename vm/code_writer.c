/* code_writer.c -- see code_writer.h.  SPDX-License-Identifier: MIT */
#include "vm/code_writer.h"

#include "base/flags.h"
#include "base/insist.h"
#include "vm/compiler.h"

#include <stdlib.h>

/* Of the book's bytecode machine: one byte for a constant's index, two for a jump. */
#define BOOK_MAX_CONSTANTS 256

#define PUSH(w, vector, value)                                                                     \
    do {                                                                                           \
        if ((vector).count == (vector).capacity)                                                   \
            (vector).at = arena_grow((w)->all->arena, (vector).at, (vector).count,                 \
                                     &(vector).capacity, sizeof *(vector).at);                     \
        (vector).at[(vector).count++] = (value);                                                   \
    } while (0)

/* --- limits -------------------------------------------------------------------- */

void code_fail(struct code_writer *w, const char *message)
{
    if (!w->has_failed)
        diagnostics_add(w->all->diagnostics, w->token, message);
    w->has_failed = true;
}

void code_book(struct code_writer *w, uint32_t constants, uint32_t bytes)
{
    w->book_constants += constants;
    w->book_bytes += bytes;
    if (constants && flags->book_limits && w->book_constants > BOOK_MAX_CONSTANTS)
        code_fail(w, "Too many constants in one chunk.");
}

/* --- registers -------------------------------------------------------------------- */

uint32_t code_take_register(struct code_writer *w)
{
    /* One below the largest operand: STRIP and SUPER_INVOKE use the register after theirs. */
    if (w->top >= INSTRUCTION_MAX_OPERAND - 1) {
        code_fail(w, "Expression needs too many registers.");
        return w->top;
    }
    uint32_t reg = w->top++;
    if (w->top > w->register_count)
        w->register_count = w->top;
    return reg;
}

/* --- instructions ------------------------------------------------------------------- */

uint32_t code_here(const struct code_writer *w) { return (uint32_t)w->code.count; }

uint32_t code_emit(struct code_writer *w, enum opcode op, uint32_t a, uint32_t b, uint32_t c)
{
    ASSERT(a <= INSTRUCTION_MAX_OPERAND && b <= INSTRUCTION_MAX_OPERAND &&
               c <= INSTRUCTION_MAX_OPERAND,
           "operands %u %u %u of opcode %d", a, b, c, op);
    struct instruction i = { (uint16_t)op, (uint16_t)a, (uint16_t)b, (uint16_t)c };
    if (w->code.count >= INT32_MAX - 1) {
        code_fail(w, "Too much code in one function.");
        return code_here(w) - 1;
    }
    PUSH(w, w->code, i);
    PUSH(w, w->lines, w->line);
    return code_here(w) - 1;
}

uint32_t code_emit_wide(struct code_writer *w, enum opcode op, uint32_t a, uint32_t wide)
{
    return code_emit(w, op, a, wide & 0xffff, wide >> 16);
}

/* --- jumps ---------------------------------------------------------------------------- */

static bool has_wide_jump(enum opcode op)
{
    return op == OP_JUMP || op == OP_JUMP_IF_FALSE || op == OP_JUMP_IF_TRUE || op == OP_LOOP;
}

/* False: too far. */
static bool set_jump(struct code_writer *w, uint32_t at, int64_t distance)
{
    struct instruction *i = &w->code.at[at];
    if (has_wide_jump(i->op)) {
        i->b = (uint16_t)distance;
        i->c = (uint16_t)((uint64_t)distance >> 16);
        return true;
    }
    i->c = (uint16_t)distance;
    return distance >= INT16_MIN && distance <= INT16_MAX;
}

void code_emit_jump(struct code_writer *w, struct jump_list *list, enum opcode op, uint32_t a,
                    uint32_t b)
{
    uint32_t at = code_emit(w, op, a, b, 0);
    if (list->count == list->capacity)
        list->at =
            arena_grow(w->all->arena, list->at, list->count, &list->capacity, sizeof *list->at);
    list->at[list->count++] = at;
}

void code_land(struct code_writer *w, struct jump_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!set_jump(w, list->at[i], (int64_t)code_here(w) - (list->at[i] + 1)))
            w->needs_long_jumps = true;
    list->count = 0;
}

bool code_emit_back(struct code_writer *w, enum opcode op, uint32_t a, uint32_t b, uint32_t target)
{
    int64_t distance = (int64_t)target - ((int64_t)code_here(w) + 1);
    if (!has_wide_jump(op) && distance < INT16_MIN)
        return false;
    set_jump(w, code_emit(w, op, a, b, 0), distance);
    return true;
}

/* --- tables ------------------------------------------------------------------------------ */

static size_t hash_value(value_t v)
{
    return (size_t)((v ^ v >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static uint32_t *find_constant(struct code_writer *w, value_t value)
{
    size_t mask = w->constant_table_size - 1, at = hash_value(value) & mask;
    while (w->constant_table[at] && w->constants.at[w->constant_table[at] - 1] != value)
        at = (at + 1) & mask;
    return &w->constant_table[at];
}

/* Keeps the table at most half full. */
static void grow_constant_table(struct code_writer *w)
{
    w->constant_table_size = w->constant_table_size ? w->constant_table_size * 2 : 16;
    w->constant_table =
        arena_allocate(w->all->arena, w->constant_table_size * sizeof *w->constant_table);
    for (size_t i = 0; i < w->constants.count; i++)
        *find_constant(w, w->constants.at[i]) = (uint32_t)i + 1;
}

uint32_t code_constant(struct code_writer *w, value_t value)
{
    if (w->constants.count * 2 >= w->constant_table_size)
        grow_constant_table(w);
    uint32_t *place = find_constant(w, value);
    if (!*place) {
        PUSH(w, w->constants, value);
        *place = (uint32_t)w->constants.count;
    }
    return *place - 1;
}

bool code_small_constant(struct code_writer *w, value_t value, uint32_t *index_out)
{
    uint32_t index = code_constant(w, value);
    *index_out = index;
    return index <= INSTRUCTION_MAX_OPERAND;
}

uint32_t code_site(struct code_writer *w, struct object *name)
{
    struct site site = { .name = name };
    if (w->sites.count > INSTRUCTION_MAX_OPERAND) {
        code_fail(w, "Too many property sites in one function.");
        return 0;
    }
    if (w->sites.count == w->sites.capacity)
        w->sites.at = arena_grow(w->all->arena, w->sites.at, w->sites.count, &w->sites.capacity,
                                 sizeof *w->sites.at);
    memcpy(&w->sites.at[w->sites.count++], &site, sizeof site);
    return (uint32_t)w->sites.count - 1;
}

uint32_t code_class_site(struct code_writer *w, struct class_site site)
{
    if (w->classes.count > INSTRUCTION_MAX_OPERAND) {
        code_fail(w, "Too many classes in one function.");
        return 0;
    }
    PUSH(w, w->classes, site);
    return (uint32_t)w->classes.count - 1;
}

uint32_t code_function(struct code_writer *w, struct function *function)
{
    PUSH(w, w->functions, function);
    return (uint32_t)w->functions.count - 1;
}

uint32_t code_global(struct code_writer *w, struct object *name)
{
    uint32_t index = globals_index(w->all->globals, name);
    if (index == GLOBALS_NONE)
        longjmp(*w->all->arena->out_of_memory, 1);
    return index;
}

/* --- begin and end --------------------------------------------------------------------------- */

void code_begin(struct code_writer *w, struct compilation *all, struct function_node *node,
                bool uses_long_jumps)
{
    *w = (struct code_writer){
        .all = all,
        .node = node,
        .line = node->line,
        .token = node->token,
        .uses_long_jumps = uses_long_jumps,
    };
}

/* An array outside the arena with the same content; NULL if there is none. */
static void *keep(struct code_writer *w, const void *from, size_t count, size_t element_bytes)
{
    if (count == 0)
        return NULL;
    void *copy = malloc(count * element_bytes);
    if (!copy)
        longjmp(*w->all->arena->out_of_memory, 1);
    memcpy(copy, from, count * element_bytes);
    return copy;
}

static void keep_captures(struct code_writer *w, struct function *f)
{
    struct function_node *node = w->node;
    if (node->capture_count == 0)
        return;
    f->captures = calloc(node->capture_count, sizeof *f->captures);
    if (!f->captures)
        longjmp(*w->all->arena->out_of_memory, 1);
    f->capture_count = node->capture_count;
    for (uint32_t i = 0; i < node->capture_count; i++) {
        const struct capture_node *capture = &node->captures[i];
        f->captures[i].is_register = capture->is_local;
        f->captures[i].index =
            (uint16_t)(capture->is_local ? capture->variable->reg : capture->index);
    }
}

struct function *code_finish(struct code_writer *w)
{
    struct function *f = calloc(1, sizeof *f);
    if (!f)
        longjmp(*w->all->arena->out_of_memory, 1);
    f->next = *w->all->functions;
    *w->all->functions = f;
    f->name = w->node->name;
    f->arity = w->node->parameter_count;
    f->register_count = w->register_count;
    f->code = keep(w, w->code.at, w->code.count, sizeof *f->code);
    f->code_count = (uint32_t)w->code.count;
    f->lines = keep(w, w->lines.at, w->lines.count, sizeof *f->lines);
    f->constants = keep(w, w->constants.at, w->constants.count, sizeof *f->constants);
    f->constant_count = (uint32_t)w->constants.count;
    f->sites = keep(w, w->sites.at, w->sites.count, sizeof *f->sites);
    f->site_count = (uint32_t)w->sites.count;
    f->functions = keep(w, w->functions.at, w->functions.count, sizeof *f->functions);
    f->function_count = (uint32_t)w->functions.count;
    f->classes = keep(w, w->classes.at, w->classes.count, sizeof *f->classes);
    f->class_count = (uint32_t)w->classes.count;
    keep_captures(w, f);
    return f;
}

void compiler_free_functions(struct function *functions)
{
    for (struct function *next; functions; functions = next) {
        next = functions->next;
        free(functions->code);
        free(functions->lines);
        free(functions->constants);
        free(functions->sites);
        free(functions->captures);
        free(functions->functions);
        free(functions->classes);
        free(functions);
    }
}
