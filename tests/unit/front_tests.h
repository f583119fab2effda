/* front_tests.h -- sources to trees and messages as text, for the tests of the front end.
 *
 * A tree is written in parentheses, operator first; a resolved name says what it means:
 * `a` a global, `a'` a local of the same function, `a^2` the function's capture 2.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_FRONT_TESTS_H
#define TESTS_UNIT_FRONT_TESTS_H

#include "base/log.h"
#include "base/os.h"
#include "safepoint/participant.h"
#include "safepoint/stops.h"
#include "tests/unit/suite.h"
#include "vm/diagnostics.h"
#include "vm/names.h"
#include "vm/parser.h"
#include "vm/resolver.h"
#include "vm/string.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fixture: each test is a process of its own. */
static inline void start_names(void)
{
    struct participant *self;
    log_start(os_now_ns());
    ck_assert_int_eq(stops_start(), ERR_OK);
    ck_assert_int_eq(participant_attach(PARTICIPANT_MUTATOR, "test", &self), ERR_OK);
    ck_assert_int_eq(names_start(), ERR_OK);
}

/* --- the writer -------------------------------------------------------------------- */

static inline void write_name(FILE *out, const struct object *name)
{
    fwrite(string_bytes(name), 1, string_length(name), out);
}

static inline void write_reference(FILE *out, const struct reference *reference)
{
    write_name(out, reference->name);
    if (reference->variable && reference->capture < 0)
        fputc('\'', out);
    if (reference->variable && reference->capture >= 0)
        fprintf(out, "^%d", reference->capture);
}

static inline const char *operator_text(enum token_kind kind)
{
    switch (kind) {
    case TOKEN_PLUS:
        return "+";
    case TOKEN_MINUS:
        return "-";
    case TOKEN_STAR:
        return "*";
    case TOKEN_SLASH:
        return "/";
    case TOKEN_BANG:
        return "!";
    case TOKEN_EQUAL_EQUAL:
        return "==";
    case TOKEN_BANG_EQUAL:
        return "!=";
    case TOKEN_LESS:
        return "<";
    case TOKEN_LESS_EQUAL:
        return "<=";
    case TOKEN_GREATER:
        return ">";
    case TOKEN_GREATER_EQUAL:
        return ">=";
    default:
        return "?";
    }
}

static inline void write_expr(FILE *out, const struct expr *expr);

/* " a b c", NULL = left out. */
static inline void write_exprs(FILE *out, const struct expr *a, const struct expr *b,
                               const struct expr *c)
{
    const struct expr *const all[] = { a, b, c };
    for (int i = 0; i < 3; i++)
        if (all[i]) {
            fputc(' ', out);
            write_expr(out, all[i]);
        }
}

/* a + b - c is (+ a b - c). */
static inline void write_chain(FILE *out, const struct expr *expr)
{
    const struct link *link = expr->chain.links;
    enum token_kind kind = link->operator;
    fprintf(out, "(%s", operator_text(kind));
    write_exprs(out, expr->chain.first, link->right, NULL);
    for (link = link->next; link; link = link->next) {
        enum token_kind next = link->operator;
        fprintf(out, " %s", operator_text(next));
        write_exprs(out, link->right, NULL, NULL);
    }
    fputc(')', out);
}

static inline void write_call(FILE *out, const struct expr *expr)
{
    fputs("(call", out);
    write_exprs(out, expr->call.callee, NULL, NULL);
    for (uint32_t i = 0; i < expr->call.argument_count; i++)
        write_exprs(out, expr->call.arguments[i], NULL, NULL);
    fputc(')', out);
}

static inline void write_property(FILE *out, const struct expr *expr)
{
    fprintf(out, "(%s", expr->kind == EXPR_GET ? "get" : "set");
    write_exprs(out, expr->property.object, NULL, NULL);
    fputs(" .", out);
    write_name(out, expr->property.name);
    write_exprs(out, expr->property.value, NULL, NULL);
    fputc(')', out);
}

