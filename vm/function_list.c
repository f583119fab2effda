/* function_list.c -- see function_list.h.  SPDX-License-Identifier: MIT */
#include "vm/function_list.h"

#include <stdlib.h>

/* Functions that are still to be listed, last first, and those ever met. */
struct walk {
    struct function **stack;
    size_t depth, stack_capacity;
    struct function **met; /* open addressing, a power of two, at most half full */
    size_t met_count, met_capacity;
};

static struct function **place_of(const struct walk *walk, const struct function *f)
{
    size_t mask = walk->met_capacity - 1;
    size_t at = ((uintptr_t)f >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32 & mask;
    while (walk->met[at] && walk->met[at] != f)
        at = (at + 1) & mask;
    return &walk->met[at];
}

static bool grow_met(struct walk *walk)
{
    struct walk larger = { .met_capacity = walk->met_capacity ? walk->met_capacity * 2 : 64 };
    larger.met = calloc(larger.met_capacity, sizeof *larger.met);
    if (!larger.met)
        return false;
    for (size_t i = 0; i < walk->met_capacity; i++)
        if (walk->met[i])
            *place_of(&larger, walk->met[i]) = walk->met[i];
    free(walk->met);
    walk->met = larger.met;
    walk->met_capacity = larger.met_capacity;
    return true;
}

/* An array of pointers with room for one more. */
static bool make_room(struct function ***array, size_t count, size_t *capacity)
{
    if (count < *capacity)
        return true;
    size_t larger = *capacity ? *capacity * 2 : 64;
    struct function **moved = realloc(*array, larger * sizeof *moved);
    if (!moved)
        return false;
    *array = moved;
    *capacity = larger;
    return true;
}

/* False: no memory. */
static bool push(struct walk *walk, struct function *f, struct function *in,
                 struct function_list *list)
{
    if (walk->met_count * 2 >= walk->met_capacity && !grow_met(walk))
        return false;
    struct function **place = place_of(walk, f);
    if (*place) {
        if (!list->shared) {
            list->shared = f;
            list->shared_in = in;
        }
        return true;
    }
    if (!make_room(&walk->stack, walk->depth, &walk->stack_capacity))
        return false;
    *place = f;
    walk->met_count++;
    walk->stack[walk->depth++] = f;
    return true;
}

static bool push_declared(struct walk *walk, struct function *f, struct function_list *list)
{
    for (uint32_t i = f->functions ? f->function_count : 0; i-- > 0;)
        if (f->functions[i] && !push(walk, f->functions[i], f, list))
            return false;
    return true;
}

bool function_list_make(struct function *script, struct function_list *list_out)
{
    struct walk walk = { .depth = 0 };
    struct function_list list = { .at = NULL };
    size_t capacity = 0;
    bool has_memory = push(&walk, script, NULL, &list);
    while (has_memory && walk.depth > 0) {
        struct function *f = walk.stack[--walk.depth];
        has_memory = make_room(&list.at, list.count, &capacity);
        if (has_memory) {
            list.at[list.count++] = f;
            has_memory = push_declared(&walk, f, &list);
        }
    }
    free(walk.stack);
    free(walk.met);
    if (!has_memory)
        free(list.at);
    else
        *list_out = list;
    return has_memory;
}

void function_list_free(struct function_list *list) { free(list->at); }
