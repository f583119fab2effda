/* test_checker.c -- vm/checker.h: each rule has code that breaks it and code that does not.
 *
 * Read next: test_checker_cells.c (what depends on the way through the code), then
 *            test_checker_random.c (accepted code is run by a second reading of opcode.def).
 *
 * With --expect-killed the outcome is turned round: the build then carries a planted hole
 * (MUTANT(21) to MUTANT(31) in vm/checker.c and vm/checker_flow.c), and some claim must fail.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/checker_tests.h"
#include "tests/unit/suite.h"

/* --- every instruction, every operand -------------------------------------------- */

/* A right value for an operand of an instruction at 1 of 3; of the two halves of a 32-bit
 * one if kind is of B. */
static uint32_t right_operand(const struct opcode_row *row, enum opcode_operand kind)
{
    switch (kind) {
    case OPERAND_NONE:
        return 0;
    case OPERAND_CONST:
        return K_NAME;
    case OPERAND_JUMP:
    case OPERAND_JUMP32:
        return goes_back(row) ? (uint32_t)-1 : 0;
    case OPERAND_HIGH:
        return row->operand[1] == OPERAND_JUMP32 && goes_back(row) ? (uint32_t)-1 : 0;
    case OPERAND_NUMBER:
    case OPERAND_SITE:
    case OPERAND_CLASS:
    case OPERAND_CAPTURE:
    case OPERAND_CONST32:
    case OPERAND_GLOBAL32:
    case OPERAND_FUNCTION32:
        return 0;
    default:
        return 1;
    }
}

/* [0] makes register 1 a cell, [1] is the instruction, [2] ends. */
static void sample_of(struct sample *s, enum opcode op)
{
    const struct opcode_row *row = &opcode_rows[op];
    sample_start(s);
    add(s, OP_CELL_NEW, 1, 0, 0);
    add(s, op, right_operand(row, row->operand[0]), right_operand(row, row->operand[1]),
        right_operand(row, row->operand[2]));
    add(s, OP_RETURN_NIL, 0, 0, 0);
}

/* Captures need a function that has some, and no script has: it is tried in the inner one. */
static void move_inside(struct sample *s)
{
    static struct function outer;
    static struct instruction outer_code[] = { { OP_RETURN_NIL, 0, 0, 0 } };
    static struct function *outer_functions[1];
    outer_functions[0] = &s->f;
    s->f.name = NAME;
    s->f.capture_count = 1;
    outer = (struct function){ .register_count = 1,
                               .code = outer_code,
                               .code_count = 1,
                               .lines = s->lines,
                               .functions = outer_functions,
                               .function_count = 1 };
    ck_assert_int_eq(check(&outer) == CHECKER_OK, s->f.is_checked);
}

static bool is_accepted(struct sample *s, enum opcode op)
{
    if (opcode_rows[op].operand[1] == OPERAND_CAPTURE)
        move_inside(s);
    else
        check(&s->f);
    return s->f.is_checked;
}

START_TEST(every_instruction_is_accepted_in_some_form_but_halt)
{
    for (int op = 0; op < OPCODE_COUNT; op++) {
        struct sample s;
        sample_of(&s, op);
        ck_assert_msg(is_accepted(&s, op) == (op != OP_HALT), "%s: %s", opcode_rows[op].name,
                      fault.text);
    }
    struct sample s;
    sample_start(&s);
    add(&s, OPCODE_COUNT, 0, 0, 0);
    refused(&s, 0, "is none of a program");
}
END_TEST

START_TEST(every_operand_of_every_instruction_is_compared_with_what_there_is)
{
    int tried = 0;
    for (int op = 0; op < OP_HALT; op++)
        for (int k = 0; k < 3; k++) {
            const struct opcode_row *row = &opcode_rows[op];
            uint32_t wrong = wrong_operand(row, row->operand[k]);
            struct sample s;
            sample_of(&s, op);
            (k == 0 ? &s.code[1].a : k == 1 ? &s.code[1].b : &s.code[1].c)[0] = (uint16_t)wrong;
            ck_assert_msg(!is_accepted(&s, op), "%s with operand %c = %u", row->name, 'A' + k,
                          wrong);
            tried++;
        }
    ck_assert_int_eq(tried, 3 * OP_HALT);
}
END_TEST

