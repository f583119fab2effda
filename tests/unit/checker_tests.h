/* checker_tests.h -- small functions made by hand, and what the checker says of them.
 *
 * Read next: struct sample below.  For test_checker*.c, which are one program.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_CHECKER_TESTS_H
#define TESTS_UNIT_CHECKER_TESTS_H

#include "vm/checker.h"
#include "vm/opcode.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The cases of the other two files. */
TCase *checker_cells_cases(void);
TCase *checker_random_cases(void);

/* ck_assert() writes to a pipe each time; what is reached very often uses this. */
#define KEEP(claim, ...)                                                                           \
    do {                                                                                           \
        if (!(claim))                                                                              \
            ck_abort_msg(__VA_ARGS__);                                                             \
    } while (0)

/* --- code by hand ---------------------------------------------------------------- */

struct text_object {
    _Atomic uint64_t header;
    _Atomic value_t length;
    char bytes[8];
};

#define STRING_HEADER(flags) ((uint64_t)(flags) << 40 | (uint64_t)OBJECT_STRING << 32)
static __attribute__((unused)) struct text_object name = { STRING_HEADER(OBJECT_FLAG_INTERNED), 4,
                                                           "name" };
static __attribute__((unused)) struct text_object loose = { STRING_HEADER(0), 5, "loose" };
#define NAME  ((struct object *)&name)
#define LOOSE ((struct object *)&loose)

#define GLOBALS   2u
#define REGISTERS 8u
#define MOST_CODE 64

enum { K_NUMBER, K_NAME, CONSTANTS };

/* A script and one function in it. */
struct sample {
    struct function f, inner, *functions[2];
    struct instruction code[MOST_CODE], inner_code[2];
    uint32_t lines[MOST_CODE];
    value_t constants[CONSTANTS];
    struct site site;
    struct class_site class;
    struct capture captures[2], own_captures[2];
};

static inline void sample_start(struct sample *s)
{
    memset(s, 0, sizeof *s);
    s->constants[K_NUMBER] = value_of_double(1.5);
    s->constants[K_NAME] = value_of_object(NAME);
    s->site.name = s->class.name = NAME;
    s->inner_code[0] = (struct instruction){ OP_RETURN_NIL, 0, 0, 0 };
    s->inner = (struct function){ .name = NAME,
                                  .register_count = 1,
                                  .code = s->inner_code,
                                  .code_count = 1,
                                  .lines = s->lines,
                                  .captures = s->captures };
    s->functions[0] = &s->inner;
    s->f = (struct function){ .register_count = REGISTERS,
                              .code = s->code,
                              .lines = s->lines,
                              .constants = s->constants,
                              .constant_count = CONSTANTS,
                              .sites = &s->site,
                              .site_count = 1,
                              .captures = s->own_captures,
                              .functions = s->functions,
                              .function_count = 1,
                              .classes = &s->class,
                              .class_count = 1 };
}

static inline void add(struct sample *s, enum opcode op, uint32_t a, uint32_t b, uint32_t c)
{
    KEEP(s->f.code_count < MOST_CODE, "too much code");
    s->code[s->f.code_count++] =
        (struct instruction){ (uint16_t)op, (uint16_t)a, (uint16_t)b, (uint16_t)c };
}

static inline void add_wide(struct sample *s, enum opcode op, uint32_t a, uint32_t wide)
{
    add(s, op, a, wide & 0xffff, wide >> 16);
}

static __attribute__((unused)) struct checker_fault fault;

static inline enum checker_result check(struct function *f)
{
    enum checker_result result = checker_check(f, GLOBALS, &fault);
    KEEP(result != CHECKER_NO_MEMORY, "no memory");
    KEEP(f->is_checked == (result == CHECKER_OK), "is_checked is %d", f->is_checked);
    if (result == CHECKER_REFUSED)
        KEEP(fault.function && fault.text[0] && strlen(fault.text) < sizeof fault.text - 1,
             "a fault without a function or a text, or a cut one: %s", fault.text);
    return result;
}

static inline void accepted(struct sample *s)
{
    ck_assert_msg(check(&s->f) == CHECKER_OK, "refused at %u: %s", fault.at, fault.text);
}

/* For the reason meant, not for another. */
static inline void refused(struct sample *s, uint32_t at, const char *why)
{
    ck_assert_msg(check(&s->f) == CHECKER_REFUSED, "accepted, in spite of: %s", why);
    ck_assert_msg(strstr(fault.text, why) != NULL, "refused for \"%s\", not for \"%s\"", fault.text,
                  why);
    ck_assert_uint_eq(fault.at, at);
}

/* --- what opcode.def says of operands -------------------------------------------- */

static inline bool goes_back(const struct opcode_row *row)
{
    return row->flow == FLOW_LOOP || row->flow == FLOW_BACK;
}

/* The least value that is out of range; 0 = every value is in range. */
static inline uint32_t wrong_operand(const struct opcode_row *row, enum opcode_operand kind)
{
    switch (kind) {
    case OPERAND_HIGH:
        return row->operand[1] == OPERAND_JUMP32 ? 0x7fff : 1;
    case OPERAND_NONE:
    case OPERAND_SITE:
    case OPERAND_CLASS:
    case OPERAND_CAPTURE:
    case OPERAND_FUNCTION32:
        return 1;
    case OPERAND_CONST:
    case OPERAND_CONST32:
        return CONSTANTS;
    case OPERAND_NUMBER:
        return K_NAME;
    case OPERAND_GLOBAL32:
        return GLOBALS;
    case OPERAND_COUNT:
        return 256;
    case OPERAND_WINDOW:
        return REGISTERS - 1;
    case OPERAND_WINDOW1:
        return REGISTERS - 2;
    case OPERAND_JUMP:
    case OPERAND_JUMP32:
        return goes_back(row) ? (uint32_t)-3 : 1;
    default:
        return REGISTERS;
    }
}

#endif
