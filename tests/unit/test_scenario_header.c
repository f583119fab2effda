/* test_scenario_header.c -- the first comments of a scenario: read whole, or refused in one line.
 *
 * tests/cli/scenarios.sh has the messages; here are values, and bytes of every kind.
 *
 * SPDX-License-Identifier: MIT */
#include "base/prng.h"
#include "tests/unit/suite.h"
#include "tools/ttsp/scenario_header.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct scenario_header header;
static char message[512];

static bool read_text(const char *text)
{
    message[0] = '\0';
    return scenario_header_read("f.lox", text, strlen(text), &header, message, sizeof message);
}

START_TEST(all_keys_are_read_in_any_order_and_free_comments_left_alone)
{
    ck_assert(read_text("\n  // seconds: 2.5\n\t// focus:\tcounted loop  \n//cure: other\n"
                        "// https://example.org is a free comment, note: so is this\n"
                        "// setup: 30s\r\n// question: What: this?\n"
                        "// flags: -Xmx64m   -XX:BulkPolicy=whole\n// every: 500us\nprint 1;\n"
                        "// every: 1s\n"));
    ck_assert_str_eq(header.question, "What: this?");
    ck_assert_str_eq(header.focus, "counted loop");
    ck_assert_str_eq(header.cure, "other");
    ck_assert_uint_eq(header.every_ns, 500000);
    ck_assert_uint_eq(header.seconds_ns, 2500000000);
    ck_assert_uint_eq(header.setup_ns, 30000000000);
    ck_assert_str_eq(header.flags[0], "-Xmx64m");
    ck_assert_str_eq(header.flags[1], "-XX:BulkPolicy=whole");
    ck_assert_ptr_null(header.flags[2]);
}
END_TEST

START_TEST(a_file_without_a_header_says_nothing)
{
    static const char *const texts[] = { "",
                                         "\n\n",
                                         "print 1;",
                                         "// just a comment",
                                         "/",
                                         "//",
                                         "var a; // every: 1s",
                                         "\"// every: 1s\";" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ck_assert_msg(read_text(texts[i]), "%s: %s", texts[i], message);
        ck_assert_uint_eq(header.every_ns, 0);
        ck_assert_ptr_null(header.flags[0]);
    }
}
END_TEST

/* Pieces that headers are made of, and what breaks them. */
static const char *const pieces[] = {
    "//",
    " ",
    "\n",
    "\r\n",
    "\t",
    "question:",
    "flags:",
    "every:",
    "seconds:",
    "setup:",
    "focus:",
    "cure:",
    "evry:",
    "5ms",
    "1e308",
    "-1",
    "nan",
    "inf",
    "-Xmx",
    "-XX:",
    "-XX:+",
    "=",
    "64m",
    "\x01",
    "\xff",
    ":",
    "-XX:BulkPolicy=whole",
    "0x",
    "999999999999999999999s",
    "a",
    "%s%n",
};
#define PIECES (sizeof pieces / sizeof *pieces)

/* A failure is one line that names the file and a line of it. */
static void check_message(uint64_t seed, unsigned lines)
{
    unsigned line = 0;
    ck_assert_msg(sscanf(message, "f.lox:%u: ", &line) == 1 && line >= 1 && line <= lines,
                  "seed %llu: %s", (unsigned long long)seed, message);
    ck_assert_msg(strpbrk(message, "\n\r\x01") == NULL, "seed %llu: %s", (unsigned long long)seed,
                  message);
}

START_TEST(no_bytes_break_it_and_what_it_refuses_it_refuses_in_one_line)
{
    unsigned taken = 0, refused = 0;
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        struct prng prng;
        char text[4096] = "// ";
        size_t length = strlen(text);
        unsigned lines = 1;
        prng_seed(&prng, seed);
        for (uint64_t n = prng_below(&prng, 60); n > 0; n--) {
            const char *piece = pieces[prng_below(&prng, PIECES)];
            size_t bytes = strlen(piece);
            memcpy(text + length, piece, bytes);
            length += bytes;
            if (prng_below(&prng, 40) == 0)
                text[length++] = (char)prng_below(&prng, 256);
        }
        for (size_t i = 0; i < length; i++)
            lines += text[i] == '\n';
        char *exact = malloc(length + 1); /* so that a byte too far is seen */
        memcpy(exact, text, length);
        if (scenario_header_read("f.lox", exact, length, &header, message, sizeof message)) {
            taken++;
        } else {
            refused++;
            check_message(seed, lines);
        }
        free(exact);
    }
    printf("seeds 1..20000: %u taken, %u refused\n", taken, refused);
    ck_assert_uint_gt(taken, 100);
    ck_assert_uint_gt(refused, 100);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scenario_header");
    TCase *tc = tcase_create("header");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, all_keys_are_read_in_any_order_and_free_comments_left_alone);
    tcase_add_test(tc, a_file_without_a_header_says_nothing);
    tcase_add_test(tc, no_bytes_break_it_and_what_it_refuses_it_refuses_in_one_line);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
