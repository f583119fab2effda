/* fuzz.h -- what both harnesses share: a process that runs one guest program after another.
 *
 * Read next: fuzz_source.c and fuzz_bytecode.c (the harnesses), fuzz_replay.c (the same inputs
 *            without libFuzzer, for every build).
 *
 * Each input gets a heap of its own and a thread that attaches and detaches.  The interpreter
 * is built with STILLPOINT_FUEL, so that every program ends.  After each run all objects are
 * checked in a stop, as a collector would meet them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "vm/program.h"

#include <stddef.h>
#include <stdint.h>

/* The harnesses.  What they find, they abort for: a sanitizer's report, one of our checks, or
 * fuzz_found(). */
void fuzz_source_one(const uint8_t *data, size_t bytes);
void fuzz_bytecode_one(const uint8_t *data, size_t bytes);

/* What became of the inputs so far; a harness that refuses everything has found nothing. */
struct fuzz_counts {
    uint64_t inputs, compiled, refused, accepted, ended, failed, out_of_fuel;
};
extern struct fuzz_counts fuzz_counts;

/* Programs that together use every instruction, see fuzz_seeds.c. */
extern const char *const fuzz_seeds[];
extern const size_t fuzz_seed_count;

/* A heap and a thread for one input; the first call starts the process. */
struct guest_thread *fuzz_begin(void);
void fuzz_end(struct guest_thread *thread);
/* NULL = it does not compile. */
struct program *fuzz_compile(struct guest_thread *thread, const char *source, size_t bytes);
void fuzz_run(struct guest_thread *thread, struct program *program);
/* /dev/null */
FILE *fuzz_nowhere(void);
_Noreturn void fuzz_found(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
