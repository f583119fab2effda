/* test_heap_verify.c -- claims about the verifier: it finds what is broken, and nothing else.
 *
 * Each row breaks one thing, sees it found with its words, repairs it, and sees the heap
 * found good again.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/heap_tests.h"

#include <stdio.h>

/* An ARRAY of six values and a CELL behind it, a BYTES and another CELL; a humongous one. */
static struct object *array, *cell, *bytes, *big;
static struct rooted *root;

static void build(struct rooted *slot)
{
    root = slot;
    array = new_with_length(&self, OBJECT_ARRAY, 6);
    cell = new_cell(&self);
    bytes = new_with_length(&self, OBJECT_BYTES, 40);
    struct object *last = new_cell(&self);
    big = new_with_length(&self, OBJECT_ARRAY, 10000); /* 80016 bytes: 2 regions of 64k */
    ck_assert(array && cell && bytes && last && big);
    ck_assert_ptr_eq((char *)cell, (char *)array + 8 * 8); /* neighbours, in this order */
    static const char *const raw = "immortal, wherever it is";
    const value_t values[6] = { value_of_object(cell),  VALUE_NIL,
                                value_of_double(-0.0),  VALUE_ABSENT,
                                value_of_object(array), (uintptr_t)raw };
    for (int i = 0; i < 6; i++)
        store_relaxed(&array->word[1 + i], values[i]);
    store_relaxed(&cell->word[0], value_of_object(big));
    store_relaxed(&last->word[0], value_of_object(bytes));
    store_relaxed(&big->word[10000], value_of_object(last));
    for (int i = 1; i < 6; i++)
        store_relaxed(&bytes->word[i], UINT64_C(0x1234567) + i); /* raw: any bits */
    slot->value = value_of_object(array);
}

struct breakage {
    const char *what, *words; /* in the message */
    void (*broken)(void);
};

static uint64_t header_of(const struct object *o) { return load_relaxed(&o->header); }
static void set_header(struct object *o, uint64_t header) { store_relaxed(&o->header, header); }
static void set_word(struct object *o, uint64_t i, uint64_t v) { store_relaxed(&o->word[i], v); }
static struct region *region(uint32_t i) { return &heap.regions.region[i]; }

static void inside(void) { set_word(array, 1, value_of_object(cell) + 8); }
static void unaligned(void) { set_word(array, 1, value_of_object(cell) + 4); }
static void beyond(void) { set_word(array, 6, (uintptr_t)heap.regions.space.base + 512 * KIB); }
static void no_value(void) { set_word(array, 2, 32); }
static void cell_inside(void) { set_word(cell, 0, value_of_object(array) + 8); }
static void big_inside(void) { set_word(big, 10000, value_of_object(big) + 800); }
static void gone(void) { set_header(cell, 0); }
static void no_kind(void) { set_header(cell, UINT64_C(2) << 48 | UINT64_C(200) << 32); }
static void native(void) { set_header(cell, object_header(OBJECT_NATIVE, 2, 0)); }
static void too_long(void) { set_header(cell, object_header(OBJECT_CELL, 0xffff, 0)); }
static void no_size(void) { set_header(cell, object_header(OBJECT_CELL, 0, 0)); }
static void two_sizes(void) { set_header(array, object_header(OBJECT_ARRAY, 8, 0)); }
static void shaped(void) { set_header(cell, header_of(cell) | 7); }
static void flagged(void) { set_header(cell, header_of(cell) | UINT64_C(1) << 40); }
static void longer(void) { set_word(array, 0, 8); }  /* over the CELL behind it */
static void shorter(void) { set_word(bytes, 0, 8); } /* its last bytes become a header */
static void huge(void) { set_word(bytes, 0, UINT64_C(1) << 50); }
static void wide(void) { set_word(bytes, 0, UINT64_C(1) << 40); }
static void bad_root(void) { root->value = value_of_object(array) + 8; }
static void odd_root(void) { root->value = 40; }
static void miscounted(void) { heap.used_bytes += 8; }
static void one_more(void) { heap.regions.used++; }
static void cut_off(void)
{
    region(2)->state = REGION_FREE;
    heap.regions.used--;
    heap.regions.humongous--;
    heap.used_bytes -= 64 * KIB;
}
static void orphan(void) { region(1)->state = REGION_HUMONGOUS_NEXT; }
static void overfull(void)
{
    region(0)->used_bytes += 64 * KIB;
    heap.used_bytes += 64 * KIB;
}
static void too_small(void) { region(1)->used_bytes -= 8; }
static void not_empty(void)
{
    heap.regions.high++;
    region(3)->used_bytes = 8;
}
static void not_memory(void) { heap.regions.high = heap.regions.committed + 1; }

