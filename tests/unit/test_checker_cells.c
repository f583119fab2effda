/* test_checker_cells.c -- the checker's proof that cells are cells, Note [L] of checker_flow.c.
 *
 * Read next: where_ways_meet_a_cell_must_come_on_all().
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/checker_tests.h"

#include "base/os.h"

START_TEST(register_is_a_cell_after_cell_new_and_until_it_is_written)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_LOAD_NIL, 2, 0, 0);
    add(&s, OP_CELL_GET, 0, 2, 0);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    refused(&s, 1, "register 2 may hold no cell");
    s.code[0] = (struct instruction){ OP_CELL_NEW, 2, 2, 0 };
    accepted(&s);
    s.code[1] = (struct instruction){ OP_CELL_SET, 2, 0, 0 };
    accepted(&s);
    s.code[1].a = 3;
    refused(&s, 1, "register 3 may hold no cell");
    s.code[1] = (struct instruction){ OP_GET_SUPER, 2, 0, 0 };
    s.code[2] = (struct instruction){ OP_CELL_GET, 0, 2, 0 };
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    refused(&s, 2, "register 2 may hold no cell");
}
END_TEST

START_TEST(cell_goes_with_a_move)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_CELL_NEW, 2, 0, 0);
    add(&s, OP_MOVE, 3, 2, 0);
    add(&s, OP_MOVE, 4, 3, 0);
    add(&s, OP_CELL_GET, 0, 4, 0);
    add(&s, OP_CELL_GET, 0, 2, 0);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    s.code[2] = (struct instruction){ OP_MOVE, 4, 0, 0 };
    refused(&s, 3, "register 4 may hold no cell");
    s.code[2] = (struct instruction){ OP_MOVE, 4, 3, 0 };
    s.code[1] = (struct instruction){ OP_MOVE, 2, 1, 0 };
    refused(&s, 3, "register 4 may hold no cell");
}
END_TEST

/* The moves stand in the code in the reverse of the order in which they run: the order in
 * which it takes the most rounds to find out what is moved into the register that is read. */
START_TEST(cell_goes_with_moves_that_stand_backwards)
{
    const uint32_t moves = 20;
    struct sample s;
    sample_start(&s);
    s.f.register_count = 60;
    add(&s, OP_CELL_NEW, 1, 0, 0);
    add_wide(&s, OP_JUMP, 0, 2 * moves - 2); /* to the last move */
    for (uint32_t k = moves; k > 0; k--) {
        add(&s, OP_MOVE, k + 1, k, 0);
        if (k == moves) /* the one that runs last */
            add_wide(&s, OP_JUMP, 0, 2 * moves - 2);
        else
            add_wide(&s, OP_LOOP, 0, (uint32_t)-4); /* to the move before it */
    }
    add(&s, OP_CELL_GET, 0, moves + 1, 0);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    s.code[2 + moves].b = 0;
    refused(&s, s.f.code_count - 2, "register 21 may hold no cell");
}
END_TEST

START_TEST(call_takes_the_cells_from_its_window_up)
{
    const enum opcode calls[] = { OP_CALL, OP_INVOKE, OP_SUPER_INVOKE };
    for (int k = 0; k < 3; k++) {
        struct sample s;
        sample_start(&s);
        add(&s, OP_CELL_NEW, 3, 0, 0);
        add(&s, calls[k], 4, 0, 0);
        add(&s, OP_CELL_GET, 0, 3, 0);
        add(&s, OP_RETURN_NIL, 0, 0, 0);
        accepted(&s);
        s.code[1].a = 3;
        refused(&s, 2, "register 3 may hold no cell");
        s.code[1].a = 1;
        refused(&s, 2, "register 3 may hold no cell");
    }
}
END_TEST

START_TEST(strip_takes_the_cell_behind_its_counter)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_CELL_NEW, 3, 0, 0);
    add(&s, OP_STRIP_IF_LESS_K, 1, K_NUMBER, (uint16_t)-1);
    add(&s, OP_CELL_GET, 0, 3, 0);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    s.code[1].a = 2;
    refused(&s, 2, "register 3 may hold no cell");
}
END_TEST

START_TEST(where_ways_meet_a_cell_must_come_on_all)
{
    struct sample s;
    sample_start(&s);
    add_wide(&s, OP_JUMP_IF_FALSE, 0, 2);
    add(&s, OP_CELL_NEW, 2, 0, 0);
    add_wide(&s, OP_JUMP, 0, 1);
    add(&s, OP_CELL_NEW, 2, 0, 0);
    add(&s, OP_CELL_GET, 0, 2, 0);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    s.code[1] = (struct instruction){ OP_LOAD_NIL, 2, 0, 0 };
    refused(&s, 4, "register 2 may hold no cell");
    s.code[1] = (struct instruction){ OP_CELL_NEW, 2, 0, 0 };
    s.code[3] = (struct instruction){ OP_LOAD_NIL, 2, 0, 0 };
    refused(&s, 4, "register 2 may hold no cell");
}
END_TEST

/* The second time round it is none. */
START_TEST(loop_that_loses_the_cell_is_refused)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_CELL_NEW, 2, 0, 0);
    add(&s, OP_CELL_GET, 0, 2, 0);
    add(&s, OP_LOAD_NIL, 3, 0, 0);
    add(&s, OP_LOOP_IF_LESS, 0, 1, (uint16_t)-3);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    s.code[2].a = 2;
    refused(&s, 1, "register 2 may hold no cell");
}
END_TEST

/* Two loops, one in the other: the bit that goes at the end of the outer one is missed at the
 * beginning of the inner one. */
