/* test_names.c -- vm/names.h, vm/lf_table.h and vm/string.h: one object per spelling, whoever
 * asks; strings made at run time equal by their bytes.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/heap_tests.h"
#include "vm/lf_table.h"
#include "vm/names.h"
#include "vm/string.h"

#include <pthread.h>
#include <stdio.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define NAMES 20000
#else
#define NAMES 200000 /* the table, made for 1024, grows eight times */
#endif

static void start_all(void)
{
    BEGIN("-Xmx8m", "-Xms64k", "-XX:G1HeapRegionSize=64k");
    ck_assert_int_eq(names_start(), ERR_OK);
}

static struct object *intern(const char *text)
{
    struct object *name = names_intern(text, strlen(text));
    ck_assert_ptr_nonnull(name);
    return name;
}

static struct object *new_string(const char *bytes, size_t length)
{
    struct object *string = string_new_mp(&self, bytes, length);
    ck_assert_ptr_nonnull(string);
    return string;
}

/* --- names ------------------------------------------------------------------------- */

START_TEST(equal_spellings_are_one_object_and_others_are_not)
{
    char copy[] = "speed";
    ck_assert_ptr_eq(intern("speed"), intern(copy));
    ck_assert_ptr_ne(intern("speed"), intern("Speed"));
    ck_assert_ptr_ne(intern("speed"), intern("spee"));
    ck_assert_ptr_eq(names_intern("speedy", 5), intern(copy));
    ck_assert_ptr_eq(intern(""), names_intern("x", 0));
    ck_assert_ptr_ne(names_intern("a\0b", 3), names_intern("a\0c", 3));
    ck_assert_ptr_ne(names_intern("a\0b", 3), intern("a"));
}
END_TEST

/* Found by search: other bytes, and a longer one that begins with the shorter. */
START_TEST(spellings_with_one_hash_are_told_apart)
{
    static const char *const pairs[][2] = { { "costarring", "liquid" }, { "name", "namea3kgv4d" } };
    for (int i = 0; i < 2; i++) {
        const char *a = pairs[i][0], *b = pairs[i][1];
        ck_assert_uint_eq(string_hash_bytes(a, strlen(a)), string_hash_bytes(b, strlen(b)));
        ck_assert_ptr_ne(intern(b), intern(a));
        ck_assert_ptr_eq(intern(b), intern(b));
        ck_assert(!string_equals(intern(a), new_string(b, strlen(b))));
    }
}
END_TEST

START_TEST(name_is_an_immortal_string_with_its_hash)
{
    struct object *name = intern("answer");
    ck_assert_uint_eq((uintptr_t)name % 8, 0);
    ck_assert_int_eq(object_kind(name), OBJECT_STRING);
    ck_assert_uint_eq(object_header_flags(load_relaxed(&name->header)), /* never changes */
                      OBJECT_FLAG_INTERNED);
    ck_assert_uint_eq(object_size_words(name), 3);
    ck_assert_uint_eq(string_length(name), 6);
    ck_assert_mem_eq(string_bytes(name), "answer", 6);
    ck_assert_uint_eq(load_relaxed(&name->word[0]) >> 32, string_hash_bytes("answer", 6)); /* own */
    ck_assert(!heap_contains(name));
    ck_assert(value_is_kind(value_of_object(name), OBJECT_STRING));
}
END_TEST

static struct object *number_name(int i)
{
    char text[16];
    snprintf(text, sizeof text, "n%d", i);
    return intern(text);
}

/* Lengths round the edge of a word: there the NUL is in a word of its own. */
START_TEST(name_has_a_nul_behind_its_last_byte)
{
    static const char text[] = "abcdefghijklmnopqrstuvwxyz";
    for (size_t length = 0; length < sizeof text; length++) {
        struct object *name = names_intern(text, length);
        ck_assert_uint_eq(string_length(name), length);
        ck_assert_uint_eq(strlen(string_bytes(name)), length);
    }
}
END_TEST

START_TEST(names_stay_where_they_are_while_the_table_grows)
{
    struct object **names = malloc(NAMES * sizeof *names);
    for (int i = 0; i < NAMES; i++)
        names[i] = number_name(i);
    for (int i = 0; i < NAMES; i++)
        ck_assert_msg(number_name(i) == names[i], "n%d has moved", i);
    free(names);
}
END_TEST

#define RACERS 4
#define RACED  (NAMES / 20)

struct racer {
    pthread_t thread;
    struct object *names[RACED];
    uint64_t hash_sum;
};

