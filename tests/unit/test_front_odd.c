/* test_front_odd.c -- sources nobody writes: any bytes, any size, any depth, any order of
 * tokens; and how messages about them are written.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/front_tests.h"

#include "base/prng.h"

#include <check.h>
#include <stdint.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define BIG_BYTES ((size_t)1000000)
#else
#define BIG_BYTES ((size_t)5000000)
#endif
#define BIG_DEPTH 100000

#define L1(where, message) "[line 1] Error" where ": " message "\n"

/* --- diagnostics ------------------------------------------------------------------- */

static void check_written(const char *lexeme, size_t bytes, const char *expected)
{
    jmp_buf away;
    struct arena arena;
    struct diagnostics diagnostics;
    char *written;
    size_t written_bytes;
    if (setjmp(away))
        ck_abort_msg("no memory");
    arena_start(&arena, &away);
    diagnostics_start(&diagnostics, &arena);
    diagnostics_add(&diagnostics, (struct token){ TOKEN_STRING, 1, lexeme, bytes, NULL }, "Odd.");
    FILE *out = open_memstream(&written, &written_bytes);
    diagnostics_write(&diagnostics, out);
    fclose(out);
    arena_end(&arena);
    ck_assert_msg(strcmp(written, expected) == 0, "%snot\n%s", written, expected);
    free(written);
}

#define TEN   "1234567890"
#define FIFTY TEN TEN TEN TEN TEN

START_TEST(lexeme_is_cut_and_never_sends_bytes_that_steer_a_terminal)
{
    check_written("a\tb\n", 4, L1(" at 'a\\x09b\\x0a'", "Odd."));
    check_written("\0\x1b[2J\x7f", 6, L1(" at '\\x00\\x1b[2J\\x7f'", "Odd."));
    check_written("\xc3\xa9\xff\xc2\x9b", 5, L1(" at '\xc3\xa9\\xff\\xc2\\x9b'", "Odd."));
    check_written("\xe2\x82", 2, L1(" at '\\xe2\\x82'", "Odd."));
    check_written(FIFTY TEN, 60, L1(" at '" FIFTY TEN "'", "Odd."));
    check_written(FIFTY TEN "x", 61, L1(" at '" FIFTY TEN "...'", "Odd."));
    check_written(FIFTY "123456789\xc3\xa9", 61, L1(" at '" FIFTY "123456789...'", "Odd."));
}
END_TEST

/* What the resolver finds stands between what the parser finds. */
START_TEST(messages_are_written_in_the_order_of_the_source)
{
    check_errors("{ var a; var a; }\nprint ;\nprint this;\n1 +;\n",
                 "[line 1] Error at 'a': Already a variable with this name in this scope.\n"
                 "[line 2] Error at ';': Expect expression.\n"
                 "[line 3] Error at 'this': Can't use 'this' outside of a class.\n"
                 "[line 4] Error at ';': Expect expression.\n");
}
END_TEST

/* --- bytes ------------------------------------------------------------------------- */

static void check_bytes(const char *source, size_t bytes, const char *tree, const char *errors)
{
    struct front *front = front_run_bytes(source, bytes, FRONT_RESOLVE);
    ck_assert_msg(strcmp(front->tree, tree) == 0, "'%s': %s, not %s", source, front->tree, tree);
    ck_assert_msg(strcmp(front->errors, errors) == 0, "'%s': %s", source, front->errors);
    front_end(front);
}

START_TEST(source_may_be_empty_or_end_without_a_newline)
{
    check_bytes("", 0, "", "");
    check_bytes(" \t\r\n\n", 5, "", "");
    check_bytes("//", 2, "", "");
    check_bytes("// a", 4, "", "");
    check_bytes("a;", 2, " a", "");
    check_bytes("a;//", 4, " a", "");
    check_bytes("a; b", 2, " a", ""); /* the length ends it, not a NUL */
    check_bytes("/", 1, "", L1(" at '/'", "Expect expression."));
    check_bytes("\"", 1, "", L1("", "Unterminated string."));
}
END_TEST

START_TEST(carriage_return_is_a_blank_and_no_line)
{
    check_bytes("a;\r\nb\r\n;\r\n", 10, " a b", "");
    check_bytes("a;\r\n+;\r\n", 8, " a", "[line 2] Error at '+': Expect expression.\n");
    check_bytes("a;\r+;", 5, " a", L1(" at '+'", "Expect expression."));
    check_bytes("// a\rb;\nc;", 10, " c", "");
}
END_TEST

