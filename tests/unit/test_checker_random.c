/* test_checker_random.c -- random code: what is accepted keeps its bounds, what is refused can be
 * shown.
 *
 * Read next: random_code_that_is_accepted_keeps_its_bounds().
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/checker_tests.h"

#include "base/os.h"
#include "base/prng.h"
#include "vm/disasm.h"

/* --- at random ------------------------------------------------------------------- */

/* opcode.def read a second time, and more simply: one way, with what each register is. */
struct machine {
    const struct function *f;
    bool is_cell[REGISTERS];
};

static bool is_inside(const struct machine *m, uint32_t reg) { return reg < m->f->register_count; }

static void write_register(struct machine *m, uint32_t reg, bool is_cell)
{
    KEEP(is_inside(m, reg), "register %u is written", reg);
    m->is_cell[reg] = is_cell;
}

static void step_operand(struct machine *m, struct instruction i, int k)
{
    const uint32_t value = k == 0 ? i.a : k == 1 ? i.b : i.c;
    const struct function *f = m->f;
    switch (opcode_rows[i.op].operand[k]) {
    case OPERAND_READ:
    case OPERAND_UPDATE:
        KEEP(is_inside(m, value), "register %u is read", value);
        break;
    case OPERAND_CELL:
        KEEP(is_inside(m, value) && m->is_cell[value], "%s of register %u, no cell",
             opcode_rows[i.op].name, value);
        break;
    case OPERAND_NUMBER:
        KEEP(value < f->constant_count && value_is_number(f->constants[value]), "constant %u",
             value);
        break;
    case OPERAND_CONST:
        KEEP(value < f->constant_count, "%s", opcode_rows[i.op].name);
        break;
    case OPERAND_SITE:
        KEEP(value < f->site_count, "%s", opcode_rows[i.op].name);
        break;
    case OPERAND_CAPTURE:
        KEEP(value < f->capture_count, "%s", opcode_rows[i.op].name);
        break;
    case OPERAND_CLASS:
        KEEP(value < f->class_count, "%s", opcode_rows[i.op].name);
        break;
    case OPERAND_CONST32:
        KEEP(instruction_wide(i) < f->constant_count, "%s", opcode_rows[i.op].name);
        break;
    case OPERAND_GLOBAL32:
        KEEP(instruction_wide(i) < GLOBALS, "%s", opcode_rows[i.op].name);
        break;
    case OPERAND_FUNCTION32:
        KEEP(instruction_wide(i) < f->function_count, "%s", opcode_rows[i.op].name);
        break;
    case OPERAND_WINDOW:
    case OPERAND_WINDOW1:
        KEEP(value > 0 && is_inside(m, value + i.b + (i.op == OP_SUPER_INVOKE)),
             "a window of %u from register %u", i.b, value);
        break;
    default:
        break;
    }
}

static void step_writes(struct machine *m, struct instruction i)
{
    enum opcode_operand kind = opcode_rows[i.op].operand[0];
    if (i.op == OP_CLOSURE) {
        const struct function *inner = m->f->functions[instruction_wide(i)];
        for (uint32_t k = 0; k < inner->capture_count; k++) {
            struct capture capture = inner->captures[k];
            KEEP(capture.is_register ? m->is_cell[capture.index]
                                     : capture.index < m->f->capture_count,
                 "CLOSURE takes %u, no cell", capture.index);
        }
    }
    if (kind == OPERAND_WINDOW || kind == OPERAND_WINDOW1)
        for (uint32_t reg = i.a; reg < m->f->register_count; reg++)
            m->is_cell[reg] = false;
    if (kind == OPERAND_WRITE || kind == OPERAND_UPDATE || kind == OPERAND_NEWCELL)
        write_register(m, i.a, i.op == OP_CELL_NEW || (i.op == OP_MOVE && m->is_cell[i.b]));
    if (i.op == OP_STRIP_IF_LESS || i.op == OP_STRIP_IF_LESS_K) {
        KEEP(is_inside(m, i.a + 2u), "the step is register %u", i.a + 2);
        write_register(m, i.a + 1u, false);
    }
}

/* The next instruction, or a value below 0: it has ended. */
static int64_t step(struct machine *m, uint32_t at, struct prng *prng)
{
    struct instruction i = m->f->code[at];
    KEEP(i.op < OP_HALT, "opcode %d", i.op);
    for (int k = 0; k < 3; k++)
        step_operand(m, i, k);
    step_writes(m, i);
    bool is_wide = opcode_rows[i.op].operand[1] == OPERAND_JUMP32;
    int64_t target = (int64_t)at + 1 + (is_wide ? instruction_jump32(i) : instruction_jump16(i));
    switch (opcode_rows[i.op].flow) {
    case FLOW_END:
        return -1;
    case FLOW_JUMP:
        KEEP(target > at, "%s jumps back", opcode_rows[i.op].name);
        return target;
    case FLOW_LOOP:
        KEEP(target <= at, "%s jumps forward", opcode_rows[i.op].name);
        return target;
    case FLOW_BRANCH:
        KEEP(target > at, "%s jumps back", opcode_rows[i.op].name);
        return prng_below(prng, 2) ? target : at + 1;
    case FLOW_BACK:
        KEEP(target <= at, "%s jumps forward", opcode_rows[i.op].name);
        return prng_below(prng, 2) ? target : at + 1;
    default:
        return at + 1;
    }
}

