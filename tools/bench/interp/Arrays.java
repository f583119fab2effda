// arrays: the sieve of Eratosthenes, several times over one array.  SPDX-License-Identifier: MIT
final class Arrays {
    static void fill(boolean[] sieve) {
        for (int i = 0; i < sieve.length; i++) sieve[i] = true;
    }

    static int sift(boolean[] sieve) {
        int primes = 0;
        for (int i = 2; i < sieve.length; i++) {
            if (sieve[i]) {
                primes = primes + 1;
                for (int j = i + i; j < sieve.length; j += i) sieve[j] = false;
            }
        }
        return primes;
    }

    static int run(int size, int turns) {
        boolean[] sieve = new boolean[size];
        int primes = 0;
        for (int i = 0; i < turns; i++) {
            fill(sieve);
            primes = primes + sift(sieve);
        }
        return primes;
    }

    public static void main(String[] args) {
        long start = System.nanoTime();
        int result = run(100000, 25);
        long elapsed = System.nanoTime() - start;
        System.out.println(result);
        System.out.println(elapsed / 1e6);
    }
}