START_TEST(string_holds_any_bytes_as_they_are)
{
    static const char source[] = "\"a\0\xff\xc3\r\n\\n\";";
    struct front *front = front_run_bytes(source, sizeof source - 1, FRONT_RESOLVE);
    ck_assert_str_eq(front->errors, "");
    const struct object *string = front->script->body->expression->string;
    ck_assert_uint_eq(string_length(string), sizeof source - 1 - 3);
    ck_assert_mem_eq(string_bytes(string), source + 1, sizeof source - 1 - 3);
    front_end(front);
    check_bytes("\0a;", 3, " a", L1("", "Unexpected character."));
    check_bytes("a\0b;", 4, "", L1("", "Unexpected character."));
}
END_TEST

/* --- size -------------------------------------------------------------------------- */

/* head, the piece over and over, tail; *bytes_out long. */
static char *repeat(const char *head, const char *piece, size_t count, const char *tail,
                    size_t *bytes_out)
{
    size_t head_bytes = strlen(head), piece_bytes = strlen(piece), tail_bytes = strlen(tail);
    char *text = malloc(head_bytes + count * piece_bytes + tail_bytes + 1);
    ck_assert_ptr_nonnull(text);
    memcpy(text, head, head_bytes + 1);
    for (size_t i = 0; i < count; i++)
        memcpy(text + head_bytes + i * piece_bytes, piece, piece_bytes);
    memcpy(text + head_bytes + count * piece_bytes, tail, tail_bytes + 1);
    *bytes_out = head_bytes + count * piece_bytes + tail_bytes;
    return text;
}

/* Anything that looks back over what it has read would not end within the time-out. */
static void check_big(const char *head, const char *piece, const char *tail, size_t errors)
{
    size_t bytes;
    char *source = repeat(head, piece, BIG_BYTES / strlen(piece), tail, &bytes);
    uint64_t start = os_now_ns();
    struct front *front = front_run_bytes(source, bytes, FRONT_RESOLVE);
    printf("%zu bytes of '%.12s': %.0f ms\n", bytes, piece, (double)(os_now_ns() - start) / 1e6);
    ck_assert_msg(front->diagnostics.count == errors, "%s%s...: %zu errors, not %zu", head, piece,
                  front->diagnostics.count, errors);
    front_end(front);
    free(source);
}

START_TEST(megabytes_of_anything_take_linear_time)
{
    check_big("", "a", ";", 0);
    check_big("", "1", ";", 0);
    check_big("1.", "1", ";", 0);
    check_big("\"", "x", "\";", 0);
    check_big("\"", "\n", "\";", 0);
    check_big("//", "x", "", 0);
    check_big("", "\n", "", 0);
    check_big("", "a = a + 1;\n", "", 0);
    check_big("{ var a;", "{ var b = a; a = b; }", "}", 0);
    check_big("fun g() { var a;", "{ fun f() { return a; } }", "}", 0);
    check_big("", "class A < B { m(a) { this.x = super.m(); } }", "", 0);
    check_big("", "if (a) b; else c;", "", 0);
    check_big("a[", "1+", "1];", 0);
    check_big("a(", "1,", "1);", 1);
    check_big("fun f(", "a,", "a) {}", 1);
    check_big("", "+;", "", BIG_BYTES / 2);
    check_big("", "@", "", 1);
    check_big("\"", "x", "", 1);
}
END_TEST

START_TEST(sum_of_a_hundred_thousand_terms_is_one_flat_chain)
{
    size_t bytes, links = 0;
    char *source = repeat("1", "-a+1", 50000, ";", &bytes);
    struct front *front = front_run_bytes(source, bytes, FRONT_RESOLVE);
    ck_assert_str_eq(front->errors, "");
    const struct expr *chain = front->script->body->expression;
    ck_assert_int_eq(chain->kind, EXPR_CHAIN);
    ck_assert_int_eq(chain->chain.first->kind, EXPR_NUMBER);
    for (const struct link *link = chain->chain.links; link; link = link->next, links++) {
        enum token_kind kind = link->operator;
        ck_assert_int_eq(kind, links % 2 ? TOKEN_PLUS : TOKEN_MINUS);
        ck_assert_int_eq(link->right->kind, links % 2 ? EXPR_NUMBER : EXPR_VARIABLE);
    }
    ck_assert_uint_eq(links, 100000);
    front_end(front);
    free(source);
}
END_TEST

