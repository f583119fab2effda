/* test_resolver.c -- vm/resolver.h: what each name means, who captures it, which loops count.
 *
 * Read next: front_tests.h for how a resolved tree is written: `a` a global, `a'` a local of
 *            the function itself, `a^2` its capture 2.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/front_tests.h"

#include <check.h>

#define L1(where, message) "[line 1] Error" where ": " message "\n"

/* --- scopes ------------------------------------------------------------------------ */

static const struct scope_case {
    const char *source, *tree;
} scope_cases[] = {
    { "var a = a; a = b;", "(var a a) (= a b)" },
    { "{ a; var a = 1; a; { a; var a = 2; a = a; } a; }",
      "(block a (var a 1) a' (block a' (var a 2) (= a' a')) a')" },
    { "{ var a; } a;", "(block (var a)) a" },
    { "var a; { a; }", "(var a) (block a)" },
    { "{ var a = 1; { var b = a; var a = b; a; } }",
      "(block (var a 1) (block (var b a') (var a b') a'))" },
    { "fun f(a) { a; b; f; var b; b; }", "(fun f (a) a' b f (var b) b')" },
    { "{ fun f() { f(); } f(); }", "(block (fun f () (call f^0)) (call f'))" },
    { "fun f() { fun g() { g(); } }", "(fun f () (fun g () (call g^0)))" },
    { "for (var i = 0; i < 2;) { var j = i; i; } i;",
      "(for (var i 0); (< i' 2); (block (var j i') i')) i" },
    { "for (var i = 0;;) { var i = 1; i; }", "(for (var i 0);; (block (var i 1) i'))" },
    { "class A {} A;", "(class A) A" },
    { "{ class A { m() { A; } } A; }", "(block (class A (method m () A^0)) A')" },
    { "{ class B {} class A < B {} }", "(block (class B) (class A < B'))" },
    { "var a; fun f() { a; }", "(var a) (fun f () a)" },
    { "class A { m(a) { this.b = a; } }", "(class A (method m (a) (set this' .b a')))" },
    { "class A { m() { fun f() { fun g() { this; } this; } } }",
      "(class A (method m () (fun f () (fun g () this^0) this^0)))" },
    { "class A { m() { class B { m() { this; } } this; } }",
      "(class A (method m () (class B (method m () this')) this'))" },
    { "class A < B { m() { super.m(); fun f() { super.n; } } }",
      "(class A < B (method m () (call (super this' super^0 .m)) (fun f () (super this^0 super^1 "
      ".n))))" },
    { "class A < B { m() { class C < D { m() { super.m; } } super.m; } }",
      "(class A < B (method m () (class C < D (method m () (super this' super^0 .m)))"
      " (super this' super^0 .m)))" },
    { "{ var a; fun f() { a = 1; } }", "(block (var a) (fun f () (= a^0 1)))" },
};

START_TEST(name_means_the_innermost_declaration_before_it)
{
    for (size_t i = 0; i < sizeof scope_cases / sizeof *scope_cases; i++)
        check_tree(scope_cases[i].source, scope_cases[i].tree, FRONT_RESOLVE);
}
END_TEST

/* --- captures ---------------------------------------------------------------------- */

static struct function_node *function_of(const struct stmt *list, int index)
{
    for (; list && (list->kind != STMT_FUNCTION || index-- > 0);)
        list = list->next;
    ck_assert_msg(list != NULL, "no such function");
    return list->function.function;
}

static void check_capture(const struct function_node *function, uint32_t index,
                          const struct variable *variable, int outer_index)
{
    ck_assert_uint_gt(function->capture_count, index);
    const struct capture_node *capture = &function->captures[index];
    ck_assert_ptr_eq(capture->variable, variable);
    ck_assert_int_eq(capture->is_local, outer_index < 0);
    if (outer_index >= 0)
        ck_assert_uint_eq(capture->index, (unsigned)outer_index);
    ck_assert(variable->is_captured);
}

