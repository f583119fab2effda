// for: counted loops, one inside the other.  SPDX-License-Identifier: MIT
final class For {
    static int run(int rows, int columns) {
        int x = 0;
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                x = i + j - x;
            }
        }
        return x;
    }

    public static void main(String[] args) {
        long start = System.nanoTime();
        int result = run(4000, 3001);
        long elapsed = System.nanoTime() - start;
        System.out.println(result);
        System.out.println(elapsed / 1e6);
    }
}
