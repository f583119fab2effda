/* checker.c -- see checker.h: tables, instructions one by one, the tree of functions.
 *
 * Read next: checker_flow.c, for what depends on the way an instruction is reached.
 *
 * Every length that the interpreter, a closure or a message relies on is compared here, once,
 * in this order: the counts of a function, what its tables hold, the operands of each
 * instruction.  Later steps rely on earlier ones.
 *
 * Note [N] Why a NaN must be the NaN.  A number's bits plus 2^49 do not wrap for the NaN that
 *   arithmetic makes (value.h).  Arithmetic on another NaN keeps its bits and sets one: from a
 *   constant just below the limit comes one above, which wraps into a reference to anywhere.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/checker.h"

#include "safepoint/sched_point.h"
#include "vm/checker_priv.h"
#include "vm/function_list.h"
#include "vm/resolver.h"

#include <stdarg.h>
#include <stdio.h>

#define MOST_ARGUMENTS 255
#define MOST_REGISTERS UINT16_MAX

bool checker_refuse(struct check *check, uint32_t at, const char *format, ...)
{
    va_list ap;
    check->fault->function = check->f;
    check->fault->at = at;
    va_start(ap, format);
    vsnprintf(check->fault->text, sizeof check->fault->text, format, ap);
    va_end(ap);
    return false;
}

/* --- one function's counts and tables -------------------------------------------- */

static bool check_counts(struct check *check, bool is_script)
{
    const struct function *f = check->f;
    if (f->arity > MOST_ARGUMENTS)
        return checker_refuse(check, 0, "%u parameters, at most %d", f->arity, MOST_ARGUMENTS);
    if (f->register_count < f->arity + 1 || f->register_count > MOST_REGISTERS)
        return checker_refuse(check, 0, "%u registers, not %u to %d", f->register_count,
                              f->arity + 1, MOST_REGISTERS);
    if (f->capture_count > RESOLVER_MAX_CAPTURES)
        return checker_refuse(check, 0, "%u captures, at most %d", f->capture_count,
                              RESOLVER_MAX_CAPTURES);
    if (is_script && (f->arity || f->capture_count)) /* nobody gives it any */
        return checker_refuse(check, 0, "a script with %u parameters and %u captures", f->arity,
                              f->capture_count);
    if (f->code_count == 0 || f->code_count > INT32_MAX)
        return checker_refuse(check, 0, "%u instructions", f->code_count);
    if (f->catches)
        return checker_refuse(check, 0, "only the frame of attempt catches errors");
    return true;
}

static bool check_array(struct check *check, const void *array, uint32_t count, const char *what)
{
    return array || count == 0 ||
           checker_refuse(check, 0, "%u %s, but no array of them", count, what);
}

static bool check_arrays(struct check *check)
{
    const struct function *f = check->f;
    return check_array(check, f->code, f->code_count, "instructions") &&
           check_array(check, f->lines, f->code_count, "lines") &&
           check_array(check, f->constants, f->constant_count, "constants") &&
           check_array(check, f->sites, f->site_count, "sites") &&
           check_array(check, f->captures, f->capture_count, "captures") &&
           check_array(check, f->functions, f->function_count, "functions") &&
           check_array(check, f->classes, f->class_count, "classes");
}

/* Relaxed inside object_kind(): kind and flags of an object never change. */
static bool is_interned(const struct object *object)
{
    return object && (uintptr_t)object % _Alignof(struct object) == 0 &&
           object_kind(object) == OBJECT_STRING &&
           object_header_flags(load_relaxed(&object->header)) & OBJECT_FLAG_INTERNED;
}

static bool is_interned_value(value_t v)
{
    return value_is_reference(v) && is_interned(value_as_object(v));
}

static bool is_number(value_t v)
{
    if (!value_is_number(v))
        return false;
    double d = value_as_double(v);
    value_t nan = value_of_raw_double(__builtin_nan(""));
    return d == d || v == nan || v == nan + (UINT64_C(1) << 63) || MUTANT(21); /* [N] */
}