static void run_at_random(const struct function *f, struct prng *prng)
{
    for (int run = 0; run < 20; run++) {
        struct machine m = { .f = f };
        int64_t at = 0;
        for (int steps = 0; at >= 0 && steps < 200; steps++) {
            KEEP(at < f->code_count, "ran over the end");
            at = step(&m, (uint32_t)at, prng);
        }
    }
}

/* Of the right kind, mostly in range, and cells more often than chance would have it. */
static void add_random(struct sample *s, struct prng *prng, uint32_t length)
{
    const uint32_t at = s->f.code_count;
    enum opcode op = prng_below(prng, 3) ? prng_below(prng, OP_HALT)
                                         : (uint32_t[]){ OP_CELL_NEW, OP_CELL_GET, OP_MOVE,
                                                         OP_CLOSURE }[prng_below(prng, 4)];
    const struct opcode_row *row = &opcode_rows[op];
    uint32_t values[3];
    for (int k = 0; k < 3; k++) {
        enum opcode_operand kind = row->operand[k];
        uint32_t wrong = wrong_operand(row, kind);
        values[k] = kind == OPERAND_HIGH ? 0 : (uint32_t)prng_below(prng, wrong);
        if (kind == OPERAND_WINDOW || kind == OPERAND_WINDOW1)
            values[k] = 1 + (uint32_t)prng_below(prng, REGISTERS - 3);
        if (kind == OPERAND_COUNT)
            values[k] = (uint32_t)prng_below(prng, 3);
        if (kind == OPERAND_JUMP || kind == OPERAND_JUMP32)
            values[k] = goes_back(row) ? -1 - (uint32_t)prng_below(prng, at + 1)
                                       : (uint32_t)prng_below(prng, length - at - 1);
    }
    if (row->operand[1] == OPERAND_JUMP32)
        values[2] = values[1] >> 16;
    add(s, op, values[0], values[1], values[2]);
}

static void random_sample(struct sample *s, struct prng *prng)
{
    uint32_t length = 3 + (uint32_t)prng_below(prng, 20);
    sample_start(s);
    s->inner.capture_count = (uint32_t)prng_below(prng, 2);
    s->captures[0] = (struct capture){ true, (uint16_t)prng_below(prng, 3) };
    add(s, OP_CELL_NEW, (uint32_t)prng_below(prng, 3), 0, 0);
    while (s->f.code_count < length - 1)
        add_random(s, prng, length);
    add(s, OP_RETURN_NIL, 0, 0, 0);
}

static void mutate(struct sample *s, struct prng *prng)
{
    struct instruction *i = &s->code[prng_below(prng, s->f.code_count)];
    const uint16_t values[] = { 0, 1, 2, 7, 8, 9, 255, 256, 0x7fff, 0x8000, 0xfffe, 0xffff };
    uint16_t value = values[prng_below(prng, sizeof values / sizeof *values)];
    switch (prng_below(prng, 6)) {
    case 0:
        i->op = (uint16_t)prng_below(prng, OPCODE_COUNT + 1);
        break;
    case 1:
        i->a = value;
        break;
    case 2:
        i->b = value;
        break;
    case 3:
        i->c = value;
        break;
    case 4:
        s->f.register_count = 1 + (uint32_t)prng_below(prng, REGISTERS);
        break;
    default:
        s->captures[0].index = (uint16_t)prng_below(prng, REGISTERS + 1);
        break;
    }
}

