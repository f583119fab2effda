/* gc_log_tests.h -- what the two programs that test gc/'s log lines share.
 *
 * Read next: test_gc_log.c (one collection), test_gc_summary.c (all of them).
 * Layer:     tests/, for those two programs: each includes it once.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_GC_LOG_TESTS_H
#define TESTS_UNIT_GC_LOG_TESTS_H

#include "gc/gc_log.h"
#include "tests/unit/log_tests.h"

#include <check.h>
#include <string.h>

#define US  UINT64_C(1000)
#define KIB UINT64_C(1024)
#define MIB (KIB << 10)
#define GIB (KIB << 20)

/* Those from this level up, one per line, without decorations. */
static inline const char *text_of(const struct gc_log_block *block, enum log_level level)
{
    static char text[8192];
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < block->count; i++)
        if (block->line[i].level >= level)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", block->line[i].text);
    return text;
}

static inline bool has_line(const struct gc_log_block *block, const char *text)
{
    for (int i = 0; i < block->count; i++)
        if (strcmp(block->line[i].text, text) == 0)
            return true;
    return false;
}

static inline void must_have(const struct gc_log_block *block, const char *text)
{
    ck_assert_msg(has_line(block, text), "no line \"%s\" in:\n%s", text,
                  text_of(block, LOG_LEVEL_TRACE));
}

#endif
