/* scanner.h -- source bytes to tokens.
 *
 * Read next: parser.c, the only caller.
 * Layer:     vm/.
 *
 * The source is length-delimited: NUL bytes, bytes that are not UTF-8, CRLF and a missing
 * final newline are all ordinary input.  Inside strings and comments any byte stands for
 * itself; elsewhere an unknown byte (a whole UTF-8 sequence at once) is an error token.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_SCANNER_H
#define VM_SCANNER_H

#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_LEFT_PAREN,
    TOKEN_RIGHT_PAREN,
    TOKEN_LEFT_BRACE,
    TOKEN_RIGHT_BRACE,
    TOKEN_LEFT_BRACKET,
    TOKEN_RIGHT_BRACKET,
    TOKEN_COMMA,
    TOKEN_DOT,
    TOKEN_MINUS,
    TOKEN_PLUS,
    TOKEN_SEMICOLON,
    TOKEN_SLASH,
    TOKEN_STAR,
    TOKEN_BANG,
    TOKEN_BANG_EQUAL,
    TOKEN_EQUAL,
    TOKEN_EQUAL_EQUAL,
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL,
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_IDENTIFIER,
    TOKEN_STRING, /* lexeme with its quotes; may span lines */
    TOKEN_NUMBER,
    TOKEN_AND,
    TOKEN_CLASS,
    TOKEN_ELSE,
    TOKEN_FALSE,
    TOKEN_FOR,
    TOKEN_FUN,
    TOKEN_IF,
    TOKEN_NIL,
    TOKEN_OR,
    TOKEN_PRINT,
    TOKEN_RETURN,
    TOKEN_SUPER,
    TOKEN_THIS,
    TOKEN_TRUE,
    TOKEN_VAR,
    TOKEN_WHILE,
    TOKEN_ERROR, /* message says what is wrong */
    TOKEN_END,
};

struct token {
    enum token_kind kind;
    uint32_t line;     /* from 1; where the token ends */
    const char *start; /* into the source; not terminated */
    size_t bytes;
    const char *message; /* TOKEN_ERROR only; static storage */
};

struct scanner {
    const char *at, *end;
    uint32_t line;
};

/* The source must outlive the tokens. */
void scanner_start(struct scanner *scanner, const char *source, size_t bytes);
/* After the last one: TOKEN_END, for ever. */
struct token scanner_next(struct scanner *scanner);

#endif
