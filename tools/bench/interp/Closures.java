// closures: made, called, and changing the variable that they share.  SPDX-License-Identifier: MIT
import java.util.function.IntUnaryOperator;

final class Closures {
    // A lambda captures only what does not change, hence the one-element array.
    static IntUnaryOperator adder(int[] calls, int by) {
        return to -> {
            calls[0] = calls[0] + 1;
            return to + by;
        };
    }

    static int run(int turns) {
        int[] calls = { 0 };
        int x = 0;
        for (int i = 0; i < turns; i++) {
            IntUnaryOperator up = adder(calls, 3);
            IntUnaryOperator down = adder(calls, -2);
            x = down.applyAsInt(up.applyAsInt(down.applyAsInt(up.applyAsInt(x))));
        }
        return calls[0] - x;
    }

    public static void main(String[] args) {
        run(1); // the first lambda loads what all of them use
        long start = System.nanoTime();
        int result = run(250000);
        long elapsed = System.nanoTime() - start;
        System.out.println(result);
        System.out.println(elapsed / 1e6);
    }
}
