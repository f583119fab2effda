/* crash.c -- see crash.h.
 *
 * snprintf into a stack buffer is not on the list of async-signal-safe functions
 * but takes no lock and allocates nothing for the conversions used here
 * (integers, strings, pointers).
 *
 * SPDX-License-Identifier: MIT */
#include "base/crash.h"

#include "base/atomics.h"
#include "base/os.h"
#include "base/unwind.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const int taken_signals[] = { SIGABRT };
#else
static const int taken_signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE };
#endif

static void (*_Atomic describe_callback)(void);
static _Atomic uint32_t crashing_tid;

void crash_set_describe(void (*describe)(void)) { store_release(&describe_callback, describe); }

void crash_write(const char *format, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (n > (int)sizeof text - 1)
        n = (int)sizeof text - 1;
    if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
        return; /* stderr is gone; the rest of the report is not for anybody */
}

static void write_frames(void *signal_context)
{
    void *frames[64];
    int n = unwind_capture(signal_context, frames, 64);
    for (int i = 0; i < n; i++) {
        char name[200];
        unwind_name(frames[i], name, sizeof name);
        crash_write("#  %3d  %p  %s\n", i, frames[i], name);
    }
}

/* The first thread to crash reports; another one waits for the end of the
 * process; the same one crashing again inside its report gives up at once. */
static bool take_the_word(void)
{
    uint32_t nobody = 0, me = (uint32_t)os_tid();
    if (compare_exchange_seq(&crashing_tid, &nobody, me))
        return true;
    while (nobody != me)
        os_sleep_ns(UINT64_C(1000000000));
    return false;
}

static const char *signal_name(int signal_number)
{
    return signal_number == SIGABRT   ? "abort"
           : signal_number == SIGSEGV ? "segmentation fault"
           : signal_number == SIGBUS  ? "bus error"
           : signal_number == SIGILL  ? "illegal instruction"
                                      : "arithmetic error";
}

static void on_crash(int signal_number, siginfo_t *info, void *context)
{
    if (take_the_word()) {
        crash_write("#\n# Stillpoint ends by signal %d (%s), thread %d\n", signal_number,
                    signal_name(signal_number), os_tid());
        if (info->si_code > 0) /* else somebody sent it, and there is no address */
            crash_write("# at address %p\n", info->si_addr);
        void (*describe)(void) = load_acquire(&describe_callback); /* set once, at start */
        if (describe)
            describe();
        crash_write("# native frames of thread %d:\n", os_tid());
        write_frames(context);
        crash_write("#\n");
    }
    signal(signal_number, SIG_DFL); /* not before: a second crash waits for this report */
    raise(signal_number);
}

void crash_install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof taken_signals / sizeof *taken_signals; i++)
        sigaction(taken_signals[i], &action, NULL);
}