/* --- depth ------------------------------------------------------------------------- */

/* before, open over and over, middle, close as often, after. */
static const struct shape {
    const char *before, *open, *middle, *close, *after;
    int levels; /* that one `open` goes down */
} shapes[] = {
    { "", "(", "1", ")", ";", 1 },
    { "", "-", "1", "", ";", 1 },
    { "", "!", "1", "", ";", 1 },
    { "", "a=", "1", "", ";", 1 },
    { "", "a.b=", "1", "", ";", 1 },
    { "", "a[0]=", "1", "", ";", 1 },
    { "", "a[", "1", "]", ";", 1 },
    { "", "f(", "1", ")", ";", 1 },
    { "", "1+(", "1", ")", ";", 2 },
    { "", "a and ", "a", "", ";", 1 },
    { "", "a or ", "a", "", ";", 1 },
    { "", "", "f", "()", ";", 1 },
    { "", "", "a", ".b", ";", 1 },
    { "", "", "a", "[0]", ";", 1 },
    { "", "", "a", ".b()[1]", ";", 3 },
    { "var a = ", "(", "1", ")", ";", 1 },
    { "print ", "(", "1", ")", ";", 1 },
    { "", "{", "", "}", "", 1 },
    { "", "if (a) ", "b;", "", "", 1 },
    { "", "if (a) b; else ", "c;", "", "", 1 },
    { "", "if (a) {", "", "}", "", 2 },
    { "", "if (a) {", "", "} else { b; }", "", 2 },
    { "", "while (a) ", "b;", "", "", 1 },
    { "", "for (;;) ", "b;", "", "", 1 },
    { "", "fun f() {", "", "}", "", 1 },
    { "", "class A { m() {", "", "} }", "", 1 },
    { "", "fun f(a) { if (a) {", "", "} }", "", 3 },
};

static char *make_shape(const struct shape *shape, size_t count, const char *tail,
                        size_t *bytes_out)
{
    size_t left_bytes, right_bytes;
    char *left = repeat(shape->before, shape->open, count, shape->middle, &left_bytes);
    char *right = repeat("", shape->close, count, shape->after, &right_bytes);
    char *text = malloc(left_bytes + right_bytes + strlen(tail) + 1);
    ck_assert_ptr_nonnull(text);
    *bytes_out = (size_t)sprintf(text, "%s%s%s", left, right, tail);
    free(left);
    free(right);
    return text;
}

/* A pass that recurses over the tree goes as deep as its text; a class and its method are
 * two parentheses, and one level. */
static int deepest(const char *tree)
{
    int depth = 0, most = 0;
    for (; *tree; tree++) {
        depth += (*tree == '(') - (*tree == ')');
        most = depth > most ? depth : most;
    }
    return most;
}

static void check_depth(const struct shape *shape, size_t count, const char *errors)
{
    size_t bytes;
    char *source = make_shape(shape, count, "\nprint ;", &bytes);
    struct front *front = front_run_bytes(source, bytes, FRONT_RESOLVE);
    ck_assert_msg(strcmp(front->errors, errors) == 0, "%zu of '%s': %.200s", count, shape->open,
                  front->errors);
    ck_assert_msg(deepest(front->tree) <= 2 * PARSER_MAX_NESTING + 2, "%zu of '%s': %d deep", count,
                  shape->open, deepest(front->tree));
    front_end(front);
    free(source);
}

/* The second message says that the parser went on right behind it. */
static void check_too_deep(const struct shape *shape, size_t count)
{
    char errors[200], lexeme[64];
    size_t bytes;
    char *source = make_shape(shape, count, "", &bytes);
    struct front *front = front_run_bytes(source, bytes, FRONT_RESOLVE);
    ck_assert_msg(front->diagnostics.count == 1, "%zu of '%s%s': %.200s", count, shape->open,
                  shape->close, front->errors);
    ck_assert_str_eq(front->diagnostics.first->message, "Too deeply nested.");
    const char *from = strchr(front->errors, '\''), *to = strrchr(front->errors, '\'');
    ck_assert(from && to && to > from);
    snprintf(lexeme, sizeof lexeme, "%.*s", (int)(to - from - 1), from + 1);
    snprintf(errors, sizeof errors,
             L1(" at '%s'", "Too deeply nested.") "[line 2] Error at ';': Expect expression.\n",
             lexeme);
    front_end(front);
    free(source);
    check_depth(shape, count, errors);
}

