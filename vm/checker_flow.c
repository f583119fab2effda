/* checker_flow.c -- every way through a function: none leads over its end, cells are cells.
 *
 * Read next: walk() below.
 *
 * Note [L] Leftovers.  A register that the running function has not written holds what an
 *   earlier call left there: some value, right in itself (guest_thread.h, Note [S]).  Whatever
 *   an instruction reads, the interpreter looks at its kind first and reports a guest error,
 *   so a leftover costs nothing.  Cells are the exception: the compiler knows which registers
 *   hold one, so the interpreter does not look.  It is proven here instead.
 *
 * The proof is a forward analysis with one bit per register, "certainly holds a cell".
 * CELL_NEW sets it, MOVE copies it, every other write clears it, a call clears all from its
 * window up, where the callee's frame was.  On entry no bit is set.  Where ways meet, a bit
 * stays if it is set on all of them.
 *
 * Bits are kept only before instructions that are jumped to, and only for registers that are
 * used as a cell somewhere, or moved into one that is; in most functions there are none.  Bits
 * only ever go away, so a use that is refused on the way to the fixpoint would be refused at
 * the fixpoint too.  Where a bit goes, what follows is walked again; places are taken in the
 * order of the code, so compiled code is walked about as often as its loops are deep.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/checker_priv.h"

#include "safepoint/sched_point.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BITS 64
/* After so many rounds of following moves every register counts: arbitrary, the compiler's
 * code needs one. */
#define MOST_MOVE_ROUNDS 8

/* A place that is jumped to. */
struct place {
    uint32_t at;
    bool is_reached, is_pending;
};

struct flow {
    struct check *check;
    const struct function *f;
    uint32_t *place_of; /* per instruction: its place's number + 1, 0 = none */
    struct place *places;
    uint32_t place_count, next; /* next: no pending place is before it */
    uint32_t *bit_of;           /* per register: how many before it have a bit; one more at the
                                   end, so that equal neighbours mean "has none" */
    size_t words;               /* of one set of bits */
    uint64_t *sets;             /* one per place: bits before its instruction */
    uint64_t *now;              /* during a walk */
};

/* --- sets of bits ---------------------------------------------------------------- */

static bool has_bit(const struct flow *flow, uint32_t reg)
{
    return flow->bit_of[reg] != flow->bit_of[reg + 1];
}

