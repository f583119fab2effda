/* parser.c -- see parser.h; tokens, errors, statements and declarations.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/parser_priv.h"

#include "vm/names.h"

#include <string.h>

#define MAX_PARAMETERS 255

/* --- errors ------------------------------------------------------------------------ */

static void report(struct parser *parser, const struct token *token, const char *message)
{
    parser->declaration->has_failed = true;
    if (parser->is_panicking)
        return;
    parser->is_panicking = true;
    diagnostics_add(parser->diagnostics, *token, message);
}

void parser_error(struct parser *parser, const char *message)
{
    parser->is_in_step = false;
    report(parser, &parser->previous, message);
}

void parser_error_at_current(struct parser *parser, const char *message)
{
    parser->is_in_step = false;
    report(parser, &parser->current, message);
}

void parser_error_too_deep(struct parser *parser)
{
    if (!parser->is_panicking)
        parser->is_in_step = true;
    report(parser, &parser->previous, "Too deeply nested.");
}

bool parser_nest(struct parser *parser)
{
    if (parser->nesting < PARSER_MAX_NESTING) {
        parser->nesting++;
        return true;
    }
    parser_error_too_deep(parser);
    return false;
}

struct object *parser_intern(struct parser *parser, const char *bytes, size_t length)
{
    struct object *name = names_intern(bytes, length);
    if (!name)
        longjmp(*parser->arena->out_of_memory, 1);
    return name;
}

/* --- tokens ------------------------------------------------------------------------ */

void parser_advance(struct parser *parser)
{
    parser->previous = parser->current;
    for (;;) {
        parser->current = scanner_next(&parser->scanner);
        if (parser->current.kind != TOKEN_ERROR)
            return;
        parser_error_at_current(parser, parser->current.message);
    }
}

bool parser_check(const struct parser *parser, enum token_kind kind)
{
    return parser->current.kind == kind;
}

bool parser_match(struct parser *parser, enum token_kind kind)
{
    if (!parser_check(parser, kind))
        return false;
    parser_advance(parser);
    return true;
}

void parser_consume(struct parser *parser, enum token_kind kind, const char *message)
{
    if (!parser_match(parser, kind))
        parser_error_at_current(parser, message);
}

struct token parser_identifier(struct parser *parser, const char *message)
{
    parser_consume(parser, TOKEN_IDENTIFIER, message);
    return parser->previous;
}

static bool begins_statement(enum token_kind kind)
{
    switch (kind) {
    case TOKEN_CLASS:
    case TOKEN_FUN:
    case TOKEN_VAR:
    case TOKEN_FOR:
    case TOKEN_IF:
    case TOKEN_WHILE:
    case TOKEN_PRINT:
    case TOKEN_RETURN:
        return true;
    default:
        return false;
    }
}

/* The panic ends before the skipping, so that an unknown character in what is skipped is
 * said, and is a panic of its own: as in the book. */
static void end_panic(struct parser *parser)
{
    parser->is_panicking = false;
    if (parser->is_in_step)
        return;
    while (!parser_check(parser, TOKEN_END) && parser->previous.kind != TOKEN_SEMICOLON &&
           !begins_statement(parser->current.kind))
        parser_advance(parser);
}

/* --- what is too deep -------------------------------------------------------------- */

/* To the end of a block whose '{' is consumed. */
static void skip_block(struct parser *parser)
{
    for (size_t open = 1; open > 0 && !parser_check(parser, TOKEN_END); parser_advance(parser)) {
        if (parser_check(parser, TOKEN_LEFT_BRACE))
            open++;
        else if (parser_check(parser, TOKEN_RIGHT_BRACE))
            open--;
    }
}

static int bracket_step(enum token_kind kind)
{
    switch (kind) {
    case TOKEN_LEFT_PAREN:
    case TOKEN_LEFT_BRACE:
    case TOKEN_LEFT_BRACKET:
        return 1;
    case TOKEN_RIGHT_PAREN:
    case TOKEN_RIGHT_BRACE:
    case TOKEN_RIGHT_BRACKET:
        return -1;
    default:
        return 0;
    }
}

