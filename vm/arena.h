/* arena.h -- memory that a compilation takes piece by piece and gives back at once.
 *
 * Layer: vm/.  Not for several threads.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_ARENA_H
#define VM_ARENA_H

#include <setjmp.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks;
    char *at, *end;
    /* Where arena_allocate() goes when the system has no memory: the one way out of a
     * compilation, so that no pass has to check.  Nothing outside the arena may be owned
     * by the frames that are jumped over. */
    jmp_buf *out_of_memory;
};

void arena_start(struct arena *arena, jmp_buf *out_of_memory);
void arena_end(struct arena *arena);
/* Zeroed, aligned for any type; never NULL. */
void *arena_allocate(struct arena *arena, size_t bytes);
/* A larger copy of an array that is grown by doubling: count elements of element_bytes are
 * in use, capacity is raised when needed; the old copy stays until the arena ends. */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t *capacity,
                 size_t element_bytes);

#define ARENA_NEW(arena, type) ((type *)arena_allocate((arena), sizeof(type)))

#endif
