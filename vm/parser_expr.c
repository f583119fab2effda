/* parser_expr.c -- expressions, by precedence, as in the book.
 *
 * Each token kind has a rule: what it means at the beginning of an expression (prefix),
 * what it means after one (infix), and how strongly it binds then.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/parser_priv.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ARGUMENTS 255

enum precedence {
    PRECEDENCE_NONE,
    PRECEDENCE_ASSIGNMENT,
    PRECEDENCE_OR,
    PRECEDENCE_AND,
    PRECEDENCE_EQUALITY,
    PRECEDENCE_COMPARISON,
    PRECEDENCE_TERM,
    PRECEDENCE_FACTOR,
    PRECEDENCE_UNARY,
    PRECEDENCE_CALL,
};

/* can_assign: a `=` that follows may make this the target of an assignment. */
struct rule {
    struct expr *(*prefix)(struct parser *parser, bool can_assign);
    struct expr *(*infix)(struct parser *parser, struct expr *left, bool can_assign);
    enum precedence precedence;
};

static struct rule rule_of(enum token_kind kind);
static struct expr *parse(struct parser *parser, enum precedence precedence);

/* --- nodes ------------------------------------------------------------------------- */

/* What the parser alone knows of a node; every node it makes is one of these. */
struct parsed_expr {
    struct expr expr;  /* first member */
    uint32_t height;   /* 0 = no children */
    struct link **end; /* of a chain: where the next link goes */
};

static struct parsed_expr *parsed(struct expr *expr) { return (struct parsed_expr *)expr; }

static struct expr *new_expr(struct parser *parser, enum expr_kind kind, uint32_t line)
{
    struct expr *expr = &ARENA_NEW(parser->arena, struct parsed_expr)->expr;
    expr->kind = kind;
    expr->token = parser->previous;
    expr->line = line;
    return expr;
}

/* A tree that has grown too high is only dropped: the left side is parsed by a loop, which
 * cannot run out of stack. */
static struct expr *adopt(struct parser *parser, struct expr *parent, struct expr *child)
{
    uint32_t height = parsed(child)->height + 1;
    if (height > parsed(parent)->height)
        parsed(parent)->height = height;
    if (parser->nesting + height > PARSER_MAX_NESTING)
        parser_error_too_deep(parser);
    parent->has_assign |= child->has_assign;
    parent->has_call |= child->has_call;
    return child;
}

static struct reference make_reference(struct parser *parser, struct token token, const char *name,
                                       size_t bytes)
{
    return (struct reference){ .token = token, .name = parser_intern(parser, name, bytes) };
}

/* --- depth ------------------------------------------------------------------------- */

/* The rest of an expression that is too deep: to its comma or closing bracket, or to where
 * no expression goes on. */
static void skip_expression(struct parser *parser)
{
    for (size_t open = 0;; parser_advance(parser)) {
        switch (parser->current.kind) {
        case TOKEN_LEFT_PAREN:
        case TOKEN_LEFT_BRACKET:
            open++;
            break;
        case TOKEN_RIGHT_PAREN:
        case TOKEN_RIGHT_BRACKET:
            if (open == 0)
                return;
            open--;
            break;
        case TOKEN_COMMA:
            if (open == 0)
                return;
            break;
        case TOKEN_SEMICOLON:
        case TOKEN_LEFT_BRACE:
        case TOKEN_RIGHT_BRACE:
        case TOKEN_END:
            return;
        default:
            break;
        }
    }
}

/* An expression inside another one. */
static struct expr *parse_nested(struct parser *parser, enum precedence precedence)
{
    if (!parser_nest(parser)) {
        skip_expression(parser);
        return new_expr(parser, EXPR_NIL, parser->previous.line);
    }
    struct expr *expr = parse(parser, precedence);
    parser->nesting--;
    return expr;
}

/* --- prefix ------------------------------------------------------------------------ */

static struct expr *literal(struct parser *parser, bool can_assign)
{
    (void)can_assign;
    enum token_kind kind = parser->previous.kind;
    return new_expr(parser,
                    kind == TOKEN_TRUE    ? EXPR_TRUE
                    : kind == TOKEN_FALSE ? EXPR_FALSE
                                          : EXPR_NIL,
                    parser->previous.line);
}

/* strtod() reads to the first byte that is not of the number, and the source has no end
 * that it would see; a copy has. */
static struct expr *number(struct parser *parser, bool can_assign)
{
    (void)can_assign;
    const struct token *token = &parser->previous;
    char few[64], *copy = few;
    if (token->bytes >= sizeof few)
        copy = arena_allocate(parser->arena, token->bytes + 1);
    memcpy(copy, token->start, token->bytes);
    copy[token->bytes] = '\0';
    struct expr *expr = new_expr(parser, EXPR_NUMBER, token->line);
    expr->number = strtod(copy, NULL);
    return expr;
}

static struct expr *string(struct parser *parser, bool can_assign)
{
    (void)can_assign;
    const struct token *token = &parser->previous;
    struct expr *expr = new_expr(parser, EXPR_STRING, token->line);
    expr->string = parser_intern(parser, token->start + 1, token->bytes - 2);
    return expr;
}

