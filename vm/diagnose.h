/* diagnose.h -- natives that ask for stops, look at threads, and make threads late on purpose.
 *
 * Read next: diagnose.c, the kinds of lateness.
 * Layer:     vm/.
 *
 *   safepoint()        stops all, returns when the stop is over
 *   gc()               collects, returns when it is over; -XX:+DisableExplicitGC: does nothing
 *   gcCount()          collections so far
 *   heapUsed(), heapSize()   bytes handed out, and committed
 *   threadDump()       all threads, with guest and native frames, to stderr
 *   inject(kind, ms)   with -XX:+UnlockDiagnosticVMOptions: the calling thread is, for so long,
 *                      "busy"    running without a poll
 *                      "native"  in native code, which delays no stop
 *                      "unsafe"  in a blocking system call, but counted as running
 *                      "lock"    holding a lock of the runtime that stops need no one to give
 *                                back, asleep; a second thread that injects this waits for it
 *
 * An injected thread does not say what it does: finding that out is the diagnosis's task.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_DIAGNOSE_H
#define VM_DIAGNOSE_H

#include "vm/guest_thread.h"

bool diagnose_safepoint_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool diagnose_gc_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool diagnose_gc_count(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool diagnose_heap_used(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool diagnose_heap_size(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool diagnose_thread_dump_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);
bool diagnose_inject_mp(struct guest_thread *thread, value_t *window, uint32_t argument_count);

#endif
