/* prng.h -- seeded random numbers for tests and stress: xoshiro256**, seeded by
 * splitmix64 (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
 * 2021; both algorithms are in the public domain).
 *
 * Layer: base/.  One generator per thread; not for secrets.  The same seed gives the
 * same numbers in every build and on every machine.
 *
 * Who may call:  [self] the thread that owns the generator
 *
 * SPDX-License-Identifier: MIT */
#ifndef BASE_PRNG_H
#define BASE_PRNG_H

#include <stdint.h>

struct prng {
    uint64_t s[4];
};

/* [self] A counter with an odd stride, its bits then mixed by a bijection: four steps in
 * a row give four different numbers, so a seeded state is never all zero, the one state
 * xoshiro cannot leave. */
static inline uint64_t prng_splitmix(uint64_t *x)
{
    uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15)); /* 2^64 / the golden ratio */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* [self] Any seed will do, 0 included; near seeds give unrelated sequences. */
static inline void prng_seed(struct prng *p, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        p->s[i] = prng_splitmix(&seed);
}

static inline uint64_t prng_rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

/* [self] All 64 bits are random. */
static inline uint64_t prng_next(struct prng *p)
{
    uint64_t *s = p->s, result = prng_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = prng_rotate(s[3], 45);
    return result;
}

/* [self] 0 .. n - 1; 0 when n is 0.  The upper half of a 128-bit product: no division and
 * no rejection loop.  The 2^64 inputs fall on n results as evenly as whole numbers can,
 * so a result's probability is off by a share of at most n / 2^64, which no test sees.
 * 64 bits, because callers draw lengths in nanoseconds and in bytes. */
static inline uint64_t prng_below(struct prng *p, uint64_t n)
{
    return (uint64_t)((unsigned __int128)prng_next(p) * n >> 64);
}

/* [self] 0 <= x < 1, 53 random bits. */
static inline double prng_double(struct prng *p) { return (double)(prng_next(p) >> 11) * 0x1p-53; }

#endif
