/* scenario_lox.c -- see scenario_lox.h.  SPDX-License-Identifier: MIT */
#include "tools/ttsp/scenario_lox.h"

#include "base/err.h"
#include "base/insist.h"
#include "tools/embedded.h"
#include "tools/run/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The default ones first, in the order of the report; diseases before their cures. */
static const char *const names[] = {
    "calm",        "blocked",      "crowd",
    "storm",       "counted-loop", "counted-loop-strip",
    "zero-whole",  "zero-chunked", "loop-shapes",
    "spawn-burst", "churn",        "explain",
};
#define NAMES    (sizeof names / sizeof *names)
#define DEFAULTS 8

#define DEFAULT_EVERY_NS UINT64_C(5000000)
#define DEFAULT_SETUP_NS UINT64_C(100000000)

/* With the texts that the scenario points into. */
struct lox_scenario {
    struct scenario scenario;
    struct scenario_header header;
    char name[64];
    struct lox_scenario *next; /* of those from files */
};

static void fill(struct lox_scenario *lox, const char *origin, const char *source, size_t bytes)
{
    const struct scenario_header *h = &lox->header;
    lox->scenario = (struct scenario){
        .name = lox->name,
        .question = h->question[0] ? h->question : "(it says no question)",
        .focus = h->focus[0] ? h->focus : NULL,
        .cure = h->cure[0] ? h->cure : NULL,
        .every_ns = h->every_ns ? h->every_ns : DEFAULT_EVERY_NS,
        .seconds_ns = h->seconds_ns,
        .setup_ns = h->setup_ns ? h->setup_ns : DEFAULT_SETUP_NS,
        .origin = origin,
        .source = source,
        .source_bytes = bytes,
    };
    memcpy(lox->scenario.flags, h->flags, sizeof h->flags);
}

/* --- built in ------------------------------------------------------------------------- */

static struct lox_scenario built_in[NAMES];

static void read_built_in(size_t index)
{
    struct lox_scenario *lox = &built_in[index];
    char file_name[96], message[512];
    if (lox->scenario.name)
        return;
    snprintf(file_name, sizeof file_name, "scenarios/%s.lox", names[index]);
    const struct embedded_file *file = embedded_find(file_name);
    INSIST(file, "%s is not part of the program", file_name);
    INSIST(scenario_header_read(file_name, file->bytes, file->length, &lox->header, message,
                                sizeof message),
           "%s", message);
    snprintf(lox->name, sizeof lox->name, "%s", names[index]);
    fill(lox, "lox", file->bytes, file->length);
}

size_t scenario_lox_count(void) { return NAMES; }
size_t scenario_lox_default_count(void) { return DEFAULTS; }

const struct scenario *scenario_lox_at(size_t index)
{
    read_built_in(index);
    return &built_in[index].scenario;
}

const struct scenario *scenario_lox_named(const char *name)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(names[i], name) == 0)
            return scenario_lox_at(i);
    return NULL;
}

static struct lox_scenario *from_files; /* they live to the end of the process */

/* --- files ------------------------------------------------------------------------------- */

bool scenario_lox_is_path(const char *argument)
{
    size_t length = strlen(argument);
    return strchr(argument, '/') || (length > 4 && strcmp(argument + length - 4, ".lox") == 0);
}

/* Names of files go to terminals, and into messages of one line. */
static void replace_controls(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

/* "dir/spin.lox" is "spin". */
static void name_after(const char *path, char *name_out, size_t bytes)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".lox") == 0)
        length -= 4;
    snprintf(name_out, bytes, "%.*s", (int)(length < bytes ? length : bytes - 1), base);
    replace_controls(name_out);
}

const struct scenario *scenario_lox_from_file(const char *path, int *exit_code_out,
                                              char *message_out, size_t message_bytes)
{
    struct lox_scenario *lox = calloc(1, sizeof *lox);
    char *source;
    size_t bytes;
    *exit_code_out = EXIT_CODE_ENVIRONMENT;
    if (!lox) {
        snprintf(message_out, message_bytes, "no memory for a scenario");
        return NULL;
    }
    if (!source_read(path, &source, &bytes, message_out, message_bytes)) {
        replace_controls(message_out);
        free(lox);
        return NULL;
    }
    *exit_code_out = EXIT_CODE_USAGE;
    if (!scenario_header_read(path, source, bytes, &lox->header, message_out, message_bytes)) {
        replace_controls(message_out);
        free(source);
        free(lox);
        return NULL;
    }
    name_after(path, lox->name, sizeof lox->name);
    fill(lox, path, source, bytes);
    lox->next = from_files;
    from_files = lox;
    return &lox->scenario;
}