/* One statement, with all its else branches. */
static void skip_statement(struct parser *parser)
{
    int64_t open = 0;
    while (!parser_check(parser, TOKEN_END)) {
        enum token_kind kind = parser->current.kind;
        open += bracket_step(kind);
        if (open < 0)
            return; /* the end of what is around */
        parser_advance(parser);
        if (open == 0 && (kind == TOKEN_SEMICOLON || kind == TOKEN_RIGHT_BRACE) &&
            !parser_check(parser, TOKEN_ELSE))
            return;
    }
}

/* --- statements -------------------------------------------------------------------- */

static struct stmt *declaration(struct parser *parser);
static struct stmt *statement(struct parser *parser);

static struct stmt *new_stmt(struct parser *parser, enum stmt_kind kind, uint32_t line)
{
    struct stmt *stmt = ARENA_NEW(parser->arena, struct stmt);
    stmt->kind = kind;
    stmt->line = line;
    return stmt;
}

/* Declarations up to `end`, without those that failed. */
static struct stmt *declarations(struct parser *parser, enum token_kind end)
{
    struct stmt *first = NULL, **next = &first;
    while (!parser_check(parser, end) && !parser_check(parser, TOKEN_END)) {
        *next = declaration(parser);
        if (*next)
            next = &(*next)->next;
    }
    return first;
}

/* After its '{'. */
static struct stmt *block(struct parser *parser)
{
    if (!parser_nest(parser)) {
        skip_block(parser);
        return NULL;
    }
    struct stmt *first = declarations(parser, TOKEN_RIGHT_BRACE);
    parser->nesting--;
    parser_consume(parser, TOKEN_RIGHT_BRACE, "Expect '}' after block.");
    return first;
}

/* The body of another statement; NULL = it was too deep, and the declaration has failed. */
static struct stmt *nested_statement(struct parser *parser)
{
    if (!parser_nest(parser)) {
        skip_statement(parser);
        return NULL;
    }
    struct stmt *stmt = statement(parser);
    parser->nesting--;
    return stmt;
}

static struct stmt *expression_statement(struct parser *parser)
{
    struct stmt *stmt = new_stmt(parser, STMT_EXPRESSION, parser->current.line);
    stmt->expression = parser_expression(parser);
    parser_consume(parser, TOKEN_SEMICOLON, "Expect ';' after expression.");
    return stmt;
}

static struct stmt *print_statement(struct parser *parser)
{
    struct stmt *stmt = new_stmt(parser, STMT_PRINT, parser->previous.line);
    stmt->expression = parser_expression(parser);
    parser_consume(parser, TOKEN_SEMICOLON, "Expect ';' after value.");
    return stmt;
}

static struct stmt *block_statement(struct parser *parser)
{
    struct stmt *stmt = new_stmt(parser, STMT_BLOCK, parser->previous.line);
    stmt->block.first = block(parser);
    stmt->block.end_line = parser->previous.line;
    return stmt;
}

static struct stmt *if_statement(struct parser *parser)
{
    struct stmt *stmt = new_stmt(parser, STMT_IF, parser->previous.line);
    parser_consume(parser, TOKEN_LEFT_PAREN, "Expect '(' after 'if'.");
    stmt->branch.condition = parser_expression(parser);
    parser_consume(parser, TOKEN_RIGHT_PAREN, "Expect ')' after condition.");
    stmt->branch.then = nested_statement(parser);
    stmt->branch.then_end = parser->previous;
    if (parser_match(parser, TOKEN_ELSE))
        stmt->branch.otherwise = nested_statement(parser);
    stmt->branch.end = parser->previous;
    return stmt;
}

static struct stmt *while_statement(struct parser *parser)
{
    struct stmt *stmt = new_stmt(parser, STMT_WHILE, parser->previous.line);
    parser_consume(parser, TOKEN_LEFT_PAREN, "Expect '(' after 'while'.");
    stmt->loop.condition = parser_expression(parser);
    parser_consume(parser, TOKEN_RIGHT_PAREN, "Expect ')' after condition.");
    stmt->loop.body = nested_statement(parser);
    stmt->loop.end = parser->previous;
    stmt->loop.end_line = parser->previous.line;
    return stmt;
}

