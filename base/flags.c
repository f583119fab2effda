/* flags.c -- the -XX flags: table and parser; flags_check.c has the contradictions.
 *
 * One argument goes through read_setting() (spelling, form, range: nothing is
 * written), then the check against an earlier argument for the same flag, then
 * apply().  Each flag keeps a copy of the argument that set it, for messages and
 * because the value of a string flag points into it.
 *
 * SPDX-License-Identifier: MIT */
#include "base/flags_priv.h"

#include "base/insist.h"
#include "base/spelling.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- the table, from flags.def ---------------------------------------------- */

#define FLAG_ENUM(field, spelling, class, value, text) static const char *const words_##field[] = {
#define FLAG_WORD(field, constant, word)               word,
#define FLAG_ENUM_END(field)                                                                       \
    NULL                                                                                           \
    }                                                                                              \
    ;                                                                                              \
    _Static_assert(sizeof(enum field) == sizeof(unsigned), "read and written as unsigned");
#include "base/flags.def"

#define WORD_COUNT(field) (sizeof words_##field / sizeof *words_##field - 1)

/* A default outside its own range is a compile error, not a surprise. */
#define IN_RANGE(spelling, value, min, max)                                                        \
    _Static_assert((min) <= (max) && (value) + UINT64_C(1) > (min) && (value) <= (max),            \
                   "default of " #spelling);
#define FLAG_BOOL(field, spelling, class, value, text)                                             \
    _Static_assert((value) == false || (value) == true, "default of " #spelling);
#define FLAG_UINT(field, spelling, class, value, min, max, unit, text)                             \
    IN_RANGE(spelling, value, min, max)
#define FLAG_SIZE(field, spelling, class, value, min, max, text) IN_RANGE(spelling, value, min, max)
#define FLAG_ENUM(field, spelling, class, value, text)                                             \
    _Static_assert((value) < WORD_COUNT(field), "default of " #spelling);
#include "base/flags.def"

#define ROW(field, spelling, class, kind, ...)                                                     \
    { #spelling, FLAG_KIND_##kind, FLAG_CLASS_##class, offsetof(struct flags, field), __VA_ARGS__ },
const struct flag_row flag_rows[] = {
#define FLAG_BOOL(field, spelling, class, value, text)                                             \
    ROW(field, spelling, class, BOOL, value, 0, 1, "", NULL, text)
#define FLAG_UINT(field, spelling, class, value, min, max, unit, text)                             \
    ROW(field, spelling, class, UINT, value, min, max, unit, NULL, text)
#define FLAG_SIZE(field, spelling, class, value, min, max, text)                                   \
    ROW(field, spelling, class, SIZE, value, min, max, "bytes", NULL, text)
#define FLAG_ENUM(field, spelling, class, value, text)                                             \
    ROW(field, spelling, class, ENUM, value, 0, WORD_COUNT(field) - 1, "", words_##field, text)
#define FLAG_STRING(field, spelling, class, text)                                                  \
    ROW(field, spelling, class, STRING, 0, 0, 0, "", NULL, text)
#include "base/flags.def"
};
enum { ROWS = sizeof flag_rows / sizeof *flag_rows };
const size_t flag_row_count = ROWS;

static const char *const spellings[] = {
#define FLAG_BOOL(field, spelling, class, value, text)                 #spelling,
#define FLAG_UINT(field, spelling, class, value, min, max, unit, text) #spelling,
#define FLAG_SIZE(field, spelling, class, value, min, max, text)       #spelling,
#define FLAG_ENUM(field, spelling, class, value, text)                 #spelling,
#define FLAG_STRING(field, spelling, class, text)                      #spelling,
#include "base/flags.def"
};

static const struct {
    const char *alias, *spelling;
} aliases[] = {
#define FLAG_ALIAS(spelling, alias) { alias, #spelling },
#include "base/flags.def"
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

const char *flag_row_alias(const struct flag_row *row)
{
    for (size_t i = 0; i < ALIASES; i++)
        if (strcmp(aliases[i].spelling, row->spelling) == 0)
            return aliases[i].alias;
    return NULL;
}

/* --- values and where they came from ----------------------------------------- */

#define FLAG_BOOL(field, spelling, class, value, text)                 .field = (value),
#define FLAG_UINT(field, spelling, class, value, min, max, unit, text) .field = (value),
#define FLAG_SIZE(field, spelling, class, value, min, max, text)       .field = (value),
#define FLAG_ENUM(field, spelling, class, value, text)                 .field = (value),
#define FLAG_STRING(field, spelling, class, text)                      .field = "",
static struct flags values = {
#include "base/flags.def"
};
const struct flags *const flags = &values;

static struct {
    char *typed; /* the whole argument, owned; NULL at default */
    enum flags_origin origin;
} sources[ROWS];

static size_t row_index(const struct flag_row *row) { return (size_t)(row - flag_rows); }

uint64_t flag_row_number(const struct flag_row *row)
{
    const char *field = (const char *)&values + row->offset;
    switch (row->kind) {
    case FLAG_KIND_BOOL:
        return *(const bool *)field;
    case FLAG_KIND_ENUM:
        return *(const unsigned *)field;
    case FLAG_KIND_UINT:
    case FLAG_KIND_SIZE:
        return *(const uint64_t *)field;
    case FLAG_KIND_STRING:
        break;
    }
    INSIST(false, "-XX:%s has no number", row->spelling);
    return 0;
}

static void write_number(const struct flag_row *row, uint64_t number)
{
    char *field = (char *)&values + row->offset;
    switch (row->kind) {
    case FLAG_KIND_BOOL:
        *(bool *)field = number != 0;
        return;
    case FLAG_KIND_ENUM:
        *(unsigned *)field = (unsigned)number;
        return;
    case FLAG_KIND_UINT:
    case FLAG_KIND_SIZE:
        *(uint64_t *)field = number;
        return;
    case FLAG_KIND_STRING:
        break;
    }
    INSIST(false, "-XX:%s has no number", row->spelling);
}

static const char **string_of(const struct flag_row *row)
{
    return (const char **)((char *)&values + row->offset);
}

enum flags_origin flag_row_origin(const struct flag_row *row)
{
    return sources[row_index(row)].origin;
}

/* --- messages ------------------------------------------------------------------ */

bool flags_fail(struct flags_error *error_out, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(error_out->message, sizeof error_out->message, format, ap);
    va_end(ap);
    for (char *c = error_out->message; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?'; /* what was typed may hold anything; the message is one line */
    return false;
}
void flag_row_size_text(uint64_t size, char *text_out, size_t bytes)
{
    static const char *const suffixes[] = { "", "k", "m", "g", "t" };
    int power = 0;
    for (; power < 4 && size && size % 1024 == 0; power++)
        size /= 1024;
    snprintf(text_out, bytes, "%llu%s", (unsigned long long)size, suffixes[power]);
}

void flag_row_values(const struct flag_row *row, const char *separator, char *text_out,
                     size_t bytes)
{
    size_t used = 0;
    text_out[0] = '\0';
    if (row->kind != FLAG_KIND_ENUM) {
        snprintf(text_out, bytes, "%s",
                 row->kind == FLAG_KIND_BOOL     ? ""
                 : row->kind == FLAG_KIND_STRING ? "TEXT"
                                                 : "N");
        return;
    }
    for (size_t i = 0; row->words[i] && used < bytes; i++)
        used += (size_t)snprintf(text_out + used, bytes - used, "%s%s", i ? separator : "",
                                 row->words[i]);
}

static bool fail_needs_value(const struct flag_row *row, struct flags_error *error_out)
{
    char form[160];
    flag_row_values(row, "|", form, sizeof form);
    return flags_fail(error_out, "-XX:%s needs a value: -XX:%s=%s%s%s%s", row->spelling,
                      row->spelling, form, row->unit[0] ? " (" : "", row->unit,
                      row->unit[0] ? ")" : "");
}

/* what: why the text is no value, or "out of range". */
static bool fail_range(const struct flag_row *row, const char *argument, const char *what,
                       struct flags_error *error_out)
{
    char least[32], most[32];
    if (row->kind == FLAG_KIND_SIZE) {
        flag_row_size_text(row->least, least, sizeof least);
        flag_row_size_text(row->most, most, sizeof most);
    } else {
        snprintf(least, sizeof least, "%llu", (unsigned long long)row->least);
        snprintf(most, sizeof most, "%llu", (unsigned long long)row->most);
    }
    return flags_fail(error_out, "%s: %s, %s to %s%s%s%s", argument, what, least, most,
                      row->unit[0] ? " (" : "", row->unit, row->unit[0] ? ")" : "");
}

static bool fail_unknown(const char *argument, const char *name, struct flags_error *error_out)
{
    const char *nearest = spelling_nearest(name, spellings, ROWS), *sign = "";
    if (!nearest)
        return flags_fail(error_out, "unknown flag %s; `stillpoint flags` lists them", argument);
    for (size_t i = 0; i < ROWS; i++)
        if (flag_rows[i].spelling == nearest && flag_rows[i].kind == FLAG_KIND_BOOL)
            sign = argument[4] == '-' ? "-" : "+";
    return flags_fail(error_out, "unknown flag %s; did you mean -XX:%s%s?", argument, sign,
                      nearest);
}

/* --- parsing ------------------------------------------------------------------- */

/* What an argument says, before anything is written. */
struct setting {
    const struct flag_row *row;
    uint64_t number;
    size_t string_at; /* where in the argument a string value begins */
};

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

enum number_result { NUMBER_OK, NUMBER_MALFORMED, NUMBER_TOO_BIG };

/* Digits, decimal or 0x, then the suffix when a size is asked for; no sign, no blank. */
static enum number_result read_number(const char *text, bool is_size, uint64_t *number_out)
{
    static const char suffixes[] = "kmgt";
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    const char *c = base == 16 ? text + 2 : text, *first = c;
    bool too_big = false;
    uint64_t number = 0;
    for (; digit_of(*c) < base; c++)
        too_big |= __builtin_mul_overflow(number, (uint64_t)base, &number) ||
                   __builtin_add_overflow(number, (uint64_t)digit_of(*c), &number);
    if (c == first)
        return NUMBER_MALFORMED;
    const char *suffix = is_size && *c ? strchr(suffixes, tolower((unsigned char)*c)) : NULL;
    if (suffix) {
        too_big |=
            __builtin_mul_overflow(number, UINT64_C(1024) << 10 * (suffix - suffixes), &number);
        c++;
    }
    if (*c)
        return NUMBER_MALFORMED;
    *number_out = number;
    return too_big ? NUMBER_TOO_BIG : NUMBER_OK;
}

static bool read_word(const struct flag_row *row, const char *argument, const char *value,
                      uint64_t *number_out, struct flags_error *error_out)
{
    char words[160];
    for (size_t i = 0; row->words[i]; i++)
        if (strcmp(value, row->words[i]) == 0) {
            *number_out = i;
            return true;
        }
    flag_row_values(row, ", ", words, sizeof words);
    return flags_fail(error_out, "%s: not one of %s", argument, words);
}

/* Everything after the = sign; value is part of argument. */
static bool read_value(const char *argument, const char *value, struct setting *setting,
                       struct flags_error *error_out)
{
    const struct flag_row *row = setting->row;
    if (row->kind == FLAG_KIND_STRING) {
        setting->string_at = (size_t)(value - argument);
        return true;
    }
    if (!*value)
        return fail_needs_value(row, error_out);
    if (row->kind == FLAG_KIND_ENUM)
        return read_word(row, argument, value, &setting->number, error_out);
    bool is_size = row->kind == FLAG_KIND_SIZE;
    enum number_result result = read_number(value, is_size, &setting->number);
    if (result == NUMBER_MALFORMED)
        return fail_range(row, argument,
                          is_size ? "not a whole number (k, m, g or t may follow)"
                                  : "not a whole number",
                          error_out);
    if (result == NUMBER_TOO_BIG || setting->number < row->least || setting->number > row->most)
        return fail_range(row, argument, "out of range", error_out);
    return true;
}

static const struct flag_row *row_named(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(flag_rows[i].spelling, name) == 0)
            return &flag_rows[i];
    return NULL;
}

/* The index of the short form that the argument begins with, or ALIASES. */
static size_t alias_of(const char *argument)
{
    size_t i = 0;
    while (i < ALIASES && strncmp(argument, aliases[i].alias, strlen(aliases[i].alias)) != 0)
        i++;
    return i;
}

static bool is_flag(const char *argument)
{
    return strncmp(argument, "-XX:", 4) == 0 || alias_of(argument) < ALIASES;
}

/* -Xmx64m: no sign, no = before the value. */
static bool read_alias(const char *argument, size_t alias, struct setting *setting_out,
                       struct flags_error *error_out)
{
    const char *value = argument + strlen(aliases[alias].alias);
    setting_out->row = row_named(aliases[alias].spelling);
    INSIST(setting_out->row && setting_out->row->kind == FLAG_KIND_SIZE, "alias %s",
           aliases[alias].alias);
    if (!*value)
        return flags_fail(error_out, "%s needs a value: %sN (bytes)", argument, argument);
    return read_value(argument, value, setting_out, error_out);
}

static bool read_setting(const char *argument, struct setting *setting_out,
                         struct flags_error *error_out)
{
    size_t alias = alias_of(argument);
    if (alias < ALIASES)
        return read_alias(argument, alias, setting_out, error_out);
    const char *name_at = argument + 4; /* after -XX: */
    char sign = *name_at == '+' || *name_at == '-' ? *name_at++ : '\0', name[64];
    size_t name_bytes = strcspn(name_at, "=");
    const char *value = name_at[name_bytes] ? name_at + name_bytes + 1 : NULL;
    if (name_bytes == 0)
        return flags_fail(error_out, "%s names no flag; `stillpoint flags` lists them", argument);
    snprintf(name, sizeof name, "%.*s", (int)(name_bytes < sizeof name ? name_bytes : sizeof name),
             name_at);
    const struct flag_row *row = setting_out->row = row_named(name);
    if (!row)
        return fail_unknown(argument, name, error_out);
    if (row->kind == FLAG_KIND_BOOL && (!sign || value))
        return flags_fail(error_out, "%s: a boolean flag, use -XX:+%s or -XX:-%s", argument, name,
                          name);
    if (row->kind == FLAG_KIND_BOOL) {
        setting_out->number = sign == '+';
        return true;
    }
    if (sign) {
        char form[160];
        flag_row_values(row, "|", form, sizeof form);
        return flags_fail(error_out, "%s: not a boolean flag, use -XX:%s=%s", argument, name, form);
    }
    return value ? read_value(argument, value, setting_out, error_out)
                 : fail_needs_value(row, error_out);
}

/* --- applying -------------------------------------------------------------------- */

static bool is_the_value(const struct setting *setting, const char *argument)
{
    return setting->row->kind == FLAG_KIND_STRING
               ? strcmp(*string_of(setting->row), argument + setting->string_at) == 0
               : flag_row_number(setting->row) == setting->number;
}

static bool apply(const struct setting *setting, const char *argument, enum flags_origin origin,
                  struct flags_error *error_out)
{
    size_t i = row_index(setting->row);
    char *typed = strdup(argument);
    if (!typed)
        return flags_fail(error_out, "%s: no memory to keep it", argument);
    if (setting->row->kind == FLAG_KIND_STRING)
        *string_of(setting->row) = typed + setting->string_at;
    else
        write_number(setting->row, setting->number);
    free(sources[i].typed);
    sources[i].typed = typed;
    sources[i].origin = origin;
    return true;
}

enum flags_result flags_parse_one(const char *argument, struct flags_error *error_out)
{
    struct setting setting = { NULL, 0, 0 };
    if (!is_flag(argument))
        return FLAGS_NOT_A_FLAG;
    if (!read_setting(argument, &setting, error_out))
        return FLAGS_ERROR;
    size_t i = row_index(setting.row);
    if (sources[i].origin == FLAGS_ORIGIN_COMMAND_LINE && !is_the_value(&setting, argument)) {
        flags_fail(error_out, "%s contradicts %s", argument, sources[i].typed);
        return FLAGS_ERROR;
    }
    return apply(&setting, argument, FLAGS_ORIGIN_COMMAND_LINE, error_out) ? FLAGS_OK : FLAGS_ERROR;
}

const char *flag_row_typed(const char *spelling)
{
    const struct flag_row *row = row_named(spelling);
    INSIST(row, "no flag is called %s", spelling);
    size_t i = row_index(row);
    return sources[i].origin == FLAGS_ORIGIN_COMMAND_LINE ? sources[i].typed : NULL;
}

enum flags_origin flags_origin_of(const char *spelling)
{
    const struct flag_row *row = row_named(spelling);
    INSIST(row, "no flag is called %s", spelling);
    return flag_row_origin(row);
}

static void read_own(const char *argument, struct setting *setting_out)
{
    struct flags_error error;
    INSIST(is_flag(argument), "%s is no flag", argument);
    INSIST(read_setting(argument, setting_out, &error), "%s", error.message);
}

bool flags_allow(const char *argument, struct flags_error *error_out)
{
    struct setting setting = { NULL, 0, 0 };
    read_own(argument, &setting);
    size_t i = row_index(setting.row);
    if (sources[i].origin != FLAGS_ORIGIN_COMMAND_LINE || is_the_value(&setting, argument))
        return true;
    return flags_fail(error_out, "%s contradicts %s, which is set here", sources[i].typed,
                      argument);
}

bool flags_override(const char *argument, struct flags_error *error_out)
{
    struct setting setting = { NULL, 0, 0 };
    if (!flags_allow(argument, error_out))
        return false;
    read_own(argument, &setting);
    if (sources[row_index(setting.row)].origin == FLAGS_ORIGIN_COMMAND_LINE)
        return true; /* the same value: who typed it stays its origin */
    return apply(&setting, argument, FLAGS_ORIGIN_SCENARIO, error_out);
}

bool flags_is_valid(const char *argument, struct flags_error *error_out)
{
    struct setting setting = { NULL, 0, 0 };
    if (!is_flag(argument))
        return flags_fail(error_out, "%s is no runtime flag; see stillpoint flags", argument);
    return read_setting(argument, &setting, error_out);
}

void flags_propose(const char *argument)
{
    struct flags_error error;
    if (flags_allow(argument, &error)) /* else the command line says otherwise */
        INSIST(flags_override(argument, &error), "%s", error.message);
}

void flags_set_ergonomic(const char *spelling, uint64_t size)
{
    const struct flag_row *row = row_named(spelling);
    INSIST(row && row->kind == FLAG_KIND_SIZE, "%s is no size", spelling);
    size_t i = row_index(row);
    INSIST(size >= row->least && size <= row->most, "%s = %llu", spelling,
           (unsigned long long)size);
    INSIST(!sources[i].typed, "%s is set by %s", spelling, sources[i].typed);
    write_number(row, size);
    sources[i].origin = FLAGS_ORIGIN_ERGONOMIC;
}

void flags_set_for_test(const char *argument)
{
    struct flags_error error;
    struct setting setting = { NULL, 0, 0 };
    read_own(argument, &setting);
    INSIST(apply(&setting, argument, FLAGS_ORIGIN_SCENARIO, &error), "%s", error.message);
}

void flags_reset(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (flag_rows[i].kind == FLAG_KIND_STRING)
            *string_of(&flag_rows[i]) = "";
        else
            write_number(&flag_rows[i], flag_rows[i].initial);
        free(sources[i].typed);
        sources[i].typed = NULL;
        sources[i].origin = FLAGS_ORIGIN_DEFAULT;
    }
}
