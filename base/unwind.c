/* unwind.c -- see unwind.h.  SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* dladdr1 */
#define UNW_LOCAL_ONLY
#include "base/unwind.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

/* Whether the symbol that the loader names really covers the address. */
static bool symbol_holds(const Dl_info *library, void *address)
{
    Dl_info again;
    const ElfW(Sym) *symbol = NULL;
    if (!dladdr1(address, &again, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
        return false;
    return (char *)address < (char *)library->dli_saddr + symbol->st_size;
}

/* libunwind names the nearest symbol below an address, which in a stripped library is
 * some exported function far away.  So of a library a name is taken only where the symbol's
 * size covers the address; else the library and the offset say more. */

void unwind_name(void *address, char *text_out, size_t bytes)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t offset = 0;
    char name[160];
    Dl_info library = { .dli_fname = NULL };
    bool is_ours =
        dladdr(address, &library) == 0 || !library.dli_fname || !strstr(library.dli_fname, ".so");
    snprintf(text_out, bytes, "?");
    if (!is_ours && !(library.dli_sname && symbol_holds(&library, address))) {
        const char *base = strrchr(library.dli_fname, '/');
        snprintf(text_out, bytes, "%s+0x%lx", base ? base + 1 : library.dli_fname,
                 (unsigned long)((char *)address - (char *)library.dli_fbase));
        return;
    }
    if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0 ||
        unw_set_reg(&cursor, UNW_REG_IP, (unw_word_t)(uintptr_t)address) != 0)
        return;
    int r = unw_get_proc_name(&cursor, name, sizeof name, &offset);
    if (r == 0 || r == -UNW_ENOMEM) /* too long: the name is cut, still a name */
        snprintf(text_out, bytes, "%s+0x%lx", name, (unsigned long)offset);
}