static bool check_tables(struct check *check)
{
    const struct function *f = check->f;
    if (f->name && !is_interned(f->name))
        return checker_refuse(check, 0, "a name that is not an interned string");
    for (uint32_t i = 0; i < f->constant_count; i++)
        if (!is_number(f->constants[i]) && !is_interned_value(f->constants[i]))
            return checker_refuse(check, 0, "constant %u is 0x%llx, no number and no name", i,
                                  (unsigned long long)f->constants[i]);
    for (uint32_t i = 0; i < f->site_count; i++)
        if (!is_interned(f->sites[i].name))
            return checker_refuse(check, 0, "site %u has no interned name", i);
    for (uint32_t i = 0; i < f->class_count; i++)
        if (!is_interned(f->classes[i].name))
            return checker_refuse(check, 0, "class %u has no interned name", i);
        /* One METHOD each.  Table sizes are computed from it, in 32 bits. */
        else if (f->classes[i].method_count > f->code_count)
            return checker_refuse(check, 0, "class %u has %u methods", i,
                                  f->classes[i].method_count);
    for (uint32_t i = 0; i < f->function_count; i++)
        if (!f->functions[i])
            return checker_refuse(check, 0, "function %u is missing", i);
    return true;
}

/* --- the operands of one instruction --------------------------------------------- */

static bool check_index(struct check *check, uint32_t at, uint32_t index, uint32_t count,
                        const char *what)
{
    return index < count ||
           checker_refuse(check, at, "%s: %s %u, there are %u",
                          checker_row(check->f->code[at])->name, what, index, count);
}

static bool check_number(struct check *check, uint32_t at, uint32_t index)
{
    return check_index(check, at, index, check->f->constant_count, "constant") &&
           (value_is_number(check->f->constants[index]) ||
            checker_refuse(check, at, "%s: constant %u is not a number",
                           checker_row(check->f->code[at])->name, index));
}

/* behind: registers behind the arguments that belong to the call. */
static bool check_window(struct check *check, uint32_t at, uint32_t behind)
{
    struct instruction i = check->f->code[at];
    if (i.a == 0) /* frames would not grow, and a stack of n registers not end n frames */
        return checker_refuse(check, at, "%s: a window at register 0", checker_row(i)->name);
    return check_index(check, at, (uint32_t)i.a + i.b + behind - MUTANT(22),
                       check->f->register_count, "the window's last register");
}

static bool check_jump(struct check *check, uint32_t at)
{
    struct instruction i = check->f->code[at];
    const struct opcode_row *row = checker_row(i);
    int64_t target = checker_jump_target(row, i, at);
    bool goes_back = row->flow == FLOW_LOOP || row->flow == FLOW_BACK;
    if (target < 0 || target >= check->f->code_count)
        return checker_refuse(check, at, "%s: a jump to %lld, there are %u instructions", row->name,
                              (long long)target, check->f->code_count);
    if (goes_back != (target <= at) && !MUTANT(23))
        return checker_refuse(check, at, "%s: a jump to %lld is a jump %s", row->name,
                              (long long)target, goes_back ? "forward" : "back");
    return true;
}

static bool check_register(struct check *check, uint32_t at, uint32_t index)
{
    return check_index(check, at, index, check->f->register_count, "register");
}

static bool check_operand(struct check *check, uint32_t at, enum opcode_operand kind,
                          uint32_t value)
{
    const struct function *f = check->f;
    uint32_t wide = instruction_wide(f->code[at]);
    switch (kind) {
    case OPERAND_NONE:
        return value == 0 || checker_refuse(check, at, "%s: an unused operand is %u, not 0",
                                            checker_row(f->code[at])->name, value);
    case OPERAND_READ:
    case OPERAND_WRITE:
    case OPERAND_UPDATE:
    case OPERAND_CELL:
    case OPERAND_NEWCELL:
        return check_register(check, at, value);
    case OPERAND_CONST:
        return check_index(check, at, value, f->constant_count, "constant");
    case OPERAND_NUMBER:
        return check_number(check, at, value);
    case OPERAND_SITE:
        return check_index(check, at, value, f->site_count, "site");
    case OPERAND_CAPTURE:
        return check_index(check, at, value, f->capture_count, "capture");
    case OPERAND_CLASS:
        return check_index(check, at, value, f->class_count, "class");
    case OPERAND_COUNT:
        return value <= MOST_ARGUMENTS ||
               checker_refuse(check, at, "%u arguments, at most %d", value, MOST_ARGUMENTS);
    case OPERAND_WINDOW:
        return check_window(check, at, 0);
    case OPERAND_WINDOW1:
        return check_window(check, at, 1);
    case OPERAND_JUMP:
    case OPERAND_JUMP32:
        return check_jump(check, at);
    case OPERAND_CONST32:
        return check_index(check, at, wide, f->constant_count, "constant");
    case OPERAND_GLOBAL32:
        return check_index(check, at, wide, check->global_count, "global");
    case OPERAND_FUNCTION32:
        return check_index(check, at, wide, f->function_count, "function");
    case OPERAND_HIGH:
        return true; /* looked at with its low half */
    }
    return checker_refuse(check, at, "an operand of no kind");
}

