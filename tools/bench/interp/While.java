// while: a loop over three local variables.  SPDX-License-Identifier: MIT
final class While {
    static int run(int turns) {
        int i = 0;
        int x = 0;
        while (i < turns) {
            x = i - x;
            i = i + 1;
        }
        return x;
    }

    public static void main(String[] args) {
        long start = System.nanoTime();
        int result = run(8000000);
        long elapsed = System.nanoTime() - start;
        System.out.println(result - 3500000);
        System.out.println(elapsed / 1e6);
    }
}