static uint64_t seed_of(const char *claim)
{
    const char *given = getenv("CHECKER_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : os_now_ns();
    printf("%s: CHECKER_SEED=%llu\n", claim, (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

/* Replay with CHECKER_SEED=n. */
START_TEST(random_code_that_is_accepted_keeps_its_bounds)
{
    const int rounds = 60000;
    int accepted_plain = 0, accepted_mutated = 0, refused_count = 0;
    struct prng prng;
    prng_seed(&prng, seed_of("random_code_that_is_accepted_keeps_its_bounds"));
    for (int i = 0; i < rounds; i++) {
        struct sample s;
        int mutations = (int)prng_below(&prng, 3);
        random_sample(&s, &prng);
        for (int k = 0; k < mutations; k++)
            mutate(&s, &prng);
        if (check(&s.f) == CHECKER_OK) {
            (*(mutations ? &accepted_mutated : &accepted_plain))++;
            run_at_random(&s.f, &prng);
        } else {
            refused_count++;
        }
    }
    printf("  %d accepted, %d of them mutated; %d refused\n", accepted_plain + accepted_mutated,
           accepted_mutated, refused_count);
    ck_assert_int_gt(accepted_plain, rounds / 100);
    ck_assert_int_gt(accepted_mutated, rounds / 100);
    ck_assert_int_gt(refused_count, rounds / 10);
}
END_TEST

/* --- the disassembler ------------------------------------------------------------ */

static size_t longest_line(const char *text)
{
    size_t longest = 0;
    for (const char *end; (end = strchr(text, '\n')); text = end + 1)
        longest = (size_t)(end - text) > longest ? (size_t)(end - text) : longest;
    return longest;
}

static char *disassemble(const struct function *f, const char *source)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    disasm_print(out, f, source, source ? strlen(source) : 0, NULL, NULL);
    fclose(out);
    return text;
}

/* Anything at all in the words and in the counts that say what else there is. */
START_TEST(refused_code_can_be_shown)
{
    struct prng prng;
    int lines = 0;
    prng_seed(&prng, seed_of("refused_code_can_be_shown"));
    for (int i = 0; i < 4000; i++) {
        struct sample s;
        random_sample(&s, &prng);
        for (uint32_t k = 0; k < s.f.code_count; k++) {
            uint64_t word = prng_next(&prng);
            if (prng_below(&prng, 2))
                memcpy(&s.code[k], &word, sizeof word);
            if (prng_below(&prng, 2))
                s.code[k].op %= OPCODE_COUNT;
            s.lines[k] = (uint32_t)prng_below(&prng, 6);
        }
        s.f.register_count = (uint32_t)prng_below(&prng, 3);
        s.f.functions = prng_below(&prng, 2) ? NULL : s.f.functions;
        s.f.constants = prng_below(&prng, 2) ? NULL : s.f.constants;
        s.f.sites = prng_below(&prng, 2) ? NULL : s.f.sites;
        s.f.classes = prng_below(&prng, 2) ? NULL : s.f.classes;
        s.functions[0] = prng_below(&prng, 2) ? &s.f : &s.inner;
        char *text = disassemble(&s.f, "one\ntwo\r\n\x1b[31m\xff\tthree");
        KEEP(longest_line(text) <= 100, "a line of %zu bytes", longest_line(text));
        KEEP(!strchr(text, '\x1b') && strstr(text, "jumps back: "), "%s", text);
        lines += (int)s.f.code_count;
        free(text);
    }
    ck_assert_int_gt(lines, 4000);
}
END_TEST

START_TEST(listing_has_source_polls_operands_and_a_sum)
{
    struct sample s;
    sample_start(&s);
    add_wide(&s, OP_LOAD_CONST, 1, K_NUMBER);
    add(&s, OP_INVOKE, 1, 1, 0);
    add(&s, OP_STRIP_IF_LESS, 2, 1, (uint16_t)-3);
    add_wide(&s, OP_LOOP, 0, (uint32_t)-4);
    add(&s, OP_NEXT_IF_LESS, 2, 1, (uint16_t)-5);
    add(&s, OP_RETURN, REGISTERS, 0, 0);
    s.lines[0] = s.lines[1] = 1;
    for (int i = 2; i < 6; i++)
        s.lines[i] = 2;
    char *text = disassemble(&s.f, "var a;\nfor (;;) {}");
    const char *parts[] = {
        "== script: 0 parameters, 8 registers, 0 captures, 6 instructions\n"
        "             1 | var a;\n",
        "             0  LOAD_CONST                  r1, 1.5\n",
        "             1  INVOKE                      r1, 1 argument, .name\n"
        "             2 | for (;;) {}\n"
        "strip        2  STRIP_IF_LESS               r2, r1, -> 0, strip end r3, step r4\n"
        "poll         3  LOOP                        -> 0\n"
        "no poll      4  NEXT_IF_LESS                r2, r1, -> 0\n"
        "poll         5  RETURN                      r8?\n",
        "== name, line 1: 0 parameters, 1 register, 0 captures, 1 instruction\n",
        "2 functions, 7 instructions; jumps back: 1 poll, 1 poll once per strip, 1 do not\n",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ck_assert_msg(strstr(text, parts[i]) != NULL, "not in the listing:\n%s\nbut:\n%s", parts[i],
                      text);
    free(text);
}
END_TEST

TCase *checker_random_cases(void)
{
    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 100);
    tcase_add_test(random, random_code_that_is_accepted_keeps_its_bounds);
    tcase_add_test(random, refused_code_can_be_shown);
    tcase_add_test(random, listing_has_source_polls_operands_and_a_sum);
    return random;
}
