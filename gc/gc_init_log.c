/* gc_init_log.c -- see gc_init_log.h.  SPDX-License-Identifier: MIT */
#include "gc/gc_init_log.h"

#include "base/log.h"
#include "base/os.h"

/* The release whose lines ours are like: the first that writes them so. */
static const char *const versions[LOG_DIALECTS] = {
    [XLOG_DIALECT_11] = "11.0.0+0",
    [XLOG_DIALECT_17] = "17.0.8+0",
    [XLOG_DIALECT_21] = "21.0.7+0",
    [XLOG_DIALECT_25] = "25.0.0+0",
};

void gc_init_log(void)
{
    for (int d = 0; d < LOG_DIALECTS; d++)
        log_line_of(d, os_now_ns(), LOG_TAGS_GC_INIT, LOG_LEVEL_INFO,
                    "Version: %s-stillpoint-" STILLPOINT_VERSION " (release)", versions[d]);
    log_line(LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "CPUs: %d total, %d available", os_cpus_total(),
             os_cpus_available());
    log_line(LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "Memory: %lluM",
             (unsigned long long)(os_memory_bytes() >> 20));
}
