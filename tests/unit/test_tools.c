/* test_tools.c -- numbers as typed and shown, JSON, result files.
 *
 * SPDX-License-Identifier: MIT */
#include "base/os.h"
#include "tools/json_writer.h"
#include "tools/output.h"
#include "tools/text.h"

#include "tests/unit/suite.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(durations_are_shown_with_three_digits)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } cases[] = { { 0, "0ns" },           { 999, "999ns" },       { 1000, "1.00us" },
                  { 9994, "9.99us" },     { 9996, "10.0us" },     { 99960, "100us" },
                  { 999499, "999us" },    { 999500, "1.00ms" },   { 45100000, "45.1ms" },
                  { 999499999, "999ms" }, { 999500000, "1.00s" }, { 3600000000000, "3600s" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        text_ns(text, sizeof text, cases[i].ns);
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

START_TEST(durations_are_parsed_or_refused)
{
    static const struct {
        const char *text;
        uint64_t ns; /* 0 = refused */
    } cases[] = { { "5ms", 5000000 }, { "250us", 250000 }, { "1.5s", 1500000000 },
                  { "1ns", 1 },       { "5", 0 },          { "", 0 },
                  { "ms", 0 },        { "-5ms", 0 },       { "0ms", 0 },
                  { "1e3ms", 0 },     { "5 ms", 0 },       { "5msx", 0 },
                  { "1..5ms", 0 },    { "nan", 0 },        { "0x5ms", 0 },
                  { "99999999s", 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t ns = 0;
        bool ok = text_parse_duration(cases[i].text, &ns);
        ck_assert_msg(ok == (cases[i].ns != 0) && ns == cases[i].ns, "\"%s\": %d, %llu ns",
                      cases[i].text, ok, (unsigned long long)ns);
    }
}
END_TEST

START_TEST(json_with_every_awkward_string_is_read_back_the_same)
{
    char *data = NULL;
    size_t bytes;
    const char *awkward = "quote \" backslash \\ tab \t newline \n bell \a umlaut \xc3\xbc";
    FILE *out = open_memstream(&data, &bytes);
    struct json_writer json;
    json_writer_start(&json, out);
    json_writer_open_object(&json, NULL);
    json_writer_string(&json, awkward, awkward);
    json_writer_unsigned(&json, "big", UINT64_C(9007199254740993));
    json_writer_signed(&json, "negative", -1);
    json_writer_double(&json, "infinite", INFINITY);
    json_writer_open_array(&json, "list");
    json_writer_bool(&json, NULL, true);
    json_writer_null(&json, NULL);
    json_writer_close(&json);
    json_writer_open_object(&json, "empty");
    json_writer_close(&json);
    json_writer_close(&json);
    json_writer_end(&json);
    fclose(out);
    json_error_t error;
    json_t *root = json_loads(data, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "line %d: %s in %s", error.line, error.text, data);
    ck_assert_str_eq(json_string_value(json_object_get(root, awkward)), awkward);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "big")), INT64_C(9007199254740993));
    ck_assert_int_eq(json_integer_value(json_object_get(root, "negative")), -1);
    ck_assert(json_is_null(json_object_get(root, "infinite")));
    ck_assert_uint_eq(json_array_size(json_object_get(root, "list")), 2);
    json_decref(root);
    free(data);
}
END_TEST

static char folder[] = "/tmp/stillpoint-output-XXXXXX";

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void check_text(const char *path, const char *text)
{
    char read[64] = "";
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(read, sizeof read, f));
    fclose(f);
    ck_assert_str_eq(read, text);
}

START_TEST(a_result_file_is_whole_or_untouched)
{
    struct output output;
    char path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/result", folder);
    write_text(path, "old");
    ck_assert(output_open(&output, path));
    fputs("half", output.file);
    fflush(output.file);
    check_text(path, "old"); /* while the run goes on */
    output_abandon(&output);
    check_text(path, "old");
    ck_assert(output_open(&output, path));
    fputs("new", output.file);
    ck_assert(output_commit(&output));
    check_text(path, "new");
    unlink(path);
    ck_assert_msg(rmdir(folder) == 0, "something was left in %s", folder);
}
END_TEST

START_TEST(a_result_file_that_cannot_be_written_is_refused_before_the_run)
{
    struct output output;
    ck_assert(!output_open(&output, "/nonexistent/folder/result"));
    ck_assert(!output_open(&output, "/tmp"));
    ck_assert(output_open(&output, NULL)); /* nothing asked for */
    ck_assert(output_commit(&output));
    ck_assert(output_open(&output, "/dev/full"));
    fputs("text", output.file);
    ck_assert(!output_commit(&output));
}
END_TEST

START_TEST(an_unfinished_result_is_removed_when_the_process_is_about_to_end)
{
    struct output first, second;
    char own_folder[] = "/tmp/stillpoint_test_XXXXXX", path[64], beside[1060];
    ck_assert_ptr_nonnull(mkdtemp(own_folder));
    snprintf(path, sizeof path, "%s/a", own_folder);
    ck_assert(output_open(&first, path));
    ck_assert(output_commit(&first)); /* finished: this one stays */
    snprintf(path, sizeof path, "%s/b", own_folder);
    ck_assert(output_open(&second, path));
    strcpy(beside, second.beside);
    ck_assert_int_eq(access(beside, F_OK), 0);
    output_remove_unfinished();
    ck_assert_int_ne(access(beside, F_OK), 0);
    output_abandon(&second);
    ck_assert_int_eq(access(first.path, F_OK), 0);
    unlink(first.path);
    rmdir(own_folder);
}
END_TEST

START_TEST(one_file_is_known_by_all_its_names)
{
    char own_folder[] = "/tmp/stillpoint_test_XXXXXX", a[64], b[64], c[64];
    ck_assert_ptr_nonnull(mkdtemp(own_folder));
    snprintf(a, sizeof a, "%s/a", own_folder);
    snprintf(b, sizeof b, "%s/./a", own_folder);
    snprintf(c, sizeof c, "%s/c", own_folder);
    ck_assert(os_same_file(a, b)); /* not there yet */
    ck_assert(!os_same_file(a, c));
    fclose(fopen(a, "w"));
    ck_assert(os_same_file(a, b));
    ck_assert(!os_same_file(a, c)); /* one is there */
    ck_assert_int_eq(link(a, c), 0);
    ck_assert(os_same_file(a, c));
    ck_assert(!os_same_file(a, own_folder));
    unlink(a);
    unlink(c);
    rmdir(own_folder);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tools");
    TCase *tc = tcase_create("tools");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, durations_are_shown_with_three_digits);
    tcase_add_test(tc, durations_are_parsed_or_refused);
    tcase_add_test(tc, json_with_every_awkward_string_is_read_back_the_same);
    tcase_add_test(tc, a_result_file_is_whole_or_untouched);
    tcase_add_test(tc, a_result_file_that_cannot_be_written_is_refused_before_the_run);
    tcase_add_test(tc, an_unfinished_result_is_removed_when_the_process_is_about_to_end);
    tcase_add_test(tc, one_file_is_known_by_all_its_names);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