/* h takes b from g, a through g from f; each once however often it is used. */
START_TEST(capture_goes_through_every_function_between)
{
    struct front *front = front_run("fun f(a, c) { var d; c; d = 1;\n"
                                    "  fun g(b) { fun h() { b; a; a = b; f; b; } a; } }",
                                    FRONT_RESOLVE);
    struct function_node *f = function_of(front->script->body, 0);
    struct function_node *g = function_of(f->body, 0), *h = function_of(g->body, 0);
    ck_assert_str_eq(front->tree, " (fun f (a c) (var d) c' (= d' 1) (fun g (b) (fun h () b^0 a^1"
                                  " (= a^1 b^0) f b^0) a^0))");
    ck_assert_uint_eq(front->script->capture_count, 0);
    ck_assert_uint_eq(f->capture_count, 0);
    ck_assert_uint_eq(g->capture_count, 1);
    ck_assert_uint_eq(h->capture_count, 2);
    check_capture(g, 0, f->parameters[0], -1);
    check_capture(h, 0, g->parameters[0], -1);
    check_capture(h, 1, f->parameters[0], 0);
    ck_assert(!f->parameters[1]->is_captured);
    ck_assert(!f->body->var.declared.variable->is_captured);
    ck_assert_ptr_eq(h->around, g);
    ck_assert_ptr_eq(g->around, f);
    ck_assert_ptr_eq(f->around, front->script);
    ck_assert_ptr_null(front->script->around);
    ck_assert_ptr_eq(f->parameters[0]->owner, f);
    ck_assert_ptr_eq(f->body->var.declared.variable->owner, f);
    front_end(front);
}
END_TEST

/* Two variables of one name are two captures. */
START_TEST(shadowed_variables_are_captured_apart)
{
    struct front *front =
        front_run("fun f() { var a; { fun g() { a; } var a; fun h() { a; } } }", FRONT_RESOLVE);
    struct function_node *f = function_of(front->script->body, 0);
    const struct stmt *outer = f->body, *inner = outer->next->block.first->next;
    check_capture(function_of(outer->next->block.first, 0), 0, outer->var.declared.variable, -1);
    check_capture(function_of(inner, 0), 0, inner->var.declared.variable, -1);
    ck_assert_ptr_ne(outer->var.declared.variable, inner->var.declared.variable);
    front_end(front);
}
END_TEST

START_TEST(receiver_and_superclass_are_variables_like_others)
{
    struct front *front = front_run("class A < B { plain() { this; } held() { fun f() { this; } }\n"
                                    "  init() { super.init(); } } class C {}",
                                    FRONT_RESOLVE);
    const struct class_node *a = front->script->body->class;
    const struct class_node *c = front->script->body->next->class;
    struct function_node *plain = a->methods[0], *held = a->methods[1], *init = a->methods[2];
    ck_assert_ptr_eq(plain->receiver->owner, plain);
    ck_assert(!plain->receiver->is_captured);
    check_capture(function_of(held->body, 0), 0, held->receiver, -1);
    ck_assert_ptr_null(function_of(held->body, 0)->receiver);
    ck_assert_ptr_eq(plain->body->expression->receiver.variable, plain->receiver);
    ck_assert_int_eq(init->kind, FUNCTION_INITIALIZER);
    ck_assert_ptr_eq(a->super->owner, front->script);
    check_capture(init, 0, a->super, -1);
    ck_assert_ptr_null(a->declared.variable); /* a global */
    ck_assert_ptr_null(a->self.variable);
    ck_assert_ptr_null(c->super);
    front_end(front);
}
END_TEST

START_TEST(local_class_reads_itself_back_from_its_variable)
{
    struct front *front = front_run("{ class A { m() { A; } } }", FRONT_RESOLVE);
    const struct class_node *a = front->script->body->block.first->class;
    ck_assert_ptr_nonnull(a->declared.variable);
    ck_assert_ptr_eq(a->self.variable, a->declared.variable);
    ck_assert_int_eq(a->self.capture, -1);
    check_capture(a->methods[0], 0, a->declared.variable, -1);
    front_end(front);
}
END_TEST

START_TEST(assignments_are_counted_in_all_functions)
{
    struct front *front = front_run("fun f(a, b) { a = 1; a = a = 2; fun g() { a = 3; b; } b.c = 1;"
                                    " b[0] = 1; { var a; a = 4; } }",
                                    FRONT_RESOLVE);
    struct function_node *f = function_of(front->script->body, 0);
    ck_assert_uint_eq(f->parameters[0]->assignments, 4);
    ck_assert_uint_eq(f->parameters[1]->assignments, 0);
    front_end(front);
}
END_TEST

/* --- messages ---------------------------------------------------------------------- */

#define TWICE    "Already a variable with this name in this scope."
#define ITSELF   "Can't read local variable in its own initializer."
#define NO_CLASS "Can't use 'this' outside of a class."

