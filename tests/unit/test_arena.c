/* test_arena.c -- vm/arena.h: memory for one compilation, and the way out when there is none.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/arena.h"

#include "base/prng.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define REFUSES 0 /* calloc() of a sanitizer aborts instead */
#else
#define REFUSES 1
#endif

START_TEST(arena_gives_zeroed_aligned_memory_of_any_size)
{
    jmp_buf away;
    struct arena arena;
    struct prng prng;
    if (setjmp(away))
        ck_abort_msg("no memory");
    arena_start(&arena, &away);
    prng_seed(&prng, 1);
    for (int i = 0; i < 3000; i++) {
        size_t bytes = prng_below(&prng, 64) << prng_below(&prng, 12), zeroes = 0;
        unsigned char *memory = arena_allocate(&arena, bytes);
        ck_assert_uint_eq((uintptr_t)memory % _Alignof(max_align_t), 0);
        while (zeroes < bytes && memory[zeroes] == 0)
            zeroes++;
        ck_assert_msg(zeroes == bytes, "byte %zu of %zu is %02x", zeroes, bytes, memory[zeroes]);
        memset(memory, 0xa5, bytes); /* given twice it would be seen */
    }
    arena_end(&arena);
}
END_TEST

static void grow_and_check(struct arena *arena)
{
    uint32_t *array = NULL;
    size_t capacity = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        array = arena_grow(arena, array, i, &capacity, sizeof *array);
        ck_assert_uint_gt(capacity, i);
        array[i] = i;
    }
    for (uint32_t i = 0; i < 100000; i++)
        ck_assert_uint_eq(array[i], i);
}

START_TEST(array_that_grows_keeps_its_elements)
{
    jmp_buf away;
    struct arena arena;
    if (setjmp(away))
        ck_abort_msg("no memory");
    arena_start(&arena, &away);
    grow_and_check(&arena);
    arena_end(&arena);
}
END_TEST

START_TEST(more_than_there_is_leaves_by_the_way_out)
{
    /* The first two are refused by the arena, the others by calloc(). */
    static const size_t sizes[] = { SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 2, SIZE_MAX / 4 };
    const size_t count = REFUSES ? 4 : 2;
    static volatile size_t left;
    jmp_buf away;
    struct arena arena;
    arena_start(&arena, &away);
    for (volatile size_t i = 0; i < count; i++) {
        if (setjmp(away)) {
            left++;
            continue;
        }
        arena_allocate(&arena, sizes[i]);
        ck_abort_msg("%zu bytes were given", sizes[i]);
    }
    ck_assert_uint_eq(left, count);
    if (setjmp(away) == 0) {
        size_t capacity = SIZE_MAX / 8;
        arena_grow(&arena, NULL, capacity, &capacity, 16);
        ck_abort_msg("the size has wrapped");
    }
    ck_assert_ptr_nonnull(arena_allocate(&arena, 100));
    arena_end(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arena");
    TCase *tcase = tcase_create("arena");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, arena_gives_zeroed_aligned_memory_of_any_size);
    tcase_add_test(tcase, array_that_grows_keeps_its_elements);
    tcase_add_test(tcase, more_than_there_is_leaves_by_the_way_out);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
