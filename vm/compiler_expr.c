/* compiler_expr.c -- expressions to registers.  See compiler_priv.h for where values go.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/compiler_priv.h"

#include "base/insist.h"

/* Bytes that the book's compiler emits, for -XX:+BookLimits. */
#define BOOK_SIMPLE  1 /* an opcode */
#define BOOK_OPERAND 2 /* and one byte */
#define BOOK_INVOKE  3 /* and two */
#define BOOK_JUMP    3

/* --- constants and names ------------------------------------------------------- */

static void load_constant(struct code_writer *w, value_t value, uint32_t target)
{
    code_emit_wide(w, OP_LOAD_CONST, target, code_constant(w, value));
}

static bool number_operand(struct code_writer *w, const struct expr *e, uint32_t *index_out)
{
    return e->kind == EXPR_NUMBER &&
           code_small_constant(w, value_of_raw_double(e->number), index_out);
}

/* The register that a variable lives in, if it lives in one. */
static bool is_in_register(const struct reference *r)
{
    return r->variable && r->capture < 0 && !r->variable->is_captured;
}

void reference_to(struct code_writer *w, const struct reference *r, uint32_t target)
{
    code_book(w, r->variable ? 0 : 1, BOOK_OPERAND);
    if (!r->variable)
        code_emit_wide(w, OP_GET_GLOBAL, target, code_global(w, r->name));
    else if (r->capture >= 0)
        code_emit(w, OP_CAPTURE_GET, target, (uint32_t)r->capture, 0);
    else if (r->variable->is_captured)
        code_emit(w, OP_CELL_GET, target, r->variable->reg, 0);
    else if (r->variable->reg != target)
        code_emit(w, OP_MOVE, target, r->variable->reg, 0);
}

static void store_reference(struct code_writer *w, const struct reference *r, uint32_t from)
{
    code_book(w, r->variable ? 0 : 1, BOOK_OPERAND);
    if (!r->variable)
        code_emit_wide(w, OP_SET_GLOBAL, from, code_global(w, r->name));
    else if (r->capture >= 0)
        code_emit(w, OP_CAPTURE_SET, from, (uint32_t)r->capture, 0);
    else if (r->variable->is_captured)
        code_emit(w, OP_CELL_SET, r->variable->reg, from, 0);
    else if (r->variable->reg != from)
        code_emit(w, OP_MOVE, r->variable->reg, from, 0);
}

/* Note [O]: an operand in reg, before later ones are computed. */
static uint32_t hold(struct code_writer *w, uint32_t reg, bool later_assigns)
{
    if (!later_assigns || code_is_temporary(w, reg))
        return reg;
    uint32_t copy = code_take_register(w);
    code_emit(w, OP_MOVE, copy, reg, 0);
    return copy;
}

/* --- operators ------------------------------------------------------------------ */

struct operation {
    enum opcode op, op_k; /* op_k: with a number on the right; HALT = there is none */
    bool swaps;           /* a > b is b < a */
    uint32_t book_bytes;
};

static struct operation operation_of(enum token_kind operator)
{
    switch (operator) {
    case TOKEN_PLUS:
        return (struct operation){ OP_ADD, OP_ADD_K, false, 1 };
    case TOKEN_MINUS:
        return (struct operation){ OP_SUB, OP_SUB_K, false, 1 };
    case TOKEN_STAR:
        return (struct operation){ OP_MUL, OP_MUL_K, false, 1 };
    case TOKEN_SLASH:
        return (struct operation){ OP_DIV, OP_DIV_K, false, 1 };
    case TOKEN_EQUAL_EQUAL:
        return (struct operation){ OP_EQUAL, OP_HALT, false, 1 };
    case TOKEN_BANG_EQUAL:
        return (struct operation){ OP_NOT_EQUAL, OP_HALT, false, 2 };
    case TOKEN_LESS:
        return (struct operation){ OP_LESS, OP_HALT, false, 1 };
    case TOKEN_LESS_EQUAL:
        return (struct operation){ OP_LESS_EQUAL, OP_HALT, false, 2 };
    case TOKEN_GREATER:
        return (struct operation){ OP_LESS, OP_HALT, true, 1 };
    case TOKEN_GREATER_EQUAL:
        return (struct operation){ OP_LESS_EQUAL, OP_HALT, true, 2 };
    default:
        INSIST(false, "token %d is no operator", operator);
    }
    return (struct operation){ OP_HALT, OP_HALT, false, 0 };
}