static _Atomic uint32_t racers_ready;
static struct racer racers[RACERS];

/* Reads what another thread may have made: the bytes and the hash. */
static void *intern_all(void *argument)
{
    struct racer *racer = argument;
    struct mutator mutator = { 0 };
    attach(&mutator, "racer");
    fetch_add_seq(&racers_ready, 1);
    while (load_acquire(&racers_ready) < RACERS)
        participant_poll(mutator.participant);
    for (int i = 0; i < RACED; i++) {
        racer->names[i] = number_name(i);
        racer->hash_sum += string_bytes(racer->names[i])[0] + string_hash(racer->names[i]);
    }
    detach(&mutator);
    return NULL;
}

/* L1 (under ThreadSanitizer) and L2 of lf_table.h. */
START_TEST(threads_that_race_for_a_name_get_the_same_one)
{
    for (int i = 0; i < RACERS; i++)
        ck_assert_int_eq(pthread_create(&racers[i].thread, NULL, intern_all, &racers[i]), 0);
    for (int i = 0; i < RACERS; i++)
        pthread_join(racers[i].thread, NULL);
    for (int i = 1; i < RACERS; i++) {
        ck_assert_mem_eq(racers[i].names, racers[0].names, sizeof racers[0].names);
        ck_assert_uint_eq(racers[i].hash_sum, racers[0].hash_sum);
    }
}
END_TEST

/* --- the table by itself ----------------------------------------------------------- */

struct entry {
    struct lf_node node;
    int key;
};

static bool has_key(const struct lf_node *node, const void *key)
{
    return ((const struct entry *)(const void *)node)->key == *(const int *)key;
}

START_TEST(entries_with_one_hash_are_told_apart_by_match)
{
    static struct entry entries[100], again = { .key = 7 };
    struct lf_table *table;
    ck_assert_int_eq(lf_table_new(has_key, &table), ERR_OK);
    for (int i = 0; i < 100; i++) {
        entries[i].key = i;
        ck_assert_ptr_null(lf_table_find(table, 42, &i));
        ck_assert_ptr_eq(lf_table_add_unique(table, 42, &i, &entries[i].node), &entries[i].node);
    }
    for (int i = 0; i < 100; i++)
        ck_assert_ptr_eq(lf_table_find(table, 42, &i), &entries[i].node);
    ck_assert_ptr_eq(lf_table_add_unique(table, 42, &again.key, &again.node), &entries[7].node);
    ck_assert_ptr_null(lf_table_find(table, 43, &again.key));
}
END_TEST

/* --- strings ----------------------------------------------------------------------- */

/* The published vectors of FNV-1a, and the one short text whose hash would be 0. */
START_TEST(hash_is_fnv_1a_and_never_zero)
{
    ck_assert_uint_eq(string_hash_bytes("", 0), 0x811c9dc5);
    ck_assert_uint_eq(string_hash_bytes("a", 1), 0xe40c292c);
    ck_assert_uint_eq(string_hash_bytes("foobar", 6), 0xbf9cf968);
    ck_assert_uint_eq(string_hash_bytes("\xcc\x24\x31\xc4", 4), 1);
}
END_TEST

START_TEST(hash_is_computed_once_and_kept_beside_the_length)
{
    struct object *string = new_string("foobar", 6);
    ck_assert_uint_eq(load_relaxed(&string->word[0]), 6); /* our own */
    ck_assert_uint_eq(string_hash(string), 0xbf9cf968);
    ck_assert_uint_eq(load_relaxed(&string->word[0]), UINT64_C(0xbf9cf968) << 32 | 6); /* own */
    ck_assert_uint_eq(string_length(string), 6);
    ck_assert_uint_eq(object_size_words(string), 3);
    store_relaxed(&string->word[0], UINT64_C(77) << 32 | 6); /* a mark: it is not computed again */
    ck_assert_uint_eq(string_hash(string), 77);
}
END_TEST

START_TEST(strings_are_equal_by_their_bytes_with_or_without_hashes)
{
    struct object *a = new_string("ab\0c", 4), *b = new_string("ab\0c", 4);
    struct object *other = new_string("ab\0d", 4), *shorter = new_string("ab\0", 3);
    struct object *name = names_intern("ab\0c", 4), *another = names_intern("ab\0d", 4);
    for (int hashed = 0; hashed < 2; hashed++) {
        ck_assert(string_equals(a, a) && string_equals(a, b) && string_equals(name, a));
        ck_assert(string_equals(a, name) && string_equals(name, name));
        ck_assert(!string_equals(a, other) && !string_equals(a, shorter));
        ck_assert(!string_equals(name, another) && !string_equals(name, other));
        string_hash(a), string_hash(b), string_hash(other), string_hash(shorter);
    }
    ck_assert(string_equals(new_string("", 0), new_string("", 0)));
    ck_assert(string_equals(new_string("", 0), intern("")));
}
END_TEST

