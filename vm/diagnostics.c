/* diagnostics.c -- see diagnostics.h.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/diagnostics.h"

#include "vm/utf8.h"

#include <stdbool.h>
#include <stdlib.h>

#define MOST_LEXEME_BYTES 60

/* The first entry of a list knows the last, so that a source with a million errors costs
 * a million steps. */
struct first_diagnostic {
    struct diagnostic diagnostic; /* first member: `first` points here */
    struct diagnostic *last;
};

void diagnostics_start(struct diagnostics *diagnostics, struct arena *arena)
{
    *diagnostics = (struct diagnostics){ .arena = arena };
}

void diagnostics_add(struct diagnostics *diagnostics, struct token token, const char *message)
{
    struct diagnostic *added;
    if (!diagnostics->first) {
        struct first_diagnostic *first = ARENA_NEW(diagnostics->arena, struct first_diagnostic);
        added = diagnostics->first = first->last = &first->diagnostic;
    } else {
        struct first_diagnostic *first = (struct first_diagnostic *)diagnostics->first;
        added = ARENA_NEW(diagnostics->arena, struct diagnostic);
        first->last->next = added;
        first->last = added;
    }
    added->token = token;
    added->message = message;
    diagnostics->count++;
}

struct entry {
    const struct diagnostic *diagnostic;
    size_t number; /* in the order they were added: makes qsort stable */
};

static int compare_positions(const void *a_entry, const void *b_entry)
{
    const struct entry *a = a_entry, *b = b_entry;
    const char *a_start = a->diagnostic->token.start, *b_start = b->diagnostic->token.start;
    if (a_start != b_start)
        return a_start < b_start ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

/* C0, DEL, and C1 as UTF-8 spells it (c2 80 to c2 9f): all may steer a terminal. */
static bool is_control(const char *at, size_t sequence_bytes)
{
    unsigned char byte = (unsigned char)*at;
    if (sequence_bytes == 1)
        return byte < 0x20 || byte == 0x7f;
    return sequence_bytes == 2 && byte == 0xc2 && (unsigned char)at[1] < 0xa0;
}

static void write_escaped(const char *at, size_t bytes, FILE *out)
{
    for (size_t i = 0; i < bytes; i++)
        fprintf(out, "\\x%02x", (unsigned char)at[i]);
}

/* Cut between two characters, never inside one. */
static void write_lexeme(const struct token *token, FILE *out)
{
    const char *at = token->start, *end = at + token->bytes;
    while (at < end) {
        size_t bytes = utf8_sequence_bytes(at, end);
        size_t step = bytes ? bytes : 1;
        if ((size_t)(at - token->start) + step > MOST_LEXEME_BYTES) {
            fputs("...", out);
            return;
        }
        if (!bytes || is_control(at, bytes))
            write_escaped(at, step, out);
        else
            fwrite(at, 1, step, out);
        at += step;
    }
}

static void write_one(const struct diagnostic *diagnostic, FILE *out)
{
    const struct token *token = &diagnostic->token;
    fprintf(out, "[line %u] Error", token->line);
    if (token->kind == TOKEN_END) {
        fputs(" at end", out);
    } else if (token->kind != TOKEN_ERROR) {
        fputs(" at '", out);
        write_lexeme(token, out);
        fputc('\'', out);
    }
    fprintf(out, ": %s\n", diagnostic->message);
}

void diagnostics_write(struct diagnostics *diagnostics, FILE *out)
{
    size_t count = 0;
    struct entry *entries =
        arena_allocate(diagnostics->arena, diagnostics->count * sizeof *entries);
    for (const struct diagnostic *d = diagnostics->first; d; d = d->next, count++)
        entries[count] = (struct entry){ d, count };
    qsort(entries, count, sizeof *entries, compare_positions);
    for (size_t i = 0; i < count; i++)
        write_one(entries[i].diagnostic, out);
}
