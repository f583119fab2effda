/* bulk_kernels.c -- the loops that write zeroes, and which one fits which size.
 *
 * The trap.  libc's memset picks its own method by the size of *one call*: from
 * about the size of the last-level cache on it writes round the cache, below that
 * it writes into it, which costs a read of every line first and a write-back later.
 * So a big buffer zeroed in small calls runs at a third of the speed of one call,
 * and polling gets blamed for it.  Here the caller chooses once, for the whole
 * operation, and the chunks keep the kernel.
 *
 * Figures, GB/s, medians; the runs of one table are interleaved, those of two
 * tables are not.  AMD EPYC (Zen 4, 32 MiB L3), 2 cores of a KVM guest, Linux
 * 6.18, glibc 2.36, 4 KiB pages, touched before.  They tell orders of magnitude
 * and the direction of effects; on another machine, measure again.
 *
 *   256 MiB in chunks of     4K   16K   64K  256K  512K    1M    4M  whole   (31 runs)
 *     memset                 25    25    25    25    25    25    25     57
 *     rep stosb              25    25    25    25    25    24    25     58
 *     ordinary AVX-512       26    25    25    25    25    25    25     25
 *     nt-sse2                23    41    51    54    54    55    55     55
 *     nt-avx2                23    48    69    77    79    80    80     81
 *     non-temporal AVX-512   23    48    67    75    77    78    80     80
 *   What a chunk adds is the drain at its sfence, about 0.13 us; at 4 KiB it is most
 *   of the time.
 *
 *   256 MiB, by what ran before        memset  rep stosb   nt-avx2  nt-avx2 1M (21 runs)
 *     nt-avx2 (cache left clean)           77         76        86         85
 *     memset in chunks (left dirty)        68         67        75         74
 *   A cache full of unwritten lines costs the next run a tenth.  In the first table
 *   the whole runs of memset and rep stosb follow such a run, those of the
 *   non-temporal kernels do not: compare `whole` between kernels here only.
 *   The engine, paired runs, chunked at 1 MiB against whole: 0.993 (41 pairs; 0.86
 *   at 64 KiB, 0.96 at 256 KiB, 0.98 at 512 KiB).
 *
 *   size of the operation, MiB                1    8   12   16   20   24   32   64   (31 runs)
 *     zeroed again and again, memset 1M      88  100   89   70   52   44   37   33
 *                             nt-avx2 1M     82   89   87   87   87   87   87   87
 *     other memory each time, memset 1M      28   30   30   29   28   30   29   29
 *                             nt-avx2 1M     81   85   84   84   84   84   82   81
 *     zeroed, then read once, memset 1M      48   49   44   37   27   23   18   14
 *                             nt-avx2 1M     16   22   23   23   24   24   24   22
 *
 * Reading.  A buffer is zeroed in order to be used.  As long as it fits into the
 * cache, leaving it there is worth more than a fast store, so memset keeps what
 * is below the crossover of the last pair, between 20 and 24 MiB.  From 24 MiB on
 * the non-temporal kernel wins in all three uses.  AVX-512 and rep stosb gain
 * nothing over AVX2 and are left out.  Memory touched for the first time runs at
 * 2 to 2.4 GB/s whatever the kernel: there the faults are the price.
 *
 * SPDX-License-Identifier: MIT */
#include "alloc/bulk_kernels.h"

#include "base/insist.h"

#include <stdint.h>
#include <string.h>

static void zero_memset(void *start, size_t bytes) { memset(start, 0, bytes); }

static const struct bulk_kernel kernel_memset = { "memset", zero_memset };

#ifdef __x86_64__

#include <immintrin.h>

#define LINE_BYTES 64

/* Bytes up to the next line, at most bytes. */
static size_t head_bytes(const void *start, size_t bytes)
{
    size_t head = -(uintptr_t)start & (LINE_BYTES - 1);
    return head < bytes ? head : bytes;
}

/* Both kernels write the broken lines at the ends through the cache and whole
 * lines round it: a non-temporal store pays only when it fills its line.  A
 * sanitizer does not see these stores, so the tests watch the bytes around the
 * range themselves.  The sfence is K2: non-temporal stores are the one kind
 * that x86 may let a later ordinary store overtake. */
static void zero_nt_sse2(void *start, size_t bytes)
{
    char *at = start;
    size_t head = head_bytes(start, bytes);
    memset(at, 0, head);
    at += head;
    bytes -= head;

    const __m128i zero = _mm_setzero_si128();
    for (; bytes >= LINE_BYTES; at += LINE_BYTES, bytes -= LINE_BYTES) {
        _mm_stream_si128((__m128i *)at, zero);
        _mm_stream_si128((__m128i *)(at + 16), zero);
        _mm_stream_si128((__m128i *)(at + 32), zero);
        _mm_stream_si128((__m128i *)(at + 48), zero);
    }
    memset(at, 0, bytes);
    _mm_sfence();
}

__attribute__((target("avx2"))) static void zero_nt_avx2(void *start, size_t bytes)
{
    char *at = start;
    size_t head = head_bytes(start, bytes);
    memset(at, 0, head);
    at += head;
    bytes -= head;

    const __m256i zero = _mm256_setzero_si256();
    for (; bytes >= LINE_BYTES; at += LINE_BYTES, bytes -= LINE_BYTES) {
        _mm256_stream_si256((__m256i *)at, zero);
        _mm256_stream_si256((__m256i *)(at + 32), zero);
    }
    memset(at, 0, bytes);
    _mm_sfence();
}

static const struct bulk_kernel kernel_nt_sse2 = { "nt-sse2", zero_nt_sse2 };
static const struct bulk_kernel kernel_nt_avx2 = { "nt-avx2", zero_nt_avx2 };

/* In rising order; what a CPU cannot run is at the end. */
static const struct bulk_kernel *const kernels[] = {
    &kernel_memset,
    &kernel_nt_sse2,
    &kernel_nt_avx2,
};

/* A load and a test: the compiler's constructor has asked the CPU, and whether
 * the system saves the wide registers, before main. */
size_t bulk_zero_kernel_count(void) { return __builtin_cpu_supports("avx2") ? 3 : 2; }

#else

static const struct bulk_kernel *const kernels[] = { &kernel_memset };

size_t bulk_zero_kernel_count(void) { return 1; }

#endif

const struct bulk_kernel *bulk_zero_kernel_for(size_t total_bytes)
{
    if (total_bytes < BULK_NONTEMPORAL_FROM_BYTES)
        return &kernel_memset;
    return kernels[bulk_zero_kernel_count() - 1];
}

const struct bulk_kernel *bulk_zero_kernel_at(size_t index)
{
    INSIST(index < bulk_zero_kernel_count(), "kernel %zu of %zu", index, bulk_zero_kernel_count());
    return kernels[index];
}