/* left operator right, into a new temporary or, for the last link, into target. */
static uint32_t compile_link(struct code_writer *w, const struct link *link, uint32_t left,
                             uint32_t target)
{
    struct operation o = operation_of(link->operator);
    uint32_t constant, mark = w->top;
    if (o.op_k != OP_HALT && number_operand(w, link->right, &constant)) {
        w->line = link->line;
        w->token = link->right->token;
        code_book(w, 1, BOOK_OPERAND + o.book_bytes);
        code_emit(w, o.op_k, target, left, constant);
    } else {
        left = hold(w, left, link->right->has_assign);
        uint32_t right = expr_any(w, link->right);
        w->line = link->line;
        code_book(w, 0, o.book_bytes);
        code_emit(w, o.op, target, o.swaps ? right : left, o.swaps ? left : right);
    }
    w->top = mark;
    return target;
}

/* The first operand: where it lies, else in target if that is the last register taken, so
 * that deep expressions and recursions need few registers. */
static uint32_t compile_first(struct code_writer *w, const struct expr *first, uint32_t target)
{
    bool is_named = first->kind == EXPR_VARIABLE || first->kind == EXPR_THIS;
    if (is_named || first->kind == EXPR_ASSIGN || !code_is_temporary(w, target) ||
        target + 1 != w->top)
        return expr_any(w, first);
    expr_to(w, first, target);
    return target;
}

static void compile_chain(struct code_writer *w, const struct expr *e, uint32_t target)
{
    const struct link *link = e->chain.links;
    uint32_t mark = w->top, left = compile_first(w, e->chain.first, target), sum = target;
    if (link->next && !code_is_temporary(w, target))
        sum = code_take_register(w); /* the target may be an operand still to come */
    for (; link; link = link->next)
        left = compile_link(w, link, left, link->next ? sum : target);
    w->top = mark;
}

static void compile_unary(struct code_writer *w, const struct expr *e, uint32_t target)
{
    uint32_t mark = w->top, right = expr_any(w, e->unary.right);
    w->line = e->line;
    code_book(w, 0, BOOK_SIMPLE);
    code_emit(w, e->unary.operator== TOKEN_MINUS ? OP_NEGATE : OP_NOT, target, right, 0);
    w->top = mark;
}

/* `and` keeps a false left operand, `or` a true one. */
static void compile_logical(struct code_writer *w, const struct expr *e, uint32_t target)
{
    struct jump_list done = { NULL, 0, 0 };
    uint32_t mark = w->top;
    uint32_t result = code_is_temporary(w, target) ? target : code_take_register(w);
    code_book(w, 0, BOOK_JUMP + BOOK_SIMPLE + (e->kind == EXPR_OR ? BOOK_JUMP : 0));
    expr_to(w, e->logical.left, result);
    code_emit_jump(w, &done, e->kind == EXPR_AND ? OP_JUMP_IF_FALSE : OP_JUMP_IF_TRUE, result, 0);
    expr_to(w, e->logical.right, result);
    code_land(w, &done);
    if (result != target)
        code_emit(w, OP_MOVE, target, result, 0);
    w->top = mark;
}

/* --- calls ------------------------------------------------------------------------ */

static void compile_arguments(struct code_writer *w, const struct expr *e)
{
    for (uint32_t i = 0; i < e->call.argument_count; i++) {
        uint32_t reg = code_take_register(w);
        expr_to(w, e->call.arguments[i], reg);
        w->top = reg + 1;
    }
}

