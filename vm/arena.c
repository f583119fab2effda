/* arena.c -- see arena.h.
 *
 * Blocks come from calloc(), whose large blocks are fresh pages that need no clearing.
 * They double from the least size to the largest, so that a program of one line costs
 * one small block and one of megabytes few large ones.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/arena.h"

#include "base/insist.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_BLOCK_BYTES   ((size_t)16 << 10) /* arbitrary, both */
#define LARGEST_BLOCK_BYTES ((size_t)1 << 20)

struct arena_block {
    struct arena_block *next;
    size_t bytes;
    alignas(max_align_t) char memory[];
};

void arena_start(struct arena *arena, jmp_buf *out_of_memory)
{
    INSIST(out_of_memory, "an arena needs a way out");
    *arena = (struct arena){ .out_of_memory = out_of_memory };
}

void arena_end(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
    arena->at = arena->end = NULL;
}

static struct arena_block *add_block(struct arena *arena, size_t bytes)
{
    struct arena_block *block = NULL;
    if (bytes <= SIZE_MAX - sizeof *block)
        block = calloc(1, sizeof *block + bytes);
    if (!block)
        longjmp(*arena->out_of_memory, 1);
    block->next = arena->blocks;
    block->bytes = bytes;
    arena->blocks = block;
    return block;
}

/* What does not fit: small pieces begin a new block, large ones get a block of their own
 * and leave the current one as it is. */
static void *allocate_slow(struct arena *arena, size_t bytes)
{
    size_t block_bytes = arena->blocks ? 2 * arena->blocks->bytes : LEAST_BLOCK_BYTES;
    if (block_bytes > LARGEST_BLOCK_BYTES)
        block_bytes = LARGEST_BLOCK_BYTES;
    if (bytes > block_bytes / 4)
        return add_block(arena, bytes)->memory;
    struct arena_block *block = add_block(arena, block_bytes);
    arena->at = block->memory + bytes;
    arena->end = block->memory + block_bytes;
    return block->memory;
}

void *arena_allocate(struct arena *arena, size_t bytes)
{
    const size_t mask = alignof(max_align_t) - 1;
    if (bytes > SIZE_MAX / 2)
        longjmp(*arena->out_of_memory, 1);
    bytes = (bytes + !bytes + mask) & ~mask; /* of zero bytes too: an address of its own */
    if (bytes > (size_t)(arena->end - arena->at))
        return allocate_slow(arena, bytes);
    char *start = arena->at;
    arena->at += bytes;
    return start;
}

void *arena_grow(struct arena *arena, void *array, size_t count, size_t *capacity,
                 size_t element_bytes)
{
    if (count < *capacity)
        return array;
    size_t wanted = *capacity ? 2 * *capacity : 8, bytes;
    if (__builtin_mul_overflow(wanted, element_bytes, &bytes))
        longjmp(*arena->out_of_memory, 1);
    void *larger = arena_allocate(arena, bytes);
    if (count > 0)
        memcpy(larger, array, count * element_bytes);
    *capacity = wanted;
    return larger;
}
