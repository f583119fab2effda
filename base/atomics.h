/* atomics.h -- C11 atomics with the order in the name.
 *
 * Layer: base/.  Every atomic access of the project is spelled with one of
 * these, so that a search for "_relaxed" or "_seq" lists every place that owes
 * an argument.  Orders sit on accesses, never in fences: a reader has one thing
 * to pair, and ThreadSanitizer understands it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_ATOMICS_H
#define BASE_ATOMICS_H

#include <stdatomic.h>

#define load_relaxed(p)     atomic_load_explicit((p), memory_order_relaxed)
#define load_acquire(p)     atomic_load_explicit((p), memory_order_acquire)
#define load_seq(p)         atomic_load_explicit((p), memory_order_seq_cst)
#define store_relaxed(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)
#define store_release(p, v) atomic_store_explicit((p), (v), memory_order_release)
#define store_seq(p, v)     atomic_store_explicit((p), (v), memory_order_seq_cst)

#define exchange_seq(p, v)      atomic_exchange_explicit((p), (v), memory_order_seq_cst)
#define fetch_add_relaxed(p, v) atomic_fetch_add_explicit((p), (v), memory_order_relaxed)
#define fetch_add_seq(p, v)     atomic_fetch_add_explicit((p), (v), memory_order_seq_cst)
#define fetch_or_relaxed(p, v)  atomic_fetch_or_explicit((p), (v), memory_order_relaxed)
#define fetch_sub_seq(p, v)     atomic_fetch_sub_explicit((p), (v), memory_order_seq_cst)

/* True when *p was *expected and is now v; else *expected is what was there. */
#define compare_exchange_seq(p, expected, v)                                                       \
    atomic_compare_exchange_strong_explicit((p), (expected), (v), memory_order_seq_cst,            \
                                            memory_order_seq_cst)

/* On the way from an armed poll to the coordinator: kept together in the program, so
 * that a path walked once in milliseconds costs few page and cache misses. */
#define STOP_PATH __attribute__((hot))

/* Words of different owners that must not share a cache line are aligned to
 * this.  64 bytes is the line of every x86-64 and of most Arm cores. */
#define CACHE_LINE_BYTES 64
#define CACHE_ALIGNED    _Alignas(CACHE_LINE_BYTES)

#endif
