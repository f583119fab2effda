/* flags_print.c -- the flags table for people: `stillpoint flags`, docs/flags.md,
 * -XX:+PrintFlagsFinal, and the one string that goes into reports.
 *
 * SPDX-License-Identifier: MIT */
#include "base/flags_priv.h"

#include "base/insist.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 100, INDENT = 6 };

static const char *const class_words[] = { "product", "diagnostic" };
static const char *const class_titles[] = { "Product flags", "Diagnostic flags" };

static const char *string_of(const struct flag_row *row)
{
    return *(const char *const *)((const char *)flags + row->offset);
}

/* A number of the row as one would type it. */
static void number_text(const struct flag_row *row, uint64_t number, char *text_out, size_t bytes)
{
    if (row->kind == FLAG_KIND_BOOL)
        snprintf(text_out, bytes, "%s", number ? "true" : "false");
    else if (row->kind == FLAG_KIND_ENUM)
        snprintf(text_out, bytes, "%s", row->words[number]);
    else if (row->kind == FLAG_KIND_SIZE)
        flag_row_size_text(number, text_out, bytes);
    else
        snprintf(text_out, bytes, "%llu", (unsigned long long)number);
}

static void default_text(const struct flag_row *row, char *text_out, size_t bytes)
{
    if (row->kind == FLAG_KIND_STRING)
        snprintf(text_out, bytes, "(empty)");
    else
        number_text(row, row->initial, text_out, bytes);
}

/* "0 to 1000000 us", "4k to 1g"; "" for flags without a range. */
static void range_text(const struct flag_row *row, char *text_out, size_t bytes)
{
    char least[32], most[32];
    text_out[0] = '\0';
    if (row->kind != FLAG_KIND_UINT && row->kind != FLAG_KIND_SIZE)
        return;
    number_text(row, row->least, least, sizeof least);
    number_text(row, row->most, most, sizeof most);
    snprintf(text_out, bytes, "%s to %s%s%s", least, most, row->unit[0] ? " " : "", row->unit);
}

/* --- stillpoint flags ----------------------------------------------------------- */

static void print_wrapped(FILE *out, const char *text)
{
    size_t column = 0;
    while (*text) {
        size_t bytes = strcspn(text, " ");
        if (column && column + 1 + bytes > COLUMNS) {
            fputc('\n', out);
            column = 0;
        }
        if (column)
            column += (size_t)fprintf(out, " %.*s", (int)bytes, text);
        else
            column = (size_t)fprintf(out, "%*s%.*s", INDENT, "", (int)bytes, text);
        text += bytes + (text[bytes] == ' ');
    }
    fputc('\n', out);
}

static void usage_text(const struct flag_row *row, char *text_out, size_t bytes)
{
    const char *alias = flag_row_alias(row);
    char form[160];
    flag_row_values(row, "|", form, sizeof form);
    if (row->kind == FLAG_KIND_BOOL)
        snprintf(text_out, bytes, "-XX:+|-%s", row->spelling);
    else
        snprintf(text_out, bytes, "-XX:%s=%s%s%s%s", row->spelling, form, alias ? ", " : "",
                 alias ? alias : "", alias ? "N" : "");
}

static void print_section(FILE *out, enum flag_class class)
{
    fprintf(out, "%-*s %-9s %s\n", COLUMNS - 36, class_titles[class], "default", "range");
    if (class == FLAG_CLASS_DIAGNOSTIC)
        fputs("  (with -XX:+UnlockDiagnosticVMOptions on the same command line)\n", out);
    for (size_t i = 0; i < flag_row_count; i++) {
        char usage[240], initial[32], range[64];
        if (flag_rows[i].class != class)
            continue;
        usage_text(&flag_rows[i], usage, sizeof usage);
        default_text(&flag_rows[i], initial, sizeof initial);
        range_text(&flag_rows[i], range, sizeof range);
        if (range[0])
            fprintf(out, "  %-*s %-9s %s\n", COLUMNS - 38, usage, initial, range);
        else
            fprintf(out, "  %-*s %s\n", COLUMNS - 38, usage, initial);
        print_wrapped(out, flag_rows[i].text);
    }
}

void flags_print_table(FILE *out)
{
    print_section(out, FLAG_CLASS_PRODUCT);
    fputc('\n', out);
    print_section(out, FLAG_CLASS_DIAGNOSTIC);
}

/* --- -XX:+PrintFlagsFinal --------------------------------------------------------- */

static int by_spelling(const void *a, const void *b)
{
    const struct flag_row *const *left = a, *const *right = b;
    return strcmp((*left)->spelling, (*right)->spelling);
}

