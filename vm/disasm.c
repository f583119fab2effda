/* disasm.c -- see disasm.h.
 *
 * Read next: print_instruction() below.
 *
 * Refused code is printed too, that is when one wants to see it.  So nothing here relies on
 * the checker: what is out of range is shown as a number with a question mark.  Only pointers
 * are taken on trust.
 *
 * No line is longer than LINE_COLUMNS, whatever the names in it.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/disasm.h"

#include "vm/function_list.h"
#include "vm/opcode.h"
#include "vm/string.h"
#include "vm/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LINE_COLUMNS   100
#define NAME_COLUMNS   30 /* of one name or string: arbitrary, leaves room for the rest */
#define COLUMN_BYTES   4  /* a character of UTF-8 */
#define ELLIPSIS       "..."
#define ELLIPSIS_BYTES (sizeof ELLIPSIS - 1)

/* --- a line that is never too long ----------------------------------------------- */

struct line {
    char text[LINE_COLUMNS * COLUMN_BYTES + ELLIPSIS_BYTES];
    size_t bytes, columns, most_columns;
    bool is_cut;
};

/* All of it or none; afterwards nothing more until the end. */
static void put_piece(struct line *line, const char *piece, size_t bytes, size_t columns)
{
    if (line->is_cut)
        return;
    if (line->columns + columns + ELLIPSIS_BYTES > line->most_columns) {
        memcpy(line->text + line->bytes, ELLIPSIS, ELLIPSIS_BYTES);
        line->bytes += ELLIPSIS_BYTES;
        line->columns += ELLIPSIS_BYTES;
        line->is_cut = true;
        return;
    }
    memcpy(line->text + line->bytes, piece, bytes);
    line->bytes += bytes;
    line->columns += columns;
}

/* What may steer a terminal: C0, DEL, and C1 as UTF-8 spells it. */
static bool is_control(const char *at, size_t sequence)
{
    unsigned char byte = (unsigned char)at[0];
    return byte < 0x20 || byte == 0x7f ||
           (sequence == 2 && byte == 0xc2 && (unsigned char)at[1] < 0xa0);
}

/* Bytes of a program: what is no printable character is escaped. */
static void put_bytes(struct line *line, const char *at, size_t bytes)
{
    for (const char *end = at + bytes; at < end && !line->is_cut;) {
        size_t sequence = utf8_sequence_bytes(at, end);
        char escaped[8];
        if (*at == '\t') {
            put_piece(line, "    ", 4, 4);
            at++;
        } else if (sequence == 0 || is_control(at, sequence)) {
            int length = snprintf(escaped, sizeof escaped, "\\x%02x", (unsigned char)*at);
            put_piece(line, escaped, (size_t)length, (size_t)length);
            at++;
        } else {
            put_piece(line, at, sequence, 1);
            at += sequence;
        }
    }
}

static void put(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct line *line, const char *format, ...)
{
    char text[LINE_COLUMNS + 1];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    put_piece(line, text, strlen(text), strlen(text));
}

static void start_line(struct line *line)
{
    line->bytes = line->columns = 0;
    line->most_columns = LINE_COLUMNS;
    line->is_cut = false;
}

/* Without the blanks at its end. */
static void end_line(struct line *line, FILE *out)
{
    while (line->bytes > 0 && line->text[line->bytes - 1] == ' ')
        line->bytes--;
    fwrite(line->text, 1, line->bytes, out);
    fputc('\n', out);
}

/* --- names and values ------------------------------------------------------------ */

struct listing {
    FILE *out;
    const char *source;
    size_t source_bytes, *line_starts, line_count; /* starts: one more than lines */
    const char *(*global_name)(void *context, uint32_t index);
    void *context;
    uint32_t last_line; /* whose source was shown */
    uint64_t instructions, back_edges[POLL_SLOW + 1];
};

/* A name does not take the whole line; around: what stands on both sides of it, or "". */
static void put_short(struct line *line, const char *at, size_t bytes, const char *around)
{
    size_t most = line->most_columns, limit = line->columns + NAME_COLUMNS + ELLIPSIS_BYTES;
    bool was_cut = line->is_cut;
    put(line, "%s", around);
    if (limit < most)
        line->most_columns = limit;
    put_bytes(line, at, bytes);
    if (line->most_columns < most) { /* cut or not, there is room behind it */
        line->most_columns = most;
        line->is_cut = was_cut;
    }
    put(line, "%s", around);
}

static bool is_string(const struct object *object)
{
    return object && (uintptr_t)object % _Alignof(struct object) == 0 &&
           object_kind(object) == OBJECT_STRING;
}

static void put_name(struct line *line, const struct object *name)
{
    if (is_string(name))
        put_short(line, string_bytes(name), string_length(name), "");
    else
        put(line, "?");
}

/* The shortest of three spellings that reads back as the same number. */
static void put_number(struct line *line, double number)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    put(line, "%s", text);
}

