/* log_option.c -- the grammar of -Xlog, as HotSpot has it.
 *
 *   -Xlog[:[selections][:[output][:[decorators][:[output-options]]]]]
 *   selections   all[=level] | tag1[+tag2...][*][=level][,...]
 *   output       stdout | stderr | file=NAME | NAME; a whole name may be "quoted"
 *   decorators   none | word or abbreviation, comma separated
 *   options      foldmultilines=true|false, filecount=N, filesize=SIZE, dialect=11|17|21|25
 *
 * Reading writes only the request: nothing is opened or changed on the way, so an
 * argument is taken whole or not at all.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log_priv.h"

#include "base/insist.h"
#include "base/spelling.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const tag_words[] = {
#define LOG_TAG(word) #word,
#include "base/log_tags.def"
};
enum { TAG_WORDS = sizeof tag_words / sizeof *tag_words };
_Static_assert(TAG_WORDS <= 64, "a selection has one bit per word");

static const char *const tag_sets[] = {
#define LOG_TAG_SET(name, text) text,
#include "base/log_tags.def"
};

static const struct {
    const char *word, *abbreviation;
} decorator_words[] = {
#define X(name, word, abbreviation) { word, abbreviation },
    LOG_DECORATOR_LIST(X)
#undef X
};

const char *log_tags_text(enum log_tags tags) { return tag_sets[tags]; }

void log_error_set(struct log_error *error_out, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(error_out->message, sizeof error_out->message, format, ap);
    va_end(ap);
    for (char *c = error_out->message; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?'; /* what was typed may hold anything; the message is one line */
}

/* --- pieces of text --------------------------------------------------------------- */

struct piece {
    const char *start;
    size_t bytes;
};

static bool piece_is(struct piece p, const char *text)
{
    return strlen(text) == p.bytes && memcmp(text, p.start, p.bytes) == 0;
}

/* Cuts the part before the separator off the front; false when nothing is left to
 * cut.  An empty part at the end counts: "a," has two. */
static bool take_piece(const char **rest, char separator, struct piece *piece_out)
{
    if (!*rest)
        return false;
    const char *end = strchr(*rest, separator);
    piece_out->start = *rest;
    piece_out->bytes = end ? (size_t)(end - *rest) : strlen(*rest);
    *rest = end ? end + 1 : NULL;
    return true;
}

/* A piece as a string, for messages and spelling_nearest(); cut at its end. */
struct word {
    char text[64];
};

static struct word word_of(struct piece p)
{
    struct word w;
    snprintf(w.text, sizeof w.text, "%.*s", p.bytes < sizeof w.text ? (int)p.bytes : 63, p.start);
    return w;
}

static void append(char *text, size_t bytes, const char *separator, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, bytes - used, "%s%s", used ? separator : "", more);
}

/* --- selections -------------------------------------------------------------------- */

static int tag_index(struct piece p)
{
    for (int i = 0; i < TAG_WORDS; i++)
        if (piece_is(p, tag_words[i]))
            return i;
    return -1;
}

static uint64_t tags_of_set(enum log_tags tags)
{
    const char *rest = tag_sets[tags];
    struct piece p;
    uint64_t bits = 0;
    while (take_piece(&rest, ',', &p)) {
        int i = tag_index(p);
        INSIST(i >= 0, "tag set %s has a word that is not in the table", tag_sets[tags]);
        bits |= UINT64_C(1) << i;
    }
    return bits;
}

bool log_selection_matches(const struct log_selection *selection, enum log_tags tags)
{
    uint64_t set = tags_of_set(tags);
    return selection->wildcard ? (set & selection->tags) == selection->tags
                               : set == selection->tags;
}

static enum err bad_tag(struct piece p, struct log_error *error_out)
{
    struct word typed = word_of(p);
    const char *nearest = spelling_nearest(typed.text, tag_words, TAG_WORDS);
    char list[400] = "";
    if (nearest) {
        log_error_set(error_out, "-Xlog: '%s' is no tag; did you mean '%s'?", typed.text, nearest);
        return ERR_BAD_FLAG;
    }
    for (int i = 0; i < TAG_WORDS; i++)
        append(list, sizeof list, ", ", tag_words[i]);
    log_error_set(error_out, "-Xlog: '%s' is no tag; tags: all, %s", typed.text, list);
    return ERR_BAD_FLAG;
}

static enum err read_level(struct piece p, enum log_level *level_out, struct log_error *error_out)
{
    for (int i = 0; i <= LOG_LEVEL_OFF; i++)
        if (piece_is(p, log_level_words[i])) {
            *level_out = (enum log_level)i;
            return ERR_OK;
        }
    log_error_set(error_out,
                  "-Xlog: '%s' is no level; levels: off, trace, debug, info, warning, error",
                  word_of(p).text);
    return ERR_BAD_FLAG;
}

