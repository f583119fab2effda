/* host_json.c -- see host_json.h.  SPDX-License-Identifier: MIT */
#include "tools/host_json.h"

#include "base/os.h"

#include <time.h>

void host_json_write(struct json_writer *json, const char *key)
{
    struct os_host host;
    char when[32];
    time_t now = time(NULL);
    struct tm utc;
    os_describe_host(&host);
    gmtime_r(&now, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_writer_open_object(json, key);
    json_writer_string(json, "cpu", host.cpu_model);
    json_writer_string(json, "machine", host.machine);
    json_writer_string(json, "kernel", host.kernel);
    json_writer_string(json, "hostname", host.hostname);
    json_writer_unsigned(json, "cpus", (uint64_t)os_cpus_total());
    json_writer_unsigned(json, "cpus_available", (uint64_t)os_cpus_available());
    json_writer_unsigned(json, "memory_bytes", os_memory_bytes());
    json_writer_string(json, "date", when);
    json_writer_string(json, "version", STILLPOINT_VERSION);
    json_writer_string(json, "build", STILLPOINT_BUILD);
    json_writer_close(json);
}

void host_describe(char *text_out, size_t bytes)
{
    struct os_host host;
    os_describe_host(&host);
    snprintf(text_out, bytes, "stillpoint %s (%s), %.30s, %d of %d CPUs, %.30s", STILLPOINT_VERSION,
             STILLPOINT_BUILD, host.cpu_model, os_cpus_available(), os_cpus_total(), host.kernel);
}