static const struct breakage breakages[] = {
    { "a reference into an object", "word 1, 0x", inside },
    { "an unaligned reference", "is where no object starts", unaligned },
    { "a reference to unused memory", "is where no object starts", beyond },
    { "bits that are no value", "the ARRAY at ", no_value },
    { "a cell's bad reference", "the CELL at ", cell_inside },
    { "a humongous array's bad reference", "word 10000, 0x", big_inside },
    { "an object that vanished", " at 0x", gone },
    { "an unknown kind", "has kind 200, which is not in the heap", no_kind },
    { "a NATIVE in the heap", "which is not in the heap", native },
    { "an object longer than its region", "65535 words, goes beyond", too_long },
    { "a CELL without a size", "is no header of a CELL", no_size },
    { "an ARRAY with two sizes", "is no header of a ARRAY", two_sizes },
    { "a CELL with a shape", "has shape 7", shaped },
    { "flags in the heap", "has flags 0x1", flagged },
    { "a length that swallows the next object", "is where no object starts", longer },
    { "a length that leaves a rest", "the header at ", shorter },
    { "a length no object can have", "has length 0x4000000000000", huge },
    { "a length beyond the heap", "goes beyond", wide },
    { "a bad root", "the ROOTED slot at ", bad_root },
    { "a root that is no value", "is no value", odd_root },
    { "bytes counted wrongly", "counted were ", miscounted },
    { "regions counted wrongly", "counted were ", one_more },
    { "a humongous object cut off", "region 2 does not go on with the object of region 1",
      cut_off },
    { "a region that continues nothing", "region 1 continues no object", orphan },
    { "a region with more than it holds", "region 0 holds ", overfull },
    { "a humongous object larger than its place", "goes beyond", too_small },
    { "a free region that is not empty", "free region 3 holds 8 bytes", not_empty },
    { "a taken region that is no memory", "regions were taken", not_memory },
};

/* What the rows change, as it was. */
struct snapshot {
    uint64_t array[8], cell[2], bytes[7], first[2], last_word;
    struct region region[4];
    struct region_table table;
    uint64_t used_bytes;
    value_t root;
};

static void copy_words(uint64_t *to, const struct object *from, size_t words)
{
    for (size_t i = 0; i < words; i++)
        to[i] = i ? load_relaxed(&from->word[i - 1]) : load_relaxed(&from->header);
}

static void put_words(struct object *to, const uint64_t *from, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (i)
            set_word(to, i - 1, from[i]);
        else
            set_header(to, from[0]);
}

static void save(struct snapshot *s)
{
    copy_words(s->array, array, 8);
    copy_words(s->cell, cell, 2);
    copy_words(s->bytes, bytes, 7);
    copy_words(s->first, big, 2);
    s->last_word = load_relaxed(&big->word[10000]);
    memcpy(s->region, heap.regions.region, sizeof s->region);
    s->table = heap.regions;
    s->used_bytes = heap.used_bytes;
    s->root = root->value;
}

static void restore(const struct snapshot *s)
{
    put_words(array, s->array, 8);
    put_words(cell, s->cell, 2);
    put_words(bytes, s->bytes, 7);
    put_words(big, s->first, 2);
    set_word(big, 10000, s->last_word);
    heap.regions = s->table;
    memcpy(heap.regions.region, s->region, sizeof s->region);
    heap.used_bytes = s->used_bytes;
    root->value = s->root;
}

