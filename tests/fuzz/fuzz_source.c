/* fuzz_source.c -- any bytes as source: compile them, and if they compile, run them.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

/* A copy of the exact size: the scanner must not look behind the end. */
void fuzz_source_one(const uint8_t *data, size_t bytes)
{
    struct guest_thread *thread = fuzz_begin();
    char *source = malloc(bytes ? bytes : 1);
    if (!source)
        fuzz_found("no memory for %zu bytes", bytes);
    memcpy(source, data, bytes);
    struct program *program = fuzz_compile(thread, source, bytes);
    free(source); /* nor keep it */
    if (program)
        fuzz_run(thread, program);
    program_destroy(program);
    fuzz_end(thread);
}

#ifdef STILLPOINT_FUZZ
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_source_one(data, bytes);
    return 0;
}
#endif