static void put_constant(struct line *line, const struct function *f, uint32_t index)
{
    if (index >= f->constant_count || !f->constants) {
        put(line, "constant %u?", index);
        return;
    }
    value_t v = f->constants[index];
    if (value_is_number(v))
        put_number(line, value_as_double(v));
    else if (value_is_reference(v) && is_string(value_as_object(v)))
        put_short(line, string_bytes(value_as_object(v)), string_length(value_as_object(v)), "\"");
    else
        put(line, "value 0x%llx?", (unsigned long long)v);
}

static const char *mark_if(bool is_wrong) { return is_wrong ? "?" : ""; }

static void put_register(struct line *line, const struct function *f, uint32_t reg)
{
    put(line, "r%u%s", reg, mark_if(reg >= f->register_count));
}

static void put_global(const struct listing *listing, struct line *line, uint32_t index)
{
    const char *name = listing->global_name ? listing->global_name(listing->context, index) : NULL;
    if (name)
        put_short(line, name, strlen(name), "");
    else
        put(line, "global %u%s", index, mark_if(listing->global_name != NULL));
}

/* With what its closure takes. */
static void put_function(struct line *line, const struct function *f, uint32_t index)
{
    const struct function *inner =
        index < f->function_count && f->functions ? f->functions[index] : NULL;
    if (!inner) {
        put(line, "function %u?", index);
        return;
    }
    put_name(line, inner->name);
    for (uint32_t i = 0; inner->captures && i < inner->capture_count && !line->is_cut; i++) {
        struct capture capture = inner->captures[i];
        uint32_t limit = capture.is_register ? f->register_count : f->capture_count;
        put(line, "%s%s%u%s", i ? ", " : " takes ", capture.is_register ? "r" : "capture ",
            capture.index, mark_if(capture.index >= limit));
    }
}

/* --- one instruction ------------------------------------------------------------- */

static void put_jump(struct line *line, const struct function *f, uint32_t at, int32_t offset)
{
    int64_t target = (int64_t)at + 1 + offset;
    put(line, "-> %lld%s", (long long)target, mark_if(target < 0 || target >= f->code_count));
}

static void put_site(struct line *line, const struct function *f, uint32_t index)
{
    if (index < f->site_count && f->sites) {
        put(line, ".");
        put_name(line, f->sites[index].name);
    } else {
        put(line, "site %u?", index);
    }
}

static void put_class(struct line *line, const struct function *f, uint32_t index)
{
    if (index < f->class_count && f->classes)
        put_name(line, f->classes[index].name);
    else
        put(line, "class %u?", index);
}

static void put_operand(const struct listing *listing, struct line *line, const struct function *f,
                        uint32_t at, enum opcode_operand kind, uint32_t value)
{
    struct instruction i = f->code[at];
    switch (kind) {
    case OPERAND_NONE:
        put(line, "unused %u?", value);
        break;
    case OPERAND_CELL:
    case OPERAND_NEWCELL:
        put(line, "cell ");
        put_register(line, f, value);
        break;
    case OPERAND_READ:
    case OPERAND_WRITE:
    case OPERAND_UPDATE:
    case OPERAND_WINDOW:
    case OPERAND_WINDOW1:
        put_register(line, f, value);
        break;
    case OPERAND_CONST:
    case OPERAND_NUMBER:
        put_constant(line, f, value);
        break;
    case OPERAND_CONST32:
        put_constant(line, f, instruction_wide(i));
        break;
    case OPERAND_SITE:
        put_site(line, f, value);
        break;
    case OPERAND_CAPTURE:
        put(line, "capture %u%s", value, mark_if(value >= f->capture_count));
        break;
    case OPERAND_CLASS:
        put_class(line, f, value);
        break;
    case OPERAND_COUNT:
        put(line, "%u argument%s", value, value == 1 ? "" : "s");
        break;
    case OPERAND_JUMP:
        put_jump(line, f, at, instruction_jump16(i));
        break;
    case OPERAND_JUMP32:
        put_jump(line, f, at, instruction_jump32(i));
        break;
    case OPERAND_GLOBAL32:
        put_global(listing, line, instruction_wide(i));
        break;
    case OPERAND_FUNCTION32:
        put_function(line, f, instruction_wide(i));
        break;
    case OPERAND_HIGH:
        break;
    }
}

static const char *mark_of(enum opcode_poll poll)
{
    switch (poll) {
    case POLL_POLL:
        return "poll";
    case POLL_STRIP:
        return "strip";
    case POLL_NOPOLL:
        return "no poll";
    case POLL_NONE:
    case POLL_SLOW:
        break;
    }
    return "";
}

