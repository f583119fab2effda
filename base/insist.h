/* insist.h -- asserts in three prices.
 *
 * Layer: base/.
 *   INSIST  always on: misuse of an interface, impossible errno, the witness
 *   ASSERT  debug builds: cheap checks on hot paths
 *   VERIFY  stress and debug builds: walks a structure
 * When off, the expression still compiles, so it cannot rot.  A failing check
 * prints file, line, expression and a formatted message with the values, then
 * aborts; base/crash.c adds thread, state, last stop and native frames.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_INSIST_H
#define BASE_INSIST_H

#ifdef NDEBUG
#define STILLPOINT_ASSERT_LEVEL 0
#else
#define STILLPOINT_ASSERT_LEVEL 2
#endif

/* [any] Never returns.  Uses write(2) only, so a signal handler may call it. */
_Noreturn void insist_failed(const char *file, int line, const char *expression, const char *format,
                             ...) __attribute__((format(printf, 4, 5)));

#define INSIST_AT(level, expression, ...)                                                          \
    do {                                                                                           \
        if ((level) <= STILLPOINT_ASSERT_LEVEL && __builtin_expect(!(expression), 0))              \
            insist_failed(__FILE__, __LINE__, #expression, __VA_ARGS__);                           \
    } while (0)

#define INSIST(expression, ...) INSIST_AT(0, expression, __VA_ARGS__)
#define ASSERT(expression, ...) INSIST_AT(1, expression, __VA_ARGS__)
#define VERIFY(expression, ...) INSIST_AT(2, expression, __VA_ARGS__)

#endif
