/* compiler.c -- functions and statements.
 *
 * Read next: compiler_expr.c, compiler_jump.c; docs/language.md for the rules of loops.
 *
 * A loop is laid out as
 *
 *       start:  jump to `end` unless the condition holds
 *       body:   ...
 *               jump back to `body` if the condition holds        (a comparison: repeated)
 *            or jump back to `start`                              (anything else)
 *       end:
 *
 * SPDX-License-Identifier: MIT */
#include "vm/compiler.h"

#include "base/flags.h"
#include "base/insist.h"
#include "vm/compiler_priv.h"

#define BOOK_MAX_JUMP 65535 /* bytes of the book's code; -XX:+BookLimits */

static void compile_list(struct code_writer *w, const struct stmt *list);
static void compile_statement(struct code_writer *w, const struct stmt *s);

/* --- declarations --------------------------------------------------------------- */

/* Takes the next register for a local variable; the temporaries begin above. */
static uint32_t declare_local(struct code_writer *w, struct variable *v)
{
    ASSERT(w->top == w->locals_end, "temporaries are in use: %u, %u", w->top, w->locals_end);
    v->reg = code_take_register(w);
    w->locals_end = w->top;
    return v->reg;
}

static void close_block(struct code_writer *w, uint32_t locals_before)
{
    w->top = w->locals_end = locals_before;
}

/* A captured variable lives in a cell from its declaration on. */
static void make_cell(struct code_writer *w, const struct variable *v, uint32_t value)
{
    if (v->is_captured)
        code_emit(w, OP_CELL_NEW, v->reg, value, 0);
}

static void define_global(struct code_writer *w, const struct declared *d, uint32_t from)
{
    code_book(w, 1, 2);
    code_emit_wide(w, OP_DEFINE_GLOBAL, from, code_global(w, d->name));
}

static void compile_var(struct code_writer *w, const struct stmt *s)
{
    const struct declared *d = &s->var.declared;
    uint32_t mark = w->top, reg = code_take_register(w);
    if (s->var.initializer)
        expr_to(w, s->var.initializer, reg);
    else
        code_emit(w, OP_LOAD_NIL, reg, 0, 0);
    w->line = d->token.line;
    w->token = d->token;
    w->top = mark;
    if (!d->variable) {
        define_global(w, d, reg);
        return;
    }
    declare_local(w, d->variable);
    make_cell(w, d->variable, reg);
}

static void emit_closure(struct code_writer *w, struct function_node *node, uint32_t target)
{
    struct function *function = compile_function(w->all, node);
    w->line = node->end_line;
    w->token = node->token;
    code_book(w, 1, 2 + 2 * node->capture_count);
    code_emit_wide(w, OP_CLOSURE, target, code_function(w, function));
}

static void compile_function_statement(struct code_writer *w, const struct stmt *s)
{
    const struct declared *d = &s->function.declared;
    if (!d->variable) {
        uint32_t reg = code_take_register(w);
        emit_closure(w, s->function.function, reg);
        define_global(w, d, reg);
        w->top = reg;
        return;
    }
    uint32_t reg = declare_local(w, d->variable);
    if (!d->variable->is_captured) {
        emit_closure(w, s->function.function, reg);
        return;
    }
    /* It may capture itself: the cell first. */
    code_emit(w, OP_LOAD_NIL, reg, 0, 0);
    make_cell(w, d->variable, reg);
    uint32_t closure = code_take_register(w);
    emit_closure(w, s->function.function, closure);
    code_emit(w, OP_CELL_SET, reg, closure, 0);
    w->top = closure;
}

/* --- classes ------------------------------------------------------------------------ */

static bool is_first_of_name(const struct class_node *c, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (c->methods[k]->name == c->methods[i]->name)
            return false;
    return true;
}

static struct class_site class_site_of(const struct class_node *c)
{
    struct class_site site = { c->declared.name, 0, c->field_hint };
    for (uint32_t i = 0; i < c->method_count; i++)
        site.method_count += is_first_of_name(c, i);
    return site;
}

static void compile_methods(struct code_writer *w, const struct class_node *c, uint32_t class)
{
    for (uint32_t i = 0; i < c->method_count; i++) {
        uint32_t method = code_take_register(w), name;
        emit_closure(w, c->methods[i], method);
        code_book(w, 1, 2);
        if (!code_small_constant(w, value_of_object(c->methods[i]->name), &name))
            code_fail(w, "Too many constants in one chunk.");
        else
            code_emit(w, OP_METHOD, class, method, name);
        w->top = method;
    }
}