/* The control for the one above: one less, and it is right. */
START_TEST(operands_up_to_the_last_are_accepted)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_MOVE, REGISTERS - 1, REGISTERS - 1, 0);
    add_wide(&s, OP_LOAD_CONST, 0, CONSTANTS - 1);
    add_wide(&s, OP_GET_GLOBAL, 0, GLOBALS - 1);
    add(&s, OP_CALL, REGISTERS - 1, 0, 0);
    add(&s, OP_CALL, 1, REGISTERS - 2, 0);
    add(&s, OP_SUPER_INVOKE, 1, REGISTERS - 3, 0);
    add(&s, OP_ADD_K, 0, 0, K_NUMBER);
    add(&s, OP_JUMP_IF_EQUAL_K, 0, K_NAME, 0);
    add(&s, OP_STRIP_IF_LESS, REGISTERS - 3, 0, (uint16_t)-9);
    add(&s, OP_RETURN, REGISTERS - 1, 0, 0);
    accepted(&s);
    s.f.register_count = 300;
    s.code[4].b = 255;
    accepted(&s);
    s.code[4].b = 256;
    refused(&s, 4, "256 arguments");
}
END_TEST

/* --- the special rules ----------------------------------------------------------- */

START_TEST(call_window_begins_above_register_0_and_ends_in_the_frame)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_CALL, 1, 2, 0);
    add(&s, OP_SUPER_INVOKE, 1, 2, 0);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    s.f.register_count = 5; /* receiver, 2 arguments, superclass: 1 to 4 */
    accepted(&s);
    s.f.register_count = 4;
    refused(&s, 1, "last register 4, there are 4");
    s.f.register_count = 3;
    refused(&s, 0, "last register 3, there are 3");
    s.f.register_count = REGISTERS;
    s.code[0].a = 0;
    refused(&s, 0, "window at register 0");
}
END_TEST

START_TEST(end_and_step_of_the_strip_are_registers_too)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_LOAD_NIL, 7, 0, 0);
    add(&s, OP_STRIP_IF_LESS_K, 5, K_NUMBER, (uint16_t)-1);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    s.code[1].a = 6;
    refused(&s, 1, "register 8, there are 8");
}
END_TEST

START_TEST(only_loop_rows_jump_back_and_they_do_not_jump_forward)
{
    struct sample s;
    sample_start(&s);
    add_wide(&s, OP_JUMP_IF_FALSE, 0, 1);
    add_wide(&s, OP_LOOP, 0, (uint32_t)-2);
    add(&s, OP_LOOP_IF_LESS, 0, 0, (uint16_t)-3);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    s.code[0].b = s.code[0].c = 0xffff; /* to itself: a loop without a poll */
    refused(&s, 0, "is a jump back");
    s.code[0].b = s.code[0].c = 0;
    s.code[1].b = s.code[1].c = 0;
    refused(&s, 1, "is a jump forward");
    s.code[1].b = s.code[1].c = 0xffff;
    s.code[2].c = 0;
    refused(&s, 2, "is a jump forward");
}
END_TEST

START_TEST(no_way_leads_over_the_end)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_LOAD_NIL, 0, 0, 0);
    refused(&s, 0, "behind the last instruction");
    add_wide(&s, OP_LOOP, 0, (uint32_t)-2);
    accepted(&s);
    add(&s, OP_LOAD_NIL, 0, 0, 0); /* nobody gets here */
    accepted(&s);
    add(&s, OP_LOAD_NIL, REGISTERS, 0, 0); /* but it has to be right */
    refused(&s, 3, "register 8");
    s.code[3].a = 0;
    s.code[0] = (struct instruction){ OP_JUMP_IF_LESS, 0, 0, 1 };
    refused(&s, 3, "behind the last instruction");
}
END_TEST

START_TEST(constants_are_numbers_or_names)
{
    struct sample s;
    const value_t wrong[] = { VALUE_NIL,
                              VALUE_FALSE,
                              VALUE_TRUE,
                              VALUE_ABSENT,
                              value_of_object(LOOSE),
                              value_of_object(NAME) + 4 };
    sample_start(&s);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        s.constants[K_NAME] = wrong[i];
        refused(&s, 0, "no number and no name");
    }
}
END_TEST

