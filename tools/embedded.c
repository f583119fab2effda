/* embedded.c -- see embedded.h.  SPDX-License-Identifier: MIT */
#include "tools/embedded.h"

#include <string.h>

const struct embedded_file *embedded_find(const char *name)
{
    for (size_t i = 0; i < embedded_file_count; i++)
        if (strcmp(embedded_files[i].name, name) == 0)
            return &embedded_files[i];
    return NULL;
}
