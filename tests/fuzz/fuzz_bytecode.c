/* fuzz_bytecode.c -- compiled code with changes: the checker refuses it, or it does no harm.
 *
 * Read next: changes[] below.
 *
 * An input is the number of a seed program, then changes of six bytes: what, in which
 * function, where (16 bits), the new value (16 bits).  Numbers count modulo what there is.
 *
 * What is never changed is what a program cannot bring along: pointers to arrays, and lengths
 * above the true ones.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"

#include "vm/checker.h"
#include "vm/disasm.h"
#include "vm/function_list.h"
#include "vm/names.h"
#include "vm/opcode.h"

#include <string.h>

#define CHANGE_BYTES 6
#define MOST_CHANGES 64 /* more is noise */

struct change {
    struct function_list *all;
    struct function *f;
    uint32_t where, value;
};

/* --- instructions ---------------------------------------------------------------- */

static struct instruction *instruction_at(struct change c)
{
    return &c.f->code[c.where % c.f->code_count];
}

static void change_op(struct change c) { instruction_at(c)->op = c.value % (OPCODE_COUNT + 1); }
static void change_a(struct change c) { instruction_at(c)->a = (uint16_t)c.value; }
static void change_b(struct change c) { instruction_at(c)->b = (uint16_t)c.value; }
static void change_c(struct change c) { instruction_at(c)->c = (uint16_t)c.value; }

/* By little, which is what the checker may accept. */
static uint16_t near(uint16_t old, uint32_t value) { return (uint16_t)(old + value % 9 - 4); }
static void nudge_a(struct change c) { instruction_at(c)->a = near(instruction_at(c)->a, c.value); }
static void nudge_b(struct change c) { instruction_at(c)->b = near(instruction_at(c)->b, c.value); }
static void nudge_c(struct change c) { instruction_at(c)->c = near(instruction_at(c)->c, c.value); }

static bool has_same_operands(uint16_t op, uint16_t other)
{
    return memcmp(opcode_rows[op].operand, opcode_rows[other].operand,
                  sizeof opcode_rows[op].operand) == 0;
}

/* Another one with the same kinds of operands: mostly accepted. */
static void change_to_sibling(struct change c)
{
    struct instruction *i = instruction_at(c);
    if (i->op >= OPCODE_COUNT)
        return;
    for (uint32_t k = 0; k < OPCODE_COUNT; k++) {
        uint16_t other = (uint16_t)((c.value + k) % OPCODE_COUNT);
        if (other != i->op && has_same_operands(i->op, other)) {
            i->op = other;
            return;
        }
    }
}

static void swap_two(struct change c)
{
    struct instruction *i = instruction_at(c), *other = &c.f->code[c.value % c.f->code_count];
    struct instruction kept = *i;
    *i = *other;
    *other = kept;
}

/* From another function: its registers hold other things. */
static void copy_from_other(struct change c)
{
    const struct function *other = c.all->at[c.value % c.all->count];
    if (other->code_count > 0) /* else it was cut to nothing */
        *instruction_at(c) = other->code[c.value / c.all->count % other->code_count];
}

/* --- tables ------------------------------------------------------------------------ */

/* Values that a constant may be, and some that it may not. */
static value_t some_value(struct change c)
{
    static const uint64_t doubles[] = { 0,
                                        UINT64_C(0x8000000000000000),
                                        UINT64_C(0x3ff0000000000000),
                                        UINT64_C(0x7ff0000000000000),
                                        UINT64_C(0x7ff8000000000000),
                                        UINT64_C(0xfff8000000000000),
                                        UINT64_C(0xfff7ffffffffffff),
                                        UINT64_C(0x43e0000000000000),
                                        UINT64_C(0x0000000000000001) };
    static const value_t others[] = { VALUE_NIL, VALUE_FALSE, VALUE_TRUE, VALUE_ABSENT };
    const size_t double_count = sizeof doubles / sizeof *doubles;
    uint32_t number = c.value % 32;
    if (number < double_count)
        return doubles[number] + VALUE_DOUBLE_OFFSET;
    if (number < double_count + 4)
        return others[number - double_count];
    const struct function *other = c.all->at[c.value / 32 % c.all->count];
    if (number < 24 && other->constant_count > 0)
        return other->constants[c.value % other->constant_count];
    return value_of_double((double)c.value);
}

static struct object *some_name(struct change c)
{
    static const char *const names[] = { "init", "x", "y", "length", "message", "get", "" };
    uint32_t number = c.value % (sizeof names / sizeof *names + 1);
    return number == sizeof names / sizeof *names
               ? NULL
               : names_intern(names[number], strlen(names[number]));
}

static void change_constant(struct change c)
{
    if (c.f->constant_count > 0)
        c.f->constants[c.where % c.f->constant_count] = some_value(c);
}

