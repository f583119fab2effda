/* test_front.c -- vm/scanner.h, vm/parser.h: which tokens, which tree, which messages.
 *
 * Read next: test_front_odd.c (sources nobody writes), test_resolver.c (what names mean).
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/front_tests.h"

#include "vm/scanner.h"

#include <check.h>

/* --- tokens ------------------------------------------------------------------------ */

static const struct token_case {
    const char *lexeme;
    enum token_kind kind;
} token_cases[] = {
    { "(", TOKEN_LEFT_PAREN },
    { ")", TOKEN_RIGHT_PAREN },
    { "{", TOKEN_LEFT_BRACE },
    { "}", TOKEN_RIGHT_BRACE },
    { "[", TOKEN_LEFT_BRACKET },
    { "]", TOKEN_RIGHT_BRACKET },
    { ",", TOKEN_COMMA },
    { ".", TOKEN_DOT },
    { "-", TOKEN_MINUS },
    { "+", TOKEN_PLUS },
    { ";", TOKEN_SEMICOLON },
    { "/", TOKEN_SLASH },
    { "*", TOKEN_STAR },
    { "!", TOKEN_BANG },
    { "!=", TOKEN_BANG_EQUAL },
    { "=", TOKEN_EQUAL },
    { "==", TOKEN_EQUAL_EQUAL },
    { ">", TOKEN_GREATER },
    { ">=", TOKEN_GREATER_EQUAL },
    { "<", TOKEN_LESS },
    { "<=", TOKEN_LESS_EQUAL },
    { "and", TOKEN_AND },
    { "class", TOKEN_CLASS },
    { "else", TOKEN_ELSE },
    { "false", TOKEN_FALSE },
    { "for", TOKEN_FOR },
    { "fun", TOKEN_FUN },
    { "if", TOKEN_IF },
    { "nil", TOKEN_NIL },
    { "or", TOKEN_OR },
    { "print", TOKEN_PRINT },
    { "return", TOKEN_RETURN },
    { "super", TOKEN_SUPER },
    { "this", TOKEN_THIS },
    { "true", TOKEN_TRUE },
    { "var", TOKEN_VAR },
    { "while", TOKEN_WHILE },
    { "orchid", TOKEN_IDENTIFIER },
    { "And", TOKEN_IDENTIFIER },
    { "classy", TOKEN_IDENTIFIER },
    { "_", TOKEN_IDENTIFIER },
    { "x9_Z", TOKEN_IDENTIFIER },
    { "0", TOKEN_NUMBER },
    { "007", TOKEN_NUMBER },
    { "12.50", TOKEN_NUMBER },
    { "\"\"", TOKEN_STRING },
    { "\"a // \\ b\"", TOKEN_STRING },
    { "@", TOKEN_ERROR },
    { "\xc3\xa9", TOKEN_ERROR },
    { "\xf0\x9f\x98\x80", TOKEN_ERROR },
    { "\xff", TOKEN_ERROR },
    { "\x80", TOKEN_ERROR },
};
#define TOKEN_CASES (sizeof token_cases / sizeof *token_cases)

static void check_token(const struct token *token, const struct token_case *expected)
{
    ck_assert_msg(token->kind == expected->kind && token->bytes == strlen(expected->lexeme) &&
                      memcmp(token->start, expected->lexeme, token->bytes) == 0,
                  "'%.*s' of kind %d, not '%s' of kind %d", (int)token->bytes, token->start,
                  token->kind, expected->lexeme, expected->kind);
}

/* Every pair, so that what follows a token never changes it when a blank is between. */
START_TEST(every_token_has_its_kind_and_lexeme_whatever_follows)
{
    char source[64];
    struct scanner scanner;
    for (size_t a = 0; a < TOKEN_CASES; a++)
        for (size_t b = 0; b < TOKEN_CASES; b++) {
            const char *first = token_cases[a].lexeme, *second = token_cases[b].lexeme;
            int bytes = snprintf(source, sizeof source, "\t%s \r%s//\"", first, second);
            scanner_start(&scanner, source, (size_t)bytes);
            struct token token = scanner_next(&scanner);
            check_token(&token, &token_cases[a]);
            if (token_cases[b].kind == TOKEN_SLASH)
                continue; /* it begins the comment */
            token = scanner_next(&scanner);
            check_token(&token, &token_cases[b]);
            for (int i = 0; i < 3; i++)
                ck_assert_int_eq(scanner_next(&scanner).kind, TOKEN_END);
        }
}
END_TEST