static const struct error_case {
    const char *source, *errors;
} error_cases[] = {
    { "var a; var a;", "" },
    { "{ var a; var a; }", L1(" at 'a'", TWICE) },
    { "{ var a; { var a; } }", "" },
    { "{ var a; fun a() {} }", L1(" at 'a'", TWICE) },
    { "{ var a; class a {} }", L1(" at 'a'", TWICE) },
    { "fun f(a, b, a) {}", L1(" at 'a'", TWICE) },
    { "fun f(a) { var a; }", L1(" at 'a'", TWICE) },
    { "fun f(a) { { var a; } }", "" },
    { "class A { m(this_) { var m; } m() {} }", "" },
    { "for (var i;;) { var i; }", "" },
    { "{ var a = a; }", L1(" at 'a'", ITSELF) },
    { "{ var a; { var a = 1 + f(a); } }", L1(" at 'a'", ITSELF) },
    { "{ var a = (a = 1); }", L1(" at 'a'", ITSELF) },
    { "var a = a;", "" },
    { "fun f() { var f = f; }", L1(" at 'f'", ITSELF) },
    { "this;", L1(" at 'this'", NO_CLASS) },
    { "fun f() { this.a; }", L1(" at 'this'", NO_CLASS) },
    { "super.a;", L1(" at 'super'", "Can't use 'super' outside of a class.") },
    { "fun f() { super.a(); }", L1(" at 'super'", "Can't use 'super' outside of a class.") },
    { "class A { m() { super.m(); } }",
      L1(" at 'super'", "Can't use 'super' in a class with no superclass.") },
    { "class A < B { m() { class C { m() { super.m(); } } } }",
      L1(" at 'super'", "Can't use 'super' in a class with no superclass.") },
    { "class A < A {}", L1(" at 'A'", "A class can't inherit from itself.") },
    { "{ class A < A {} }", L1(" at 'A'", "A class can't inherit from itself.")
                                L1(" at end", "Expect '}' after block.") },
    /* One message each for the head and for every statement of a body, as in the book. */
    { "this; this + this; { this; this; }",
      L1(" at 'this'", NO_CLASS) L1(" at 'this'", NO_CLASS) L1(" at 'this'", NO_CLASS)
          L1(" at 'this'", NO_CLASS) },
    { "if (this) { this; }", L1(" at 'this'", NO_CLASS) },
    { "if (this) { a; this; }", L1(" at 'this'", NO_CLASS) L1(" at 'this'", NO_CLASS) },
    { "while (this) this;", L1(" at 'this'", NO_CLASS) },
    { "fun f(a, a) { b; this; }", L1(" at 'a'", TWICE) L1(" at 'this'", NO_CLASS) },
    /* What failed to parse is not looked at. */
    { "{ var a; var a 1; b +; }",
      L1(" at '1'", "Expect ';' after variable declaration.") L1(" at ';'", "Expect expression.") },
};

START_TEST(each_mistake_with_names_has_the_books_message)
{
    for (size_t i = 0; i < sizeof error_cases / sizeof *error_cases; i++)
        check_errors(error_cases[i].source, error_cases[i].errors);
}
END_TEST

/* `var a0; var a1; ...` */
static void write_vars(FILE *out, const char *name, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(out, "var %s%d; ", name, i);
}

static void check_locals(const char *head, int count, const char *tail, const char *expected)
{
    char *source;
    size_t bytes;
    FILE *out = open_memstream(&source, &bytes);
    fputs(head, out);
    write_vars(out, "a", count);
    fputs(tail, out);
    fclose(out);
    check_errors(source, expected);
    free(source);
}

#define TOO_MANY "Too many local variables in function."

/* 256 slots, of which the function itself or `this` has one. */
START_TEST(function_has_255_local_variables)
{
    check_locals("fun f() { ", 255, "}", "");
    check_locals("fun f() { ", 256, "}", L1(" at 'a255'", TOO_MANY));
    check_locals("fun f() { ", 258, "}",
                 L1(" at 'a255'", TOO_MANY) L1(" at 'a256'", TOO_MANY) L1(" at 'a257'", TOO_MANY));
    check_locals("fun f(x, y) { ", 253, "}", "");
    check_locals("fun f(x, y) { ", 254, "}", L1(" at 'a253'", TOO_MANY));
    check_locals("class A { m() { ", 255, "} }", "");
    check_locals("class A { m() { ", 256, "} }", L1(" at 'a255'", TOO_MANY));
    check_locals("{ ", 255, "}", "");
    check_locals("{ ", 256, "}", L1(" at 'a255'", TOO_MANY));
    check_locals("{ ", 254, "class A {} } { var b; }", "");
    check_locals("{ ", 254, "class A < B {} }", L1(" at 'B'", TOO_MANY));
    check_locals("{ ", 255, "} { var b; fun f() { var c; } }", "");
}
END_TEST

