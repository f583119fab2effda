/* test_shape.c -- vm/shape.h: one child per name, numbers in order, and lookups that stay short
 * however many classes there are.
 *
 * SPDX-License-Identifier: MIT */
#include "base/os.h"
#include "tests/unit/heap_tests.h"
#include "vm/names.h"
#include "vm/shape.h"

#include <stdio.h>

#define SHAPES 20000

static void start_all(void)
{
    BEGIN("-Xmx8m", "-Xms64k", "-XX:G1HeapRegionSize=64k");
    ck_assert_int_eq(names_start(), ERR_OK);
    ck_assert_int_eq(shapes_start(), ERR_OK);
}

static struct object *numbered_name(uint32_t number)
{
    char text[16];
    int length = snprintf(text, sizeof text, "f%u", number);
    struct object *name = names_intern(text, (size_t)length);
    ck_assert_ptr_nonnull(name);
    return name;
}

static const struct shape *new_root(void)
{
    const struct shape *root = shape_new_root(NULL, 4);
    ck_assert_ptr_nonnull(root);
    return root;
}

START_TEST(same_name_leads_to_the_same_child_and_another_to_another)
{
    const struct shape *root = new_root(), *x = shape_child(root, numbered_name(1));
    ck_assert_ptr_eq(shape_child(root, numbered_name(1)), x);
    ck_assert_ptr_ne(shape_child(root, numbered_name(2)), x);
    ck_assert_ptr_ne(shape_child(new_root(), numbered_name(1)), x);
    ck_assert_ptr_eq(shape_of_id(x->id), x);
}
END_TEST

START_TEST(fields_are_numbered_in_order_and_end_in_a_dictionary)
{
    const struct shape *shape = new_root();
    uint32_t number;
    for (uint32_t i = 0; i < SHAPE_MAX_FIELDS; i++) {
        ck_assert(!shape_find(shape, numbered_name(i), &number));
        shape = shape_child(shape, numbered_name(i));
        ck_assert(shape_find(shape, numbered_name(i), &number));
        ck_assert_uint_eq(number, i);
    }
    const struct shape *dictionary = shape_child(shape, numbered_name(100));
    ck_assert(dictionary->is_dictionary);
    ck_assert_ptr_eq(shape_child(shape, numbered_name(101)), dictionary);
    ck_assert(shape_find(dictionary, numbered_name(SHAPE_MAX_FIELDS - 1), &number));
    ck_assert(!shape_find(dictionary, numbered_name(100), &number));
}
END_TEST

/* As a class declaration in a loop makes them: many roots, one field name.  The control has as many
 * shapes with a name each.  (Once 300 times as slow: all in one chain of the table.) */
START_TEST(many_classes_with_one_field_name_are_no_slower_than_with_many)
{
    static struct object *names[SHAPES];
    for (uint32_t i = 0; i < SHAPES; i++)
        names[i] = numbered_name(i);
    uint64_t spent[2];
    for (int same = 0; same < 2; same++) {
        uint64_t start = os_now_ns();
        for (uint32_t i = 0; i < SHAPES; i++)
            ck_assert_ptr_nonnull(shape_child(new_root(), names[same ? 0 : i]));
        spent[same] = os_now_ns() - start;
    }
    printf("%d shapes: a name each %llu us, one name %llu us\n", SHAPES,
           (unsigned long long)spent[0] / 1000, (unsigned long long)spent[1] / 1000);
    ck_assert_msg(spent[1] < 20 * spent[0], "one name: %llu ns, many: %llu ns",
                  (unsigned long long)spent[1], (unsigned long long)spent[0]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shape");
    TCase *tcase = tcase_create("shape");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start_all, NULL);
    tcase_add_test(tcase, same_name_leads_to_the_same_child_and_another_to_another);
    tcase_add_test(tcase, fields_are_numbered_in_order_and_end_in_a_dictionary);
    tcase_add_test(tcase, many_classes_with_one_field_name_are_no_slower_than_with_many);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
