/* fuzz_replay.c -- the harnesses without libFuzzer: kept inputs, then random ones from a seed.
 *
 * Read next: main().
 *
 *   fuzz_replay [--inputs N] [--seed S] CORPUS    CORPUS/source/... and CORPUS/bytecode/...
 *   fuzz_replay --one HARNESS FILE                one input, for a debugger
 *
 * A report of a finding is followed by the number of the input, --first N --inputs 1.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"

#include "base/crash.h"
#include "base/prng.h"
#include "safepoint/stops.h"
#include "vm/function_list.h"
#include "vm/opcode.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES 4096

static const struct harness {
    const char *name;
    void (*one)(const uint8_t *data, size_t bytes);
} harnesses[] = { { "source", fuzz_source_one }, { "bytecode", fuzz_bytecode_one } };
#define HARNESSES (sizeof harnesses / sizeof *harnesses)

static _Noreturn void stop(const char *what, const char *which)
{
    fprintf(stderr, "fuzz_replay: %s %s\n", what, which);
    exit(EXIT_FAILURE);
}

/* The input, as a report of a crash names it. */
static char running[4200];

/* Called by the sanitizers, and by our own crash report. */
static void say_which(void)
{
    if (write(STDERR_FILENO, running, strlen(running)) < 0)
        return; /* nobody to tell */
}

/* --- kept inputs ------------------------------------------------------------------- */

static void replay_file(const struct harness *harness, const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file)
        stop("cannot read", path);
    size_t bytes = fread(data, 1, sizeof data, file);
    fclose(file);
    snprintf(running, sizeof running, "in input %s\n", path);
    harness->one(data, bytes);
}

static size_t replay_folder(const struct harness *harness, const char *corpus)
{
    char path[4096];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/%s", corpus, harness->name);
    DIR *folder = opendir(path);
    if (!folder)
        stop("cannot read", path);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", corpus, harness->name, entry->d_name);
        replay_file(harness, path);
        count++;
    }
    closedir(folder);
    return count;
}

/* --- random inputs ------------------------------------------------------------------- */

static size_t random_bytecode(uint8_t *data, struct prng *prng)
{
    size_t changes = 1 + prng_below(prng, prng_below(prng, 4) ? 3 : 16);
    for (size_t i = 0; i < 1 + 6 * changes; i++)
        data[i] = (uint8_t)prng_next(prng);
    for (size_t i = 0; i < changes; i++) /* small values are accepted more often */
        if (prng_below(prng, 2))
            data[1 + 6 * i + 5] = 0;
    return 1 + 6 * changes;
}

/* Part of one program, then part of another. */
static size_t splice(uint8_t *data, struct prng *prng)
{
    const char *first = fuzz_seeds[prng_below(prng, fuzz_seed_count)];
    const char *second = fuzz_seeds[prng_below(prng, fuzz_seed_count)];
    size_t head = prng_below(prng, strlen(first) + 1);
    size_t from = prng_below(prng, strlen(second) + 1), tail = strlen(second) - from;
    memcpy(data, first, head);
    memcpy(data + head, second + from, tail);
    return head + tail;
}

static size_t replace(uint8_t *data, size_t bytes, struct prng *prng)
{
    static const char *const pieces[] = { "(",       ")",       "{",    "}",      ";",    "=",
                                          "==",      "<",       "this", "super",  "fun ", "1e9",
                                          "0",       "nil",     "var ", "class ", "init", "for (",
                                          "while (", "return ", "\"",   "//",     "[",    "]",
                                          ".",       "\xff",    "and " };
    const char *piece = pieces[prng_below(prng, sizeof pieces / sizeof *pieces)];
    size_t length = strlen(piece), at = prng_below(prng, bytes + 1);
    size_t gone = prng_below(prng, 2) ? 0 : prng_below(prng, 6);
    if (gone > bytes - at)
        gone = bytes - at;
    if (bytes + length - gone > MOST_BYTES)
        return bytes;
    memmove(data + at + length, data + at + gone, bytes - at - gone);
    memcpy(data + at, piece, length);
    return bytes + length - gone;
}