/* What the closure takes is there; that the registers hold cells, checker_flow.c proves. */
static bool check_captures(struct check *check, uint32_t at)
{
    const struct function *f = check->f;
    const struct function *inner = f->functions[instruction_wide(f->code[at])];
    if (inner->capture_count > RESOLVER_MAX_CAPTURES || (inner->capture_count && !inner->captures))
        return checker_refuse(check, at, "CLOSURE: a function with %u captures",
                              inner->capture_count);
    for (uint32_t i = 0; i < inner->capture_count; i++) {
        struct capture capture = inner->captures[i];
        if (capture.is_register
                ? !check_index(check, at, capture.index, f->register_count, "captured register")
                : !check_index(check, at, capture.index, f->capture_count, "captured capture"))
            return false;
    }
    return true;
}

static bool check_instruction(struct check *check, uint32_t at)
{
    struct instruction i = check->f->code[at];
    if (i.op >= OPCODE_COUNT || i.op == OP_HALT) /* that is for the frame below the first one */
        return checker_refuse(check, at, "opcode %u is none of a program", i.op);
    const struct opcode_row *row = checker_row(i);
    if (!check_operand(check, at, row->operand[0], i.a) ||
        !check_operand(check, at, row->operand[1], i.b) ||
        !check_operand(check, at, row->operand[2], i.c))
        return false;
    if (row->poll == POLL_STRIP && !MUTANT(24))
        return check_register(check, at, (uint32_t)i.a + STRIP_REGISTERS);
    if (i.op == OP_CLOSURE)
        return check_captures(check, at);
    if (i.op == OP_METHOD && !is_interned_value(check->f->constants[i.c]))
        return checker_refuse(check, at, "METHOD: constant %u is not a name", i.c);
    return true;
}

/* --- the tree of functions ------------------------------------------------------- */

static enum checker_result check_function(struct check *check, bool is_script)
{
    if (!check_counts(check, is_script) || !check_arrays(check) || !check_tables(check))
        return CHECKER_REFUSED;
    for (uint32_t at = 0; at < check->f->code_count; at++)
        if (!check_instruction(check, at))
            return CHECKER_REFUSED;
    return checker_check_flow(check);
}

/* A function in two places would have to be right for two lists of captures, and one in itself
 * has no end. */
static enum checker_result check_list(const struct function_list *list, uint32_t global_count,
                                      struct checker_fault *fault_out)
{
    struct check check = { .global_count = global_count, .fault = fault_out };
    for (size_t i = 0; i < list->count; i++) {
        check.f = list->at[i];
        enum checker_result result = check_function(&check, i == 0);
        if (result != CHECKER_OK)
            return result;
    }
    if (!list->shared || MUTANT(25))
        return CHECKER_OK;
    check.f = list->shared_in;
    checker_refuse(&check, 0, "a function of it is declared in two places, or in itself");
    return CHECKER_REFUSED;
}

enum checker_result checker_check(struct function *script, uint32_t global_count,
                                  struct checker_fault *fault_out)
{
    struct function_list list;
    *fault_out = (struct checker_fault){ .function = script };
    if (!function_list_make(script, &list))
        return CHECKER_NO_MEMORY;
    enum checker_result result = check_list(&list, global_count, fault_out);
    for (size_t i = 0; i < list.count; i++) /* a refused one is not what it was before, either */
        list.at[i]->is_checked = result == CHECKER_OK;
    function_list_free(&list);
    return result;
}