/* tag1+tag2, without the star. */
static enum err read_tags(struct piece p, uint64_t *tags_out, struct log_error *error_out)
{
    struct piece left = p;
    for (bool more = true; more;) {
        const char *plus = memchr(left.start, '+', left.bytes);
        struct piece tag = { left.start, plus ? (size_t)(plus - left.start) : left.bytes };
        int i = tag_index(tag);
        if (i < 0)
            return bad_tag(tag, error_out);
        if (*tags_out >> i & 1) {
            log_error_set(error_out, "-Xlog: '%s' has the tag '%s' twice", word_of(p).text,
                          tag_words[i]);
            return ERR_BAD_FLAG;
        }
        *tags_out |= UINT64_C(1) << i;
        more = plus != NULL;
        left = (struct piece){ tag.start + tag.bytes + 1, more ? left.bytes - tag.bytes - 1 : 0 };
    }
    return ERR_OK;
}

static enum err read_selection(struct piece p, struct log_selection *selection_out,
                               struct log_error *error_out)
{
    const char *equals = memchr(p.start, '=', p.bytes);
    struct piece tags = { p.start, equals ? (size_t)(equals - p.start) : p.bytes };
    *selection_out = (struct log_selection){ .level = LOG_LEVEL_INFO };
    memcpy(selection_out->typed, word_of(p).text, sizeof selection_out->typed);
    if (equals) {
        struct piece level = { equals + 1, p.bytes - tags.bytes - 1 };
        enum err err = read_level(level, &selection_out->level, error_out);
        if (err != ERR_OK)
            return err;
    }
    if (piece_is(tags, "all")) {
        selection_out->wildcard = true;
        return ERR_OK;
    }
    if (tags.bytes && tags.start[tags.bytes - 1] == '*') {
        selection_out->wildcard = true;
        tags.bytes--;
    }
    return read_tags(tags, &selection_out->tags, error_out);
}

static enum err read_selections(const char *text, struct log_request *request,
                                struct log_error *error_out)
{
    const char *rest = *text ? text : "all";
    struct piece p;
    while (take_piece(&rest, ',', &p)) {
        if (request->selection_count == LOG_SELECTIONS_MOST) {
            log_error_set(error_out, "-Xlog: more than %d selections", LOG_SELECTIONS_MOST);
            return ERR_BAD_FLAG;
        }
        enum err err =
            read_selection(p, &request->selections[request->selection_count++], error_out);
        if (err != ERR_OK)
            return err;
    }
    return ERR_OK;
}

/* --- output, decorators, options ------------------------------------------------- */

/* Takes the output off the front of *rest, up to its colon; quotes hide colons. */
static enum err read_output(const char **rest, struct log_request *request,
                            struct log_error *error_out)
{
    bool is_prefixed = strncmp(*rest, "file=", 5) == 0;
    const char *name = *rest + (is_prefixed ? 5 : 0);
    bool is_quoted = *name == '"';
    name += is_quoted;
    size_t bytes = strcspn(name, is_quoted ? "\"" : ":");
    const char *after = name + bytes;
    bool is_closed = !is_quoted || *after == '"';
    after += is_quoted && is_closed;
    if (!is_closed || (*after && *after != ':') || memchr(name, '"', bytes)) {
        log_error_set(error_out,
                      "-Xlog: the name of an output is quoted as a whole, or not at all");
        return ERR_BAD_FLAG;
    }
    if (bytes >= sizeof request->output || (bytes == 0 && (is_prefixed || is_quoted))) {
        log_error_set(error_out, "-Xlog: %s; outputs: stdout, stderr, file=NAME, NAME",
                      bytes ? "the name of the file is too long" : "no file is named");
        return ERR_BAD_FLAG;
    }
    snprintf(request->output, sizeof request->output, "%.*s", bytes ? (int)bytes : 6,
             bytes ? name : "stdout");
    request->is_file = is_prefixed || (strcmp(request->output, "stdout") != 0 &&
                                       strcmp(request->output, "stderr") != 0);
    *rest = *after ? after + 1 : NULL;
    return ERR_OK;
}

static int decorator_index(struct piece p)
{
    for (int i = 0; i < LOG_DECORATOR_COUNT; i++)
        if (piece_is(p, decorator_words[i].word) || piece_is(p, decorator_words[i].abbreviation))
            return i;
    return -1;
}