/* Note [N]: arithmetic on the last of these wraps into a reference. */
START_TEST(nan_among_the_constants_is_the_one_that_arithmetic_makes)
{
    struct sample s;
    const double right[] = { __builtin_nan(""), -__builtin_nan(""), __builtin_inf(), -0.0 };
    const uint64_t wrong[] = { UINT64_C(0x7ff8000000000001), UINT64_C(0x7ff0000000000001),
                               UINT64_C(0xfff7ffffffffffff) };
    sample_start(&s);
    add(&s, OP_ADD_K, 0, 0, K_NUMBER);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        s.constants[K_NUMBER] = value_of_double(right[i]);
        accepted(&s);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        s.constants[K_NUMBER] = wrong[i] + VALUE_DOUBLE_OFFSET;
        refused(&s, 0, "no number and no name");
    }
}
END_TEST

START_TEST(operands_that_need_a_number_or_a_name_get_one)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_METHOD, 0, 0, K_NAME);
    add(&s, OP_SUB_K, 0, 0, K_NUMBER);
    add(&s, OP_JUMP_IF_EQUAL_K, 0, K_NAME, 0);
    add(&s, OP_JUMP_UNLESS_EQUAL_K, 0, K_NUMBER, 0);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    s.code[0].c = K_NUMBER;
    refused(&s, 0, "is not a name");
    s.code[0].c = K_NAME;
    s.code[1].c = K_NAME;
    refused(&s, 1, "is not a number");
}
END_TEST

START_TEST(names_are_interned)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    s.site.name = LOOSE;
    refused(&s, 0, "site 0");
    s.site.name = NULL;
    refused(&s, 0, "site 0");
    s.site.name = NAME;
    s.class.name = NULL;
    refused(&s, 0, "class 0");
    s.class.name = NAME;
    s.class.method_count = 2; /* in a function of one instruction */
    refused(&s, 0, "class 0 has 2 methods");
    s.class.method_count = 1;
    accepted(&s);
    s.inner.name = LOOSE;
    refused(&s, 0, "not an interned string");
    ck_assert_ptr_eq(fault.function, &s.inner);
}
END_TEST

START_TEST(counts_are_bounded)
{
    struct sample s;
    sample_start(&s);
    refused(&s, 0, "0 instructions");
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    s.f.register_count = 0;
    refused(&s, 0, "0 registers");
    s.f.register_count = UINT16_MAX;
    accepted(&s);
    s.f.register_count = UINT16_MAX + 1;
    refused(&s, 0, "65536 registers");
    s.f.register_count = REGISTERS;
    s.inner.arity = 255;
    s.inner.register_count = 256;
    accepted(&s);
    s.inner.register_count = 255;
    refused(&s, 0, "255 registers, not 256");
    s.inner.arity = 256;
    s.inner.register_count = 257;
    refused(&s, 0, "256 parameters");
    s.inner.arity = UINT32_MAX; /* arity + 1 wraps */
    refused(&s, 0, "4294967295 parameters");
    s.inner.arity = 0;
    s.inner.capture_count = 257;
    refused(&s, 0, "257 captures");
}
END_TEST

START_TEST(script_has_no_parameters_and_no_captures)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    s.f.arity = 1;
    refused(&s, 0, "a script with 1 parameters");
    s.f.arity = 0;
    s.f.capture_count = 1;
    refused(&s, 0, "and 1 captures");
    s.f.capture_count = 0;
    s.f.catches = true;
    refused(&s, 0, "only the frame of attempt");
    s.f.catches = false;
    accepted(&s);
}
END_TEST

START_TEST(arrays_that_are_counted_are_there)
{
    struct sample s;
    const size_t arrays[] = {
        offsetof(struct function, code),    offsetof(struct function, lines),
        offsetof(struct function, sites),   offsetof(struct function, constants),
        offsetof(struct function, classes), offsetof(struct function, functions)
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        sample_start(&s);
        add(&s, OP_RETURN_NIL, 0, 0, 0);
        memset((char *)&s.f + arrays[i], 0, sizeof(void *));
        refused(&s, 0, "no array");
    }
    sample_start(&s);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    s.functions[0] = NULL;
    refused(&s, 0, "function 0 is missing");
}
END_TEST