/* The hidden variable `super`, in a scope around the methods. */
static void compile_superclass(struct code_writer *w, const struct class_node *c, uint32_t class)
{
    w->line = c->superclass.token.line;
    w->token = c->superclass.token;
    uint32_t reg = code_take_register(w);
    w->locals_end = w->top;
    if (c->super)
        c->super->reg = reg;
    reference_to(w, &c->superclass, reg);
    code_book(w, 0, 3);
    code_emit(w, OP_INHERIT, class, reg, 0);
    if (c->super)
        make_cell(w, c->super, reg);
}

static void compile_class(struct code_writer *w, const struct stmt *s)
{
    const struct class_node *c = s->class;
    const struct declared *d = &c->declared;
    w->line = d->token.line;
    w->token = d->token;
    uint32_t mark = w->top, class;
    if (d->variable && !d->variable->is_captured) {
        class = declare_local(w, d->variable);
        mark = w->top;
        code_emit(w, OP_CLASS, class, code_class_site(w, class_site_of(c)), 0);
    } else if (d->variable) {
        uint32_t reg = declare_local(w, d->variable);
        mark = w->top;
        class = code_take_register(w);
        w->locals_end = w->top; /* taken until the end of the declaration */
        code_emit(w, OP_CLASS, class, code_class_site(w, class_site_of(c)), 0);
        code_emit(w, OP_CELL_NEW, reg, class, 0);
    } else {
        class = code_take_register(w);
        w->locals_end = w->top;
        code_emit(w, OP_CLASS, class, code_class_site(w, class_site_of(c)), 0);
    }
    code_book(w, 1, 3);
    if (c->has_superclass)
        compile_superclass(w, c, class);
    compile_methods(w, c, class);
    code_emit(w, OP_END_CLASS, class, 0, 0);
    if (!d->variable) /* now that it is whole: other threads see globals */
        define_global(w, d, class);
    close_block(w, mark);
}

/* --- control flow ----------------------------------------------------------------------- */

/* -XX:+BookLimits: the book's jumps have 16 bits. */
static void check_book_distance(struct code_writer *w, uint64_t before, struct token token,
                                const char *message)
{
    if (!flags->book_limits || w->book_bytes - before <= BOOK_MAX_JUMP)
        return;
    w->token = token;
    code_fail(w, message);
}

static void compile_if(struct code_writer *w, const struct stmt *s)
{
    struct jump_list otherwise = { NULL, 0, 0 }, end = { NULL, 0, 0 };
    uint64_t before = w->book_bytes;
    jump_when(w, s->branch.condition, false, &otherwise);
    compile_statement(w, s->branch.then);
    check_book_distance(w, before, s->branch.then_end, "Too much code to jump over.");
    if (s->branch.otherwise) {
        code_book(w, 0, 3);
        code_emit_jump(w, &end, OP_JUMP, 0, 0);
        code_land(w, &otherwise);
        before = w->book_bytes;
        compile_statement(w, s->branch.otherwise);
        check_book_distance(w, before, s->branch.end, "Too much code to jump over.");
    }
    code_land(w, &otherwise);
    code_land(w, &end);
}

static void compile_while(struct code_writer *w, const struct stmt *s)
{
    struct jump_list end = { NULL, 0, 0 };
    uint64_t before = w->book_bytes;
    uint32_t start = code_here(w);
    jump_when(w, s->loop.condition, false, &end);
    uint32_t body = code_here(w);
    compile_statement(w, s->loop.body);
    w->line = s->line;
    code_book(w, 0, 3);
    check_book_distance(w, before, s->loop.end, "Loop body too large.");
    loop_while(w, s->loop.condition, LOOP_FORM_POLL, body, start);
    code_land(w, &end);
}

static enum loop_form form_of_counted_loop(void)
{
    if (!flags->use_counted_loop_safepoints)
        return LOOP_FORM_NO_POLL;
    return flags->loop_strip_mining_iter > 1 ? LOOP_FORM_STRIP : LOOP_FORM_POLL;
}

/* The two registers after the counter: the end of the strip, and the step. */
static void open_strip(struct code_writer *w, const struct expr *increment)
{
    uint32_t end = code_take_register(w), step = code_take_register(w);
    w->locals_end = w->top;
    code_emit(w, OP_LOAD_NIL, end, 0, 0); /* none yet */
    expr_to(w, increment->assign.value->chain.links->right, step);
}

