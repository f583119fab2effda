/* scanner.c -- see scanner.h.
 *
 * Every look at the source is bounded by its end, so no byte value is special: peek()
 * answers -1 there, which no byte is.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/scanner.h"

#include "vm/utf8.h"

#include <stdbool.h>
#include <string.h>

static const struct keyword {
    const char *text;
    size_t bytes;
    enum token_kind kind;
} keywords[] = {
    { "and", 3, TOKEN_AND },     { "class", 5, TOKEN_CLASS },   { "else", 4, TOKEN_ELSE },
    { "false", 5, TOKEN_FALSE }, { "for", 3, TOKEN_FOR },       { "fun", 3, TOKEN_FUN },
    { "if", 2, TOKEN_IF },       { "nil", 3, TOKEN_NIL },       { "or", 2, TOKEN_OR },
    { "print", 5, TOKEN_PRINT }, { "return", 6, TOKEN_RETURN }, { "super", 5, TOKEN_SUPER },
    { "this", 4, TOKEN_THIS },   { "true", 4, TOKEN_TRUE },     { "var", 3, TOKEN_VAR },
    { "while", 5, TOKEN_WHILE },
};

void scanner_start(struct scanner *scanner, const char *source, size_t bytes)
{
    *scanner = (struct scanner){ source, source + bytes, 1 };
}

static int peek(const struct scanner *scanner, size_t ahead)
{
    return (size_t)(scanner->end - scanner->at) > ahead ? (unsigned char)scanner->at[ahead] : -1;
}

static bool match(struct scanner *scanner, char expected)
{
    if (peek(scanner, 0) != expected)
        return false;
    scanner->at++;
    return true;
}

/* ASCII only and the same in every locale, unlike <ctype.h>. */
static bool is_digit(int c) { return '0' <= c && c <= '9'; }
static bool is_letter(int c)
{
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_';
}

static struct token make_token(const struct scanner *scanner, const char *start,
                               enum token_kind kind)
{
    return (struct token){
        .kind = kind, .line = scanner->line, .start = start, .bytes = (size_t)(scanner->at - start)
    };
}

static struct token make_error(const struct scanner *scanner, const char *start,
                               const char *message)
{
    struct token token = make_token(scanner, start, TOKEN_ERROR);
    token.message = message;
    return token;
}

static void skip_comment(struct scanner *scanner)
{
    const char *newline = memchr(scanner->at, '\n', (size_t)(scanner->end - scanner->at));
    scanner->at = newline ? newline : scanner->end;
}

static void skip_space(struct scanner *scanner)
{
    for (;;) {
        switch (peek(scanner, 0)) {
        case '\n':
            scanner->line++;
            scanner->at++;
            break;
        case ' ':
        case '\r':
        case '\t':
            scanner->at++;
            break;
        case '/':
            if (peek(scanner, 1) != '/')
                return;
            skip_comment(scanner);
            break;
        default:
            return;
        }
    }
}

static struct token string(struct scanner *scanner, const char *start)
{
    for (; scanner->at < scanner->end; scanner->at++) {
        if (*scanner->at == '"') {
            scanner->at++;
            return make_token(scanner, start, TOKEN_STRING);
        }
        if (*scanner->at == '\n')
            scanner->line++;
    }
    return make_error(scanner, start, "Unterminated string.");
}

static void skip_digits(struct scanner *scanner)
{
    while (is_digit(peek(scanner, 0)))
        scanner->at++;
}

/* A dot belongs to the number only between digits: "1." is a number and a dot. */
static struct token number(struct scanner *scanner, const char *start)
{
    skip_digits(scanner);
    if (peek(scanner, 0) == '.' && is_digit(peek(scanner, 1))) {
        scanner->at++;
        skip_digits(scanner);
    }
    return make_token(scanner, start, TOKEN_NUMBER);
}

static struct token word(struct scanner *scanner, const char *start)
{
    while (is_letter(peek(scanner, 0)) || is_digit(peek(scanner, 0)))
        scanner->at++;
    size_t bytes = (size_t)(scanner->at - start);
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (bytes == keywords[i].bytes && memcmp(start, keywords[i].text, bytes) == 0)
            return make_token(scanner, start, keywords[i].kind);
    return make_token(scanner, start, TOKEN_IDENTIFIER);
}

/* A whole character at once, so that it is one error; a stray byte is one by itself. */
static struct token unknown(struct scanner *scanner, const char *start)
{
    size_t bytes = utf8_sequence_bytes(start, scanner->end);
    scanner->at = start + (bytes ? bytes : 1);
    return make_error(scanner, start, "Unexpected character.");
}

static enum token_kind with_equal(struct scanner *scanner, enum token_kind with,
                                  enum token_kind without)
{
    return match(scanner, '=') ? with : without;
}

/* TOKEN_ERROR = the byte begins no operator. */
static enum token_kind operator_kind(struct scanner *scanner, char c)
{
    switch (c) {
    case '(':
        return TOKEN_LEFT_PAREN;
    case ')':
        return TOKEN_RIGHT_PAREN;
    case '{':
        return TOKEN_LEFT_BRACE;
    case '}':
        return TOKEN_RIGHT_BRACE;
    case '[':
        return TOKEN_LEFT_BRACKET;
    case ']':
        return TOKEN_RIGHT_BRACKET;
    case ',':
        return TOKEN_COMMA;
    case '.':
        return TOKEN_DOT;
    case '-':
        return TOKEN_MINUS;
    case '+':
        return TOKEN_PLUS;
    case ';':
        return TOKEN_SEMICOLON;
    case '/':
        return TOKEN_SLASH;
    case '*':
        return TOKEN_STAR;
    case '!':
        return with_equal(scanner, TOKEN_BANG_EQUAL, TOKEN_BANG);
    case '=':
        return with_equal(scanner, TOKEN_EQUAL_EQUAL, TOKEN_EQUAL);
    case '>':
        return with_equal(scanner, TOKEN_GREATER_EQUAL, TOKEN_GREATER);
    case '<':
        return with_equal(scanner, TOKEN_LESS_EQUAL, TOKEN_LESS);
    default:
        return TOKEN_ERROR;
    }
}

struct token scanner_next(struct scanner *scanner)
{
    skip_space(scanner);
    const char *start = scanner->at;
    if (start == scanner->end)
        return make_token(scanner, start, TOKEN_END);
    unsigned char c = (unsigned char)*scanner->at++;
    if (is_letter(c))
        return word(scanner, start);
    if (is_digit(c))
        return number(scanner, start);
    if (c == '"')
        return string(scanner, start);
    enum token_kind kind = operator_kind(scanner, (char)c);
    return kind == TOKEN_ERROR ? unknown(scanner, start) : make_token(scanner, start, kind);
}
