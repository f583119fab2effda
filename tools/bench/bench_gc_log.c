/* bench_gc_log.c -- see bench_gc_log.h.  SPDX-License-Identifier: MIT */
#include "tools/bench/bench_gc_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The line that begins a pause has no time; the one that ends it has, behind the sizes. */
bool bench_gc_log_line(const char *line, struct hist *pauses_ns)
{
    const char *pause = strstr(line, " Pause "), *space = strrchr(line, ' ');
    char *end;
    if (!pause || !space || !strstr(pause, "->"))
        return false;
    double ms = strtod(space + 1, &end);
    if (end == space + 1 || strncmp(end, "ms", 2) != 0 || !(ms >= 0) || !isfinite(ms))
        return false;
    hist_record(pauses_ns, (uint64_t)llround(ms * 1e6));
    return true;
}

bool bench_gc_log_file(const char *path, struct hist *pauses_ns)
{
    char line[512];
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file))
        bench_gc_log_line(line, pauses_ns);
    fclose(file);
    return true;
}
