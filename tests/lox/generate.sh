#!/usr/bin/env bash
# generate.sh DIR -- writes the Lox programs that are too long to be kept as files.
# SPDX-License-Identifier: MIT
#
# Each is about a limit: of the book (255 parameters), of ours (1000 levels), or about a
# size that must not matter.  Their expectations are as in lox_case.h.
set -u
dir=${1:?usage: generate.sh DIR}
mkdir -p "$dir" && rm -f "$dir"/*.lox || exit 74

# repeat N TEXT: TEXT N times, without newlines
repeat() { awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", text }'; }
# count FROM TO FORMAT: FORMAT for each number; every %d in it is the number
count() {
    awk -v from="$1" -v to="$2" -v format="$3" 'BEGIN {
        parts = split(format, part, "%d")
        for (i = from; i <= to; i++) {
            printf "%s", part[1]
            for (p = 2; p <= parts; p++)
                printf "%d%s", i, part[p]
        }
    }'
}
# program NAME: stdin becomes the program
program() { cat >"$dir/$1.lox" || exit 74; }

too_deep() {
    echo
    echo '// exit: 65'
    echo '// stderr: Too deeply nested.'
}

# nested N BEFORE CORE AFTER: CORE within N pairs
nested() { repeat "$1" "$2"; printf '%s' "$3"; repeat "$1" "$4"; }

# ---- levels: 900 are fine, 1100 are refused, a million too ------------------------------

for levels in 900 1100 100000; do
    if [ $levels = 900 ]; then end=fine; else end=too_deep; fi
    fine() { echo; [ -z "${1-}" ] || echo "// expect: $1"; }
    { printf 'print '; nested $levels '(' 7 ')'; echo ';'; $end 7; } | program "groups_$levels"
    { nested $levels '{' 'print 7;' '}'; $end 7; } | program "blocks_$levels"
    { printf 'print '; repeat $levels '!'; echo 'true;'; $end true; } | program "nots_$levels"
    { printf 'print '; repeat $levels '- '; echo '1;'; $end 1; } | program "minuses_$levels"
    { repeat $levels 'if (true) '; echo 'print 7;'; $end 7; } | program "ifs_$levels"
    { repeat $levels 'while (false) '; echo 'print 7;'; $end ''; } | program "whiles_$levels"
    { echo 'var a;'; repeat $levels 'a = '; echo '7; print a;'; $end 7; } | program "assignments_$levels"
    { echo 'fun f(a) { return a; }'; printf 'print '; nested $levels 'f(' 7 ')'; echo ';'; $end 7; } |
        program "arguments_$levels"
done
{ repeat 1100 'fun f() {'; repeat 1100 '}'; too_deep; } | program functions_1100
{ repeat 100 'fun f() {'; repeat 100 '}'; echo ' print f; // expect: <fn f>'; } | program functions_100
{ repeat 1100 'class C { m() {'; repeat 1100 '}}'; too_deep; } | program classes_1100

# ---- chains are no nesting for who reads them ---------------------------------------------

{ echo 'var a = 1;'; printf 'print 0'; repeat 900 ' + a'; echo '; // expect: 900'; } | program sum_of_900
{ echo 'fun f(n) {'; count 1 400 'if (n == %d) return "is %d"; else '; echo 'return "none"; }'
  echo 'print f(1);   // expect: is 1'
  echo 'print f(400); // expect: is 400'
  echo 'print f(401); // expect: none'; } | program else_if_400
{ echo 'class C { m() { return this; } }'; printf 'print C()'; repeat 400 '.m()'
  echo '; // expect: C instance'; } | program calls_chained_400

# ---- the book's limits ----------------------------------------------------------------------

{ echo 'fun f() {'; count 1 255 'var v%d = %d; '; echo 'return v1 + v255; }'
  echo 'print f(); // expect: 256'; } | program locals_255
{ echo 'fun f() {'; count 1 255 'var v%d; '; echo
  echo "var more; // Error at 'more': Too many local variables in function."; echo '}'; } | program locals_256
{ printf 'fun f(p1'; count 2 255 ', p%d'; echo ') { return p1 + p255; }'; printf 'print f(1'
  count 2 255 ', %d'; echo '); // expect: 256'; } | program arguments_255
{ printf 'fun f(p1'; count 2 255 ', p%d'; echo ','
  echo "more) {} // Error at 'more': Can't have more than 255 parameters."; } | program parameters_256
{ printf 'fun f() {} f(1'; count 2 255 ', %d'; echo ','
  echo "more); // Error at 'more': Can't have more than 255 arguments."; } | program arguments_256
# Two functions deep, since one cannot have so many locals beside its own.
captures() {
    echo 'fun outer() {'; count 1 128 'var a%d = %d; '; echo 'fun middle() {'
    count 1 "$1" 'var b%d = %d; '; echo 'fun inner() { var sum = 0; '
    count 1 128 'sum = sum + a%d; '; count 1 "$1" 'sum = sum + b%d; '
}
{ captures 128; echo 'return sum; } return inner; } return middle; }'
  echo 'print outer()()(); // expect: 16512'; } | program captures_256
{ captures 128; echo 'fun all() { sum;'; count 1 128 'a%d; '; count 1 127 'b%d; '; echo
  echo "b128; // Error at 'b128': Too many closure variables in function."
  echo '} } } }'; } | program captures_257
{ count 1 300 'print %d.5 == %d + 0.5; ' | sed 's/.*/fun f() { & }/'; echo 'print "ok"; // expect: ok'; } |
    program constants_300
{ echo '// flags: -XX:+BookLimits'; echo 'fun f() {'; count 1 256 '%d.5; '; echo
  echo "257.5; // Error at '257.5': Too many constants in one chunk."; echo '}'; } | program constants_257_as_in_the_book
{ echo '// flags: -XX:+BookLimits'; echo 'fun f() {'; repeat 256 '0.25; '; echo
  echo "0.25; // Error at '0.25': Too many constants in one chunk."; echo '}'; } | program one_constant_257_times_as_in_the_book
{ echo 'fun f() {'; repeat 400 '0.25; '; echo '} print "ok"; // expect: ok'; } | program one_constant_400_times
{ echo 'var i = 0; while (i < 1) { i = i + 1;'; repeat 70000 'nil; '; echo '} print i; // expect: 1'; } |
    program loop_of_70000
{ echo '// flags: -XX:+BookLimits'; echo 'while (false) {'; repeat 35000 'nil; '; echo
  echo "} // Error at '}': Loop body too large."; } | program loop_as_in_the_book
{ echo 'if (nil) {'; repeat 70000 'nil; '; echo '} else print "else"; // expect: else'; } | program branch_of_70000
{ echo '// flags: -XX:+BookLimits'; echo 'if (false) {'; repeat 35000 'nil; '; echo
  echo "} // Error at '}': Too much code to jump over."; } | program branch_as_in_the_book

