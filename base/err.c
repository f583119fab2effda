/* err.c -- the texts of enum err.  SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <stddef.h>

const char *err_text(enum err e)
{
    static const char *const texts[] = {
#define X(name, text) text,
        ERR_LIST(X)
#undef X
    };
    return (size_t)e < sizeof texts / sizeof *texts ? texts[e] : "an unknown error";
}
