/* flags.h -- the -XX flags: one table, one struct, read-only after start.
 *
 * Read next: flags.def (the rows), then flags_parse_one() in flags.c.
 * Layer:     base/.
 *
 * Promises
 *   P1  A value in *flags is inside its documented range, defaults included.
 *   P2  A refused argument changes nothing and says why in one line.
 *   P3  The order of arguments does not matter: what contradicts is refused.
 * Asks of callers
 *   C1  Everything that writes is called before the second thread starts.
 *
 * Who may call:  [start] the only thread, before others start   [any] any thread
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_FLAGS_H
#define BASE_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One enum per FLAG_ENUM row, named as its field: enum safepoint_poll and so on. */
#define FLAG_ENUM(field, spelling, class, value, text) enum field {
#define FLAG_WORD(field, constant, word)               constant,
#define FLAG_ENUM_END(field)                                                                       \
    }                                                                                              \
    ;
#include "base/flags.def"

struct flags {
#define FLAG_BOOL(field, spelling, class, value, text)                 bool field;
#define FLAG_UINT(field, spelling, class, value, min, max, unit, text) uint64_t field;
#define FLAG_SIZE(field, spelling, class, value, min, max, text)       uint64_t field;
#define FLAG_ENUM(field, spelling, class, value, text)                 enum field field;
#define FLAG_STRING(field, spelling, class, text)                      const char *field;
#include "base/flags.def"
};

/* [any] The values; plain reads, because nothing writes once threads run (C1). */
extern const struct flags *const flags;

/* One line for the user, without a final newline and without control characters. */
struct flags_error {
    char message[512];
};

enum flags_result {
    FLAGS_NOT_A_FLAG, /* begins neither with -XX: nor as a short form does */
    FLAGS_OK,
    FLAGS_ERROR, /* exit 64 with error_out->message */
};

/* [start] Takes one argument spelled -XX:+Name, -XX:-Name, -XX:Name=value, or in a short
 * form: -Xmx64m.  Only FLAGS_ERROR writes *error_out.  The argument is copied. */
enum flags_result flags_parse_one(const char *argument, struct flags_error *error_out);

/* [start] After the last argument: contradictions between flags, and diagnostic
 * flags that were not unlocked.  False: exit 64 with error_out->message. */
bool flags_check(struct flags_error *error_out);

enum flags_origin {
    FLAGS_ORIGIN_DEFAULT,
    FLAGS_ORIGIN_COMMAND_LINE,
    FLAGS_ORIGIN_SCENARIO,
    FLAGS_ORIGIN_ERGONOMIC,
};

/* [any] Where the value of a flag came from; spelling without -XX:, must exist. */
enum flags_origin flags_origin_of(const char *spelling);

/* [start] A tool sets a flag for one scenario, spelled as on the command line;
 * diagnostic flags need no unlocking here.  False, and nothing changed, when the
 * command line says otherwise; error_out then names both.  Misspelling is our bug. */
bool flags_override(const char *argument, struct flags_error *error_out);

/* [any] Whether flags_override() would be allowed; changes nothing. */
bool flags_allow(const char *argument, struct flags_error *error_out);

/* [any] Whether the argument is a flag, well formed and in its range; changes nothing.  For
 * flags that a user's file asks for. */
bool flags_is_valid(const char *argument, struct flags_error *error_out);

/* [start] The same as flags_override() for a valid argument, but what the command line has
 * set stays. */
void flags_propose(const char *argument);

/* [start] Fills in a SIZE flag that nobody has set; spelling without -XX:.  It counts as
 * not set still: what is typed later replaces it. */
void flags_set_ergonomic(const char *spelling, uint64_t size);

/* [start] Tests set a flag, spelled as on the command line, whatever it was before. */
void flags_set_for_test(const char *argument);
/* [start] Back to the defaults; strings read from *flags before are gone. */
void flags_reset(void);

/* [any] `stillpoint flags`: sections product and diagnostic, at most 100 columns. */
void flags_print_table(FILE *out);
/* [any] In the shape of HotSpot's -XX:+PrintFlagsFinal, in alphabetical order. */
void flags_print_final(FILE *out);
/* [any] The whole text of docs/flags.md. */
void flags_print_markdown(FILE *out);
/* [any] The flags whose values are not their defaults, as one would type them, one
 * blank between two; "" when there are none.  Ergonomic ones are left out.  Returns the
 * length as snprintf does. */
size_t flags_describe_set(char *text_out, size_t bytes);

#endif