/* In f and g count variables each, in h a use of every one, and of one more of g. */
static void check_captures(int of_f, int of_g, const char *expected)
{
    char *source;
    size_t bytes;
    FILE *out = open_memstream(&source, &bytes);
    fputs("fun f() { ", out);
    write_vars(out, "a", of_f);
    fputs("fun g() { ", out);
    write_vars(out, "b", of_g);
    fputs("fun h() { ", out);
    for (int i = 0; i < of_f; i++)
        fprintf(out, "a%d; a%d; ", i, i);
    for (int i = 0; i < of_g; i++)
        fprintf(out, "b%d; ", i);
    fputs("a0; } } }", out);
    fclose(out);
    check_errors(source, expected);
    free(source);
}

START_TEST(function_has_256_captures)
{
    check_captures(128, 128, "");
    check_captures(128, 129, L1(" at 'b128'", "Too many closure variables in function."));
    check_captures(129, 129,
                   L1(" at 'b127'", "Too many closure variables in function.")
                       L1(" at 'b128'", "Too many closure variables in function."));
}
END_TEST

/* --- field hints ------------------------------------------------------------------- */

START_TEST(field_hint_is_the_number_of_distinct_names_set_on_this)
{
    static const struct {
        const char *source;
        uint32_t hint;
    } cases[] = {
        { "class A {}", 0 },
        { "class A { init() { this.a = 1; this.b = 2; } }", 2 },
        { "class A { init() { this.a = 1; } m() { this.a = this.b = 2; } }", 2 },
        { "class A { m() { this.a; this.b(); this[0] = 1; x.c = 1; this.d.e = 1; } }", 0 },
        { "class A { m() { fun f() { this.a = 1; } while (b) f(this.c = 1); } }", 2 },
        { "class A { m() { this.a = 1; class B { m() { this.b = this.c = 1; } } } }", 1 },
        { "class A < B { init() { super.init(); this.z = 1; } }", 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct front *front = front_run(cases[i].source, FRONT_RESOLVE);
        ck_assert_str_eq(front->errors, "");
        uint32_t hint = front->script->body->class->field_hint;
        ck_assert_msg(hint == cases[i].hint, "%s: %u, not %u", cases[i].source, hint,
                      cases[i].hint);
        front_end(front);
    }
}
END_TEST

/* --- counted loops ----------------------------------------------------------------- */

#define UP_TO_9 "for (var i = 0; i < 9; i = i + 1) "
#define UP_TO_B "for (var i = 0; i < b; i = i + 1) "

/* `loops` says for each loop, in the order of the source, whether it is counted. */
static const struct counted_case {
    const char *source, *loops;
} counted_cases[] = {
    { UP_TO_9 "{}", "y" },
    { UP_TO_9 "x = x + i;", "y" },
    { "for (var i = f(); i < 9; i = i + 0.5) {}", "y" },
    { "for (var i = -x; i < 9; i = i + 2) { print i; a.b = a[i]; a[i] = i; }", "y" },
    { UP_TO_9 UP_TO_9 "{ if (i) print 1; else while (a) b = 1; }", "yy" },
    { UP_TO_9 "{ " UP_TO_9 "f(); " UP_TO_9 "{} }", "nny" },
    { UP_TO_9 "{ var i = 1; i = 2; f = i; }", "y" },
    { UP_TO_9 "{ class A < B { m() { f(); } } fun g() { f(); this_ = 1; } }", "y" },
    { "f(); " UP_TO_9 "{} f();", "y" },
    /* the head */
    { "for (; i < 9; i = i + 1) {}", "n" },
    { "for (i = 0; i < 9; i = i + 1) {}", "n" },
    { "for (var i; i < 9; i = i + 1) {}", "n" },
    { "for (var i = 0; ; i = i + 1) {}", "n" },
    { "for (var i = 0; i < 9; ) {}", "n" },
    { "for (var i = 0; i <= 9; i = i + 1) {}", "n" },
    { "for (var i = 9; i > 0; i = i - 1) {}", "n" },
    { "for (var i = 0; 9 > i; i = i + 1) {}", "n" },
    { "for (var i = 0; i < 9 < 9; i = i + 1) {}", "n" },
    { "for (var i = 0; i < 9 and x; i = i + 1) {}", "n" },
    { "for (var i = 0; i < -9; i = i + 1) {}", "n" },
    { "for (var i = 0; i < x; i = i + 1) {}", "n" },
    { "for (var i = 0; i < i; i = i + 1) {}", "n" },
    { "for (var i = 0; x < 9; i = i + 1) {}", "n" },
    { "for (var i = 0; i < 9; i = i + 0) {}", "n" },
    { "for (var i = 0; i < 9; i = i + -1) {}", "n" },
    { "for (var i = 0; i < 9; i = i - 1) {}", "n" },
    { "for (var i = 0; i < 9; i = 1 + i) {}", "n" },
    { "for (var i = 0; i < 9; i = i + 1 + 1) {}", "n" },
    { "for (var i = 0; i < 9; i = i + i) {}", "n" },
    { "for (var i = 0; i < 9; i = x + 1) {}", "n" },
    { "for (var i = 0; i < 9; x = i + 1) {}", "n" },
    { "for (var i = 0; i < 9; x = i = i + 1) {}", "n" },
    { "for (var i = 0; i < 9; f(i = i + 1)) {}", "n" },
    { "for (var i = 0; i < f(); i = i + 1) {}", "n" },
    { "{ var j = 0; for (var i = 0; j < 9; j = j + 1) {} }", "n" },
    { "for (var i = 0; i < 9; i = i + 1) for (var j = 0; i < 9; i = i + 1) {}", "nn" },
    /* the body */
    { UP_TO_9 "f();", "n" },
    { UP_TO_9 "{ if (a) { b = c.d(1)[0]; } }", "n" },
    { UP_TO_9 "i = i + 1;", "n" },
    { UP_TO_9 "{ { i = 1; } }", "n" },
    { UP_TO_9 "{ fun g() { i; } }", "n" },
    { UP_TO_9 "{ class A { m() { i = 1; } } }", "n" },
    /* a limit that is a variable */
    { "{ var b = 9; " UP_TO_B "{} }", "y" },
    { "fun g(b) { b = b + 1; " UP_TO_B "a = b; b = 0; }", "y" },
    { "fun g(b) { while (a) { " UP_TO_B "a = b; b = f(); } }", "y" },
    { "fun g(b) { " UP_TO_B "b = 1; }", "n" },
    { "fun g(b) { " UP_TO_B "{ x = (b = 1); } }", "n" },
    { "fun g(b) { " UP_TO_B UP_TO_B "{} }", "yy" },
    { "fun g(b) { " UP_TO_B "{ var b = 1; b = 2; } }", "y" },
    { "fun g(b) { " UP_TO_B "f(); " UP_TO_B "{} }", "ny" },
    { "fun g(b) { fun h() { b; } " UP_TO_B "{} }", "n" },
    { "fun g(b) { " UP_TO_B "{} fun h() { b = 1; } }", "n" },
    { "fun g(b) { " UP_TO_B "{ fun h() { b; } } }", "n" },
    { "fun g(b) { fun h() { " UP_TO_B "{} } }", "n" },
    { "fun g(b) { " UP_TO_B "{} { var b; fun h() { b; } } }", "y" },
    { "{ var b = 9; { " UP_TO_B "{} } " UP_TO_B "{ b = 1; } }", "yn" },
};

/* The words (for and (for-counted in the text are in the order of the source. */
START_TEST(loop_is_counted_when_nobody_can_change_its_head_and_nothing_calls)
{
    for (size_t i = 0; i < sizeof counted_cases / sizeof *counted_cases; i++) {
        const struct counted_case *c = &counted_cases[i];
        struct front *front = front_run(c->source, FRONT_RESOLVE);
        char loops[8] = "";
        size_t count = 0;
        ck_assert_msg(*front->errors == '\0', "%s\n%s", c->source, front->errors);
        for (const char *at = front->tree; (at = strstr(at, "(for")); at++)
            loops[count++] = strncmp(at, "(for-counted", 12) == 0 ? 'y' : 'n';
        ck_assert_msg(strcmp(loops, c->loops) == 0, "%s: %s, not %s", c->source, loops, c->loops);
        front_end(front);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("resolver");
    TCase *tcase = tcase_create("resolver");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start_names, NULL);
    tcase_add_test(tcase, name_means_the_innermost_declaration_before_it);
    tcase_add_test(tcase, capture_goes_through_every_function_between);
    tcase_add_test(tcase, shadowed_variables_are_captured_apart);
    tcase_add_test(tcase, receiver_and_superclass_are_variables_like_others);
    tcase_add_test(tcase, local_class_reads_itself_back_from_its_variable);
    tcase_add_test(tcase, assignments_are_counted_in_all_functions);
    tcase_add_test(tcase, each_mistake_with_names_has_the_books_message);
    tcase_add_test(tcase, function_has_255_local_variables);
    tcase_add_test(tcase, function_has_256_captures);
    tcase_add_test(tcase, field_hint_is_the_number_of_distinct_names_set_on_this);
    tcase_add_test(tcase, loop_is_counted_when_nobody_can_change_its_head_and_nothing_calls);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
