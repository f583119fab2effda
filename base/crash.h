/* crash.h -- the last words of a process that found itself wrong.
 *
 * Layer: base/.  On SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT writes one
 * report to stderr: signal, thread, what the layers above say of it (state, last
 * stop), native frames; then lets the signal end the process as it would have.
 * Only write(2) and libunwind are used.  In sanitizer builds only SIGABRT is
 * taken: the others belong to the sanitizer's own report.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_CRASH_H
#define BASE_CRASH_H

/* [any] Once, at start. */
void crash_install(void);

/* [any] Called from the report, in the crashing thread, to add lines with
 * crash_write(); must not lock or allocate.  An upward need of safepoint/. */
void crash_set_describe(void (*describe)(void));

/* [signal handler] printf into the report; at most 511 bytes a call. */
void crash_write(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