static void compile_invoke(struct code_writer *w, const struct expr *e, uint32_t window)
{
    const struct expr *callee = e->call.callee;
    expr_to(w, callee->property.object, window);
    w->top = window + 1;
    compile_arguments(w, e);
    w->line = e->line;
    code_book(w, 1, BOOK_INVOKE);
    code_emit(w, OP_INVOKE, window, e->call.argument_count, code_site(w, callee->property.name));
}

static void compile_super_invoke(struct code_writer *w, const struct expr *e, uint32_t window)
{
    const struct expr *callee = e->call.callee;
    reference_to(w, &callee->super.receiver, window);
    compile_arguments(w, e);
    reference_to(w, &callee->super.superclass, code_take_register(w));
    w->line = e->line;
    code_book(w, 1, BOOK_INVOKE);
    code_emit(w, OP_SUPER_INVOKE, window, e->call.argument_count, code_site(w, callee->super.name));
}

/* The result is in the window, which is the first free register, or target if that is the
 * last one taken. */
static uint32_t compile_call(struct code_writer *w, const struct expr *e, uint32_t target)
{
    bool is_on_top = code_is_temporary(w, target) && target + 1 == w->top && target > 0;
    uint32_t window = is_on_top ? target : code_take_register(w);
    const struct expr *callee = e->call.callee;
    if (callee->kind == EXPR_GET && !callee->is_grouped) {
        compile_invoke(w, e, window);
    } else if (callee->kind == EXPR_SUPER && !callee->is_grouped) {
        compile_super_invoke(w, e, window);
    } else {
        expr_to(w, callee, window);
        w->top = window + 1;
        compile_arguments(w, e);
        w->line = e->line;
        code_book(w, 0, BOOK_OPERAND);
        code_emit(w, OP_CALL, window, e->call.argument_count, 0);
    }
    w->top = window + 1;
    return window;
}

/* --- properties and elements ---------------------------------------------------------- */

static void compile_get(struct code_writer *w, const struct expr *e, uint32_t target)
{
    uint32_t mark = w->top, object = expr_any(w, e->property.object);
    w->line = e->line;
    code_book(w, 1, BOOK_OPERAND);
    code_emit(w, OP_GET_PROPERTY, target, object, code_site(w, e->property.name));
    w->top = mark;
}

/* The value's register; the caller gives the temporaries back. */
static uint32_t compile_set(struct code_writer *w, const struct expr *e)
{
    uint32_t object = expr_any(w, e->property.object);
    object = hold(w, object, e->property.value->has_assign);
    uint32_t value = expr_any(w, e->property.value);
    w->line = e->line;
    code_book(w, 1, BOOK_OPERAND);
    code_emit(w, OP_SET_PROPERTY, object, value, code_site(w, e->property.name));
    return value;
}

static void compile_index(struct code_writer *w, const struct expr *e, uint32_t target)
{
    uint32_t mark = w->top, object = expr_any(w, e->index.object);
    object = hold(w, object, e->index.index->has_assign);
    uint32_t index = expr_any(w, e->index.index);
    w->line = e->line;
    code_emit(w, OP_GET_INDEX, target, object, index);
    w->top = mark;
}

static uint32_t compile_set_index(struct code_writer *w, const struct expr *e)
{
    bool value_assigns = e->index.value->has_assign;
    uint32_t object = expr_any(w, e->index.object);
    object = hold(w, object, e->index.index->has_assign || value_assigns);
    uint32_t index = hold(w, expr_any(w, e->index.index), value_assigns);
    uint32_t value = expr_any(w, e->index.value);
    w->line = e->line;
    code_emit(w, OP_SET_INDEX, object, index, value);
    return value;
}

static void compile_super(struct code_writer *w, const struct expr *e, uint32_t target)
{
    uint32_t mark = w->top;
    uint32_t method = code_is_temporary(w, target) ? target : code_take_register(w);
    reference_to(w, &e->super.receiver, method);
    uint32_t superclass = code_take_register(w);
    reference_to(w, &e->super.superclass, superclass);
    w->line = e->line;
    code_book(w, 1, BOOK_OPERAND);
    code_emit(w, OP_GET_SUPER, method, superclass, code_site(w, e->super.name));
    if (method != target)
        code_emit(w, OP_MOVE, target, method, 0);
    w->top = mark;
}

