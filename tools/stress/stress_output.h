/* stress_output.h -- what a guest program under stress prints, checked line by line.
 *
 * Read next: tools/stress/guest/prints.lox, which prints such lines.
 * Layer:     tools/.  Who may call: the thread that reads the pipe.
 *
 * A line of prints.lox is
 *
 *     line 07 0042 hhhhhhh...
 *
 * the thread, its lines counted from 0000 to 9999 and round again, and a tail whose letter
 * and length follow from both.  A torn, lost, doubled or misplaced line is none of these or
 * not the next one.  All other lines are what the program says: one with its number of
 * checks at the end, or what it read and should not have.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_STRESS_STRESS_OUTPUT_H
#define TOOLS_STRESS_STRESS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRESS_OUTPUT_THREADS 100 /* two digits */

/* All bytes zero is the beginning. */
struct stress_output {
    char line[128];                       /* the one that is not over, cut to fit */
    size_t length;                        /* of it, whole */
    uint32_t next[STRESS_OUTPUT_THREADS]; /* the number of the thread's next line */
    uint64_t lines;                       /* of the form above */
    uint32_t said_lines;                  /* others */
    char said[200];                       /* the first of them, a comma between two */
    char wrong[200];                      /* the first line that is not as promised, "" = none */
};

/* The next piece of what was printed, cut anywhere. */
void stress_output_take(struct stress_output *output, const char *bytes, size_t count);
/* After the last.  True when each line was right and the program said one thing, a number
 * above 0: *checks_out.  If it printed lines they must be as many; guest numbers print with
 * six digits, so below a million. */
bool stress_output_end(struct stress_output *output, uint64_t *checks_out);

#endif
