// binary-trees, as in gc/binary_trees.lox: the same sizes, once warm.  SPDX-License-Identifier: MIT
final class BinaryTrees {
    static final class Node {
        Node left, right;
    }

    static Node make(int depth) {
        Node node = new Node();
        if (depth > 0) {
            node.left = make(depth - 1);
            node.right = make(depth - 1);
        }
        return node;
    }

    static long count(Node node) {
        return node.left == null ? 1 : 1 + count(node.left) + count(node.right);
    }

    static long run(int depth) {
        Node kept = make(depth);
        long nodes = 0;
        for (int d = 4; d <= depth; d += 4)
            for (int i = 0; i < 1 << (depth - d); i++) nodes += count(make(d));
        return nodes + count(kept);
    }

    public static void main(String[] args) {
        run(16); // warm
        long start = System.nanoTime();
        long nodes = run(16);
        long elapsed = System.nanoTime() - start;
        System.out.println(nodes);
        System.out.println(elapsed / 1e6);
    }
}
