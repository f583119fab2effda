/* log_tests.h -- what the programs that test -Xlog share: a folder, a file, its text.
 *
 * Read next: test_log.c (lines), test_log_option.c (the grammar).
 * Layer:     tests/, for those two programs: each includes it once.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_LOG_TESTS_H
#define TESTS_UNIT_LOG_TESTS_H

#include "tests/unit/suite.h"
#include "base/log.h"
#include "base/log_priv.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define START_NS UINT64_C(5000000000) /* any; events are given relative to it */
#define MS       UINT64_C(1000000)

static char folder[64], path[128], content[1 << 20];
static struct log_error error;

static inline void begin(void)
{
    snprintf(folder, sizeof folder, "/tmp/test_log.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log", folder);
    log_start(START_NS);
}

static inline void end(void)
{
    log_close();
    unlink(path);
    ck_assert_msg(rmdir(folder) == 0, "%s is not empty: a test left a file behind", folder);
}

static inline void configure(const char *format, const char *file)
{
    char argument[512];
    snprintf(argument, sizeof argument, format, file);
    error.message[0] = '\0';
    enum err err = log_configure(argument, &error);
    ck_assert_msg(err == ERR_OK, "%s: %d, %s", argument, err, error.message);
}

static inline const char *read_file(const char *name)
{
    FILE *f = fopen(name, "r");
    ck_assert_msg(f != NULL, "no file %s", name);
    size_t n = fread(content, 1, sizeof content - 1, f);
    content[n] = '\0';
    fclose(f);
    return content;
}

/* A test case whose tests begin with the log at its start and an empty folder. */
static inline TCase *add_case(Suite *suite, const char *name)
{
    TCase *tc = tcase_create(name);
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, begin, end);
    suite_add_tcase(suite, tc);
    return tc;
}

#endif
