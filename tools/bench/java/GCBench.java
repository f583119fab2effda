// GCBench, as in gc/gcbench.lox: the same trees, sizes and iterations.  SPDX-License-Identifier: MIT
final class GCBench {
    static final int ITERATIONS = 5, DEEPEST = 16;

    static final class Node {
        Node left, right;
        int i, j;
    }

    static long size(int depth) {
        return (2L << depth) - 1;
    }

    static void populate(int depth, Node node) {
        if (depth == 0) return;
        node.left = new Node();
        node.right = new Node();
        populate(depth - 1, node.left);
        populate(depth - 1, node.right);
    }

    static Node make(int depth) {
        Node node = new Node();
        if (depth > 0) {
            node.left = make(depth - 1);
            node.right = make(depth - 1);
        }
        return node;
    }

    static long iterate() {
        long nodes = 0;
        for (int depth = 4; depth <= DEEPEST; depth += 2) {
            int trees = 1 << (DEEPEST - depth);
            for (int i = 0; i < trees; i++) populate(depth, new Node());
            for (int i = 0; i < trees; i++) make(depth);
            nodes += 2 * trees * size(depth);
        }
        return nodes;
    }

    public static void main(String[] args) {
        Node lived = new Node();
        populate(DEEPEST, lived);
        double[] array = new double[500000];
        for (int i = 1; i < array.length; i++) array[i] = 1.0 / i;
        long nodes = iterate(); // warm
        long start = System.nanoTime();
        for (int i = 0; i < ITERATIONS; i++) nodes = iterate();
        long elapsed = System.nanoTime() - start;
        if (lived.left == null || array[1000] != 1.0 / 1000) nodes = 0;
        System.out.println(nodes);
        System.out.println(elapsed / 1e6 / ITERATIONS);
    }
}
