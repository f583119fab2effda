/* embedded.h -- files that were compiled into the program, by name.
 *
 * Read next: cmake/embed.cmake, which writes the table; tools/CMakeLists.txt says which
 *            files the program has.
 * Layer:     tools/.  Who may call: [any].
 *
 * Promises
 *   P1  The bytes are those of the file, all of them, whatever they are.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_EMBEDDED_H
#define TOOLS_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
    const char *name;  /* "bench/interp/fib.lox", relative to the folder that embeds it */
    const char *bytes; /* and behind them a NUL that does not count */
    size_t length;
};

/* NULL when the program has none of this name. */
const struct embedded_file *embedded_find(const char *name);

/* The table, in the order in which CMake names the files. */
extern const struct embedded_file embedded_files[];
extern const size_t embedded_file_count;

#endif
