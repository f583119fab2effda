/* ast.h -- the tree between parser, resolver and compiler.
 *
 * Read next: parser.h (who builds it), resolver.h (who fills `resolved` fields),
 *            compiler.h (who reads it).
 * Layer:     vm/.
 *
 * All nodes live in one arena and die with it.  The tree is as deep as the source is
 * nested, and no deeper: a sequence of binary operators of one precedence is one
 * EXPR_CHAIN, a sequence of calls, properties and indexes nests to the left but counts
 * as nesting.  So every pass may recurse.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_AST_H
#define VM_AST_H

#include "vm/scanner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object; /* an interned name or string literal: names.h */

/* --- variables and functions: what the resolver knows ----------------------- */

/* A local variable or parameter; one per declaration. */
struct variable {
    struct token token;
    struct object *name;         /* interned */
    struct function_node *owner; /* the function whose frame holds it */
    bool is_captured;            /* some inner function uses it: it lives in a cell */
    uint32_t assignments;        /* assignment expressions seen, all functions */
    uint32_t reg;                /* compiler: its register */
};

/* What an inner function takes from the one around it when its closure is made. */
struct capture_node {
    struct variable *variable;
    bool is_local;  /* a variable of the function around, else one of its own captures */
    uint32_t index; /* !is_local: which of them */
};

enum function_kind { FUNCTION_SCRIPT, FUNCTION_PLAIN, FUNCTION_METHOD, FUNCTION_INITIALIZER };

struct function_node {
    enum function_kind kind;
    struct object *name; /* NULL = script */
    struct token token;  /* its name */
    uint32_t line, end_line;
    struct variable **parameters;
    uint32_t parameter_count;
    struct stmt *body; /* a list */
    /* resolved */
    struct variable *receiver; /* `this` of a method or initializer, else NULL */
    struct capture_node *captures;
    uint32_t capture_count;
    struct function_node *around; /* NULL = script */
};

/* A use of a name. */
struct reference {
    struct token token;
    struct object *name;
    /* resolved */
    struct variable *variable; /* NULL = global */
    int32_t capture;           /* index into the using function's captures; -1 = its own local */
};

/* --- expressions ------------------------------------------------------------ */

enum expr_kind {
    EXPR_NIL,
    EXPR_TRUE,
    EXPR_FALSE,
    EXPR_NUMBER,
    EXPR_STRING,
    EXPR_VARIABLE,
    EXPR_ASSIGN,
    EXPR_UNARY,
    EXPR_CHAIN,
    EXPR_AND,
    EXPR_OR,
    EXPR_CALL,
    EXPR_GET,
    EXPR_SET,
    EXPR_INDEX,
    EXPR_SET_INDEX,
    EXPR_THIS,
    EXPR_SUPER,
};

/* One more operand of a chain: `operator right`. */
struct link {
    enum token_kind operator; /* of + - * / == != < <= > >= */
    uint32_t line;            /* of the right operand's last token, as in the book */
    struct expr *right;
    struct link *next;
};

struct expr {
    enum expr_kind kind;
    uint32_t line; /* that a run-time error names, as in the book: of the ')' of a call, of a
                      property's name, of the last token of an operator's or store's operand */
    struct token
        token;       /* the token parsed last when the node was made; where a limit is reported */
    bool has_assign; /* contains an assignment to a variable: operands before it are copied */
    bool is_grouped; /* in parentheses: (o.m)(x) reads the property first, then calls it */
    bool has_call;   /* contains a call */
    union {
        double number;
        struct object *string; /* interned literal */
        struct reference variable;
        struct {
            struct reference target;
            struct expr *value;
        } assign;
        struct {
            enum token_kind operator; /* TOKEN_MINUS or TOKEN_BANG */
            struct expr *right;
        } unary;
        struct {
            struct expr *first;
            struct link *links; /* at least one; of one precedence, left to right */
        } chain;
        struct {
            struct expr *left, *right;
        } logical;
        struct {
            struct expr *callee; /* EXPR_GET: an invocation; EXPR_SUPER: of a super method */
            struct expr **arguments;
            uint32_t argument_count;
        } call;
        struct {
            struct expr *object;
            struct object *name;
            struct expr *value; /* EXPR_SET only */
        } property;
        struct {
            struct expr *object, *index;
            struct expr *value; /* EXPR_SET_INDEX only */
        } index;
        struct reference receiver; /* EXPR_THIS; `this` is a variable named "this" */
        struct {
            struct reference receiver, superclass; /* "this", and the hidden variable "super" */
            struct object *name;
        } super;
    };
};

/* --- statements ---------------------------------------------------------------- */

enum stmt_kind {
    STMT_EXPRESSION,
    STMT_PRINT,
    STMT_VAR,
    STMT_FUNCTION,
    STMT_CLASS,
    STMT_BLOCK,
    STMT_IF,
    STMT_WHILE,
    STMT_FOR,
    STMT_RETURN,
};

/* Where a declaration puts its value. */
struct declared {
    struct token token;
    struct object *name;
    /* resolved */
    struct variable *variable; /* NULL = global */
};

struct class_node {
    struct declared declared;
    bool has_superclass;
    struct reference superclass;
    struct function_node **methods; /* in source order, duplicates kept */
    uint32_t method_count;
    /* resolved */
    struct variable
        *super;            /* the hidden "super" in its own scope around the methods; NULL = none */
    struct reference self; /* the class itself, read back to add methods */
    uint32_t field_hint;   /* distinct names assigned as this.NAME in its methods */
};

struct stmt {
    enum stmt_kind kind;
    uint32_t line;
    struct stmt *next; /* in its list */
    union {
        struct expr *expression; /* EXPRESSION, PRINT; RETURN: NULL = no value */
        struct {
            struct declared declared;
            struct expr *initializer; /* NULL = nil */
        } var;
        struct {
            struct declared declared;
            struct function_node *function;
        } function;
        struct class_node *class;
        struct {
            struct stmt *first;
            uint32_t end_line;
        } block;
        struct {
            struct expr *condition;
            struct stmt *then, *otherwise; /* otherwise NULL = none */
            struct token then_end, end;    /* the last tokens, for "Too much code to jump over." */
        } branch;
        struct {
            struct expr *condition;
            struct stmt *body;
            uint32_t end_line;
            struct token end; /* the last token of the loop, for "Loop body too large." */
        } loop;               /* WHILE */
        struct {
            struct stmt *initializer; /* VAR, EXPRESSION or NULL */
            struct expr *condition;   /* NULL = true */
            struct expr *increment;   /* NULL = none */
            struct stmt *body;
            uint32_t end_line;
            struct token end;
            /* resolved: for (var i = a; i < b; i = i + c) with i and b neither assigned nor
             * captured in the body and no call in it, b a number or a local variable, c a
             * number above zero */
            bool is_counted;
        } loop_for;
    };
};

#endif
