/* log_rotate.c -- the names of old log files, as HotSpot gives them.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log_priv.h"

#include "base/os.h"

void log_rotated_name(const char *path, uint32_t number, uint32_t filecount, char *name_out,
                      size_t bytes)
{
    int digits = snprintf(NULL, 0, "%u", filecount - 1);
    snprintf(name_out, bytes, "%s.%0*u", path, digits, number);
}

uint32_t log_rotation_first(const char *path, uint32_t filecount)
{
    char name[LOG_OUTPUT_NAME_BYTES + 80];
    uint64_t oldest_ns = UINT64_MAX;
    uint32_t oldest = 0;
    for (uint32_t i = 0; i < filecount; i++) {
        uint64_t modified_ns;
        log_rotated_name(path, i, filecount, name, sizeof name);
        if (!os_file_modified_ns(name, &modified_ns))
            return i; /* it is not there */
        if (modified_ns < oldest_ns) {
            oldest_ns = modified_ns;
            oldest = i;
        }
    }
    return oldest;
}