/* Kinds as characters: n number, . dot, i identifier, e error, s string. */
static void check_kinds(const char *source, size_t bytes, const char *expected)
{
    struct scanner scanner;
    char kinds[32];
    size_t count = 0;
    scanner_start(&scanner, source, bytes);
    for (struct token t;
         count + 1 < sizeof kinds && (t = scanner_next(&scanner)).kind != TOKEN_END;)
        kinds[count++] = t.kind == TOKEN_NUMBER       ? 'n'
                         : t.kind == TOKEN_DOT        ? '.'
                         : t.kind == TOKEN_IDENTIFIER ? 'i'
                         : t.kind == TOKEN_STRING     ? 's'
                         : t.kind == TOKEN_ERROR      ? 'e'
                                                      : '?';
    kinds[count] = '\0';
    ck_assert_msg(strcmp(kinds, expected) == 0, "'%s': %s, not %s", source, kinds, expected);
}

START_TEST(dot_is_of_the_number_only_between_digits)
{
    check_kinds("1.", 2, "n.");
    check_kinds(".5", 2, ".n");
    check_kinds("1.5", 3, "n");
    check_kinds("1.5.5", 5, "n.n");
    check_kinds("1..5", 4, "n..n");
    check_kinds("1.x", 3, "n.i");
    check_kinds("1.5", 2, "n."); /* the end is where the length says */
    check_kinds("0x1F", 4, "ni");
    check_kinds("1e5", 3, "ni");
}
END_TEST

START_TEST(character_is_one_error_and_each_stray_byte_is_one)
{
    check_kinds("\xc3\xa9\xc3\xa9", 4, "ee");
    check_kinds("a\xe2\x82\xac"
                "b",
                5, "iei");
    check_kinds("\xe2\x82", 2, "ee");           /* cut off by the end */
    check_kinds("\xe2\x82x", 3, "eei");         /* cut off by a letter */
    check_kinds("\xc0\xaf", 2, "ee");           /* overlong */
    check_kinds("\xe0\x9f\xbf", 3, "eee");      /* overlong */
    check_kinds("\xed\xa0\x80", 3, "eee");      /* a surrogate */
    check_kinds("\xf4\x90\x80\x80", 4, "eeee"); /* beyond U+10FFFF */
    check_kinds("\xef\xbb\xbf"
                "a",
                4, "ei"); /* a byte order mark is no blank */
    check_kinds("\0a\0", 3, "eie");
    check_kinds("\"\xff\0\x80\" //\0\xff\n1", 12, "sn");
}
END_TEST

START_TEST(token_is_on_the_line_where_it_ends)
{
    static const uint32_t lines[] = { 1, 3, 3, 5, 6, 6 };
    const char *source = "a \"1\n2\n3\" b // c\n\r\n d\nx \"open\n";
    struct scanner scanner;
    scanner_start(&scanner, source, strlen(source) - 1);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct token token = scanner_next(&scanner);
        ck_assert_msg(token.line == lines[i], "token %zu is on line %u, not %u", i, token.line,
                      lines[i]);
    }
    ck_assert_int_eq(scanner_next(&scanner).kind, TOKEN_END);
}
END_TEST

/* --- trees ------------------------------------------------------------------------- */