/* Kind and message are here, not in the resolver, because the statement keeps no token. */
static struct stmt *return_statement(struct parser *parser)
{
    struct stmt *stmt = new_stmt(parser, STMT_RETURN, parser->previous.line);
    if (parser->function->kind == FUNCTION_SCRIPT)
        parser_error(parser, "Can't return from top-level code.");
    if (parser_match(parser, TOKEN_SEMICOLON))
        return stmt;
    if (parser->function->kind == FUNCTION_INITIALIZER)
        parser_error(parser, "Can't return a value from an initializer.");
    stmt->expression = parser_expression(parser);
    parser_consume(parser, TOKEN_SEMICOLON, "Expect ';' after return value.");
    return stmt;
}

/* --- declarations ------------------------------------------------------------------ */

static struct declared declare(struct parser *parser, const char *message)
{
    struct token name = parser_identifier(parser, message);
    return (struct declared){ .token = name,
                              .name = parser_intern(parser, name.start, name.bytes) };
}

static struct stmt *var_declaration(struct parser *parser)
{
    struct stmt *stmt = new_stmt(parser, STMT_VAR, parser->previous.line);
    stmt->var.declared = declare(parser, "Expect variable name.");
    if (parser_match(parser, TOKEN_EQUAL))
        stmt->var.initializer = parser_expression(parser);
    parser_consume(parser, TOKEN_SEMICOLON, "Expect ';' after variable declaration.");
    return stmt;
}

static struct stmt *for_statement(struct parser *parser)
{
    struct stmt *stmt = new_stmt(parser, STMT_FOR, parser->previous.line);
    parser_consume(parser, TOKEN_LEFT_PAREN, "Expect '(' after 'for'.");
    if (parser_match(parser, TOKEN_VAR))
        stmt->loop_for.initializer = var_declaration(parser);
    else if (!parser_match(parser, TOKEN_SEMICOLON))
        stmt->loop_for.initializer = expression_statement(parser);
    if (!parser_match(parser, TOKEN_SEMICOLON)) {
        stmt->loop_for.condition = parser_expression(parser);
        parser_consume(parser, TOKEN_SEMICOLON, "Expect ';' after loop condition.");
    }
    if (!parser_match(parser, TOKEN_RIGHT_PAREN)) {
        stmt->loop_for.increment = parser_expression(parser);
        parser_consume(parser, TOKEN_RIGHT_PAREN, "Expect ')' after for clauses.");
    }
    stmt->loop_for.body = nested_statement(parser);
    stmt->loop_for.end = parser->previous;
    stmt->loop_for.end_line = parser->previous.line;
    return stmt;
}

static struct variable *parameter(struct parser *parser)
{
    struct declared declared = declare(parser, "Expect parameter name.");
    struct variable *variable = ARENA_NEW(parser->arena, struct variable);
    variable->token = declared.token;
    variable->name = declared.name;
    variable->owner = parser->function;
    return variable;
}

static void parameters(struct parser *parser, struct function_node *function)
{
    size_t count = 0, capacity = 0;
    do {
        if (count == MAX_PARAMETERS)
            parser_error_at_current(parser, "Can't have more than 255 parameters.");
        function->parameters = arena_grow(parser->arena, function->parameters, count, &capacity,
                                          sizeof(struct variable *));
        function->parameters[count++] = parameter(parser);
    } while (parser_match(parser, TOKEN_COMMA));
    function->parameter_count = (uint32_t)count;
}

static struct function_node *function(struct parser *parser, enum function_kind kind,
                                      const struct declared *declared)
{
    struct function_node *function = ARENA_NEW(parser->arena, struct function_node);
    function->kind = kind;
    function->name = declared->name;
    function->token = declared->token;
    function->line = declared->token.line;
    function->around = parser->function;
    parser->function = function;
    parser_consume(parser, TOKEN_LEFT_PAREN, "Expect '(' after function name.");
    if (!parser_check(parser, TOKEN_RIGHT_PAREN))
        parameters(parser, function);
    parser_consume(parser, TOKEN_RIGHT_PAREN, "Expect ')' after parameters.");
    parser_consume(parser, TOKEN_LEFT_BRACE, "Expect '{' before function body.");
    function->body = block(parser);
    function->end_line = parser->previous.line;
    parser->function = function->around;
    return function;
}