/* --- the tree -------------------------------------------------------------------- */

START_TEST(function_in_two_places_or_in_itself_is_refused)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    s.f.function_count = 2;
    struct function second = s.inner;
    s.functions[1] = &second;
    accepted(&s);
    s.functions[1] = &s.inner;
    refused(&s, 0, "in two places, or in itself");
    ck_assert(!s.inner.is_checked);
    s.functions[1] = &second;
    second.functions = s.functions;
    second.function_count = 1;
    refused(&s, 0, "in two places, or in itself");
    ck_assert_ptr_eq(fault.function, &second);
    s.functions[0] = &s.f;
    second.function_count = 0;
    refused(&s, 0, "in two places, or in itself");
}
END_TEST

START_TEST(fault_below_leaves_nothing_checked)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    ck_assert(s.inner.is_checked);
    s.inner_code[0].op = OP_HALT;
    refused(&s, 0, "opcode");
    ck_assert(!s.f.is_checked && !s.inner.is_checked);
}
END_TEST

/* Deeper than any stack would bear; the source's own limit is 1000. */
START_TEST(nesting_of_any_depth_needs_no_stack)
{
    const size_t depth = 300000;
    struct sample s;
    sample_start(&s);
    struct function *chain = malloc(depth * sizeof *chain);
    struct function **declared = malloc(depth * sizeof *declared);
    for (size_t i = 0; i < depth; i++) {
        chain[i] = s.inner;
        declared[i] = i + 1 < depth ? &chain[i + 1] : NULL;
        chain[i].functions = &declared[i];
        chain[i].function_count = i + 1 < depth;
    }
    ck_assert_msg(check(chain) == CHECKER_OK, "%s", fault.text);
    size_t checked = 0;
    for (size_t i = 0; i < depth; i++)
        checked += chain[i].is_checked;
    ck_assert_uint_eq(checked, depth);
    declared[depth - 1] = &chain[depth / 2];
    chain[depth - 1].function_count = 1;
    ck_assert_int_eq(check(chain), CHECKER_REFUSED);
    free(chain);
    free(declared);
}
END_TEST

static Suite *checker_suite(void)
{
    Suite *suite = suite_create("checker");
    TCase *rules = tcase_create("rules"), *tree = tcase_create("tree");
    tcase_add_test(rules, every_instruction_is_accepted_in_some_form_but_halt);
    tcase_add_test(rules, every_operand_of_every_instruction_is_compared_with_what_there_is);
    tcase_add_test(rules, operands_up_to_the_last_are_accepted);
    tcase_add_test(rules, call_window_begins_above_register_0_and_ends_in_the_frame);
    tcase_add_test(rules, end_and_step_of_the_strip_are_registers_too);
    tcase_add_test(rules, only_loop_rows_jump_back_and_they_do_not_jump_forward);
    tcase_add_test(rules, no_way_leads_over_the_end);
    tcase_add_test(rules, constants_are_numbers_or_names);
    tcase_add_test(rules, nan_among_the_constants_is_the_one_that_arithmetic_makes);
    tcase_add_test(rules, operands_that_need_a_number_or_a_name_get_one);
    tcase_add_test(rules, names_are_interned);
    tcase_add_test(rules, counts_are_bounded);
    tcase_add_test(rules, script_has_no_parameters_and_no_captures);
    tcase_add_test(rules, arrays_that_are_counted_are_there);
    tcase_add_test(tree, function_in_two_places_or_in_itself_is_refused);
    tcase_add_test(tree, fault_below_leaves_nothing_checked);
    tcase_add_test(tree, nesting_of_any_depth_needs_no_stack);
    suite_add_tcase(suite, rules);
    suite_add_tcase(suite, tree);
    suite_add_tcase(suite, checker_cells_cases());
    suite_add_tcase(suite, checker_random_cases());
    return suite;
}

/* 0 = some claim failed. */
static int run_expecting_failure(void)
{
    SRunner *runner = srunner_create(checker_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--expect-killed") == 0)
        return run_expecting_failure();
    return run_suite(checker_suite());
}