static inline void write_super(FILE *out, const struct expr *expr)
{
    fputs("(super ", out);
    write_reference(out, &expr->super.receiver);
    fputc(' ', out);
    write_reference(out, &expr->super.superclass);
    fputs(" .", out);
    write_name(out, expr->super.name);
    fputc(')', out);
}

static inline void write_assign(FILE *out, const struct expr *expr)
{
    fputs("(= ", out);
    write_reference(out, &expr->assign.target);
    write_exprs(out, expr->assign.value, NULL, NULL);
    fputc(')', out);
}

static inline void write_parens(FILE *out, const char *head, const struct expr *a,
                                const struct expr *b, const struct expr *c)
{
    fprintf(out, "(%s", head);
    write_exprs(out, a, b, c);
    fputc(')', out);
}

static inline void write_literal(FILE *out, const struct expr *expr)
{
    if (expr->kind == EXPR_NUMBER)
        fprintf(out, "%.17g", expr->number);
    else if (expr->kind == EXPR_STRING) {
        fputc('"', out);
        write_name(out, expr->string);
        fputc('"', out);
    } else
        fputs(expr->kind == EXPR_NIL ? "nil" : expr->kind == EXPR_TRUE ? "true" : "false", out);
}

static inline void write_expr(FILE *out, const struct expr *expr)
{
    enum token_kind kind;
    switch (expr->kind) {
    case EXPR_NIL:
    case EXPR_TRUE:
    case EXPR_FALSE:
    case EXPR_NUMBER:
    case EXPR_STRING:
        return write_literal(out, expr);
    case EXPR_VARIABLE:
        return write_reference(out, &expr->variable);
    case EXPR_ASSIGN:
        return write_assign(out, expr);
    case EXPR_UNARY:
        kind = expr->unary.operator;
        return write_parens(out, operator_text(kind), expr->unary.right, NULL, NULL);
    case EXPR_CHAIN:
        return write_chain(out, expr);
    case EXPR_AND:
        return write_parens(out, "and", expr->logical.left, expr->logical.right, NULL);
    case EXPR_OR:
        return write_parens(out, "or", expr->logical.left, expr->logical.right, NULL);
    case EXPR_CALL:
        return write_call(out, expr);
    case EXPR_GET:
    case EXPR_SET:
        return write_property(out, expr);
    case EXPR_INDEX:
        return write_parens(out, "index", expr->index.object, expr->index.index, NULL);
    case EXPR_SET_INDEX:
        return write_parens(out, "set-index", expr->index.object, expr->index.index,
                            expr->index.value);
    case EXPR_THIS:
        return write_reference(out, &expr->receiver);
    case EXPR_SUPER:
        return write_super(out, expr);
    }
}

static inline void write_stmt(FILE *out, const struct stmt *stmt);

static inline void write_list(FILE *out, const struct stmt *list)
{
    for (; list; list = list->next) {
        fputc(' ', out);
        write_stmt(out, list);
    }
}

static inline void write_function(FILE *out, const struct function_node *function)
{
    write_name(out, function->name);
    fputs(" (", out);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        fputs(i ? " " : "", out);
        write_name(out, function->parameters[i]->name);
    }
    fputc(')', out);
    write_list(out, function->body);
}

static inline void write_class(FILE *out, const struct class_node *class)
{
    fputs("(class ", out);
    write_name(out, class->declared.name);
    if (class->has_superclass) {
        fputs(" < ", out);
        write_reference(out, &class->superclass);
    }
    for (uint32_t i = 0; i < class->method_count; i++) {
        fputs(class->methods[i]->kind == FUNCTION_INITIALIZER ? " (initializer " : " (method ",
              out);
        write_function(out, class->methods[i]);
        fputc(')', out);
    }
    fputc(')', out);
}

static inline void write_for(FILE *out, const struct stmt *stmt)
{
    fputs(stmt->loop_for.is_counted ? "(for-counted " : "(for ", out);
    if (stmt->loop_for.initializer)
        write_stmt(out, stmt->loop_for.initializer);
    fputc(';', out);
    write_exprs(out, stmt->loop_for.condition, NULL, NULL);
    fputc(';', out);
    write_exprs(out, stmt->loop_for.increment, NULL, NULL);
    fputc(' ', out);
    write_stmt(out, stmt->loop_for.body);
    fputc(')', out);
}

