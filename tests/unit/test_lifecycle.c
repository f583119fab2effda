/* test_lifecycle.c -- start, exit and misuse: what happens must be said, never a hang.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/mutators.h"

#include "base/crash.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void set_true(void *argument) { *(bool *)argument = true; }

START_TEST(before_the_start_and_after_the_exit_a_request_returns_at_once)
{
    bool has_run = false;
    stops_force(set_true, &has_run);
    ck_assert(!has_run);
    start_stops_or_die(NULL);
    stops_force(set_true, &has_run);
    ck_assert(has_run);
    has_run = false;
    stops_exit();
    stops_force(set_true, &has_run);
    stops_dump_threads();
    stops_exit();
    ck_assert(!has_run);
    ck_assert(stops_have_ended());
    struct participant *self;
    ck_assert_int_eq(participant_attach(PARTICIPANT_MUTATOR, "late", &self), ERR_STATE);
    ck_assert_int_eq(stops_start(), ERR_STATE);
}
END_TEST

static _Atomic uint32_t requesters_quit;

static void *request_until_quit(void *unused)
{
    while (!load_acquire(&requesters_quit))
        stops_force(NULL, NULL);
    return unused;
}

/* Plain threads that ask for stops while the last one is asked for: all come back. */
START_TEST(requests_that_race_the_exit_are_answered)
{
    pthread_t threads[8];
    start_stops_or_die(NULL);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, request_until_quit, NULL), 0);
    os_sleep_ns(20 * MS + (uint64_t)_i * 50000);
    stops_exit();
    store_release(&requesters_quit, 1);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    ck_assert_msg(ledger_audit(ledger_totals()).ok, "%s", ledger_audit(ledger_totals()).why);
}
END_TEST

static void *end_attached(void *unused)
{
    struct participant *self;
    ck_assert_int_eq(participant_attach(PARTICIPANT_MUTATOR, "careless", &self), ERR_OK);
    return unused;
}

START_TEST(a_thread_that_ends_attached_aborts)
{
    pthread_t thread;
    start_stops_or_die(NULL);
    pthread_create(&thread, NULL, end_attached, NULL);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(exit_from_guest_code_aborts)
{
    struct participant *self;
    start_stops_or_die(NULL);
    ck_assert_int_eq(participant_attach(PARTICIPANT_MUTATOR, "self", &self), ERR_OK);
    participant_leave_safe(self, PARTICIPANT_GUEST);
    stops_exit();
}
END_TEST

static void request_another(void *unused) { stops_force(NULL, unused); }

START_TEST(a_request_from_inside_an_operation_aborts)
{
    start_stops_or_die(NULL);
    stops_force(request_another, NULL);
}
END_TEST

static void write_log_line(void *unused)
{
    (void)unused;
    log_line(LOG_TAGS_SAFEPOINT, LOG_LEVEL_ERROR, "from inside a stop");
}

START_TEST(a_log_line_inside_an_operation_aborts)
{
    start_stops_or_die(NULL);
    stops_force(write_log_line, NULL);
}
END_TEST

/* Runs body with stderr in a file, in a child; returns how it ended. */
static int capture(void (*body)(void), char *text_out, size_t bytes)
{
    int status;
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    int child = fork();
    if (child == 0) {
        dup2(fileno(file), STDERR_FILENO);
        body();
        _exit(0);
    }
    ck_assert_msg(os_wait_child(child, 20000 * MS, &status), "the child hangs");
    rewind(file);
    size_t n = fread(text_out, 1, bytes - 1, file);
    text_out[n] = '\0';
    fclose(file);
    return status;
}

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* they report it themselves */
static void follow_null(void *unused)
{
    (void)unused;
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

static void crash_in_an_operation(void)
{
    crash_install();
    start_stops_or_die(NULL);
    static struct mutator bystander;
    mutator_start(&bystander, "bystander", sleep_until_quit);
    stops_force(follow_null, NULL);
}

START_TEST(a_crash_inside_an_operation_is_reported)
{
    static char text[32768];
    int status = capture(crash_in_an_operation, text, sizeof text);
    ck_assert_msg(status == 256 + SIGSEGV, "ended with %d", status);
    ck_assert_msg(strstr(text, "segmentation fault") && strstr(text, "\"bystander\"") &&
                      strstr(text, "a stop is on") && strstr(text, "follow_null"),
                  "the report is: %s", text);
}
END_TEST
#endif

static void quit_while_busy(void)
{
    pthread_t threads[8];
    start_stops_or_die(NULL);
    stops_handle_sigquit();
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, request_until_quit, NULL);
    raise(SIGQUIT);
    os_sleep_ns(500 * MS); /* the requests go on: the dump must not wait for their end */
    _exit(0);
}

START_TEST(sigquit_dumps_though_the_queue_is_never_empty)
{
    static char text[32768];
    int status = capture(quit_while_busy, text, sizeof text);
    ck_assert_msg(status == 0 && strstr(text, "Full thread dump"), "ended with %d: %s", status,
                  text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lifecycle");
    TCase *tc = tcase_create("lifecycle");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, before_the_start_and_after_the_exit_a_request_returns_at_once);
    tcase_add_loop_test(tc, requests_that_race_the_exit_are_answered, 0, TESTS_ARE_SLOW ? 5 : 40);
    tcase_add_test_raise_signal(tc, a_thread_that_ends_attached_aborts, SIGABRT);
    tcase_add_test_raise_signal(tc, exit_from_guest_code_aborts, SIGABRT);
    tcase_add_test_raise_signal(tc, a_request_from_inside_an_operation_aborts, SIGABRT);
    tcase_add_test_raise_signal(tc, a_log_line_inside_an_operation_aborts, SIGABRT);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    tcase_add_test(tc, a_crash_inside_an_operation_is_reported);
#endif
    tcase_add_test(tc, sigquit_dumps_though_the_queue_is_never_empty);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
