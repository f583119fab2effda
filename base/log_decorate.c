/* log_decorate.c -- the [bracketed] decorations in front of a log line.
 *
 * Each decorator is padded to its longest text so far on the output, as HotSpot
 * does it: the first lines of a log are narrower than the later ones.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log_priv.h"

#include "base/os.h"

#include <string.h>
#include <time.h>

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

const char *const log_level_words[LOG_LEVEL_OFF + 1] = { "trace",   "debug", "info",
                                                         "warning", "error", "off" };

uint64_t log_wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void log_file_stamp(uint64_t wall_ns, char *text_out, size_t bytes)
{
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    struct tm broken;
    localtime_r(&seconds, &broken);
    strftime(text_out, bytes, "%Y-%m-%d_%H-%M-%S", &broken);
}

/* 2026-12-01T02:30:25.448+0000; milliseconds are cut, not rounded, as HotSpot's. */
static void wall_text(uint64_t wall_ns, bool is_utc, char *text_out, size_t bytes)
{
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    struct tm broken;
    char date[32], zone[16];
    if (is_utc)
        gmtime_r(&seconds, &broken);
    else
        localtime_r(&seconds, &broken);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &broken);
    strftime(zone, sizeof zone, "%z", &broken);
    snprintf(text_out, bytes, "%s.%03u%s", date, (unsigned)(wall_ns % NS_PER_S / NS_PER_MS), zone);
}

/* Rounded to the nearest millisecond, in whole numbers: a double would begin to
 * lose digits after some months. */
static void uptime_text(uint64_t uptime_ns, char *text_out, size_t bytes)
{
    uint64_t ms = (uptime_ns + NS_PER_MS / 2) / NS_PER_MS;
    snprintf(text_out, bytes, "%llu.%03us", (unsigned long long)(ms / 1000), (unsigned)(ms % 1000));
}

static void decorator_text(const struct log_moment *moment, enum log_decorator decorator,
                           char *text_out, size_t bytes)
{
    struct os_host host;
    switch (decorator) {
    case LOG_DECORATOR_TIME:
    case LOG_DECORATOR_UTCTIME:
        wall_text(moment->wall_ns, decorator == LOG_DECORATOR_UTCTIME, text_out, bytes);
        return;
    case LOG_DECORATOR_UPTIME:
        uptime_text(moment->uptime_ns, text_out, bytes);
        return;
    case LOG_DECORATOR_TIMEMILLIS:
        snprintf(text_out, bytes, "%llums", (unsigned long long)(moment->wall_ns / NS_PER_MS));
        return;
    case LOG_DECORATOR_UPTIMEMILLIS:
        snprintf(text_out, bytes, "%llums", (unsigned long long)(moment->uptime_ns / NS_PER_MS));
        return;
    case LOG_DECORATOR_TIMENANOS:
        snprintf(text_out, bytes, "%lluns", (unsigned long long)moment->event_ns);
        return;
    case LOG_DECORATOR_UPTIMENANOS:
        snprintf(text_out, bytes, "%lluns", (unsigned long long)moment->uptime_ns);
        return;
    case LOG_DECORATOR_HOSTNAME:
        os_describe_host(&host);
        snprintf(text_out, bytes, "%s", host.hostname);
        return;
    case LOG_DECORATOR_PID:
        snprintf(text_out, bytes, "%d", os_pid());
        return;
    case LOG_DECORATOR_TID:
        snprintf(text_out, bytes, "%d", os_tid());
        return;
    case LOG_DECORATOR_LEVEL:
        snprintf(text_out, bytes, "%s", log_level_words[moment->level]);
        return;
    case LOG_DECORATOR_TAGS:
        snprintf(text_out, bytes, "%s", log_tags_text(moment->tags));
        return;
    case LOG_DECORATOR_COUNT:
        break;
    }
    text_out[0] = '\0';
}

size_t log_decorate(const struct log_moment *moment, unsigned decorators,
                    int padding[LOG_DECORATOR_COUNT], char *text_out, size_t bytes)
{
    size_t used = 0;
    for (int d = 0; d < LOG_DECORATOR_COUNT; d++) {
        char text[80];
        if (!(decorators >> d & 1))
            continue;
        decorator_text(moment, (enum log_decorator)d, text, sizeof text);
        int length = (int)strlen(text);
        if (length > padding[d])
            padding[d] = length;
        used += (size_t)snprintf(text_out + used, bytes - used, "[%-*s]", padding[d], text);
    }
    if (used)
        used += (size_t)snprintf(text_out + used, bytes - used, " ");
    return used;
}
