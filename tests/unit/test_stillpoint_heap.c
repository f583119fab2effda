/* test_stillpoint_heap.c -- claims about the heap of C programs, through the public header alone.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/suite.h"
#include "vm/stillpoint.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

static struct stillpoint_thread *self;
static struct stillpoint_mutator *m;

static void begin(const char *const *flags, int count)
{
    char message[512] = "";
    ck_assert_msg(stillpoint_start(flags, count, message, sizeof message) == STILLPOINT_OK, "%s",
                  message);
    ck_assert_msg(stillpoint_heap_start(message, sizeof message) == STILLPOINT_OK, "%s", message);
    ck_assert_int_eq(stillpoint_attach("test", &self), STILLPOINT_OK);
    ck_assert_int_eq(stillpoint_heap_attach(self, &m), STILLPOINT_OK);
    stillpoint_leave_native(self);
}
#define BEGIN(...)                                                                                 \
    begin((const char *const[]){ __VA_ARGS__ },                                                    \
          (int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *)))
#define ALL_MOVES                                                                                  \
    "-Xmx2m", "-XX:G1HeapRegionSize=64k", "-XX:GCStressInterval=1", "-XX:+FullGCMovesAll"

static void end(void)
{
    stillpoint_enter_native(self);
    stillpoint_heap_detach(m);
    stillpoint_detach(self);
    stillpoint_shutdown();
}

/* An object with a number in its raw bytes. */
static struct stillpoint_object *new_numbered(uint32_t references, uint64_t number)
{
    struct stillpoint_object *object = stillpoint_allocate(m, references, 24);
    if (object)
        memcpy((char *)stillpoint_raw(object) + 16, &number, sizeof number);
    return object;
}

static uint64_t number_of(struct stillpoint_object *object)
{
    uint64_t number;
    memcpy(&number, (char *)stillpoint_raw(object) + 16, sizeof number);
    return number;
}

static void make_and_check_list(void)
{
    STILLPOINT_SLOT(m, list, NULL);
    STILLPOINT_SLOT(m, first, new_numbered(1, 0));
    struct stillpoint_object *before = first.object;
    list.object = first.object;
    for (uint64_t n = 1; n < 200; n++) {
        struct stillpoint_object *node = new_numbered(2, n);
        ck_assert_ptr_null(stillpoint_get(node, 1)); /* new references are NULL */
        stillpoint_set(node, 0, list.object);
        list.object = node;
    }
    ck_assert_ptr_ne(first.object, before); /* else nothing has moved */
    struct stillpoint_object *node = list.object;
    for (uint64_t n = 199; n > 0; n--, node = stillpoint_get(node, 0))
        ck_assert_uint_eq(number_of(node), n);
    ck_assert_ptr_eq(node, first.object);
    ck_assert_uint_eq(number_of(node), 0);
}

/* A collection that moves all comes at each allocation. */
START_TEST(slots_and_references_follow_what_moves)
{
    BEGIN(ALL_MOVES);
    make_and_check_list();
    end();
}
END_TEST

enum { HANDLES = 100 };
static struct stillpoint_handle *handles[HANDLES];

static void *read_handles(void *unused)
{
    struct stillpoint_thread *other;
    struct stillpoint_mutator *other_m;
    ck_assert_int_eq(stillpoint_attach("reader", &other), STILLPOINT_OK);
    ck_assert_int_eq(stillpoint_heap_attach(other, &other_m), STILLPOINT_OK);
    stillpoint_leave_native(other);
    for (int round = 0; round < 200; round++)
        for (int i = 0; i < HANDLES; i++) {
            struct stillpoint_object *object = stillpoint_handle_get(handles[i]);
            if (number_of(object) % HANDLES != (uint64_t)i)
                ck_abort_msg("handle %d leads to %llu", i, (unsigned long long)number_of(object));
            stillpoint_poll(other);
        }
    stillpoint_enter_native(other);
    stillpoint_heap_detach(other_m);
    stillpoint_detach(other);
    return unused;
}