START_TEST(the_verifier_finds_each_breakage_and_nothing_after_its_repair)
{
    const struct breakage *b = &breakages[_i];
    struct snapshot snapshot;
    BEGIN("-Xmx1m", "-Xms1m", "-XX:G1HeapRegionSize=64k", "-XX:TLABSize=4k");
    ROOTED(&self, slot, VALUE_NIL);
    build(&slot);
    verify_or_die();
    save(&snapshot);
    b->broken();
    struct verdict verdict = verify();
    ck_assert_msg(!verdict.is_good, "%s was not found", b->what);
    ck_assert_msg(strstr(verdict.text, b->words) != NULL, "%s: %s", b->what, verdict.text);
    restore(&snapshot);
    verify_or_die();
}
END_TEST

static value_t global;
static void each_global(struct root_visitor *visitor) { root_visit(visitor, &global, "global"); }

static value_t registers[3];
static void each_register(struct mutator *mutator, struct root_visitor *visitor)
{
    ck_assert_ptr_eq(mutator, &self);
    root_visit_range(visitor, registers, registers + 3, "register");
}

START_TEST(roots_of_every_origin_are_looked_at)
{
    static const struct {
        value_t *slot;
        const char *words;
    } roots[] = { { &global, "the global at " },
                  { &registers[0], "the register at " },
                  { &registers[2], "the register at " } };
    roots_set_common(each_global);
    BEGIN("-Xmx1m");
    self.each_root_at_safepoint = each_register;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        struct object *o = new_cell(&self);
        *roots[i].slot = value_of_object(o);
        verify_or_die();
        *roots[i].slot = value_of_object(o) + 8;
        struct verdict verdict = verify();
        ck_assert(!verdict.is_good);
        ck_assert_msg(strstr(verdict.text, roots[i].words) != NULL, "%s", verdict.text);
        *roots[i].slot = VALUE_NIL;
    }
}
END_TEST

/* A moving collector will rewrite what it is shown: the slots themselves. */
static void forget(struct root_visitor *visitor, value_t *slot, const char *what)
{
    (void)visitor;
    (void)what;
    *slot = VALUE_TRUE;
}
static void forget_all(void *visitor) { roots_visit_at_safepoint(visitor); }

START_TEST(a_visitor_is_shown_the_slots_and_can_rewrite_them)
{
    struct root_visitor visitor = { forget };
    BEGIN("-Xmx1m");
    ROOTED(&self, outer, VALUE_NIL);
    {
        ROOTED(&self, inner, VALUE_NIL);
        stops_force(forget_all, &visitor);
        ck_assert_uint_eq(inner.value, VALUE_TRUE);
    }
    ck_assert_uint_eq(outer.value, VALUE_TRUE);
    outer.value = VALUE_NIL;
    stops_force(forget_all, &visitor);
    ck_assert_uint_eq(outer.value, VALUE_TRUE);
    ck_assert_ptr_eq(self.rooted, &outer); /* the inner one is gone */
}
END_TEST

START_TEST(a_heap_that_is_off_or_empty_is_good)
{
    char text[100] = "";
    ck_assert(heap_verify_at_safepoint(text, sizeof text));
    BEGIN("-Xmx1m");
    verify_or_die();
    ck_assert_ptr_nonnull(new_cell(&self));
    verify_or_die();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("heap_verify");
    TCase *tc = tcase_create("heap_verify");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, the_verifier_finds_each_breakage_and_nothing_after_its_repair, 0,
                        (int)(sizeof breakages / sizeof *breakages));
    tcase_add_test(tc, roots_of_every_origin_are_looked_at);
    tcase_add_test(tc, a_visitor_is_shown_the_slots_and_can_rewrite_them);
    tcase_add_test(tc, a_heap_that_is_off_or_empty_is_good);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
