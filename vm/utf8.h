/* utf8.h -- is what stands here one well-formed character?
 *
 * Layer: vm/.  For the scanner, which takes an unknown character as a whole, and the
 * diagnostics, which must not send half of one to a terminal.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VM_UTF8_H
#define VM_UTF8_H

#include <stdbool.h>
#include <stddef.h>

static inline bool utf8_is_between(const char *at, unsigned char low, unsigned char high)
{
    unsigned char byte = (unsigned char)*at;
    return low <= byte && byte <= high;
}

/* The bytes of the sequence at `at` (at < end), 1 to 4; 0 = not well-formed.  The second
 * byte alone decides about overlong forms, surrogates and what is beyond U+10FFFF. */
static inline size_t utf8_sequence_bytes(const char *at, const char *end)
{
    size_t left = (size_t)(end - at);
    unsigned char lead = (unsigned char)at[0];
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    size_t bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (bytes > left)
        return 0;
    unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (!utf8_is_between(at + 1, low, high))
        return 0;
    for (size_t i = 2; i < bytes; i++)
        if (!utf8_is_between(at + i, 0x80, 0xbf))
            return 0;
    return bytes;
}

#endif