START_TEST(handles_lead_any_thread_to_where_an_object_is_now)
{
    pthread_t thread;
    BEGIN(ALL_MOVES);
    for (uint64_t i = 0; i < HANDLES; i++) {
        STILLPOINT_SLOT(m, object, new_numbered(0, i));
        handles[i] = stillpoint_handle_new(m, object.object);
        ck_assert_ptr_nonnull(handles[i]);
    }
    ck_assert_int_eq(pthread_create(&thread, NULL, read_handles, NULL), 0);
    for (uint64_t n = 0; n < 500; n++) /* another object, whose number is as good */
        stillpoint_handle_set(handles[n % HANDLES], new_numbered(3, n));
    stillpoint_enter_native(self);
    pthread_join(thread, NULL);
    stillpoint_leave_native(self);
    for (int i = 0; i < HANDLES; i++)
        stillpoint_handle_free(handles[i]);
    ck_assert(stillpoint_collect(m));
    struct stillpoint_heap_figures figures;
    stillpoint_get_heap_figures(&figures);
    ck_assert_uint_eq(figures.used_bytes, 0); /* nothing leads to them any more */
    ck_assert_uint_gt(figures.collections, 500);
    ck_assert_uint_gt(figures.pause.p50_ns, 0);
    ck_assert_uint_ge(figures.pauses_sum_ns, figures.pause.max_ns);
    end();
}
END_TEST

START_TEST(a_full_heap_is_null_and_the_program_goes_on)
{
    BEGIN("-Xmx1m", "-XX:G1HeapRegionSize=64k");
    ck_assert_ptr_null(stillpoint_allocate(m, 0, (size_t)1 << 20)); /* too large for an object */
    ck_assert_ptr_null(stillpoint_allocate(m, 70000, 0));
    ck_assert_ptr_null(stillpoint_allocate(m, 1, SIZE_MAX));
    for (int round = 0; round < 3; round++) {
        STILLPOINT_SLOT(m, list, NULL);
        uint64_t count = 0;
        for (struct stillpoint_object *node; (node = new_numbered(1, count)) != NULL; count++) {
            stillpoint_set(node, 0, list.object);
            list.object = node;
        }
        ck_assert_msg(count * 40 > 1000000, "%llu objects", (unsigned long long)count);
    }
    ck_assert_ptr_nonnull(new_numbered(1, 1));
    end();
}
END_TEST

START_TEST(epsilon_collects_nothing_here_either)
{
    BEGIN("-Xmx4m", "-XX:+UseEpsilonGC");
    ck_assert_ptr_nonnull(new_numbered(2, 1));
    ck_assert(!stillpoint_collect(m));
    struct stillpoint_heap_figures figures;
    stillpoint_get_heap_figures(&figures);
    ck_assert_uint_eq(figures.collections, 0);
    ck_assert_uint_eq(figures.most_bytes, 4 << 20);
    end();
}
END_TEST

START_TEST(a_heap_comes_after_the_start_and_once)
{
    char message[200] = "";
    const char *const flags[] = { "-Xmx1m" };
    ck_assert_int_eq(stillpoint_heap_start(message, sizeof message), STILLPOINT_STATE);
    ck_assert_str_eq(message, "the heap comes after stillpoint_start()");
    begin(flags, 1);
    ck_assert_int_eq(stillpoint_heap_start(message, sizeof message), STILLPOINT_STATE);
    ck_assert_str_eq(message, "the heap is started already");
    end();
}
END_TEST

START_TEST(slots_that_close_out_of_order_abort)
{
    struct stillpoint_slot outer, inner;
    BEGIN("-Xmx1m");
    stillpoint_slot_open(m, &outer, NULL);
    stillpoint_slot_open(m, &inner, NULL);
    stillpoint_slot_close(&outer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stillpoint_heap");
    TCase *tc = tcase_create("stillpoint_heap");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, slots_and_references_follow_what_moves);
    tcase_add_test(tc, handles_lead_any_thread_to_where_an_object_is_now);
    tcase_add_test(tc, a_full_heap_is_null_and_the_program_goes_on);
    tcase_add_test(tc, epsilon_collects_nothing_here_either);
    tcase_add_test(tc, a_heap_comes_after_the_start_and_once);
    tcase_add_test_raise_signal(tc, slots_that_close_out_of_order_abort, SIGABRT);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