static void compile_for(struct code_writer *w, const struct stmt *s)
{
    struct jump_list end = { NULL, 0, 0 };
    uint32_t locals_before = w->locals_end;
    if (s->loop_for.initializer)
        compile_statement(w, s->loop_for.initializer);
    enum loop_form form = s->loop_for.is_counted ? form_of_counted_loop() : LOOP_FORM_POLL;
    if (form == LOOP_FORM_STRIP)
        open_strip(w, s->loop_for.increment);
    uint64_t before = w->book_bytes;
    uint32_t start = code_here(w);
    if (s->loop_for.condition)
        jump_when(w, s->loop_for.condition, false, &end);
    uint32_t body = code_here(w);
    w->counted_loops += form != LOOP_FORM_POLL;
    compile_statement(w, s->loop_for.body);
    w->counted_loops -= form != LOOP_FORM_POLL;
    if (s->loop_for.increment)
        expr_discard(w, s->loop_for.increment);
    w->line = s->line;
    code_book(w, 0, 3);
    check_book_distance(w, before, s->loop_for.end, "Loop body too large.");
    loop_while(w, s->loop_for.condition, form, body, start);
    code_land(w, &end);
    close_block(w, locals_before);
}

static void compile_return(struct code_writer *w, const struct stmt *s)
{
    uint32_t mark = w->top;
    code_book(w, 0, 2);
    if (w->counted_loops) /* they say that they run: interp_priv.h */
        code_emit(w, OP_LOOP_END, 0, 0, 0);
    if (s->expression) {
        uint32_t value = expr_any(w, s->expression);
        w->line = s->line;
        code_emit(w, OP_RETURN, value, 0, 0);
    } else if (w->node->kind != FUNCTION_INITIALIZER) {
        code_emit(w, OP_RETURN_NIL, 0, 0, 0);
    } else if (w->node->receiver->is_captured) {
        uint32_t receiver = code_take_register(w);
        code_emit(w, OP_CELL_GET, receiver, 0, 0);
        code_emit(w, OP_RETURN, receiver, 0, 0);
    } else {
        code_emit(w, OP_RETURN, 0, 0, 0);
    }
    w->top = mark;
}

/* --- statements ------------------------------------------------------------------------------ */

static void compile_statement(struct code_writer *w, const struct stmt *s)
{
    uint32_t mark = w->top;
    w->line = s->line;
    switch (s->kind) {
    case STMT_EXPRESSION:
        code_book(w, 0, 1);
        expr_discard(w, s->expression);
        break;
    case STMT_PRINT: {
        uint32_t value = expr_any(w, s->expression);
        w->line = s->line;
        code_book(w, 0, 1);
        code_emit(w, OP_PRINT, value, 0, 0);
        w->top = mark;
        break;
    }
    case STMT_VAR:
        compile_var(w, s);
        break;
    case STMT_FUNCTION:
        compile_function_statement(w, s);
        break;
    case STMT_CLASS:
        compile_class(w, s);
        break;
    case STMT_BLOCK:
        compile_list(w, s->block.first);
        close_block(w, mark);
        break;
    case STMT_IF:
        compile_if(w, s);
        break;
    case STMT_WHILE:
        compile_while(w, s);
        break;
    case STMT_FOR:
        compile_for(w, s);
        break;
    case STMT_RETURN:
        compile_return(w, s);
        break;
    }
}

static void compile_list(struct code_writer *w, const struct stmt *list)
{
    for (; list && !w->has_failed; list = list->next)
        compile_statement(w, list);
}

/* --- functions -----------------------------------------------------------------------------------
 */

static void compile_parameters(struct code_writer *w)
{
    struct function_node *node = w->node;
    uint32_t zero = code_take_register(w); /* the callee or the receiver */
    if (node->receiver)
        node->receiver->reg = zero;
    for (uint32_t i = 0; i < node->parameter_count; i++)
        node->parameters[i]->reg = code_take_register(w);
    w->locals_end = w->top;
    if (node->receiver)
        make_cell(w, node->receiver, zero);
    for (uint32_t i = 0; i < node->parameter_count; i++)
        make_cell(w, node->parameters[i], node->parameters[i]->reg);
}

static void compile_body(struct code_writer *w)
{
    struct stmt end = { .kind = STMT_RETURN, .line = w->node->end_line };
    compile_parameters(w);
    compile_list(w, w->node->body);
    compile_statement(w, &end);
}

struct function *compile_function(struct compilation *all, struct function_node *node)
{
    struct code_writer w;
    code_begin(&w, all, node, false);
    compile_body(&w);
    if (w.needs_long_jumps && !w.has_failed) {
        code_begin(&w, all, node, true);
        compile_body(&w);
        INSIST(!w.needs_long_jumps || w.has_failed, "a long jump is too short");
    }
    return code_finish(&w);
}

struct function *compiler_compile(struct function_node *script, struct globals *globals,
                                  struct arena *arena, struct diagnostics *diagnostics,
                                  struct function **functions)
{
    struct compilation all = { arena, diagnostics, globals, functions };
    struct function *function = compile_function(&all, script);
    return diagnostics->count ? NULL : function;
}
