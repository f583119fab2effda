/* test_embedded.c -- files that are part of a program; this one embeds its own source.
 *
 * tests/cli/embed.sh has the files with awkward bytes and the ones that change.
 *
 * SPDX-License-Identifier: MIT */
#include "tools/embedded.h"

#include "tests/unit/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_source(const char *name, size_t *length_out)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", TESTS_FOLDER, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    char *bytes = malloc(1 << 20);
    *length_out = fread(bytes, 1, 1 << 20, file);
    ck_assert_msg(feof(file), "%s is longer than this test reads", path);
    fclose(file);
    return bytes;
}

START_TEST(an_embedded_file_equals_its_source_byte_for_byte)
{
    ck_assert_uint_eq(embedded_file_count, 2);
    for (size_t i = 0; i < embedded_file_count; i++) {
        const struct embedded_file *file = &embedded_files[i];
        size_t length;
        char *source = read_source(file->name, &length);
        ck_assert_msg(length > 100 && file->length == length, "%s has %zu bytes, embedded %zu",
                      file->name, length, file->length);
        ck_assert_mem_eq(file->bytes, source, length);
        ck_assert_int_eq(file->bytes[length], '\0');
        free(source);
    }
}
END_TEST

START_TEST(a_file_is_found_by_its_whole_name_only)
{
    const struct embedded_file *file = embedded_find("unit/suite.h");
    ck_assert_ptr_nonnull(file);
    ck_assert_str_eq(file->name, "unit/suite.h");
    ck_assert_ptr_ne(file, embedded_find("unit/test_embedded.c"));
    ck_assert_ptr_null(embedded_find("suite.h"));
    ck_assert_ptr_null(embedded_find("unit/suite"));
    ck_assert_ptr_null(embedded_find("unit/suite.h.txt"));
    ck_assert_ptr_null(embedded_find(""));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("embedded");
    TCase *tc = tcase_create("embedded");
    tcase_add_test(tc, an_embedded_file_equals_its_source_byte_for_byte);
    tcase_add_test(tc, a_file_is_found_by_its_whole_name_only);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
