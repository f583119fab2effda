/* os.h -- the contract with the operating system; os_linux.c is its one body
 * and the only file that includes <sys/...> or <linux/...>.
 *
 * Layer: base/.  Who may call: [any] unless said.  Times are monotonic
 * nanoseconds since an unspecified start; sizes are bytes.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_OS_H
#define BASE_OS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* --- time ---------------------------------------------------------------- */

/* CLOCK_MONOTONIC; about 20 ns through the vDSO. */
static inline uint64_t os_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void os_sleep_ns(uint64_t ns);
void os_sleep_until_ns(uint64_t deadline_ns);
/* Timer slack of the calling thread, 50,000 ns by default on Linux: how late a
 * sleep may end.  Measuring threads lower it. */
void os_set_timer_slack_ns(uint64_t ns);

/* Asks the scheduler for short slices of the calling thread (Linux 6.12 and later,
 * 0.1 to 100 ms, no privilege needed): it then preempts a long-slice thread soon
 * after it wakes.  False where the system knows nothing of it. */
bool os_set_time_slice_ns(uint64_t ns);

/* The CPU the calling thread runs on, at this moment; a few ns. */
int os_cpu(void);
/* [self] A word in which the kernel keeps that number for the calling thread, which
 * alone may read it: one load instead of a call.  NULL where there is none. */
const volatile uint32_t *os_cpu_word(void);
/* Moves the calling thread off cpu, if it may run on another; afterwards it may run
 * where it might before.  Two system calls. */
void os_leave_cpu(int cpu);
/* Keeps the calling thread, and the threads it starts from then on, on cpu.  False, and
 * nothing changed: it may not run there, or the system refuses.  Two system calls. */
bool os_stay_on_cpu(int cpu);

/* A hint to the core inside a spin loop. */
static inline void os_cpu_pause(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* --- futex (private to the process) -------------------------------------- */

#define OS_FUTEX_FOREVER UINT64_MAX
#define OS_FUTEX_ALL     0x7fffffff
#define OS_FUTEX_ANY     0xffffffffu

enum os_futex_result { OS_FUTEX_WOKEN, OS_FUTEX_CHANGED, OS_FUTEX_TIMED_OUT, OS_FUTEX_INTERRUPTED };

/* Sleeps while *word == expected, at most timeout_ns.  The kernel reads *word
 * after a full barrier.  mask: only wakes with a common bit end the sleep. */
enum os_futex_result os_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns,
                                   uint32_t mask);
/* Wakes at most count sleepers whose mask shares a bit; returns how many. */
int os_futex_wake(_Atomic uint32_t *word, int count, uint32_t mask);

/* --- threads, processes, signals ----------------------------------------- */

int os_tid(void);
int os_pid(void);
/* Sends a signal to one thread of this process; false when it is gone. */
bool os_signal_thread(int tid, int signal_number);
void os_set_thread_name(const char *name); /* cut to 15 bytes */
/* The calling process dies with its parent (a watchdog must not leave orphans). */
void os_die_with_parent(void);
/* Waits for a child at most timeout_ns; true when it ended.  *status_out: exit
 * code 0..255, or 256 + signal number, or -1 if the system does not tell. */
bool os_wait_child(int pid, uint64_t timeout_ns, int *status_out);

/* Ends a child of this process at once and collects it. */
void os_kill_child(int pid);
/* True when fd can be read (or its writer is gone) within timeout_ns. */
bool os_wait_readable(int fd, uint64_t timeout_ns);

/* --- processors and memory ----------------------------------------------- */

int os_cpus_total(void);
/* CPUs this process may use at once: affinity, cut by the cgroup's quota. */
int os_cpus_available(void);
uint64_t os_memory_bytes(void); /* of the machine, cut by the cgroup */
size_t os_page_bytes(void);

/* Zero-filled private memory, page aligned; NULL when refused. */
void *os_map(size_t bytes);
void os_unmap(void *address, size_t bytes);
/* Address space that cannot be touched and that no limit on memory counts; page aligned.
 * ERR_NO_MEMORY.  Sizes and addresses of these four are multiples of os_page_bytes(). */
MUST_USE enum err os_reserve(size_t bytes, void **address_out);
/* Part of a reservation becomes zero memory, whatever it was before; one call to the
 * system.  ERR_NO_MEMORY: the part cannot be touched, and holds nothing any more. */
MUST_USE enum err os_commit(void *address, size_t bytes);
/* The other way; can fail too, with ERR_NO_MEMORY: a process has 65,530 mappings. */
MUST_USE enum err os_uncommit(void *address, size_t bytes);
void os_release(void *address, size_t bytes); /* a whole reservation */
/* Committed memory can be touched, or cannot, and keeps what it holds; whole pages.  False: the
 * system refuses, nothing changed. */
bool os_protect(void *address, size_t bytes, bool is_open);

struct os_faults {
    uint64_t minor, major;
};
struct os_faults os_thread_faults(void); /* of the calling thread */

struct os_usage {
    uint64_t user_ns, system_ns; /* CPU time */
    uint64_t faults;             /* minor and major */
};
struct os_usage os_process_usage(void); /* of all threads, since the start */

/* --- files ------------------------------------------------------------------ */

bool os_is_special_file(const char *path); /* there, and a device, pipe or socket */
bool os_is_directory(const char *path);
/* When its content changed last, since 1970; false: the file is not there. */
bool os_file_modified_ns(const char *path, uint64_t *ns_out);
/* Both names lead to one file, or would if it were created. */
bool os_same_file(const char *a, const char *b);

/* --- about this machine --------------------------------------------------- */

struct os_host {
    char cpu_model[96], kernel[96], hostname[65], machine[32];
};
void os_describe_host(struct os_host *host_out);
bool os_is_terminal(int fd);
int os_terminal_columns(int fd); /* 80 when unknown */
/* Path of the running program; false when the system does not tell. */
bool os_program_path(char *path_out, size_t bytes);

#endif