static void check_sum(const char *a_text, const char *b_text)
{
    ROOTED(&self, a, value_of_object(new_string(a_text, strlen(a_text))));
    ROOTED(&self, b, value_of_object(new_string(b_text, strlen(b_text))));
    char both[64];
    int length = snprintf(both, sizeof both, "%s%s", a_text, b_text);
    struct object *sum = string_concatenate_mp(&self, &a.value, &b.value);
    ck_assert_ptr_nonnull(sum);
    ck_assert_uint_eq(string_length(sum), (unsigned)length);
    ck_assert_mem_eq(string_bytes(sum), both, (size_t)length);
    ck_assert_uint_eq(string_hash(sum), string_hash_bytes(both, (size_t)length));
}

/* Lengths round the edges of a word; the names of a sum are summed as well. */
START_TEST(sum_of_two_strings_has_the_bytes_of_both)
{
    const char *const texts[] = { "", "a", "1234567", "12345678", "123456789abcdef", "xy" };
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 6; k++)
            check_sum(texts[i], texts[k]);
    value_t name = value_of_object(intern("name"));
    struct object *sum = string_concatenate_mp(&self, &name, &name);
    ck_assert(sum && string_equals(sum, intern("namename")));
    ck_assert_ptr_ne(sum, intern("namename")); /* what is made at run time is not interned */
    verify_or_die();
}
END_TEST

START_TEST(sum_that_does_not_fit_the_heap_is_null_and_the_heap_goes_on)
{
    ROOTED(&self, sum, value_of_object(new_string("0123456789abcdef", 16)));
    int doublings = 0;
    for (struct object *next; (next = string_concatenate_mp(&self, &sum.value, &sum.value));)
        sum.value = value_of_object(next), doublings++;
    ck_assert_int_ge(doublings, 10);
    ck_assert_int_le(doublings, 19); /* 16 << 19 is the whole heap */
    ck_assert_uint_eq(string_length(value_as_object(sum.value)), 16u << doublings);
    check_sum("still", "works");
    verify_or_die();
}
END_TEST

/* Two lengths whose sum needs 33 bits; the bytes are never read, so there are none. */
START_TEST(sum_above_the_longest_length_is_null)
{
    _Alignas(8) struct {
        uint64_t header, word;
    } huge = { object_header(OBJECT_STRING, 0, 0), STRING_MAX_BYTES };
    value_t a = value_of_object((struct object *)(void *)&huge);
    value_t b = value_of_object(intern("x"));
    ck_assert_ptr_null(string_concatenate_mp(&self, &a, &b));
    ck_assert_ptr_null(string_concatenate_mp(&self, &b, &a));
    ck_assert_ptr_null(string_new_mp(&self, "x", (size_t)STRING_MAX_BYTES + 1));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("names");
    TCase *tcase = tcase_create("names");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start_all, NULL);
    tcase_add_test(tcase, equal_spellings_are_one_object_and_others_are_not);
    tcase_add_test(tcase, spellings_with_one_hash_are_told_apart);
    tcase_add_test(tcase, name_is_an_immortal_string_with_its_hash);
    tcase_add_test(tcase, name_has_a_nul_behind_its_last_byte);
    tcase_add_test(tcase, names_stay_where_they_are_while_the_table_grows);
    tcase_add_test(tcase, threads_that_race_for_a_name_get_the_same_one);
    tcase_add_test(tcase, entries_with_one_hash_are_told_apart_by_match);
    tcase_add_test(tcase, hash_is_fnv_1a_and_never_zero);
    tcase_add_test(tcase, hash_is_computed_once_and_kept_beside_the_length);
    tcase_add_test(tcase, strings_are_equal_by_their_bytes_with_or_without_hashes);
    tcase_add_test(tcase, sum_of_two_strings_has_the_bytes_of_both);
    tcase_add_test(tcase, sum_that_does_not_fit_the_heap_is_null_and_the_heap_goes_on);
    tcase_add_test(tcase, sum_above_the_longest_length_is_null);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
