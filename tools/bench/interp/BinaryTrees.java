// binary_trees: built and walked; one of them lives throughout.  SPDX-License-Identifier: MIT
final class BinaryTrees {
    static final class Node {
        final Node left, right;

        Node(Node left, Node right) {
            this.left = left;
            this.right = right;
        }
    }

    static Node grow(int depth) {
        if (depth == 0) return new Node(null, null);
        return new Node(grow(depth - 1), grow(depth - 1));
    }

    static int count(Node node) {
        if (node.left == null) return 1;
        return 1 + count(node.left) + count(node.right);
    }

    static int run(int depth) {
        Node kept = grow(depth);
        int nodes = 0;
        for (int small = 4; small <= depth; small += 4) {
            int trees = 1;
            for (int i = small; i < depth; i++) trees = trees * 2;
            for (int i = 0; i < trees; i++) nodes = nodes + count(grow(small));
        }
        return nodes + count(kept);
    }

    public static void main(String[] args) {
        long start = System.nanoTime();
        int result = run(16);
        long elapsed = System.nanoTime() - start;
        System.out.println(result);
        System.out.println(elapsed / 1e6);
    }
}