static const struct tree_case {
    const char *source, *tree;
} tree_cases[] = {
    { "1 + 2 * 3 - 4;", "(+ 1 (* 2 3) - 4)" },
    { "1 - 2 - 3 + 4;", "(- 1 2 - 3 + 4)" },
    { "1 - (2 - 3);", "(- 1 (- 2 3))" },
    { "(1 - 2) - 3;", "(- 1 2 - 3)" },
    { "a * b / c + d;", "(+ (* a b / c) d)" },
    { "a < b == c >= d;", "(== (< a b) (>= c d))" },
    { "a == b != c;", "(== a b != c)" },
    { "a + b < c + d;", "(< (+ a b) (+ c d))" },
    { "-a * !b;", "(* (- a) (! b))" },
    { "--a;", "(- (- a))" },
    { "-a.b();", "(- (call (get a .b)))" },
    { "!a == b;", "(== (! a) b)" },
    { "a or b and c or d;", "(or a (or (and b c) d))" },
    { "a and b or c;", "(or (and a b) c)" },
    { "a == b and c;", "(and (== a b) c)" },
    { "a = b = c;", "(= a (= b c))" },
    { "a = b or c;", "(= a (or b c))" },
    { "a.b.c = d.e = 1;", "(set (get a .b) .c (set d .e 1))" },
    { "a.b(1, 2)(3).c;", "(get (call (call (get a .b) 1 2) 3) .c)" },
    { "a[1][b[2]] = c[3];", "(set-index (index a 1) (index b 2) (index c 3))" },
    { "a[i = 1].b[2] + 1;", "(+ (index (get (index a (= i 1)) .b) 2) 1)" },
    { "f()[0] = g()[1]();", "(set-index (call f) 0 (call (index (call g) 1)))" },
    { "(a).b = 1;", "(set a .b 1)" },
    { "print nil; print true; print false;", "(print nil) (print true) (print false)" },
    { "print \"a\nb\"; print \"\";", "(print \"a\nb\") (print \"\")" },
    { "print 0.1; print 1.50; print 12345678901234567890;",
      "(print 0.10000000000000001) (print 1.5) (print 1.2345678901234567e+19)" },
    { "var a; var b = 1;", "(var a) (var b 1)" },
    { "{} { print 1; { var a; } }", "(block) (block (print 1) (block (var a)))" },
    { "if (a) if (b) c; else d;", "(if a (if b c else d))" },
    { "if (a) {} else if (b) {} else {}", "(if a (block) else (if b (block) else (block)))" },
    { "while (a < 1) a = a + 1;", "(while (< a 1) (= a (+ a 1)))" },
    { "for (;;) a;", "(for ;; a)" },
    { "for (a; b; c) d;", "(for a; b; c d)" },
    { "for (var i = 0; i < 9; i = i + 1) {}", "(for (var i 0); (< i 9); (= i (+ i 1)) (block))" },
    { "fun f(a, b) { return a; return; }", "(fun f (a b) (return a) (return))" },
    { "fun f() {}", "(fun f ())" },
    { "class A {}", "(class A)" },
    { "class A < B { init(a) { return; } initial() {} init() {} }",
      "(class A < B (initializer init (a) (return)) (method initial ()) (initializer init ()))" },
    { "class A < B { m() { this.x = super.m(1); super.n; } }",
      "(class A < B (method m () (set this .x (call (super this super .m) 1))"
      " (super this super .n)))" },
};

START_TEST(source_has_the_tree_of_the_books_grammar)
{
    for (size_t i = 0; i < sizeof tree_cases / sizeof *tree_cases; i++)
        check_tree(tree_cases[i].source, tree_cases[i].tree, FRONT_PARSE);
}
END_TEST

static struct expr *only_expression(const struct front *front)
{
    ck_assert_msg(*front->errors == '\0', "%s", front->errors);
    ck_assert(front->script->body && !front->script->body->next);
    return front->script->body->expression;
}

