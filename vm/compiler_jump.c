/* compiler_jump.c -- conditions: comparisons that jump instead of making a value.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/compiler_priv.h"

/* Bytes that the book's compiler emits for a condition's jump and pop. */
#define BOOK_CONDITION 4

/* --- comparisons ------------------------------------------------------------------ */

enum compared { COMPARE_LESS, COMPARE_LESS_EQUAL, COMPARE_GREATER, COMPARE_GREATER_EQUAL };

/* By what is compared, and the truth at which to jump. */
static const struct {
    enum opcode jump[2]; /* two registers; greater = less with swapped operands */
    enum opcode jump_k[2];
    enum opcode back, back_k;
} rows[] = {
    [COMPARE_LESS] = { { OP_JUMP_UNLESS_LESS, OP_JUMP_IF_LESS },
                       { OP_JUMP_UNLESS_LESS_K, OP_JUMP_IF_LESS_K },
                       OP_LOOP_IF_LESS,
                       OP_LOOP_IF_LESS_K },
    [COMPARE_LESS_EQUAL] = { { OP_JUMP_UNLESS_LESS_EQUAL, OP_JUMP_IF_LESS_EQUAL },
                             { OP_JUMP_UNLESS_LESS_EQUAL_K, OP_JUMP_IF_LESS_EQUAL_K },
                             OP_LOOP_IF_LESS_EQUAL,
                             OP_LOOP_IF_LESS_EQUAL_K },
    [COMPARE_GREATER] = { { OP_JUMP_UNLESS_LESS, OP_JUMP_IF_LESS },
                          { OP_JUMP_UNLESS_GREATER_K, OP_JUMP_IF_GREATER_K },
                          OP_LOOP_IF_LESS,
                          OP_LOOP_IF_GREATER_K },
    [COMPARE_GREATER_EQUAL] = { { OP_JUMP_UNLESS_LESS_EQUAL, OP_JUMP_IF_LESS_EQUAL },
                                { OP_JUMP_UNLESS_GREATER_EQUAL_K, OP_JUMP_IF_GREATER_EQUAL_K },
                                OP_LOOP_IF_LESS_EQUAL,
                                OP_LOOP_IF_GREATER_EQUAL_K },
};

static enum compared compared_by(enum token_kind operator)
{
    return operator== TOKEN_LESS       ? COMPARE_LESS :
           operator== TOKEN_LESS_EQUAL ? COMPARE_LESS_EQUAL
           :
           operator== TOKEN_GREATER ? COMPARE_GREATER
                                    : COMPARE_GREATER_EQUAL;
}

const struct link *comparison_of(const struct expr *e)
{
    if (!e || e->kind != EXPR_CHAIN || e->chain.links->next)
        return NULL;
    enum token_kind o = e->chain.links->operator;
    bool is_one =
        o == TOKEN_LESS || o == TOKEN_LESS_EQUAL || o == TOKEN_GREATER || o == TOKEN_GREATER_EQUAL;
    return is_one ? e->chain.links : NULL;
}

/* The operands of a comparison in registers, or the right one among the constants. */
struct operands {
    uint32_t left, right;
    bool right_is_constant;
};

static bool has_constant(struct code_writer *w, const struct expr *e, bool numbers_only,
                         uint32_t *index_out)
{
    if (e->kind == EXPR_NUMBER)
        return code_small_constant(w, value_of_raw_double(e->number), index_out);
    return e->kind == EXPR_STRING && !numbers_only &&
           code_small_constant(w, value_of_object(e->string), index_out);
}

static struct operands compile_operands(struct code_writer *w, const struct expr *e,
                                        const struct link *link, bool numbers_only)
{
    struct operands o = { expr_any(w, e->chain.first), 0, false };
    if (has_constant(w, link->right, numbers_only, &o.right)) {
        o.right_is_constant = true;
        w->token = link->right->token;
        code_book(w, 1, 2);
    } else {
        if (link->right->has_assign && !code_is_temporary(w, o.left)) { /* Note [O] */
            uint32_t copy = code_take_register(w);
            code_emit(w, OP_MOVE, copy, o.left, 0);
            o.left = copy;
        }
        o.right = expr_any(w, link->right);
    }
    w->line = link->line;
    return o;
}

static void jump_when_ordered(struct code_writer *w, const struct expr *e, const struct link *link,
                              bool sense, struct jump_list *list)
{
    enum compared by = compared_by(link->operator);
    struct operands o = compile_operands(w, e, link, true);
    if (o.right_is_constant)
        code_emit_jump(w, list, rows[by].jump_k[sense], o.left, o.right);
    else if (by >= COMPARE_GREATER)
        code_emit_jump(w, list, rows[by].jump[sense], o.right, o.left);
    else
        code_emit_jump(w, list, rows[by].jump[sense], o.left, o.right);
}

