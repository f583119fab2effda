// method_calls: methods of two classes from one call site, one of them through super.  SPDX-License-Identifier: MIT
final class MethodCalls {
    static class Account {
        int balance;

        Account(int balance) { this.balance = balance; }
        void add(int amount) { balance = balance + amount; }
        int total() { return balance; }
    }

    static class Charged extends Account {
        final int fee;

        Charged(int balance, int fee) {
            super(balance);
            this.fee = fee;
        }
        @Override void add(int amount) { super.add(amount - fee); }
    }

    static int run(int turns) {
        Account here = new Account(0);
        Account there = new Charged(0, 2);
        int richer = 0;
        for (int i = 0; i < turns; i++) {
            here.add(1);
            if (here.total() > there.total()) richer = richer + 1;
            Account other = here;
            here = there;
            there = other;
        }
        return richer;
    }

    public static void main(String[] args) {
        long start = System.nanoTime();
        int result = run(800000);
        long elapsed = System.nanoTime() - start;
        System.out.println(result);
        System.out.println(elapsed / 1e6);
    }
}
