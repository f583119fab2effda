/* fuzz_seeds.c -- small programs that together use every instruction.
 *
 * fuzz_replay.c checks that they do.  Forms that depend on flags (a counted loop without
 * polls) are left to the change that puts a sibling in an instruction's place.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"

static const char arithmetic[] =
    "var a = 3; var b = -a; { var x = a; var y = b; var t = true; var n = nil;\n"
    "print x + y - x * y / 2; print x / y; print x + 1; print x - 1; print x * 2; print x / 4; "
    "print -y;\n"
    "print !x; print x == y; print x != y; print x < y; print x <= y; print x > 1; print x >= 1;\n"
    "print false; print \"s\" + \"t\"; print t and n or x; y = x = 7; a = y; print 0/0; }\n";

static const char jumps[] =
    "{ var i = 0; var n = 5; var m = 2; var f = false;\n"
    "if (i < n) print 1; else print 0; if (i <= n) print 2; if (i < 3) print 3; if (i <= 3) print "
    "4;\n"
    "if (i > 3) print 5; if (i >= 3) print 6; if (i == n) print 7; if (i == 3) print 8;\n"
    "if (i != n) print 9; if (i != \"x\") print 10; if (f) print 11; if (!f) print 12;\n"
    "if (!(i < n)) print 13; if (!(i <= n)) print 14; if (!(i < 3)) print 15;\n"
    "if (!(i <= 3)) print 16; if (!(i > 3)) print 17; if (!(i >= 3)) print 18;\n"
    "if (i < n or i < m) print 19; if (i <= n or i == m) print 20; if (i == 1 or f) print 21;\n"
    "if (i < 1 or i <= 1 or i > 1 or i >= 1 or i == n or f) print 22;\n"
    "while (i < n) i = i + 1; while (i <= 7) i = i + 1; while (i <= n + 5) i = i + 1;\n"
    "while (i < 15) { i = i + 1; } while (i > 9) i = i - 1; while (i >= 5) i = i - 1;\n"
    "while (i <= n) { i = i + 1; } while (!f) { f = true; if (i == 2) f = false; }\n"
    "for (var k = 0; k < n; k = k + 1) m = m + k; for (var k = 0; k < 9; k = k + 2) m = m + k; }\n"
    "fun first(n) { for (var k = 0; k < n; k = k + 1) if (k == 3) return k; } print first(9);\n";

static const char closures[] =
    "fun counter(step) { var n = 0; fun next() { n = n + step; return n; }\n"
    "  fun reset() { n = 0; fun deep() { return n + step; } return deep; }\n"
    "  next(); reset()(); return next; }\n"
    "var c = counter(2); print c() + c();\n"
    "for (var i = 0; i < 3; i = i + 1) { var j = i; fun f() { j = j + i; return j; } print f(); }\n"
    "{ var g; { var h = 1; fun k() { return h; } g = k; } print g(); }\n";

static const char classes[] =
    "class A { init(x) { this.x = x; } get() { return this.x; } set(v) { this.x = v; return this; "
    "}\n"
    "  more() { this.y = 1; this.z = this.y + this.x; } }\n"
    "class B < A { init() { super.init(4); this.b = nil; } get() { var m = super.get; return m() + "
    "1; }\n"
    "  other() { return super.set(9).get(); } }\n"
    "var a = A(1); var b = B(); a.set(2).more(); b.more(); print a.get(); print b.get();\n"
    "print b.other(); var bound = b.get; print bound(); a.f = bound; print a.f(); print A; print "
    "a;\n"
    "{ var o = A(3); o.x = o.x + 1; o.late = o; for (var i = 0; i < 4; i = i + 1) o.set(i).get(); "
    "}\n";

static const char library[] =
    "var a = Array(4); a[0] = \"zero\"; a[1] = a[0]; print a[1]; print a.length;\n"
    "var b = Bytes(3); b[1] = 255; print b[1]; var d = Doubles(2); d[0] = 0.5; print d[0];\n"
    "fun fails(x) { return x.nothing; } var e = attempt(fails, 1); print e.message; print "
    "e.trace;\n"
    "fun deep(n) { return deep(n + 1) + 1; } print attempt(deep, 0).message; print args[0];\n"
    "print attempt(a); print clock() > 0; print attempt(Array, 100000000);\n";

static const char recursion[] =
    "fun fib(n) { if (n < 2) return n; return fib(n - 2) + fib(n - 1); } print fib(9);\n"
    "fun even(n) { if (n == 0) return true; return odd(n - 1); }\n"
    "fun odd(n) { if (n == 0) return false; return even(n - 1); } print even(10);\n"
    "class Node { init(l, r) { this.l = l; this.r = r; }\n"
    "  sum() { if (this.l == nil) return 1; return this.l.sum() + this.r.sum(); } }\n"
    "fun tree(d) { if (d == 0) return Node(nil, nil); return Node(tree(d - 1), tree(d - 1)); }\n"
    "print tree(4).sum(); var s = \"\"; while (s != \"xxxx\") s = s + \"x\"; print s;\n";

static const char many_fields[] =
    "class W { fill() { this.a = 1; this.b = 2; this.c = 3; this.d = 4; this.e = 5; this.f = 6;\n"
    "  this.g = 7; this.h = 8; this.i = 9; this.j = 10; return this.sum(); }\n"
    "  sum() { return this.a + this.e + this.j; } }\n"
    "class V < W { extra() { this.k = this.sum(); this.l = this.k; return this.l; } }\n"
    "class U { } var u = U(); u.p = 1; u.q = 2; u.r = u; print u.r.r.q;\n"
    "print W().fill(); var v = V(); v.fill(); print v.extra(); { class L < V { } print L().fill(); "
    "}\n";

const char *const fuzz_seeds[] = { arithmetic, jumps,     closures,   classes,
                                   library,    recursion, many_fields };
const size_t fuzz_seed_count = sizeof fuzz_seeds / sizeof *fuzz_seeds;