static void jump_when_equal(struct code_writer *w, const struct expr *e, const struct link *link,
                            bool sense, struct jump_list *list)
{
    struct operands o = compile_operands(w, e, link, false);
    bool if_equal = sense == (link->operator== TOKEN_EQUAL_EQUAL);
    enum opcode op = if_equal ? OP_JUMP_IF_EQUAL : OP_JUMP_UNLESS_EQUAL;
    enum opcode op_k = if_equal ? OP_JUMP_IF_EQUAL_K : OP_JUMP_UNLESS_EQUAL_K;
    code_emit_jump(w, list, o.right_is_constant ? op_k : op, o.left, o.right);
}

/* True when e is a comparison and its jump was emitted. */
static bool jump_by_comparison(struct code_writer *w, const struct expr *e, bool sense,
                               struct jump_list *list)
{
    if (w->uses_long_jumps || e->kind != EXPR_CHAIN || e->chain.links->next)
        return false;
    const struct link *link = e->chain.links;
    if (comparison_of(e))
        jump_when_ordered(w, e, link, sense, list);
    else if (link->operator== TOKEN_EQUAL_EQUAL || link->operator== TOKEN_BANG_EQUAL)
        jump_when_equal(w, e, link, sense, list);
    else
        return false;
    return true;
}

/* --- conditions ---------------------------------------------------------------------- */

static bool is_constant(const struct expr *e, bool *truth_out)
{
    *truth_out = e->kind == EXPR_TRUE || e->kind == EXPR_NUMBER || e->kind == EXPR_STRING;
    return *truth_out || e->kind == EXPR_NIL || e->kind == EXPR_FALSE;
}

static void jump_when_logical(struct code_writer *w, const struct expr *e, bool sense,
                              struct jump_list *list)
{
    struct jump_list skip = { NULL, 0, 0 };
    bool decides = e->kind == EXPR_OR; /* the left operand's truth that decides alone */
    jump_when(w, e->logical.left, decides, decides == sense ? list : &skip);
    jump_when(w, e->logical.right, sense, list);
    code_land(w, &skip);
}

void jump_when(struct code_writer *w, const struct expr *e, bool sense, struct jump_list *list)
{
    uint32_t mark = w->top;
    bool truth;
    w->line = e->line;
    w->token = e->token;
    code_book(w, 0, BOOK_CONDITION);
    if (is_constant(e, &truth)) {
        if (truth == sense)
            code_emit_jump(w, list, OP_JUMP, 0, 0);
    } else if (e->kind == EXPR_UNARY && e->unary.operator== TOKEN_BANG) {
        jump_when(w, e->unary.right, !sense, list);
    } else if (e->kind == EXPR_AND || e->kind == EXPR_OR) {
        jump_when_logical(w, e, sense, list);
    } else if (!jump_by_comparison(w, e, sense, list)) {
        uint32_t reg = expr_any(w, e);
        code_emit_jump(w, list, sense ? OP_JUMP_IF_TRUE : OP_JUMP_IF_FALSE, reg, 0);
    }
    w->top = mark;
}

/* --- back edges -------------------------------------------------------------------------- */

static enum opcode back_opcode(enum compared by, bool is_constant_right, enum loop_form form)
{
    if (by == COMPARE_LESS && form == LOOP_FORM_NO_POLL)
        return is_constant_right ? OP_NEXT_IF_LESS_K : OP_NEXT_IF_LESS;
    if (by == COMPARE_LESS && form == LOOP_FORM_STRIP)
        return is_constant_right ? OP_STRIP_IF_LESS_K : OP_STRIP_IF_LESS;
    return is_constant_right ? rows[by].back_k : rows[by].back;
}

/* The comparison at the loop's end saves a jump per iteration: true when it was emitted. */
static bool loop_by_comparison(struct code_writer *w, const struct expr *e, enum loop_form form,
                               uint32_t body)
{
    const struct link *link = comparison_of(e);
    if (!link || w->uses_long_jumps || e->has_assign || e->has_call)
        return false;
    uint32_t mark = w->top, constants = w->book_constants;
    uint64_t bytes = w->book_bytes;
    enum compared by = compared_by(link->operator);
    struct operands o = compile_operands(w, e, link, true);
    bool swaps = !o.right_is_constant && by >= COMPARE_GREATER;
    enum opcode op = back_opcode(by, o.right_is_constant, form);
    if (!code_emit_back(w, op, swaps ? o.right : o.left, swaps ? o.left : o.right, body))
        w->needs_long_jumps = true;
    w->top = mark;
    w->book_constants = constants; /* the book computes a condition once */
    w->book_bytes = bytes;
    return true;
}

void loop_while(struct code_writer *w, const struct expr *e, enum loop_form form, uint32_t body,
                uint32_t start)
{
    if (!e || !loop_by_comparison(w, e, form, body))
        code_emit_back(w, OP_LOOP, 0, 0, start);
}