static enum err read_decorators(struct piece p, struct log_request *request,
                                struct log_error *error_out)
{
    char text[256], list[300] = "";
    const char *rest = text;
    struct piece word;
    if (p.bytes == 0)
        return ERR_OK;
    request->decorators = 0;
    if (piece_is(p, "none"))
        return ERR_OK;
    snprintf(text, sizeof text, "%.*s", p.bytes < sizeof text ? (int)p.bytes : 255, p.start);
    while (take_piece(&rest, ',', &word)) {
        int i = decorator_index(word);
        if (i >= 0) {
            request->decorators |= 1u << i;
            continue;
        }
        for (int k = 0; k < LOG_DECORATOR_COUNT; k++) {
            append(list, sizeof list, ", ", decorator_words[k].word);
            append(list, sizeof list, "/", decorator_words[k].abbreviation);
        }
        log_error_set(error_out, "-Xlog: '%s' is no decorator; decorators: none, or %s",
                      word_of(word).text, list);
        return ERR_BAD_FLAG;
    }
    return ERR_OK;
}

/* "20m": k, m and g, as HotSpot's sizes; false: no size, or above most. */
static bool read_size(const char *text, uint64_t most, uint64_t *size_out)
{
    static const char units[] = "kmg";
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    end += unit != NULL;
    if (*end || errno || number > most >> shift)
        return false;
    *size_out = (uint64_t)number << shift;
    return true;
}

static enum err fail_option(struct log_error *error_out, const char *option, const char *why)
{
    log_error_set(error_out, "-Xlog: output option '%s': %s", option, why);
    return ERR_BAD_FLAG;
}

/* As the flag's words. */
static bool read_dialect(const char *text, int *dialect_out)
{
    static const char *const words[LOG_DIALECTS] = {
        [XLOG_DIALECT_11] = "11",
        [XLOG_DIALECT_17] = "17",
        [XLOG_DIALECT_21] = "21",
        [XLOG_DIALECT_25] = "25",
    };
    for (int d = 0; d < LOG_DIALECTS; d++)
        if (strcmp(text, words[d]) == 0) {
            *dialect_out = d;
            return true;
        }
    return false;
}

static enum err read_output_option(const char *option, struct log_request *request,
                                   struct log_error *error_out)
{
    uint64_t number;
    if (strcmp(option, "foldmultilines=true") == 0) {
        request->folds_lines = true;
    } else if (strcmp(option, "foldmultilines=false") == 0) {
        request->folds_lines = false;
    } else if (strncmp(option, "filecount=", 10) == 0) {
        if (!request->is_file)
            return fail_option(error_out, option, "only files rotate");
        if (!read_size(option + 10, LOG_MOST_FILECOUNT, &number))
            return fail_option(error_out, option, "not a number from 0 to 1000");
        request->filecount = (uint32_t)number;
        request->has_filecount = true;
    } else if (strncmp(option, "filesize=", 9) == 0) {
        if (!request->is_file)
            return fail_option(error_out, option, "only files rotate");
        if (!read_size(option + 9, UINT64_C(1) << 40, &request->filesize))
            return fail_option(error_out, option,
                               "not a size from 0 to 1024g (k, m or g may follow)");
        request->has_filesize = true;
    } else if (strncmp(option, "dialect=", 8) == 0) {
        if (!read_dialect(option + 8, &request->dialect))
            return fail_option(error_out, option, "there are 11, 17, 21 and 25");
    } else {
        return fail_option(error_out, option,
                           "unknown; options: foldmultilines=true|false, filecount=N, "
                           "filesize=SIZE, dialect=11|17|21|25");
    }
    return ERR_OK;
}

/* One of the two brings the other's default with it; 0 in either, and nothing rotates. */
static void settle_rotation(struct log_request *request)
{
    if (request->has_filecount && !request->has_filesize)
        request->filesize = LOG_DEFAULT_FILESIZE;
    if (request->has_filesize && !request->has_filecount)
        request->filecount = LOG_DEFAULT_FILECOUNT;
    if (request->filesize == 0)
        request->filecount = 0;
}

static enum err read_output_options(const char *text, struct log_request *request,
                                    struct log_error *error_out)
{
    const char *rest = text;
    struct piece p;
    while (*text && take_piece(&rest, ',', &p)) {
        struct word word = word_of(p);
        enum err err = read_output_option(word.text, request, error_out);
        if (err != ERR_OK)
            return err;
    }
    settle_rotation(request);
    return ERR_OK;
}

/* --- the whole argument ------------------------------------------------------------ */

bool log_is_option(const char *argument) { return strncmp(argument, "-Xlog", 5) == 0; }
bool log_is_help(const char *argument) { return strcmp(argument, "-Xlog:help") == 0; }