static void change_site(struct change c)
{
    if (c.f->site_count > 0)
        c.f->sites[c.where % c.f->site_count].name = some_name(c);
}

static void change_class(struct change c)
{
    if (c.f->class_count == 0)
        return;
    struct class_site *site = &c.f->classes[c.where % c.f->class_count];
    if (c.where & 0x100)
        site->method_count = c.where & 0x200 ? UINT32_MAX / 3 + c.value : c.value % 16;
    else if (c.where & 0x200)
        site->field_hint = c.value * 0x10001;
    else
        site->name = some_name(c);
}

static void change_capture(struct change c)
{
    if (c.f->capture_count == 0)
        return;
    struct capture *capture = &c.f->captures[c.where % c.f->capture_count];
    if (c.where & 0x8000)
        capture->is_register = !capture->is_register;
    else
        capture->index = near(capture->index, c.value);
}

static void change_declared(struct change c)
{
    if (c.f->function_count == 0)
        return;
    uint32_t at = c.where % c.f->function_count;
    c.f->functions[at] = c.value == 0 ? NULL : c.all->at[c.value % c.all->count];
}

/* --- counts -------------------------------------------------------------------------- */

static uint32_t at_most(uint32_t count, uint32_t value) { return value % (count + 1); }

static void change_registers(struct change c)
{
    c.f->register_count = c.where & 1 ? c.value : c.f->register_count + c.value % 9 - 4;
}
static void change_arity(struct change c) { c.f->arity = c.where & 1 ? c.value : c.value % 4; }
static void cut_code(struct change c) { c.f->code_count = at_most(c.f->code_count, c.value); }

static void cut_table(struct change c)
{
    uint32_t *const counts[] = { &c.f->constant_count, &c.f->site_count, &c.f->capture_count,
                                 &c.f->function_count, &c.f->class_count };
    uint32_t *count = counts[c.where % (sizeof counts / sizeof *counts)];
    *count = at_most(*count, c.value);
}

static void change_catches(struct change c) { c.f->catches = c.value & 1; }

/* What is tried most stands in here most. */
static void (*const changes[])(struct change) = {
    change_op,         change_a,         change_b,        change_c,          nudge_a,
    nudge_b,           nudge_c,          nudge_a,         nudge_b,           nudge_c,
    change_to_sibling, swap_two,         copy_from_other, change_to_sibling, swap_two,
    copy_from_other,   change_constant,  change_site,     change_class,      change_capture,
    change_declared,   change_registers, change_arity,    cut_code,          cut_table,
    change_catches,
};
#define CHANGE_KINDS (sizeof changes / sizeof *changes)

static void apply(struct function_list *all, const uint8_t *data)
{
    struct change c = { .all = all, .f = all->at[data[1] % all->count] };
    c.where = (uint32_t)data[2] | (uint32_t)data[3] << 8;
    c.value = (uint32_t)data[4] | (uint32_t)data[5] << 8;
    if (c.f->code_count > 0) /* else it was cut to nothing */
        changes[data[0] % CHANGE_KINDS](c);
}

/* --- one input -------------------------------------------------------------------------- */

/* False: refused, with a reason that can be shown. */
static bool is_accepted(struct program *program)
{
    struct checker_fault fault;
    struct function *script = program_script(program);
    enum checker_result result = checker_check(script, program_global_count(program), &fault);
    disasm_print(fuzz_nowhere(), script, NULL, 0, program_global_name, program);
    if (result == CHECKER_OK && !script->is_checked)
        fuzz_found("accepted, but not marked");
    if (result == CHECKER_REFUSED && (!fault.function || !fault.text[0] || script->is_checked))
        fuzz_found("refused without a fault, or marked");
    return result == CHECKER_OK;
}

void fuzz_bytecode_one(const uint8_t *data, size_t bytes)
{
    if (bytes < 1 + CHANGE_BYTES)
        return;
    const char *source = fuzz_seeds[data[0] % fuzz_seed_count];
    struct guest_thread *thread = fuzz_begin();
    struct program *program = fuzz_compile(thread, source, strlen(source));
    struct function_list all;
    if (!program || !function_list_make(program_script(program), &all))
        fuzz_found("seed %zu does not compile", data[0] % fuzz_seed_count);
    for (size_t i = 0; i < MOST_CHANGES && 1 + (i + 1) * CHANGE_BYTES <= bytes; i++)
        apply(&all, data + 1 + i * CHANGE_BYTES);
    function_list_free(&all);
    if (is_accepted(program)) {
        fuzz_counts.accepted++;
        fuzz_run(thread, program);
    } else {
        fuzz_counts.refused++;
    }
    program_destroy(program);
    fuzz_end(thread);
}

#ifdef STILLPOINT_FUZZ
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_bytecode_one(data, bytes);
    return 0;
}
#endif
