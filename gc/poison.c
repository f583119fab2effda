/* poison.c -- see poison.h.  SPDX-License-Identifier: MIT */
#include "gc/poison.h"

#include "base/os.h"

#ifndef __SANITIZE_ADDRESS__
void poison_close(char *start, size_t bytes) { (void)os_protect(start, bytes, false); }

void poison_open(char *start, size_t bytes)
{
    bool is_open = os_protect(start, bytes, true);
    INSIST(is_open, "the system does not open %zu bytes at %p again", bytes, (void *)start);
}
#endif
