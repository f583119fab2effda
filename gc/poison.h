/* poison.h -- memory that nobody may touch, so that a reference that a collection has missed
 * ends the program where it is used.
 *
 * Layer: gc/, for its own files.
 *
 *   build         a region that became free       the free rest of a region with objects
 *   asserts       cannot be touched (a page fault)  --
 *   asan          poisoned                        poisoned
 *   tsan, release --                              --
 *
 * SPDX-License-Identifier: MIT */
#ifndef GC_POISON_H
#define GC_POISON_H

#include "base/insist.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
void __asan_poison_memory_region(void const volatile *start, size_t bytes);
void __asan_unpoison_memory_region(void const volatile *start, size_t bytes);

static inline bool poison_closes_regions(void) { return true; }
static inline bool poison_can_look(void) { return false; } /* at the free rest of a region */
static inline void poison_close(char *start, size_t bytes)
{
    __asan_poison_memory_region(start, bytes);
}
/* What is handed out is opened by poison_allow(), word by word. */
static inline void poison_open(char *start, size_t bytes) { (void)start, (void)bytes; }
static inline void poison_free_memory(char *start, size_t bytes)
{
    __asan_poison_memory_region(start, bytes);
}
static inline void poison_allow(char *start, size_t bytes)
{
    __asan_unpoison_memory_region(start, bytes);
}
#else
/* ThreadSanitizer's shadow of a region would be lost with its pages. */
#ifdef __SANITIZE_THREAD__
#define POISON_BY_PAGES 0
#else
#define POISON_BY_PAGES (STILLPOINT_ASSERT_LEVEL >= 2)
#endif

static inline bool poison_closes_regions(void) { return POISON_BY_PAGES; }
static inline bool poison_can_look(void) { return true; }
/* Of whole regions; a system that refuses leaves them open. */
void poison_close(char *start, size_t bytes);
void poison_open(char *start, size_t bytes);
static inline void poison_free_memory(char *start, size_t bytes) { (void)start, (void)bytes; }
static inline void poison_allow(char *start, size_t bytes) { (void)start, (void)bytes; }
#endif

#endif
