/* globals.c -- see globals.h.  SPDX-License-Identifier: MIT */
#include "vm/globals.h"

#include "base/insist.h"
#include "vm/string.h"

#include <stdlib.h>

void globals_end(struct globals *globals)
{
    free(globals->names);
    free(globals->table);
    free((void *)globals->values);
    *globals = (struct globals){ .count = 0 };
}

static uint32_t *find_place(const struct globals *globals, struct object *name)
{
    size_t mask = globals->table_size - 1, at = string_hash(name) & mask;
    while (globals->table[at] && globals->names[globals->table[at] - 1] != name)
        at = (at + 1) & mask;
    return &globals->table[at];
}

/* Keeps the table at most half full. */
static enum err make_room(struct globals *globals)
{
    if (globals->count < globals->capacity)
        return ERR_OK;
    size_t capacity = globals->capacity ? globals->capacity * 2 : 32;
    struct object **names = realloc(globals->names, capacity * sizeof *names);
    if (!names)
        return ERR_NO_MEMORY;
    globals->names = names;
    uint32_t *table = calloc(capacity * 2, sizeof *table);
    if (!table)
        return ERR_NO_MEMORY;
    free(globals->table);
    globals->table = table;
    globals->table_size = capacity * 2;
    globals->capacity = capacity;
    for (size_t i = 0; i < globals->count; i++)
        *find_place(globals, names[i]) = (uint32_t)i + 1;
    return ERR_OK;
}

uint32_t globals_index(struct globals *globals, struct object *name)
{
    ASSERT(!globals->values, "a global after the values were made");
    if (make_room(globals) != ERR_OK || globals->count == GLOBALS_NONE - 1)
        return GLOBALS_NONE;
    uint32_t *place = find_place(globals, name);
    if (!*place) {
        globals->names[globals->count++] = name;
        *place = (uint32_t)globals->count;
    }
    return *place - 1;
}

enum err globals_freeze(struct globals *globals)
{
    globals->values = malloc((globals->count ? globals->count : 1) * sizeof *globals->values);
    if (!globals->values)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < globals->count; i++)
        store_relaxed(&globals->values[i], VALUE_ABSENT); /* before any other thread */
    return ERR_OK;
}