static struct expr *variable(struct parser *parser, bool can_assign)
{
    struct token token = parser->previous;
    struct reference reference = make_reference(parser, token, token.start, token.bytes);
    bool is_target = can_assign && parser_match(parser, TOKEN_EQUAL);
    struct expr *expr = new_expr(parser, is_target ? EXPR_ASSIGN : EXPR_VARIABLE, token.line);
    if (is_target) {
        expr->assign.target = reference;
        expr->assign.value = adopt(parser, expr, parse_nested(parser, PRECEDENCE_ASSIGNMENT));
        expr->has_assign = true;
        expr->line = parser->previous.line;
    } else {
        expr->variable = reference;
    }
    return expr;
}

static struct expr *grouping(struct parser *parser, bool can_assign)
{
    (void)can_assign;
    struct expr *expr = parse_nested(parser, PRECEDENCE_ASSIGNMENT);
    parser_consume(parser, TOKEN_RIGHT_PAREN, "Expect ')' after expression.");
    expr->is_grouped = true;
    return expr;
}

static struct expr *unary(struct parser *parser, bool can_assign)
{
    (void)can_assign;
    struct token token = parser->previous;
    struct expr *expr = new_expr(parser, EXPR_UNARY, token.line);
    struct expr *right = adopt(parser, expr, parse_nested(parser, PRECEDENCE_UNARY));
    expr->unary = (__typeof__(expr->unary)){ token.kind, right };
    expr->line = parser->previous.line;
    return expr;
}

static struct expr *this(struct parser *parser, bool can_assign)
{
    (void)can_assign;
    struct token token = parser->previous;
    if (!parser->class)
        parser_error(parser, "Can't use 'this' outside of a class.");
    struct expr *expr = new_expr(parser, EXPR_THIS, token.line);
    expr->receiver = make_reference(parser, token, token.start, token.bytes);
    return expr;
}

static struct expr *super(struct parser *parser, bool can_assign)
{
    (void)can_assign;
    struct token keyword = parser->previous;
    if (!parser->class)
        parser_error(parser, "Can't use 'super' outside of a class.");
    else if (!parser->class->has_superclass)
        parser_error(parser, "Can't use 'super' in a class with no superclass.");
    parser_consume(parser, TOKEN_DOT, "Expect '.' after 'super'.");
    struct token name = parser_identifier(parser, "Expect superclass method name.");
    struct expr *expr = new_expr(parser, EXPR_SUPER, name.line);
    expr->super.receiver = make_reference(parser, name, "this", 4);
    expr->super.superclass = make_reference(parser, keyword, keyword.start, keyword.bytes);
    expr->super.name = parser_intern(parser, name.start, name.bytes);
    return expr;
}

/* --- infix ------------------------------------------------------------------------- */

/* A sequence of operators of one precedence is one node, however long: `a + b - c`.  A
 * chain in parentheses on the left is continued as well, for it means the same. */
static struct expr *binary(struct parser *parser, struct expr *left, bool can_assign)
{
    (void)can_assign;
    struct token token = parser->previous;
    enum precedence precedence = rule_of(token.kind).precedence;
    struct expr *chain = left;
    if (left->kind != EXPR_CHAIN || rule_of(left->chain.links->operator).precedence != precedence) {
        chain = new_expr(parser, EXPR_CHAIN, token.line);
        chain->chain.first = adopt(parser, chain, left);
        parsed(chain)->end = &chain->chain.links;
    }
    struct link *link = ARENA_NEW(parser->arena, struct link);
    struct expr *right = adopt(parser, chain, parse_nested(parser, precedence + 1));
    *link = (struct link){ token.kind, parser->previous.line, right, NULL };
    *parsed(chain)->end = link;
    parsed(chain)->end = &link->next;
    return chain;
}

static struct expr *logical(struct parser *parser, struct expr *left, bool can_assign)
{
    (void)can_assign;
    struct token token = parser->previous;
    struct expr *expr = new_expr(parser, token.kind == TOKEN_AND ? EXPR_AND : EXPR_OR, token.line);
    expr->logical.left = adopt(parser, expr, left);
    expr->logical.right = adopt(parser, expr, parse_nested(parser, rule_of(token.kind).precedence));
    return expr;
}

static void arguments(struct parser *parser, struct expr *call)
{
    size_t count = 0, capacity = 0;
    struct expr **list = NULL;
    if (!parser_check(parser, TOKEN_RIGHT_PAREN)) {
        do {
            struct expr *argument = parse_nested(parser, PRECEDENCE_ASSIGNMENT);
            if (count == MAX_ARGUMENTS)
                parser_error(parser, "Can't have more than 255 arguments.");
            list = arena_grow(parser->arena, list, count, &capacity, sizeof(struct expr *));
            list[count++] = adopt(parser, call, argument);
        } while (parser_match(parser, TOKEN_COMMA));
    }
    parser_consume(parser, TOKEN_RIGHT_PAREN, "Expect ')' after arguments.");
    call->call.arguments = list;
    call->call.argument_count = (uint32_t)count;
}