/* The value in full: sizes in bytes, so that scripts need not know suffixes. */
static void print_final_row(FILE *out, const struct flag_row *row)
{
    static const char *const types[] = { "bool", "uint64_t", "size_t", "ccstr", "ccstr" };
    static const char *const origins[] = { "default", "command line", "scenario", "ergonomic" };
    char number[64] = "", class[32];
    if (row->kind == FLAG_KIND_SIZE)
        snprintf(number, sizeof number, "%llu", (unsigned long long)flag_row_number(row));
    else if (row->kind != FLAG_KIND_STRING)
        number_text(row, flag_row_number(row), number, sizeof number);
    snprintf(class, sizeof class, "{%s}", class_words[row->class]);
    fprintf(out, "%9s %-40s = %-30s %20s {%s}\n", types[row->kind], row->spelling,
            row->kind == FLAG_KIND_STRING ? string_of(row) : number, class,
            origins[flag_row_origin(row)]);
}

void flags_print_final(FILE *out)
{
    const struct flag_row *sorted[64];
    INSIST(flag_row_count <= sizeof sorted / sizeof *sorted, "%zu flags", flag_row_count);
    for (size_t i = 0; i < flag_row_count; i++)
        sorted[i] = &flag_rows[i];
    qsort(sorted, flag_row_count, sizeof *sorted, by_spelling);
    fputs("[Global flags]\n", out);
    for (size_t i = 0; i < flag_row_count; i++)
        print_final_row(out, sorted[i]);
}

/* --- docs/flags.md ------------------------------------------------------------------ */

static void print_markdown_row(FILE *out, const struct flag_row *row)
{
    char initial[32], values[160];
    default_text(row, initial, sizeof initial);
    range_text(row, values, sizeof values);
    if (row->kind == FLAG_KIND_BOOL)
        snprintf(values, sizeof values, "`-XX:+%s`, `-XX:-%s`", row->spelling, row->spelling);
    else if (row->kind != FLAG_KIND_UINT && row->kind != FLAG_KIND_SIZE)
        flag_row_values(row, ", ", values, sizeof values);
    const char *alias = flag_row_alias(row);
    fprintf(out, "| `%s` | %s | %s%s%s%s | %s |\n", row->spelling, initial, values,
            alias ? "; also `" : "", alias ? alias : "", alias ? "N`" : "", row->text);
}

void flags_print_markdown(FILE *out)
{
    fputs("<!-- Generated by `stillpoint flags --markdown` from base/flags.def; not edited. -->\n"
          "# Flags\n\n"
          "Spelled `-XX:Name=value`, booleans `-XX:+Name` and `-XX:-Name`, a few also in a short "
          "form "
          "such as `-Xmx64m`. Numbers are decimal or "
          "0x; sizes take k, m, g or t. The order does not matter, and what contradicts is "
          "refused.\n",
          out);
    for (int class = 0; class <= FLAG_CLASS_DIAGNOSTIC; class ++) {
        fprintf(out, "\n## %s\n\n", class_titles[class]);
        if (class == FLAG_CLASS_DIAGNOSTIC)
            fputs("These need `-XX:+UnlockDiagnosticVMOptions` on the same command line.\n\n", out);
        fputs("| flag | default | values | what it does |\n|---|---|---|---|\n", out);
        for (size_t i = 0; i < flag_row_count; i++)
            if ((int)flag_rows[i].class == class)
                print_markdown_row(out, &flag_rows[i]);
    }
}

/* --- for reports --------------------------------------------------------------------- */

size_t flags_describe_set(char *text_out, size_t bytes)
{
    size_t used = 0;
    if (bytes)
        text_out[0] = '\0';
    for (size_t i = 0; i < flag_row_count; i++) {
        const struct flag_row *row = &flag_rows[i];
        bool is_string = row->kind == FLAG_KIND_STRING, is_bool = row->kind == FLAG_KIND_BOOL;
        char number[64] = "";
        if (is_string ? !string_of(row)[0] : flag_row_number(row) == row->initial)
            continue;
        if (flag_row_origin(row) == FLAGS_ORIGIN_ERGONOMIC)
            continue; /* follows from the machine; nobody has set it */
        if (!is_string)
            number_text(row, flag_row_number(row), number, sizeof number);
        const char *sign = !is_bool ? "" : flag_row_number(row) ? "+" : "-";
        used += (size_t)snprintf(used < bytes ? text_out + used : NULL,
                                 used < bytes ? bytes - used : 0, "%s-XX:%s%s%s%s", used ? " " : "",
                                 sign, row->spelling, is_bool ? "" : "=",
                                 is_bool     ? ""
                                 : is_string ? string_of(row)
                                             : number);
    }
    return used;
}