static inline void write_branch(FILE *out, const struct stmt *stmt)
{
    fputs("(if ", out);
    write_expr(out, stmt->branch.condition);
    fputc(' ', out);
    write_stmt(out, stmt->branch.then);
    if (stmt->branch.otherwise) {
        fputs(" else ", out);
        write_stmt(out, stmt->branch.otherwise);
    }
    fputc(')', out);
}

static inline void write_stmt(FILE *out, const struct stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_EXPRESSION:
        return write_expr(out, stmt->expression);
    case STMT_PRINT:
        return write_parens(out, "print", stmt->expression, NULL, NULL);
    case STMT_RETURN:
        return write_parens(out, "return", stmt->expression, NULL, NULL);
    case STMT_VAR:
        fputs("(var ", out);
        write_name(out, stmt->var.declared.name);
        write_exprs(out, stmt->var.initializer, NULL, NULL);
        break;
    case STMT_FUNCTION:
        fputs("(fun ", out);
        write_function(out, stmt->function.function);
        break;
    case STMT_CLASS:
        return write_class(out, stmt->class);
    case STMT_BLOCK:
        fputs("(block", out);
        write_list(out, stmt->block.first);
        break;
    case STMT_IF:
        return write_branch(out, stmt);
    case STMT_WHILE:
        fputs("(while ", out);
        write_expr(out, stmt->loop.condition);
        fputc(' ', out);
        write_stmt(out, stmt->loop.body);
        break;
    case STMT_FOR:
        return write_for(out, stmt);
    }
    fputc(')', out);
}

/* --- one compilation --------------------------------------------------------------- */

struct front {
    struct arena arena;
    struct diagnostics diagnostics;
    struct function_node *script;
    char *tree, *errors; /* text */
};

enum { FRONT_PARSE, FRONT_RESOLVE };

/* The source is copied to memory that ends where it ends, so that AddressSanitizer sees a
 * look beyond. */
static inline struct front *front_run_bytes(const char *source, size_t bytes, int steps)
{
    jmp_buf out_of_memory;
    struct front *front = calloc(1, sizeof *front);
    char *copy = malloc(bytes ? bytes : 1);
    size_t length;
    ck_assert_msg(front && copy, "no memory for the test");
    if (setjmp(out_of_memory))
        ck_abort_msg("the arena is out of memory");
    memcpy(copy, source, bytes);
    arena_start(&front->arena, &out_of_memory);
    diagnostics_start(&front->diagnostics, &front->arena);
    front->script = parser_parse(copy, bytes, &front->arena, &front->diagnostics);
    if (steps == FRONT_RESOLVE)
        resolver_resolve(front->script, &front->arena, &front->diagnostics);
    FILE *errors = open_memstream(&front->errors, &length);
    diagnostics_write(&front->diagnostics, errors);
    fclose(errors);
    FILE *tree = open_memstream(&front->tree, &length);
    write_list(tree, front->script->body);
    fclose(tree);
    free(copy);
    front->arena.out_of_memory = NULL; /* this frame's */
    return front;
}

static inline struct front *front_run(const char *source, int steps)
{
    return front_run_bytes(source, strlen(source), steps);
}

static inline void front_end(struct front *front)
{
    arena_end(&front->arena);
    free(front->tree);
    free(front->errors);
    free(front);
}

/* The tree without the blank in front. */
static inline void check_tree(const char *source, const char *expected, int steps)
{
    struct front *front = front_run(source, steps);
    ck_assert_msg(*front->errors == '\0', "%s\n%s", source, front->errors);
    const char *tree = front->tree + (*front->tree == ' ');
    ck_assert_msg(strcmp(tree, expected) == 0, "%s\nis\n%s\nnot\n%s", source, tree, expected);
    front_end(front);
}

static inline void check_errors(const char *source, const char *expected)
{
    struct front *front = front_run(source, FRONT_RESOLVE);
    ck_assert_msg(strcmp(front->errors, expected) == 0, "%s\nsays\n%snot\n%s", source,
                  front->errors, expected);
    front_end(front);
}

#endif