START_TEST(nesting_of_a_thousand_is_the_limit_and_beyond_it_is_one_message)
{
    const struct shape *shape = &shapes[_i];
    size_t most = PARSER_MAX_NESTING / (size_t)shape->levels;
    check_depth(shape, most - 1, "[line 2] Error at ';': Expect expression.\n");
    check_too_deep(shape, most + 2);
    check_too_deep(shape, 2 * most);
    check_too_deep(shape, BIG_DEPTH);
}
END_TEST

/* Operators of falling precedence grow the tree to the left, six nodes in each parenthesis. */
START_TEST(tree_that_grows_to_the_left_in_each_parenthesis_is_limited_as_well)
{
    static const struct shape shape = { "", "(", "a", "*b+c<d==e and f or g)", ";", 6 };
    check_depth(&shape, PARSER_MAX_NESTING / 8, "[line 2] Error at ';': Expect expression.\n");
    check_too_deep(&shape, PARSER_MAX_NESTING / 5);
    check_too_deep(&shape, PARSER_MAX_NESTING - 1);
}
END_TEST

/* 600 blocks, and in the innermost an expression that grows to the left. */
START_TEST(depths_of_statements_and_of_expressions_add_up)
{
    size_t bytes;
    char *blocks = repeat("", "{", 600, "", &bytes), *ends = repeat(";", "}", 600, "", &bytes);
    const struct shape shape = { blocks, "", "a", ".b", ends, 1 };
    check_depth(&shape, PARSER_MAX_NESTING - 600, "[line 2] Error at ';': Expect expression.\n");
    check_too_deep(&shape, PARSER_MAX_NESTING - 600 + 1);
    free(blocks);
    free(ends);
}
END_TEST

START_TEST(brackets_that_are_never_closed_are_a_message_and_an_end)
{
    static const char *const opens[] = { "(",         "{",      "f(",         "a[",
                                         "if (",      "fun f(", "fun f() {",  "class A { m() {",
                                         "class A {", "for (",  "while (a) {" };
    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
        size_t bytes;
        char *source = repeat("", opens[i], BIG_DEPTH, "", &bytes);
        struct front *front = front_run_bytes(source, bytes, FRONT_RESOLVE);
        ck_assert_msg(front->diagnostics.count >= 1, "'%s'", opens[i]);
        front_end(front);
        free(source);
    }
}
END_TEST

/* --- any order --------------------------------------------------------------------- */

static const char *const pieces[] = {
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    ".",
    "-",
    "+",
    ";",
    ";",
    "/",
    "*",
    "!",
    "!=",
    "=",
    "==",
    ">",
    ">=",
    "<",
    "<=",
    "a",
    "b",
    "c",
    "f",
    "init",
    "\"s\"",
    "1",
    "2.5",
    "and",
    "class ",
    "else ",
    "false",
    "for",
    "fun ",
    "if",
    "nil",
    "or",
    "print ",
    "return ",
    "super",
    "this",
    "true",
    "var ",
    "while",
    "@",
    "\xff",
    "\n",
    "//x\n",
    "\"",
    "var a = 1;",
    "a = a + 1;",
    "f(a);",
    "{ var b = a;",
    "fun f(a, b) {",
    "class A < B {",
    "init() {",
    "for (var a = 0; a < 2; a = a + 1)",
    "if (a)",
};
#define PIECES (sizeof pieces / sizeof *pieces)

static size_t random_source(struct prng *prng, char *source, size_t most)
{
    size_t count = prng_below(prng, 60), bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[prng_below(prng, PIECES)];
        if (bytes + strlen(piece) + 1 >= most)
            break;
        bytes += (size_t)sprintf(source + bytes, "%s ", piece);
    }
    return bytes;
}

