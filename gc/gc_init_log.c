/* gc_init_log.c -- see gc_init_log.h.  SPDX-License-Identifier: MIT */
#include "gc/gc_init_log.h"

#include "base/log.h"
#include "base/os.h"

#define DIALECT "25.0.0+0" /* of our log lines */

void gc_init_log(void)
{
    log_line(LOG_TAGS_GC_INIT, LOG_LEVEL_INFO,
             "Version: " DIALECT "-stillpoint-" STILLPOINT_VERSION " (release)");
    log_line(LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "CPUs: %d total, %d available", os_cpus_total(),
             os_cpus_available());
    log_line(LOG_TAGS_GC_INIT, LOG_LEVEL_INFO, "Memory: %lluM",
             (unsigned long long)(os_memory_bytes() >> 20));
}