# ---- sizes that do not matter -----------------------------------------------------------------

{ printf 'var a = "'; repeat 65536 x; echo '";'; printf 'print a == "'; repeat 65535 x
  echo 'x"; // expect: true'; printf 'print a == "'; repeat 65535 x; echo 'y"; // expect: false'; } |
    program string_of_65536
{ repeat 65536 ' '; echo 'print "far right"; // expect: far right'; } | program line_of_65536_blanks
{ printf 'var '; repeat 65536 n; echo ' = 5;'; printf 'print '; repeat 65536 n; echo '; // expect: 5'
  repeat 65535 n; echo '; // expect runtime error: Undefined variable '"'$(repeat 65535 n)'."; } | program name_of_65536
{ printf '// '; repeat 1000000 c; echo; echo 'print 2; // expect: 2'; } | program comment_of_a_million
{ count 1 3000 'var g%d = %d; '; echo; echo 'print g1 + g3000; // expect: 3001'; } | program globals_3000
{ echo 'class C {'; count 1 2000 'm%d() { return %d; } '; echo '}'
  echo 'print C().m1() + C().m2000(); // expect: 2001'; } | program methods_2000
{ echo 'class C {} var c = C();'; count 1 1000 'c.f%d = %d; '; echo
  echo 'print c.f1 + c.f1000; // expect: 1001'; } | program fields_1000
{ echo 'var n = 0;'; count 1 60000 'fun f%d(a) { n = n + a; } f%d(1); // a comment of some length, so that the source is big
'; echo 'print n; // expect: 60000'; } | program source_of_5_megabytes
# Bytes without any meaning, always the same ones.
{ awk 'BEGIN { s = 1; for (i = 0; i < 4000; i++) { s = (s * 16807) % 2147483647; printf "%c", 35 + s % 91 } }'
  echo; echo '// exit: 65'; echo '// stderr: Error'; } | program noise
