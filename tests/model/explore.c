/* explore.c -- see explore.h.
 *
 * All states stand in one array in the order they were found, which is the queue of a
 * breadth-first search as well.  Beside it each state's parent, and an open-addressing
 * table of indices, at most half full.  Steps are not kept: to tell the way to a fault,
 * the moves of each state on it are made once more.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/model/explore.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM  (UINT32_C(1) << 16)
#define MOST_STATES (UINT32_C(1) << 26) /* 1.8 GB; more is a mistake in the model */
#define NO_PARENT   UINT32_MAX
#define EMPTY       0 /* a table entry holds an index + 1 */

struct search {
    struct model_state *states;
    uint32_t *parents;
    uint32_t *table; /* 2 * room entries */
    uint32_t count, room;
    size_t most_bytes;
};

static void search_free(struct search *search)
{
    free(search->states);
    free(search->parents);
    free(search->table);
}

/* The finalizer of a 64-bit mix: every input bit reaches every output bit. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static uint32_t hash(const struct model_state *s)
{
    uint64_t word[2];
    memcpy(word, s, sizeof word);
    return (uint32_t)mix(word[0] + mix(word[1]));
}

/* Where s stands in the table, or the empty entry where it belongs. */
static uint32_t *find(const struct search *search, const struct model_state *s)
{
    uint32_t mask = search->room * 2 - 1;
    for (uint32_t i = hash(s) & mask;; i = (i + 1) & mask) {
        uint32_t *entry = &search->table[i];
        if (*entry == EMPTY || memcmp(&search->states[*entry - 1], s, sizeof *s) == 0)
            return entry;
    }
}

static bool grow(struct search *search)
{
    uint32_t room = search->room ? search->room * 2 : FIRST_ROOM;
    if (room > MOST_STATES)
        return false;
    struct model_state *states = realloc(search->states, room * sizeof *states);
    if (!states)
        return false;
    search->states = states;
    uint32_t *parents = realloc(search->parents, room * sizeof *parents);
    if (!parents)
        return false;
    search->parents = parents;
    free(search->table);
    search->table = calloc((size_t)room * 2, sizeof *search->table);
    if (!search->table)
        return false;
    search->room = room;
    search->most_bytes = room * (sizeof *states + sizeof *parents + 2 * sizeof *search->table);
    for (uint32_t i = 0; i < search->count; i++)
        *find(search, &search->states[i]) = i + 1;
    return true;
}

static bool add(struct search *search, const struct model_state *s, uint32_t parent)
{
    if (search->count == search->room && !grow(search))
        return false;
    uint32_t *entry = find(search, s);
    if (*entry != EMPTY)
        return true;
    search->states[search->count] = *s;
    search->parents[search->count] = parent;
    *entry = ++search->count;
    return true;
}

static uint32_t steps_to(const struct search *search, uint32_t i)
{
    uint32_t steps = 0;
    for (; search->parents[i] != NO_PARENT; i = search->parents[i])
        steps++;
    return steps;
}

/* The move that leads from one state to the next on the way. */
static struct model_move move_between(const struct model_variant *v, const struct model_state *from,
                                      const struct model_state *to)
{
    struct model_moves moves;
    model_steps(v, from, &moves);
    for (uint32_t i = 0; i < moves.count; i++)
        if (memcmp(&moves.move[i].to, to, sizeof *to) == 0)
            return moves.move[i];
    abort(); /* the steps are a function of the state */
}

static struct model_move *way_to(const struct model_variant *v, const struct search *search,
                                 uint32_t i)
{
    uint32_t steps = steps_to(search, i);
    struct model_move *way = malloc((steps + 1) * sizeof *way);
    if (!way)
        return NULL;
    for (; steps > 0; i = search->parents[i])
        way[--steps] = move_between(v, &search->states[search->parents[i]], &search->states[i]);
    return way;
}

static void note_pcs(const struct model_state *s, struct explore_result *result)
{
    for (uint32_t i = 0; i < MODEL_PARTICIPANTS; i++)
        result->participant_pcs |= UINT64_C(1) << s->p[i].pc;
    result->coordinator_pcs |= UINT64_C(1) << s->pc;
}

static bool run(const struct model_variant *v, struct search *search, struct explore_result *result)
{
    for (uint32_t i = 0; i < search->count; i++) {
        struct model_moves moves;
        struct model_state s = search->states[i]; /* add() may move the array */
        note_pcs(&s, result);
        model_steps(v, &s, &moves);
        result->fault = model_fault(v, &s, &moves);
        if (result->fault) {
            result->steps = steps_to(search, i);
            result->way = way_to(v, search, i);
            return result->way != NULL;
        }
        for (uint32_t k = 0; k < moves.count; k++)
            if (!add(search, &moves.move[k].to, i))
                return false;
    }
    result->steps = steps_to(search, search->count - 1);
    return true;
}

enum err explore(const struct model_variant *v, uint32_t stops, struct explore_result *result_out)
{
    struct search search = { 0 };
    struct explore_result result = { 0 };
    struct model_state start = model_start(stops);
    bool is_done = add(&search, &start, NO_PARENT) && run(v, &search, &result);
    result.states = search.count;
    result.memory_bytes = search.most_bytes;
    search_free(&search);
    if (!is_done)
        return ERR_NO_MEMORY;
    *result_out = result;
    return ERR_OK;
}

void explore_free(struct explore_result *result) { free(result->way); }