/* Whatever is left in the tree is whole (the writer would fall over a hole), and it is all
 * there when nothing was said.  Replay with FRONT_SEED=n. */
START_TEST(any_order_of_tokens_is_a_whole_tree_and_messages)
{
    const char *given = getenv("FRONT_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : os_now_ns();
    struct prng prng;
    char source[4096];
    size_t right = 0, wrong = 0;
    prng_seed(&prng, seed);
    printf("any_order_of_tokens: FRONT_SEED=%llu\n", (unsigned long long)seed);
    for (int i = 0; i < 20000; i++) {
        size_t bytes = random_source(&prng, source, sizeof source);
        struct front *front = front_run_bytes(source, bytes, FRONT_RESOLVE);
        size_t lines = 0;
        for (const char *at = front->errors; (at = strstr(at, "[line ")); at++)
            lines++;
        ck_assert_msg(lines == front->diagnostics.count, "seed %llu: %s", (unsigned long long)seed,
                      source);
        *(lines ? &wrong : &right) += 1;
        front_end(front);
    }
    ck_assert_uint_gt(right, 100);
    ck_assert_uint_gt(wrong, 10000);
}
END_TEST

static const char whole_program[] =
    "class A < B { init(x, y) { super.init(x); this.y = y; } m() { return this.y[0] = 1; } }\n"
    "fun f(n) { var a = 1; fun g() { a = a + n; return g; } for (var i = 0; i < n; i = i + 1)\n"
    "{ if (i == 2 and !a or -n < 1.5) print \"s\" + a; else while (false) { f(i)(a).b = nil; } }\n"
    "return g(); }\nvar x = A(1, f(2)); { var x = x1; { var x = 3; } print x; } // end\n";

/* Each byte of a program taken out, and each changed to another. */
START_TEST(program_with_one_byte_gone_or_changed_is_a_whole_tree_and_messages)
{
    static const char others[] = "({[;}])=.a1\" \n\0@";
    size_t bytes = sizeof whole_program - 1, said = 0;
    char source[sizeof whole_program];
    check_tree("a;", "a", FRONT_RESOLVE);
    for (size_t i = 0; i < bytes; i++)
        for (size_t k = 0; k < sizeof others; k++) {
            memcpy(source, whole_program, bytes);
            size_t length = bytes;
            if (k + 1 < sizeof others)
                source[i] = others[k];
            else
                memmove(source + i, source + i + 1, --length - i);
            struct front *front = front_run_bytes(source, length, FRONT_RESOLVE);
            said += front->diagnostics.count > 0;
            front_end(front);
        }
    struct front *front = front_run(whole_program, FRONT_RESOLVE);
    ck_assert_str_eq(front->errors, "");
    front_end(front);
    ck_assert_uint_gt(said, bytes); /* most changes are mistakes */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("front_odd");
    TCase *tcase = tcase_create("front_odd");
    tcase_set_timeout(tcase, 100);
    tcase_add_checked_fixture(tcase, start_names, NULL);
    tcase_add_test(tcase, lexeme_is_cut_and_never_sends_bytes_that_steer_a_terminal);
    tcase_add_test(tcase, messages_are_written_in_the_order_of_the_source);
    tcase_add_test(tcase, source_may_be_empty_or_end_without_a_newline);
    tcase_add_test(tcase, carriage_return_is_a_blank_and_no_line);
    tcase_add_test(tcase, string_holds_any_bytes_as_they_are);
    tcase_add_test(tcase, megabytes_of_anything_take_linear_time);
    tcase_add_test(tcase, sum_of_a_hundred_thousand_terms_is_one_flat_chain);
    tcase_add_loop_test(tcase, nesting_of_a_thousand_is_the_limit_and_beyond_it_is_one_message, 0,
                        sizeof shapes / sizeof *shapes);
    tcase_add_test(tcase, tree_that_grows_to_the_left_in_each_parenthesis_is_limited_as_well);
    tcase_add_test(tcase, depths_of_statements_and_of_expressions_add_up);
    tcase_add_test(tcase, brackets_that_are_never_closed_are_a_message_and_an_end);
    tcase_add_test(tcase, any_order_of_tokens_is_a_whole_tree_and_messages);
    tcase_add_test(tcase, program_with_one_byte_gone_or_changed_is_a_whole_tree_and_messages);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