static struct expr *call(struct parser *parser, struct expr *left, bool can_assign)
{
    (void)can_assign;
    struct expr *expr = new_expr(parser, EXPR_CALL, 0);
    expr->call.callee = adopt(parser, expr, left);
    arguments(parser, expr);
    expr->line = parser->previous.line;
    expr->has_call = true;
    return expr;
}

static struct expr *property(struct parser *parser, struct expr *left, bool can_assign)
{
    struct token name = parser_identifier(parser, "Expect property name after '.'.");
    struct expr *expr = new_expr(parser, EXPR_GET, name.line);
    expr->property.object = adopt(parser, expr, left);
    expr->property.name = parser_intern(parser, name.start, name.bytes);
    if (can_assign && parser_match(parser, TOKEN_EQUAL)) {
        expr->kind = EXPR_SET;
        expr->property.value = adopt(parser, expr, parse_nested(parser, PRECEDENCE_ASSIGNMENT));
        expr->line = parser->previous.line;
    }
    return expr;
}

static struct expr *element(struct parser *parser, struct expr *left, bool can_assign)
{
    struct expr *expr = new_expr(parser, EXPR_INDEX, 0);
    expr->index.object = adopt(parser, expr, left);
    expr->index.index = adopt(parser, expr, parse_nested(parser, PRECEDENCE_ASSIGNMENT));
    parser_consume(parser, TOKEN_RIGHT_BRACKET, "Expect ']' after index.");
    expr->line = parser->previous.line;
    if (can_assign && parser_match(parser, TOKEN_EQUAL)) {
        expr->kind = EXPR_SET_INDEX;
        expr->index.value = adopt(parser, expr, parse_nested(parser, PRECEDENCE_ASSIGNMENT));
        expr->line = parser->previous.line;
    }
    return expr;
}

/* --- precedence -------------------------------------------------------------------- */

static const struct rule rules[TOKEN_END + 1] = {
    [TOKEN_LEFT_PAREN] = { grouping, call, PRECEDENCE_CALL },
    [TOKEN_LEFT_BRACKET] = { NULL, element, PRECEDENCE_CALL },
    [TOKEN_DOT] = { NULL, property, PRECEDENCE_CALL },
    [TOKEN_MINUS] = { unary, binary, PRECEDENCE_TERM },
    [TOKEN_PLUS] = { NULL, binary, PRECEDENCE_TERM },
    [TOKEN_SLASH] = { NULL, binary, PRECEDENCE_FACTOR },
    [TOKEN_STAR] = { NULL, binary, PRECEDENCE_FACTOR },
    [TOKEN_BANG] = { unary, NULL, PRECEDENCE_NONE },
    [TOKEN_BANG_EQUAL] = { NULL, binary, PRECEDENCE_EQUALITY },
    [TOKEN_EQUAL_EQUAL] = { NULL, binary, PRECEDENCE_EQUALITY },
    [TOKEN_GREATER] = { NULL, binary, PRECEDENCE_COMPARISON },
    [TOKEN_GREATER_EQUAL] = { NULL, binary, PRECEDENCE_COMPARISON },
    [TOKEN_LESS] = { NULL, binary, PRECEDENCE_COMPARISON },
    [TOKEN_LESS_EQUAL] = { NULL, binary, PRECEDENCE_COMPARISON },
    [TOKEN_IDENTIFIER] = { variable, NULL, PRECEDENCE_NONE },
    [TOKEN_STRING] = { string, NULL, PRECEDENCE_NONE },
    [TOKEN_NUMBER] = { number, NULL, PRECEDENCE_NONE },
    [TOKEN_AND] = { NULL, logical, PRECEDENCE_AND },
    [TOKEN_OR] = { NULL, logical, PRECEDENCE_OR },
    [TOKEN_FALSE] = { literal, NULL, PRECEDENCE_NONE },
    [TOKEN_NIL] = { literal, NULL, PRECEDENCE_NONE },
    [TOKEN_TRUE] = { literal, NULL, PRECEDENCE_NONE },
    [TOKEN_SUPER] = { super, NULL, PRECEDENCE_NONE },
    [TOKEN_THIS] = { this, NULL, PRECEDENCE_NONE },
};

static struct rule rule_of(enum token_kind kind) { return rules[kind]; }

static struct expr *parse(struct parser *parser, enum precedence precedence)
{
    parser_advance(parser);
    struct rule rule = rule_of(parser->previous.kind);
    if (!rule.prefix) {
        parser_error(parser, "Expect expression.");
        return new_expr(parser, EXPR_NIL, parser->previous.line);
    }
    bool can_assign = precedence <= PRECEDENCE_ASSIGNMENT;
    struct expr *expr = rule.prefix(parser, can_assign);
    while (precedence <= rule_of(parser->current.kind).precedence) {
        parser_advance(parser);
        expr = rule_of(parser->previous.kind).infix(parser, expr, can_assign);
    }
    if (can_assign && parser_match(parser, TOKEN_EQUAL))
        parser_error(parser, "Invalid assignment target.");
    return expr;
}

struct expr *parser_expression(struct parser *parser)
{
    return parse(parser, PRECEDENCE_ASSIGNMENT);
}