/* selections:output:decorators:options */
static enum err read_parts(const char *text, struct log_request *request,
                           struct log_error *error_out)
{
    char selections[1024];
    struct piece p = { "", 0 };
    const char *rest = text;
    take_piece(&rest, ':', &p);
    if (p.bytes >= sizeof selections) {
        log_error_set(error_out, "-Xlog: the selections are too long");
        return ERR_BAD_FLAG;
    }
    snprintf(selections, sizeof selections, "%.*s", (int)p.bytes, p.start);
    enum err err = read_selections(selections, request, error_out);
    if (err == ERR_OK && rest)
        err = read_output(&rest, request, error_out);
    p = (struct piece){ "", 0 };
    take_piece(&rest, ':', &p);
    if (err == ERR_OK)
        err = read_decorators(p, request, error_out);
    return err == ERR_OK && rest ? read_output_options(rest, request, error_out) : err;
}

enum err log_option_read(const char *argument, struct log_request *request_out,
                         struct log_error *error_out)
{
    const char *text = argument + strlen("-Xlog");
    struct log_request request = { .kind = LOG_REQUEST_APPLY,
                                   .output = "stdout",
                                   .dialect = -1,
                                   .decorators = LOG_DECORATORS_DEFAULT };
    enum err err = ERR_BAD_FLAG;
    INSIST(log_is_option(argument), "%s is not -Xlog", argument);
    if (*text && *text != ':')
        log_error_set(error_out,
                      "%s: unknown; -Xlog[:selections[:output[:decorators[:output-options]]]], "
                      "-Xlog:help explains",
                      argument);
    else if (strncmp(text, ":async", 6) == 0)
        log_error_set(error_out, "-Xlog:async is not in this version");
    else
        err = ERR_OK;
    if (err != ERR_OK)
        return err;
    if (strcmp(text, ":help") == 0)
        request.kind = LOG_REQUEST_HELP;
    else if (strcmp(text, ":disable") == 0)
        request.kind = LOG_REQUEST_DISABLE;
    else
        err = read_parts(*text ? text + 1 : text, &request, error_out);
    if (err == ERR_OK)
        *request_out = request;
    return err;
}

void log_print_help(FILE *out)
{
    char tags[400] = "", decorators[300] = "", sets[400] = "";
    for (int i = 0; i < TAG_WORDS; i++)
        append(tags, sizeof tags, i % 12 ? ", " : ",\n  ", tag_words[i]);
    for (int i = 0; i < LOG_TAGS_COUNT; i++)
        append(sets, sizeof sets, i % 6 ? " " : "\n  ", tag_sets[i]);
    for (int i = 0; i < LOG_DECORATOR_COUNT; i++) {
        char one[40];
        snprintf(one, sizeof one, "%s (%s)", decorator_words[i].word,
                 decorator_words[i].abbreviation);
        append(decorators, sizeof decorators, i % 6 ? ", " : ",\n  ", one);
    }
    fputs("-Xlog[:selections[:output[:decorators[:output-options]]]]\n"
          "Later arguments override earlier ones. Without any, warnings and errors go to stdout.\n"
          "-Xlog alone is -Xlog:all=info:stdout:uptime,level,tags; -Xlog:disable turns all off.\n\n"
          "Selections: all[=level] | tag1[+tag2...][*][=level], comma separated\n"
          "  exactly these tags, or with * at least these; the last that matches counts\n"
          "Levels: off, trace, debug, info (default), warning, error\n"
          "Output: stdout (default) | stderr | file=NAME | NAME\n"
          "  %p is the process, %t the start time; a \"quoted\" name may hold colons\n",
          out);
    fprintf(out, "Decorators: none | comma separated, printed in this order:\n  %s\n", decorators);
    fputs(
        "Output options: comma separated\n"
        "  foldmultilines=true|false  a line break inside a line is written as \\n\n"
        "  filecount=N  a full file becomes NAME.0, then NAME.1, ..., N of them are kept; at the\n"
        "               start a file that is there is put away so too; 0, or neither: one file,\n"
        "               emptied at the start, which only grows (a JDK rotates 5 of 20m then)\n"
        "  filesize=SIZE  which size is full, k, m or g may follow; with filecount alone 20m,\n"
        "               alone it keeps 5 files\n"
        "  dialect=11|17|21|25  lines as that JDK writes them, else as -XX:XlogDialect says\n",
        out);
    fprintf(out, "Tags:\n  %s\n", tags);
    fprintf(out, "Tag sets of this version:\n  %s\n", sets);
    fputs("\nExamples:\n"
          "  -Xlog:safepoint*                    stops and their table, to stdout\n"
          "  -Xlog:safepoint=info:file=%p.log    one line per stop, to a file\n"
          "  -Xlog:safepoint:file=s.log::filecount=3,filesize=10m,dialect=17\n"
          "  -Xlog:safepoint+stats::none         the table alone\n",
          out);
}
