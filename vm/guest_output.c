/* guest_output.c -- see guest_output.h.
 *
 * Note [W] Writing.  The buffer is filled under a lock by threads in GUEST or VM, which
 *   hold it for a copy only.  Who finds it full takes it whole (the other one is put in its
 *   place), goes BLOCKED and writes; `writing` keeps the order of writes.  So no stop waits for a
 *   slow reader of stdout, and lines stay whole and in order.
 *
 * SPDX-License-Identifier: MIT */
#include "vm/guest_output.h"

#include "base/insist.h"
#include "base/lock.h"
#include "base/os.h"
#include "safepoint/sched_point.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES SIZE_OR_TINY((size_t)32 << 10, 17) /* arbitrary; half a pipe on Linux */

static struct lock filling = LOCK_INITIALIZER(SHARED);      /* buffer, length, [W] */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER; /* held in BLOCKED only, [W] */
static char buffers[2][BUFFER_BYTES], *buffer = buffers[0];
static size_t length;
static int output_fd = -1;
static bool flushes_lines;
static _Atomic int first_errno;

void guest_output_start(int fd)
{
    output_fd = fd;
    flushes_lines = fd >= 0 && os_is_terminal(fd);
    length = 0;
    store_relaxed(&first_errno, 0); /* before any other thread */
}

int guest_output_errno(void) { return load_relaxed(&first_errno); } /* one int, any moment */

static void write_all(const char *bytes, size_t count)
{
    while (output_fd >= 0 && count > 0 && load_relaxed(&first_errno) == 0) {
        ssize_t written = write(output_fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            store_relaxed(&first_errno, errno);
            return;
        }
        bytes += written;
        count -= (size_t)written;
    }
}

/* [BLOCKED] Takes the buffer and writes it, then the bytes given. */
static void drain(const char *bytes, size_t count)
{
    pthread_mutex_lock(&writing);
    lock_acquire(&filling);
    char *full = buffer;
    size_t full_length = length;
    buffer = full == buffers[0] ? buffers[1] : buffers[0];
    length = 0;
    lock_release(&filling);
    write_all(full, full_length);
    write_all(bytes, count);
    pthread_mutex_unlock(&writing);
}

/* Drains in BLOCKED; bytes must not be in the heap. */
static void drain_blocked_mp(struct guest_thread *thread, const char *bytes, size_t count)
{
    struct participant *self = guest_thread_participant(thread);
    participant_enter_safe(self, PARTICIPANT_BLOCKED);
    drain(bytes, count);
    participant_leave_safe(self, PARTICIPANT_GUEST);
}

/* True when the line fits and was copied. */
static bool try_copy_mp(struct guest_thread *thread, const value_t *slot, const char *bytes,
                        size_t count)
{
    size_t offset = slot ? (size_t)(bytes - (const char *)(uintptr_t)*slot) : 0;
    participant_lock(guest_thread_participant(thread), &filling); /* may stop: the object moves */
    if (slot)
        bytes = (const char *)(uintptr_t)*slot + offset;
    bool fits = count + 1 <= BUFFER_BYTES - length;
    if (fits) {
        memcpy(buffer + length, bytes, count);
        buffer[length + count] = '\n';
        length += count + 1;
    }
    lock_release(&filling);
    return fits;
}

/* A line that no buffer holds is copied: bytes of an object must not be read in BLOCKED. */
static bool write_long_line_mp(struct guest_thread *thread, const char *bytes, size_t count)
{
    char *copy = malloc(count + 1);
    if (!copy)
        return guest_fail_kind(thread, GUEST_ERROR_OUT_OF_MEMORY,
                               "OutOfMemory: the system has none for a line to print.");
    memcpy(copy, bytes, count);
    copy[count] = '\n';
    drain_blocked_mp(thread, copy, count + 1);
    free(copy);
    return true;
}

static bool fail_output(struct guest_thread *thread)
{
    return guest_fail_kind(thread, GUEST_ERROR_OUTPUT, "stdout cannot be written.");
}

bool guest_output_line_mp(struct guest_thread *thread, const value_t *slot, const char *bytes,
                          size_t count)
{
    if (count + 1 > BUFFER_BYTES) {
        if (!write_long_line_mp(thread, bytes, count))
            return false;
    } else {
        size_t offset = slot ? (size_t)(bytes - (const char *)(uintptr_t)*slot) : 0;
        while (!try_copy_mp(thread, slot, bytes, count)) {
            drain_blocked_mp(thread, NULL, 0);
            if (slot)
                bytes = (const char *)(uintptr_t)*slot + offset;
        }
        if (flushes_lines)
            drain_blocked_mp(thread, NULL, 0);
    }
    return load_relaxed(&first_errno) == 0 || fail_output(thread); /* late is soon enough */
}

bool guest_output_flush_mp(struct guest_thread *thread)
{
    drain_blocked_mp(thread, NULL, 0);
    return guest_output_errno() == 0;
}

void guest_output_flush_last(void) { drain(NULL, 0); }
