// fields: reads and writes of one object's fields.  SPDX-License-Identifier: MIT
final class Fields {
    static final class Ball {
        int x, y, right, up;

        Ball(int x, int y, int right, int up) {
            this.x = x;
            this.y = y;
            this.right = right;
            this.up = up;
        }
    }

    static int run(int turns) {
        Ball ball = new Ball(0, 0, 3, 5);
        for (int i = 0; i < turns; i++) {
            ball.x = ball.x + ball.right;
            ball.y = ball.y + ball.up;
            if (ball.x < 0 || ball.x > 1000) ball.right = -ball.right;
            if (ball.y < 0 || ball.y > 1000) ball.up = -ball.up;
        }
        return ball.x * 100 + ball.y;
    }

    public static void main(String[] args) {
        long start = System.nanoTime();
        int result = run(1000000);
        long elapsed = System.nanoTime() - start;
        System.out.println(result);
        System.out.println(elapsed / 1e6);
    }
}
