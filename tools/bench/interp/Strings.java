// strings: built by concatenation, and compared.  SPDX-License-Identifier: MIT
final class Strings {
    static String build(int pieces, String piece) {
        String text = "";
        for (int i = 0; i < pieces; i++) text = text + piece;
        return text;
    }

    static int run(int turns) {
        String wanted = build(200, "ab");
        int equal = 0;
        for (int i = 0; i < turns; i++) {
            if (build(200, "ab").equals(wanted)) equal = equal + 1;
            if ((build(199, "ab") + "ba").equals(wanted)) equal = equal + 1000;
        }
        return equal;
    }

    public static void main(String[] args) {
        run(1); // the first concatenation links what all of them use
        long start = System.nanoTime();
        int result = run(2000);
        long elapsed = System.nanoTime() - start;
        System.out.println(result);
        System.out.println(elapsed / 1e6);
    }
}