static bool is_cell(const struct flow *flow, uint32_t reg)
{
    uint32_t bit = flow->bit_of[reg];
    return has_bit(flow, reg) && flow->now[bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

static void set_cell(struct flow *flow, uint32_t reg, bool is)
{
    uint32_t bit = flow->bit_of[reg];
    uint64_t mask = UINT64_C(1) << bit % WORD_BITS;
    if (!has_bit(flow, reg))
        return;
    if (is)
        flow->now[bit / WORD_BITS] |= mask;
    else
        flow->now[bit / WORD_BITS] &= ~mask;
}

static void clear_from(struct flow *flow, uint32_t reg)
{
    uint32_t bit = flow->bit_of[reg];
    size_t word = bit / WORD_BITS;
    if (word >= flow->words || MUTANT(26))
        return;
    flow->now[word] &= (UINT64_C(1) << bit % WORD_BITS) - 1;
    memset(&flow->now[word + 1], 0, (flow->words - word - 1) * sizeof *flow->now);
}

/* One more way leads to the place. */
static void arrive(struct flow *flow, uint32_t number)
{
    struct place *place = &flow->places[number];
    uint64_t *set = flow->words ? &flow->sets[number * flow->words] : NULL, lost = 0;
    if (!place->is_reached && flow->words)
        memcpy(set, flow->now, flow->words * sizeof *set);
    else if (!MUTANT(27))
        for (size_t i = 0; i < flow->words; i++) {
            lost |= set[i] & ~flow->now[i];
            set[i] &= flow->now[i];
        }
    if (place->is_reached && !lost)
        return;
    place->is_reached = place->is_pending = true;
    if (number < flow->next)
        flow->next = number;
}

/* --- one instruction ------------------------------------------------------------- */

static bool refuse_cell(struct flow *flow, uint32_t at, uint32_t reg)
{
    return checker_refuse(flow->check, at, "%s: register %u may hold no cell here",
                          checker_row(flow->f->code[at])->name, reg);
}

static bool check_cells_read(struct flow *flow, uint32_t at)
{
    struct instruction i = flow->f->code[at];
    const struct opcode_row *row = checker_row(i);
    if (row->operand[0] == OPERAND_CELL && !is_cell(flow, i.a) && !MUTANT(28))
        return refuse_cell(flow, at, i.a);
    if (row->operand[1] == OPERAND_CELL && !is_cell(flow, i.b) && !MUTANT(28))
        return refuse_cell(flow, at, i.b);
    if (i.op != OP_CLOSURE || MUTANT(29))
        return true;
    const struct function *inner = flow->f->functions[instruction_wide(i)];
    for (uint32_t k = 0; k < inner->capture_count; k++)
        if (inner->captures[k].is_register && !is_cell(flow, inner->captures[k].index))
            return refuse_cell(flow, at, inner->captures[k].index);
    return true;
}

/* Only operand A is ever written, and the end of a strip behind it. */
static void note_writes(struct flow *flow, struct instruction i)
{
    const struct opcode_row *row = checker_row(i);
    switch (row->operand[0]) {
    case OPERAND_WRITE:
    case OPERAND_UPDATE:
        set_cell(flow, i.a, i.op == OP_MOVE && is_cell(flow, i.b));
        break;
    case OPERAND_NEWCELL:
        set_cell(flow, i.a, true);
        break;
    case OPERAND_WINDOW:
    case OPERAND_WINDOW1:
        clear_from(flow, i.a);
        break;
    default:
        break;
    }
    if (row->poll == POLL_STRIP && !MUTANT(30))
        set_cell(flow, (uint32_t)i.a + 1, false);
}

/* From one place to where ways meet or end. */
static bool walk(struct flow *flow, uint32_t number)
{
    const struct function *f = flow->f;
    if (flow->words)
        memcpy(flow->now, &flow->sets[number * flow->words], flow->words * sizeof *flow->now);
    for (uint32_t at = flow->places[number].at;; at++) {
        const struct opcode_row *row = checker_row(f->code[at]);
        if (!check_cells_read(flow, at))
            return false;
        note_writes(flow, f->code[at]);
        if (checker_has_jump(row))
            arrive(flow, flow->place_of[checker_jump_target(row, f->code[at], at)] - 1);
        if (row->flow == FLOW_END || row->flow == FLOW_JUMP || row->flow == FLOW_LOOP)
            return true;
        if (at + 1 == f->code_count)
            return MUTANT(31) || checker_refuse(flow->check, at,
                                                "%s: goes on behind the last "
                                                "instruction",
                                                row->name);
        if (flow->place_of[at + 1]) {
            arrive(flow, flow->place_of[at + 1] - 1);
            return true;
        }
    }
}

static enum checker_result walk_all(struct flow *flow)
{
    arrive(flow, 0); /* with no bit set */
    for (flow->next = 0; flow->next < flow->place_count;) {
        uint32_t number = flow->next++;
        if (!flow->places[number].is_pending)
            continue;
        flow->places[number].is_pending = false;
        if (!walk(flow, number))
            return CHECKER_REFUSED;
    }
    return CHECKER_OK;
}

/* --- what to keep ---------------------------------------------------------------- */

static void mark_cells_read(const struct function *f, struct instruction i, uint32_t *is_kept)
{
    const struct opcode_row *row = checker_row(i);
    if (row->operand[0] == OPERAND_CELL)
        is_kept[i.a] = 1;
    if (row->operand[1] == OPERAND_CELL)
        is_kept[i.b] = 1;
    if (i.op != OP_CLOSURE)
        return;
    const struct function *inner = f->functions[instruction_wide(i)];
    for (uint32_t k = 0; k < inner->capture_count; k++)
        if (inner->captures[k].is_register)
            is_kept[inner->captures[k].index] = 1;
}

/* False: nothing was found. */
static bool mark_moved(const struct function *f, uint32_t *is_kept)
{
    bool has_found = false;
    for (uint32_t at = f->code_count; at-- > 0;) {
        struct instruction i = f->code[at];
        if (i.op == OP_MOVE && is_kept[i.a] && !is_kept[i.b])
            is_kept[i.b] = has_found = true;
    }
    return has_found;
}

/* Fills bit_of; the words of a set. */
static void number_bits(struct flow *flow)
{
    const struct function *f = flow->f;
    int rounds = 0;
    for (uint32_t at = 0; at < f->code_count; at++)
        mark_cells_read(f, f->code[at], flow->bit_of);
    while (mark_moved(f, flow->bit_of) && ++rounds < MOST_MOVE_ROUNDS)
        ;
    uint32_t count = 0;
    for (uint32_t reg = 0; reg < f->register_count; reg++) {
        bool is_kept = flow->bit_of[reg] || rounds == MOST_MOVE_ROUNDS;
        flow->bit_of[reg] = count;
        count += is_kept;
    }
    flow->bit_of[f->register_count] = count;
    flow->words = (count + WORD_BITS - 1) / WORD_BITS;
}

/* Marks what is jumped to, and the beginning; then numbers them in order. */
static void number_places(struct flow *flow)
{
    const struct function *f = flow->f;
    flow->place_of[0] = 1;
    for (uint32_t at = 0; at < f->code_count; at++) {
        const struct opcode_row *row = checker_row(f->code[at]);
        if (checker_has_jump(row))
            flow->place_of[checker_jump_target(row, f->code[at], at)] = 1;
    }
    for (uint32_t at = 0; at < f->code_count; at++)
        if (flow->place_of[at])
            flow->place_of[at] = ++flow->place_count;
}

static bool allocate_sets(struct flow *flow)
{
    flow->places = calloc(flow->place_count, sizeof *flow->places);
    if (!flow->places)
        return false;
    for (uint32_t at = 0; at < flow->f->code_count; at++)
        if (flow->place_of[at])
            flow->places[flow->place_of[at] - 1].at = at;
    if (flow->words == 0)
        return true;
    flow->now = calloc(flow->words, sizeof *flow->now);
    flow->sets = calloc(flow->place_count, flow->words * sizeof *flow->sets);
    return flow->now && flow->sets;
}

enum checker_result checker_check_flow(struct check *check)
{
    const struct function *f = check->f;
    struct flow flow = { .check = check, .f = f };
    enum checker_result result = CHECKER_NO_MEMORY;
    flow.place_of = calloc(f->code_count, sizeof *flow.place_of);
    flow.bit_of = calloc((size_t)f->register_count + 1, sizeof *flow.bit_of);
    if (flow.place_of && flow.bit_of) {
        number_bits(&flow);
        number_places(&flow);
        if (allocate_sets(&flow))
            result = walk_all(&flow);
    }
    free(flow.place_of);
    free(flow.places);
    free(flow.bit_of);
    free(flow.sets);
    free(flow.now);
    return result;
}