/* The assigned value's register: the variable's own if it has one. */
static uint32_t compile_assign(struct code_writer *w, const struct expr *e)
{
    const struct reference *r = &e->assign.target;
    uint32_t value;
    if (is_in_register(r)) {
        value = r->variable->reg;
        expr_to(w, e->assign.value, value);
        code_book(w, 0, BOOK_OPERAND);
    } else {
        value = expr_any(w, e->assign.value);
        w->line = e->line;
        store_reference(w, r, value);
    }
    return value;
}

/* --- where a value goes ------------------------------------------------------------------ */

/* Of kinds that have their value in a register of their own choice. */
static bool chooses_register(const struct expr *e)
{
    return e->kind == EXPR_ASSIGN || e->kind == EXPR_SET || e->kind == EXPR_SET_INDEX ||
           e->kind == EXPR_CALL;
}

static uint32_t expr_own(struct code_writer *w, const struct expr *e, uint32_t target)
{
    switch (e->kind) {
    case EXPR_ASSIGN:
        return compile_assign(w, e);
    case EXPR_SET:
        return compile_set(w, e);
    case EXPR_SET_INDEX:
        return compile_set_index(w, e);
    default:
        return compile_call(w, e, target);
    }
}

static void load_literal(struct code_writer *w, const struct expr *e, uint32_t target)
{
    bool is_pooled = e->kind == EXPR_NUMBER || e->kind == EXPR_STRING;
    code_book(w, is_pooled, is_pooled ? BOOK_OPERAND : BOOK_SIMPLE);
    if (e->kind == EXPR_NUMBER)
        load_constant(w, value_of_raw_double(e->number), target);
    else if (e->kind == EXPR_STRING)
        load_constant(w, value_of_object(e->string), target);
    else
        code_emit(w,
                  e->kind == EXPR_NIL    ? OP_LOAD_NIL
                  : e->kind == EXPR_TRUE ? OP_LOAD_TRUE
                                         : OP_LOAD_FALSE,
                  target, 0, 0);
}

void expr_to(struct code_writer *w, const struct expr *e, uint32_t target)
{
    uint32_t mark = w->top;
    w->line = e->line;
    w->token = e->token;
    if (chooses_register(e)) {
        uint32_t own = expr_own(w, e, target);
        if (own != target)
            code_emit(w, OP_MOVE, target, own, 0);
        w->top = mark;
        return;
    }
    switch (e->kind) {
    case EXPR_VARIABLE:
        reference_to(w, &e->variable, target);
        break;
    case EXPR_THIS:
        reference_to(w, &e->receiver, target);
        break;
    case EXPR_UNARY:
        compile_unary(w, e, target);
        break;
    case EXPR_CHAIN:
        compile_chain(w, e, target);
        break;
    case EXPR_AND:
    case EXPR_OR:
        compile_logical(w, e, target);
        break;
    case EXPR_GET:
        compile_get(w, e, target);
        break;
    case EXPR_INDEX:
        compile_index(w, e, target);
        break;
    case EXPR_SUPER:
        compile_super(w, e, target);
        break;
    default:
        load_literal(w, e, target);
    }
}

uint32_t expr_any(struct code_writer *w, const struct expr *e)
{
    w->token = e->token;
    if (e->kind == EXPR_VARIABLE && is_in_register(&e->variable)) {
        code_book(w, 0, BOOK_OPERAND);
        return e->variable.variable->reg;
    }
    if (e->kind == EXPR_THIS && is_in_register(&e->receiver)) {
        code_book(w, 0, BOOK_OPERAND);
        return e->receiver.variable->reg;
    }
    if (chooses_register(e)) {
        /* Its temporaries stay taken: one of them is the value. */
        return expr_own(w, e, UINT32_MAX - 1);
    }
    uint32_t reg = code_take_register(w);
    expr_to(w, e, reg);
    return reg;
}

void expr_discard(struct code_writer *w, const struct expr *e)
{
    uint32_t mark = w->top;
    expr_any(w, e);
    w->top = mark;
}
