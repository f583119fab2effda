/* insist.c -- the failing half of insist.h.  SPDX-License-Identifier: MIT */
#include "base/insist.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void insist_failed(const char *file, int line, const char *expression, const char *format, ...)
{
    char text[768];
    const int room = (int)sizeof text - 2;
    int n = snprintf(text, sizeof text, "stillpoint: %s:%d: check failed: %s: ", file, line,
                     expression);
    if (n < 0)
        n = 0;
    if (n < room) {
        va_list ap;
        va_start(ap, format);
        int more = vsnprintf(text + n, sizeof text - 1 - (size_t)n, format, ap);
        va_end(ap);
        n += more > 0 ? more : 0;
    }
    if (n > room)
        n = room;
    text[n] = '\n';
    if (write(STDERR_FILENO, text, (size_t)n + 1) < 0)
        abort(); /* nowhere to say it; the abort below is all we have */
    abort();
}
