// fib: calls of a two-way recursive function.  SPDX-License-Identifier: MIT
final class Fib {
    static int fib(int n) {
        if (n < 2) return n;
        return fib(n - 1) + fib(n - 2);
    }

    public static void main(String[] args) {
        long start = System.nanoTime();
        int result = fib(32);
        long elapsed = System.nanoTime() - start;
        System.out.println(result - 2000000);
        System.out.println(elapsed / 1e6);
    }
}