static size_t random_source(uint8_t *data, struct prng *prng)
{
    const char *seed = fuzz_seeds[prng_below(prng, fuzz_seed_count)];
    size_t bytes = strlen(seed);
    if (prng_below(prng, 2))
        bytes = splice(data, prng);
    else
        memcpy(data, seed, bytes);
    for (size_t edits = prng_below(prng, 4); edits > 0; edits--)
        bytes = replace(data, bytes, prng);
    return bytes;
}

/* Input number n depends on the seed and n only, so one can be run alone. */
static void random_input(uint64_t seed, uint64_t number)
{
    static uint8_t data[2 * MOST_BYTES];
    struct prng prng;
    prng_seed(&prng, seed + number);
    if (number % 3 == 0)
        fuzz_source_one(data, random_source(data, &prng));
    else
        fuzz_bytecode_one(data, random_bytecode(data, &prng));
}

/* --- are the seeds what they should be? ----------------------------------------------------- */

static void note_opcodes(struct function *script, bool *occurs)
{
    struct function_list list;
    if (!function_list_make(script, &list))
        stop("no memory for", "a list");
    for (size_t i = 0; i < list.count; i++)
        for (uint32_t at = 0; at < list.at[i]->code_count; at++)
            occurs[list.at[i]->code[at].op] = true;
    function_list_free(&list);
}

/* Every instruction but HALT and those that only flags bring about. */
static void check_seeds(void)
{
    bool occurs[OPCODE_COUNT] = { [OP_HALT] = true }, is_complete = true;
    for (size_t i = 0; i < fuzz_seed_count; i++) {
        struct guest_thread *thread = fuzz_begin();
        struct program *program = fuzz_compile(thread, fuzz_seeds[i], strlen(fuzz_seeds[i]));
        if (!program)
            fuzz_found("seed %zu does not compile", i);
        note_opcodes(program_script(program), occurs);
        fuzz_run(thread, program);
        program_destroy(program);
        fuzz_end(thread);
        if (fuzz_counts.ended != i + 1)
            fuzz_found("seed %zu fails, or runs out of fuel", i);
    }
    for (int op = 0; op < OPCODE_COUNT; op++)
        if (!occurs[op] && opcode_rows[op].poll != POLL_NOPOLL) {
            fprintf(stderr, "no seed has %s\n", opcode_rows[op].name);
            is_complete = false;
        }
    if (!is_complete)
        stop("the seeds lack", "instructions");
}

static void describe_crash(void)
{
    stops_describe();
    say_which();
}

/* UBSan has a runtime of its own, which knows nothing of that callback: it aborts, and the crash
 * report says which input it was. */
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) { return "abort_on_error=1"; }

/* Present in sanitizer builds only. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

int main(int argc, char **argv)
{
    uint64_t inputs = 6000, seed = 1, first = 0;
    const char *corpus = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--inputs") == 0 && i + 1 < argc)
            inputs = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--first") == 0 && i + 1 < argc)
            first = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--one") == 0 && i + 2 < argc) {
            replay_file(&harnesses[strcmp(argv[i + 1], "source") != 0], argv[i + 2]);
            return EXIT_SUCCESS;
        } else
            corpus = argv[i];
    }
    if (!corpus)
        stop("no", "corpus");
    check_seeds();
    crash_set_describe(describe_crash);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(say_which);
    size_t kept = 0;
    for (size_t h = 0; h < HARNESSES; h++)
        kept += replay_folder(&harnesses[h], corpus);
    for (uint64_t n = first; n < first + inputs; n++) {
        snprintf(running, sizeof running, "in input %llu\n", (unsigned long long)n);
        random_input(seed, n);
    }
    const struct fuzz_counts *c = &fuzz_counts;
    printf("%zu kept inputs, %llu random ones: %llu compiled; changed code: %llu refused, %llu "
           "accepted\n"
           "%llu ended, %llu failed, %llu ran out of fuel\n",
           kept, (unsigned long long)inputs, (unsigned long long)c->compiled,
           (unsigned long long)c->refused, (unsigned long long)c->accepted,
           (unsigned long long)c->ended, (unsigned long long)c->failed,
           (unsigned long long)c->out_of_fuel);
    /* Enough of each kind, or nothing was shown. */
    bool is_enough = kept > 0 && c->refused > inputs / 20 && c->accepted > inputs / 20 &&
                     c->ended > inputs / 20 && c->failed > inputs / 20;
    if (!is_enough)
        stop("too few", "of some kind");
    return EXIT_SUCCESS;
}