static void put_operands(const struct listing *listing, struct line *line, const struct function *f,
                         uint32_t at)
{
    struct instruction i = f->code[at];
    const struct opcode_row *row = &opcode_rows[i.op];
    const uint32_t values[3] = { i.a, i.b, i.c };
    const char *separator = "";
    for (int k = 0; k < 3; k++) {
        enum opcode_operand kind = row->operand[k];
        if (kind == OPERAND_HIGH || (kind == OPERAND_NONE && values[k] == 0))
            continue;
        put(line, "%s", separator);
        put_operand(listing, line, f, at, kind, values[k]);
        separator = ", ";
    }
    if (row->poll == POLL_STRIP) {
        put(line, ", strip end ");
        put_register(line, f, (uint32_t)i.a + 1);
        put(line, ", step ");
        put_register(line, f, (uint32_t)i.a + 2);
    }
}

static void print_instruction(struct listing *listing, const struct function *f, uint32_t at)
{
    struct instruction i = f->code[at];
    struct line line;
    start_line(&line);
    listing->instructions++;
    if (i.op >= OPCODE_COUNT) {
        put(&line, "%-7s %6u  opcode %u? %u %u %u", "", at, i.op, i.a, i.b, i.c);
    } else {
        const struct opcode_row *row = &opcode_rows[i.op];
        if (row->flow == FLOW_LOOP || row->flow == FLOW_BACK)
            listing->back_edges[row->poll]++;
        put(&line, "%-7s %6u  %-27s ", mark_of(row->poll), at, row->name);
        put_operands(listing, &line, f, at);
    }
    end_line(&line, listing->out);
}

/* --- the source ------------------------------------------------------------------ */

/* Without memory the listing has no source lines. */
static void find_lines(struct listing *listing)
{
    size_t count = 1;
    for (size_t i = 0; i < listing->source_bytes; i++)
        count += listing->source[i] == '\n';
    listing->line_starts = malloc((count + 1) * sizeof *listing->line_starts);
    if (!listing->line_starts)
        return;
    listing->line_starts[listing->line_count++] = 0;
    for (size_t i = 0; i < listing->source_bytes; i++)
        if (listing->source[i] == '\n')
            listing->line_starts[listing->line_count++] = i + 1;
    listing->line_starts[count] = listing->source_bytes + 1; /* as if a newline ended it */
}

static void print_source_line(struct listing *listing, uint32_t number)
{
    struct line line;
    if (number == listing->last_line)
        return;
    listing->last_line = number;
    if (number == 0 || number > listing->line_count)
        return;
    size_t start = listing->line_starts[number - 1];
    size_t bytes = listing->line_starts[number] - 1 - start;
    if (bytes > 0 && listing->source[start + bytes - 1] == '\r')
        bytes--;
    start_line(&line);
    put(&line, "%14u | ", number);
    put_bytes(&line, listing->source + start, bytes);
    end_line(&line, listing->out);
}

/* --- functions ------------------------------------------------------------------- */

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

static void print_head(const struct listing *listing, const struct function *f, bool is_script)
{
    struct line line;
    start_line(&line);
    put(&line, "== ");
    if (is_script && !f->name)
        put(&line, "script");
    else
        put_name(&line, f->name);
    if (!is_script && f->lines && f->code_count)
        put(&line, ", line %u", f->lines[0]);
    put(&line, ": %u parameter%s, %u register%s, %u capture%s, %u instruction%s", f->arity,
        plural(f->arity), f->register_count, plural(f->register_count), f->capture_count,
        plural(f->capture_count), f->code_count, plural(f->code_count));
    end_line(&line, listing->out);
}

static void print_function(struct listing *listing, const struct function *f, bool is_script)
{
    print_head(listing, f, is_script);
    listing->last_line = 0;
    for (uint32_t at = 0; f->code && at < f->code_count; at++) {
        if (f->lines)
            print_source_line(listing, f->lines[at]);
        print_instruction(listing, f, at);
    }
    fputc('\n', listing->out);
}

void disasm_print(FILE *out, const struct function *script, const char *source, size_t bytes,
                  const char *(*global_name)(void *context, uint32_t index), void *context)
{
    struct function_list list;
    struct listing listing = { .out = out,
                               .source = source,
                               .source_bytes = bytes,
                               .global_name = global_name,
                               .context = context };
    if (!function_list_make((struct function *)script, &list)) { /* only read here */
        fputs("no memory for the list of functions\n", out);
        return;
    }
    if (source)
        find_lines(&listing);
    for (size_t i = 0; i < list.count; i++)
        print_function(&listing, list.at[i], i == 0);
    if (list.shared)
        fputs("a function is declared in two places, or in itself?\n", out);
    fprintf(out,
            "%zu function%s, %llu instruction%s; jumps back: %llu poll, %llu poll once per "
            "strip, %llu do not\n",
            list.count, plural(list.count), (unsigned long long)listing.instructions,
            plural(listing.instructions), (unsigned long long)listing.back_edges[POLL_POLL],
            (unsigned long long)listing.back_edges[POLL_STRIP],
            (unsigned long long)listing.back_edges[POLL_NOPOLL]);
    free(listing.line_starts);
    function_list_free(&list);
}