static struct stmt *function_declaration(struct parser *parser)
{
    struct stmt *stmt = new_stmt(parser, STMT_FUNCTION, parser->previous.line);
    stmt->function.declared = declare(parser, "Expect function name.");
    stmt->function.function = function(parser, FUNCTION_PLAIN, &stmt->function.declared);
    return stmt;
}

static struct function_node *method(struct parser *parser)
{
    struct declared declared = declare(parser, "Expect method name.");
    bool is_initializer = declared.token.bytes == 4 && memcmp(declared.token.start, "init", 4) == 0;
    return function(parser, is_initializer ? FUNCTION_INITIALIZER : FUNCTION_METHOD, &declared);
}

static void methods(struct parser *parser, struct class_node *class)
{
    size_t count = 0, capacity = 0;
    while (!parser_check(parser, TOKEN_RIGHT_BRACE) && !parser_check(parser, TOKEN_END)) {
        class->methods = arena_grow(parser->arena, class->methods, count, &capacity,
                                    sizeof(struct function_node *));
        class->methods[count++] = method(parser);
    }
    class->method_count = (uint32_t)count;
}

static struct stmt *class_declaration(struct parser *parser)
{
    struct stmt *stmt = new_stmt(parser, STMT_CLASS, parser->previous.line);
    struct class_node *class = stmt->class = ARENA_NEW(parser->arena, struct class_node);
    class->declared = declare(parser, "Expect class name.");
    class->self =
        (struct reference){ .token = class->declared.token, .name = class->declared.name };
    if (parser_match(parser, TOKEN_LESS)) {
        struct declared superclass = declare(parser, "Expect superclass name.");
        class->has_superclass = true;
        class->superclass =
            (struct reference){ .token = superclass.token, .name = superclass.name };
        /* Here and not in the resolver: as in the book, the parser's recovery follows. */
        if (superclass.name == class->declared.name)
            parser_error(parser, "A class can't inherit from itself.");
    }
    const struct class_node *around = parser->class;
    parser->class = class;
    parser_consume(parser, TOKEN_LEFT_BRACE, "Expect '{' before class body.");
    methods(parser, class);
    parser_consume(parser, TOKEN_RIGHT_BRACE, "Expect '}' after class body.");
    parser->class = around;
    return stmt;
}

/* --- which one --------------------------------------------------------------------- */

static struct stmt *statement(struct parser *parser)
{
    if (parser_match(parser, TOKEN_PRINT))
        return print_statement(parser);
    if (parser_match(parser, TOKEN_FOR))
        return for_statement(parser);
    if (parser_match(parser, TOKEN_IF))
        return if_statement(parser);
    if (parser_match(parser, TOKEN_RETURN))
        return return_statement(parser);
    if (parser_match(parser, TOKEN_WHILE))
        return while_statement(parser);
    if (parser_match(parser, TOKEN_LEFT_BRACE))
        return block_statement(parser);
    return expression_statement(parser);
}

static struct stmt *declaration_or_statement(struct parser *parser)
{
    if (parser_match(parser, TOKEN_CLASS))
        return class_declaration(parser);
    if (parser_match(parser, TOKEN_FUN))
        return function_declaration(parser);
    if (parser_match(parser, TOKEN_VAR))
        return var_declaration(parser);
    return statement(parser);
}

/* NULL = it failed. */
static struct stmt *declaration(struct parser *parser)
{
    struct declaration here = { false }, *around = parser->declaration;
    parser->declaration = &here;
    struct stmt *stmt = declaration_or_statement(parser);
    if (parser->is_panicking)
        end_panic(parser);
    parser->declaration = around;
    return here.has_failed ? NULL : stmt;
}

struct function_node *parser_parse(const char *source, size_t bytes, struct arena *arena,
                                   struct diagnostics *diagnostics)
{
    struct declaration whole = { false };
    struct function_node *script = ARENA_NEW(arena, struct function_node);
    struct parser parser = {
        .arena = arena, .diagnostics = diagnostics, .declaration = &whole, .function = script
    };
    script->kind = FUNCTION_SCRIPT;
    script->line = 1;
    scanner_start(&parser.scanner, source, bytes);
    parser_advance(&parser);
    script->body = declarations(&parser, TOKEN_END);
    script->end_line = parser.current.line;
    return script;
}