START_TEST(loss_is_carried_through_loops_in_loops)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_CELL_NEW, 2, 0, 0);
    add(&s, OP_CELL_NEW, 3, 0, 0);
    add(&s, OP_CELL_GET, 0, 2, 0);
    add(&s, OP_LOOP_IF_LESS, 0, 1, (uint16_t)-2);
    add(&s, OP_MOVE, 2, 3, 0);
    add(&s, OP_LOAD_NIL, 4, 0, 0);
    add(&s, OP_LOOP_IF_LESS, 0, 1, (uint16_t)-5);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
    s.code[5].a = 3; /* gone after one round, moved to 2 in the second, missed in the third */
    refused(&s, 2, "register 2 may hold no cell");
}
END_TEST

START_TEST(closure_takes_cells_and_captures_that_are_there)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_CELL_NEW, 2, 0, 0);
    add_wide(&s, OP_CLOSURE, 1, 0);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    s.inner.capture_count = 1;
    s.captures[0] = (struct capture){ true, 2 };
    accepted(&s);
    s.captures[0].index = 3;
    refused(&s, 1, "register 3 may hold no cell");
    s.captures[0].index = REGISTERS;
    refused(&s, 1, "captured register 8");
    s.captures[0] = (struct capture){ false, 0 };
    refused(&s, 1, "captured capture 0, there are 0");
    s.captures[0] = (struct capture){ true, 2 };
    s.inner.captures = NULL;
    refused(&s, 1, "a function with 1 captures");
}
END_TEST

START_TEST(entry_has_no_cells_even_where_a_loop_leads_back_to_it)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_CELL_GET, 0, 2, 0);
    add(&s, OP_CELL_NEW, 2, 0, 0);
    add(&s, OP_LOOP_IF_LESS, 0, 1, (uint16_t)-3);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    refused(&s, 0, "register 2 may hold no cell");
}
END_TEST

START_TEST(code_that_nobody_reaches_needs_no_cells)
{
    struct sample s;
    sample_start(&s);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    add(&s, OP_CELL_GET, 0, 2, 0);
    add(&s, OP_RETURN_NIL, 0, 0, 0);
    accepted(&s);
}
END_TEST

/* --- size ------------------------------------------------------------------------ */

#define BIG_REGISTERS 300u

/* Blocks of a loop, a branch, calls, and cells that live through all of them. */
static uint64_t ns_for(uint32_t count)
{
    struct sample s;
    struct function f;
    sample_start(&s);
    f = s.f;
    f.register_count = BIG_REGISTERS;
    f.code = malloc(count * sizeof *f.code);
    f.lines = calloc(count, sizeof *f.lines);
    uint32_t at = 0;
    for (; at < BIG_REGISTERS / 2; at++)
        f.code[at] = (struct instruction){ OP_CELL_NEW, (uint16_t)at, 0, 0 };
    for (uint32_t k = 0; at + 6 < count; k++) {
        uint16_t cell = (uint16_t)(k % (BIG_REGISTERS / 2)), other = BIG_REGISTERS / 2;
        f.code[at++] = (struct instruction){ OP_CELL_GET, other, cell, 0 };
        f.code[at++] = (struct instruction){ OP_JUMP_IF_FALSE, other, 1, 0 };
        f.code[at++] = (struct instruction){ OP_CALL, other + 1, 3, 0 };
        f.code[at++] = (struct instruction){ OP_CELL_SET, cell, other, 0 };
        f.code[at++] = (struct instruction){ OP_LOOP_IF_LESS, other, other, (uint16_t)-5 };
    }
    f.code[at++] = (struct instruction){ OP_RETURN_NIL, 0, 0, 0 };
    f.code_count = at;
    uint64_t start = os_now_ns();
    ck_assert_msg(check(&f) == CHECKER_OK, "%s", fault.text);
    uint64_t ns = os_now_ns() - start;
    free(f.code);
    free(f.lines);
    return ns;
}

static uint64_t best_ns_for(uint32_t count)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t ns = ns_for(count);
        best = ns < best ? ns : best;
    }
    return best;
}

START_TEST(time_grows_as_the_code_does)
{
    uint64_t small = best_ns_for(10000), big = best_ns_for(200000);
    printf("time_grows_as_the_code_does: 10,000 instructions %.1f ms, 200,000 %.1f ms\n",
           (double)small / 1e6, (double)big / 1e6);
    ck_assert_msg(big < 100 * small, "20 times the code takes %.0f times as long",
                  (double)big / (double)small); /* squared it would be 400 */
}
END_TEST

TCase *checker_cells_cases(void)
{
    TCase *cells = tcase_create("cells");
    tcase_set_timeout(cells, 60);
    tcase_add_test(cells, register_is_a_cell_after_cell_new_and_until_it_is_written);
    tcase_add_test(cells, cell_goes_with_a_move);
    tcase_add_test(cells, cell_goes_with_moves_that_stand_backwards);
    tcase_add_test(cells, call_takes_the_cells_from_its_window_up);
    tcase_add_test(cells, strip_takes_the_cell_behind_its_counter);
    tcase_add_test(cells, where_ways_meet_a_cell_must_come_on_all);
    tcase_add_test(cells, loop_that_loses_the_cell_is_refused);
    tcase_add_test(cells, loss_is_carried_through_loops_in_loops);
    tcase_add_test(cells, closure_takes_cells_and_captures_that_are_there);
    tcase_add_test(cells, entry_has_no_cells_even_where_a_loop_leads_back_to_it);
    tcase_add_test(cells, code_that_nobody_reaches_needs_no_cells);
    tcase_add_test(cells, time_grows_as_the_code_does);
    return cells;
}