START_TEST(expression_knows_whether_it_assigns_or_calls)
{
    static const struct {
        const char *source;
        bool has_assign, has_call;
    } cases[] = {
        { "a + b.c[1];", false, false },
        { "a = 1;", true, false },
        { "f();", false, true },
        { "1 + -(2 * (a = 1));", true, false },
        { "1 + 2 + f(a = 1);", true, true },
        { "a.b = 1;", false, false },
        { "a[0] = 1;", false, false },
        { "a.b = c = 1;", true, false },
        { "a[b = 1];", true, false },
        { "a[f()] = 1;", false, true },
        { "x and (a = 1);", true, false },
        { "x or y or f();", false, true },
        { "(a = 1).b.c;", true, false },
        { "(a = 1)();", true, true },
        { "f(1, 2, g = 3);", true, true },
        { "a.b().c = 1;", false, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct front *front = front_run(cases[i].source, FRONT_PARSE);
        const struct expr *expr = only_expression(front);
        ck_assert_msg(
            expr->has_assign == cases[i].has_assign && expr->has_call == cases[i].has_call,
            "%s: assigns %d, calls %d", cases[i].source, expr->has_assign, expr->has_call);
        front_end(front);
    }
}
END_TEST

START_TEST(expression_is_on_the_line_of_what_an_error_would_name)
{
    struct front *front = front_run("f\n(1,\n2\n)\n.name\n[3\n]\n+\n-\nx\n*\n2;", FRONT_PARSE);
    const struct expr *chain = only_expression(front), *element = chain->chain.first;
    const struct expr *get = element->index.object, *call = get->property.object;
    const struct link *plus = chain->chain.links;
    ck_assert_uint_eq(call->call.callee->line, 1);
    ck_assert_uint_eq(call->line, 4);                      /* its ')' */
    ck_assert_uint_eq(get->line, 5);                       /* the name */
    ck_assert_uint_eq(element->line, 7);                   /* its ']' */
    ck_assert_uint_eq(plus->line, 12);                     /* the last of its right operand */
    ck_assert_uint_eq(plus->right->chain.first->line, 10); /* of '-': its operand, x */
    ck_assert_uint_eq(plus->right->chain.links->line, 12);
    front_end(front);
}
END_TEST

START_TEST(statement_knows_its_first_and_its_last_line)
{
    struct front *front =
        front_run("fun\nf(\n)\n{\n}\n{\n}\nwhile (a)\nb\n;\nfor (;;)\n{\n}\n", FRONT_PARSE);
    const struct stmt *fun = front->script->body, *block = fun->next, *loop = block->next;
    const struct stmt *loop_for = loop->next;
    ck_assert_uint_eq(fun->line, 1);
    ck_assert_uint_eq(fun->function.function->line, 2);
    ck_assert_uint_eq(fun->function.function->end_line, 5);
    ck_assert_uint_eq(block->line, 6);
    ck_assert_uint_eq(block->block.end_line, 7);
    ck_assert_uint_eq(loop->line, 8);
    ck_assert_uint_eq(loop->loop.end_line, 10);
    ck_assert_int_eq(loop->loop.end.kind, TOKEN_SEMICOLON);
    ck_assert_uint_eq(loop_for->loop_for.end_line, 13);
    ck_assert_int_eq(loop_for->loop_for.end.kind, TOKEN_RIGHT_BRACE);
    ck_assert_uint_eq(front->script->end_line, 14);
    front_end(front);
}
END_TEST

/* --- messages ---------------------------------------------------------------------- */

#define L1(where, message) "[line 1] Error" where ": " message "\n"

static const struct error_case {
    const char *source, *errors;
} error_cases[] = {
    { "print ;", L1(" at ';'", "Expect expression.") },
    { "print", L1(" at end", "Expect expression.") },
    { "1 + ;", L1(" at ';'", "Expect expression.") },
    { "+ 1;", L1(" at '+'", "Expect expression.") },
    { "1 = 2;", L1(" at '='", "Invalid assignment target.") },
    { "a + b = c;", L1(" at '='", "Invalid assignment target.") },
    { "(a) = c;", L1(" at '='", "Invalid assignment target.") },
    { "!a = c;", L1(" at '='", "Invalid assignment target.") },
    { "-a.b = c;", L1(" at '='", "Invalid assignment target.") },
    { "a() = c;", L1(" at '='", "Invalid assignment target.") },
    { "1 + a[0] = c;", L1(" at '='", "Invalid assignment target.") },
    { "class A { f() { this = 1; } }", L1(" at '='", "Invalid assignment target.") },
    { "a = b + c = 1;", L1(" at '='", "Invalid assignment target.") },
    { "print 1", L1(" at end", "Expect ';' after value.") },
    { "1 2;", L1(" at '2'", "Expect ';' after expression.") },
    { "var a = 1", L1(" at end", "Expect ';' after variable declaration.") },
    { "var a b;", L1(" at 'b'", "Expect ';' after variable declaration.") },
    { "var 1;", L1(" at '1'", "Expect variable name.") },
    { "var nil;", L1(" at 'nil'", "Expect variable name.") },
    { "{ print 1;", L1(" at end", "Expect '}' after block.") },
    { "(1;", L1(" at ';'", "Expect ')' after expression.") },
    { "f(1;", L1(" at ';'", "Expect ')' after arguments.") },
    { "f(1, );", L1(" at ')'", "Expect expression.") },
    { "a[1;", L1(" at ';'", "Expect ']' after index.") },
    { "a[];", L1(" at ']'", "Expect expression.") },
    { "a.1;", L1(" at '1'", "Expect property name after '.'.") },
    { "1.;", L1(" at ';'", "Expect property name after '.'.") },
    { ".5;", L1(" at '.'", "Expect expression.") },
    { "if a) b;", L1(" at 'a'", "Expect '(' after 'if'.") },
    { "if (a b;", L1(" at 'b'", "Expect ')' after condition.") },
    { "while a) b;", L1(" at 'a'", "Expect '(' after 'while'.") },
    { "while (a b;", L1(" at 'b'", "Expect ')' after condition.") },
    { "for ;;) b;", L1(" at ';'", "Expect '(' after 'for'.") },
    { "for (;a b;", L1(" at 'b'", "Expect ';' after loop condition.") },
    { "for (;;a b;", L1(" at 'b'", "Expect ')' after for clauses.") },
    { "fun (", L1(" at '('", "Expect function name.") },
    { "fun f {}", L1(" at '{'", "Expect '(' after function name.") },
    { "fun f(1) {}",
      L1(" at '1'", "Expect parameter name.") L1(" at end", "Expect '}' after block.") },
    { "fun f(a,) {}", L1(" at ')'", "Expect parameter name.") },
    { "fun f(a b) {}",
      L1(" at 'b'", "Expect ')' after parameters.") L1(" at end", "Expect '}' after block.") },
    { "fun f() 1;",
      L1(" at '1'", "Expect '{' before function body.") L1(" at end", "Expect '}' after block.") },
    { "fun f() { return 1 }",
      L1(" at '}'", "Expect ';' after return value.") L1(" at end", "Expect '}' after block.") },
    { "class 1 {}", L1(" at '1'", "Expect class name.") L1(" at end", "Expect '}' after block.") },
    { "class A < 1 {}",
      L1(" at '1'", "Expect superclass name.") L1(" at end", "Expect '}' after block.") },
    { "class A f() {}", L1(" at 'f'", "Expect '{' before class body.") },
    { "class A { 1 }",
      L1(" at '1'", "Expect method name.") L1(" at end", "Expect '}' after block.") },
    { "class A { m() {}", L1(" at end", "Expect '}' after class body.") },
    { "class A < B { m() { super; } }", L1(" at ';'", "Expect '.' after 'super'.") },
    { "class A < B { m() { super.1; } }", L1(" at '1'", "Expect superclass method name.") },
    { "return 1;", L1(" at 'return'", "Can't return from top-level code.") },
    { "if (a) return;", L1(" at 'return'", "Can't return from top-level code.") },
    { "class A { init() { return 1; } }",
      L1(" at 'return'", "Can't return a value from an initializer.") },
    { "@", L1("", "Unexpected character.") },
    { "print \xc3\xa9;", L1("", "Unexpected character.") },
    { "print \"a", L1("", "Unterminated string.") },
    { "print 1; @ print 2;", L1("", "Unexpected character.") },
};

START_TEST(each_mistake_has_the_books_message_at_the_books_token)
{
    for (size_t i = 0; i < sizeof error_cases / sizeof *error_cases; i++)
        check_errors(error_cases[i].source, error_cases[i].errors);
}
END_TEST

/* head, then count times item with commas between, then tail. */
static char *with_list(const char *head, const char *item, int count, const char *tail)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    fputs(head, out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%s%d", i ? ", " : "", item, i);
    fputs(tail, out);
    fclose(out);
    return text;
}

static void check_list(const char *head, int count, const char *tail, const char *expected)
{
    char *source = with_list(head, "a", count, tail);
    check_errors(source, expected);
    free(source);
}

START_TEST(parameters_and_arguments_end_at_255)
{
    check_list("fun f(", 255, ") {}", "");
    check_list("fun f(", 256, ") {}", L1(" at 'a255'", "Can't have more than 255 parameters."));
    check_list("fun f(", 300, ") {}", L1(" at 'a255'", "Can't have more than 255 parameters."));
    check_list("f(", 255, ");", "");
    check_list("f(", 256, ");", L1(" at 'a255'", "Can't have more than 255 arguments."));
    check_list("f(", 300, ");", L1(" at 'a255'", "Can't have more than 255 arguments."));
}
END_TEST

/* --- recovery ---------------------------------------------------------------------- */

START_TEST(each_statement_has_its_own_first_error)
{
    check_errors("print ;\nprint 1 2 3 +;\nvar = 1;\nprint 4;\nclass { }\nprint (;",
                 "[line 1] Error at ';': Expect expression.\n"
                 "[line 2] Error at '2': Expect ';' after value.\n"
                 "[line 3] Error at '=': Expect variable name.\n"
                 "[line 5] Error at '{': Expect class name.\n"
                 "[line 6] Error at ';': Expect expression.\n");
    check_errors("fun f() {\n  1 +;\n  { 2 +; 3 +; }\n}\n4 +;",
                 "[line 2] Error at ';': Expect expression.\n"
                 "[line 3] Error at ';': Expect expression.\n"
                 "[line 3] Error at ';': Expect expression.\n"
                 "[line 5] Error at ';': Expect expression.\n");
}
END_TEST

/* The first statement of a body ends the panic of the head, as in the book. */
START_TEST(panic_ends_at_the_end_of_the_innermost_declaration)
{
    check_errors("if (1 +) { 2 +; 3 +; }",
                 L1(" at ')'", "Expect expression.") L1(" at ';'", "Expect expression."));
    check_errors("a b + + c; d;", L1(" at 'b'", "Expect ';' after expression."));
    check_errors("a b print 1; c d", L1(" at 'b'", "Expect ';' after expression.")
                                         L1(" at 'd'", "Expect ';' after expression."));
}
END_TEST

/* An unknown character in what is skipped is said, and silences the next declaration. */
START_TEST(unknown_character_in_what_is_skipped_is_said)
{
    check_errors("a b c @ d; e +; f +;",
                 L1(" at 'b'", "Expect ';' after expression.") L1("", "Unexpected character.")
                     L1(" at ';'", "Expect expression."));
    /* A silent mistake drops its statement like any other. */
    struct front *front = front_run("a b c @ d; e +; f;", FRONT_RESOLVE);
    ck_assert_str_eq(front->tree, " f");
    front_end(front);
}
END_TEST

START_TEST(declaration_that_failed_is_left_out_and_what_is_around_it_stays)
{
    struct front *front = front_run("print 1; print ; { a; b +; c; } fun f() { d +; e; }"
                                    "if (1 +) { g; } class A { m() { h +; i; } } j;",
                                    FRONT_RESOLVE);
    ck_assert_uint_eq(front->diagnostics.count, 5);
    ck_assert_str_eq(front->tree,
                     " (print 1) (block a c) (fun f () e) (class A (method m () i)) j");
    front_end(front);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("front");
    TCase *tcase = tcase_create("front");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start_names, NULL);
    tcase_add_test(tcase, every_token_has_its_kind_and_lexeme_whatever_follows);
    tcase_add_test(tcase, dot_is_of_the_number_only_between_digits);
    tcase_add_test(tcase, character_is_one_error_and_each_stray_byte_is_one);
    tcase_add_test(tcase, token_is_on_the_line_where_it_ends);
    tcase_add_test(tcase, source_has_the_tree_of_the_books_grammar);
    tcase_add_test(tcase, expression_knows_whether_it_assigns_or_calls);
    tcase_add_test(tcase, expression_is_on_the_line_of_what_an_error_would_name);
    tcase_add_test(tcase, statement_knows_its_first_and_its_last_line);
    tcase_add_test(tcase, each_mistake_has_the_books_message_at_the_books_token);
    tcase_add_test(tcase, parameters_and_arguments_end_at_255);
    tcase_add_test(tcase, each_statement_has_its_own_first_error);
    tcase_add_test(tcase, panic_ends_at_the_end_of_the_innermost_declaration);
    tcase_add_test(tcase, unknown_character_in_what_is_skipped_is_said);
    tcase_add_test(tcase, declaration_that_failed_is_left_out_and_what_is_around_it_stays);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
