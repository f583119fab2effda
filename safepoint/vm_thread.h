/* vm_thread.h -- the thread that serves requests for stops, one after another.
 *
 * Layer: safepoint/.  stops.c starts it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAFEPOINT_VM_THREAD_H
#define SAFEPOINT_VM_THREAD_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

MUST_USE enum err vm_thread_start(void);
/* [any] After an Exit operation was answered: waits for its last words. */
void vm_thread_join(void);
/* [signal handler] A thread dump at the next occasion. */
void vm_thread_ask_for_dump(void);
/* [any] See stops_set_check(). */
void vm_thread_set_check(void (*check_at_safepoint)(void));
uint64_t vm_thread_stops(void); /* done so far; relaxed */

#endif
