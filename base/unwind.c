/* unwind.c -- see unwind.h.  SPDX-License-Identifier: MIT */
#define UNW_LOCAL_ONLY
#include "base/unwind.h"

#include <libunwind.h>
#include <stdint.h>
#include <stdio.h>

static int capture(unw_cursor_t *cursor, void **frames_out, int most)
{
    int n = 0;
    while (n < most) {
        unw_word_t ip;
        if (unw_get_reg(cursor, UNW_REG_IP, &ip) != 0 || ip == 0)
            break;
        frames_out[n++] = (void *)(uintptr_t)ip;
        if (unw_step(cursor) <= 0)
            break;
    }
    return n;
}

void unwind_prime(void)
{
    unw_context_t context;
    unw_cursor_t cursor;
    void *frames[8];
    if (unw_getcontext(&context) == 0 && unw_init_local(&cursor, &context) == 0)
        capture(&cursor, frames, 8);
}

int unwind_capture(void *signal_context, void **frames_out, int most)
{
    unw_cursor_t cursor;
    if (unw_init_local2(&cursor, signal_context, UNW_INIT_SIGNAL_FRAME) != 0)
        return 0;
    return capture(&cursor, frames_out, most);
}

void unwind_name(void *address, char *text_out, size_t bytes)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t offset = 0;
    char name[160];
    snprintf(text_out, bytes, "?");
    if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0 ||
        unw_set_reg(&cursor, UNW_REG_IP, (unw_word_t)(uintptr_t)address) != 0)
        return;
    int r = unw_get_proc_name(&cursor, name, sizeof name, &offset);
    if (r == 0 || r == -UNW_ENOMEM) /* too long: the name is cut, still a name */
        snprintf(text_out, bytes, "%s+0x%lx", name, (unsigned long)offset);
}
