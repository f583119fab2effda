#!/usr/bin/env bash
# threads.sh STILLPOINT -- guest threads as a user meets them: whole lines, dumps, a system that
# refuses, races that show without a lock.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
sp=$1
cd "$scratch" || exit 74

# --- print writes whole lines -----------------------------------------------------------
cat >lines.lox <<'LOX'
fun writer(word) {
  var line = "<";
  for (var i = 0; i < 20; i = i + 1) line = line + word;
  line = line + ">";
  for (var i = 0; i < 2000; i = i + 1) print line;
}
spawn(writer, "a"); spawn(writer, "bb"); spawn(writer, "ccc"); spawn(writer, "dddd");
spawn(writer, "eeeee"); spawn(writer, "ffffff"); spawn(writer, "ggggggg"); spawn(writer, "hhhhhhhh");
LOX
run "$sp" run -XX:+SafepointALot -XX:GuaranteedSafepointInterval=1 lines.lox
expect_code 0
expect_true "not 16000 lines" [ "$(wc -l <"$scratch/out")" = 16000 ]
expect_true "a line is torn" \
    [ "$(grep -cvE '^<(a{20}|b{40}|c{60}|d{80}|e{100}|f{120}|g{140}|h{160})>$' "$scratch/out")" = 0 ]
expect_true "a line is lost" \
    [ "$(sort "$scratch/out" | uniq -c | awk '$1 != 2000' | wc -l)" = 0 ]

# A reader that is slow holds no stop up: print waits in a safe state.
cat >pipe.lox <<'LOX'
fun writer() { for (var i = 0; i < 30000; i = i + 1) print "a line that goes into a pipe which is full soon"; }
fun stopper() { for (var i = 0; i < 20; i = i + 1) { sleep(5); safepoint(); } }
var w = spawn(writer);
stopper();
LOX
"$sp" run "-Xlog:safepoint:file=$scratch/pipe.log:none" pipe.lox | (sleep 1; cat >/dev/null)
last="pipe.lox into a slow reader"
expect_true "fewer than 20 stops" [ "$(grep -c ForceSafepoint "$scratch/pipe.log")" -ge 20 ]
expect_true "a stop waited for the reader" \
    [ -z "$(sed -n 's/.*Reaching safepoint: \([0-9]*\) ns.*/\1/p' "$scratch/pipe.log" | awk '$1 > 500000000')" ]

# --- the control: without the lock a counter loses updates -----------------------------------
cat >race.lox <<'LOX'
var count = 0;
fun add() { for (var i = 0; i < 300000; i = i + 1) count = count + 1; }
var a = spawn(add); var b = spawn(add);
a.join(); b.join();
if (count == 600000) print "exact"; else print "lost";
LOX
tries=0
while [ $((tries += 1)) -le 20 ]; do
    run "$sp" run race.lox
    expect_code 0
    grep -q lost "$scratch/out" && break
done
expect_out lost

# --- many short threads leave nothing behind --------------------------------------------------
cat >storm.lox <<'LOX'
fun f(i) { return i; }
for (var i = 0; i < 3000; i = i + 1) spawn(f, i).join();
sleep(400); // the last ones are joined, not gone yet
threadDump();
sleep(700);
LOX
"$sp" run storm.lox >"$scratch/out" 2>"$scratch/err" &
pid=$! last="storm.lox"
for _ in $(seq 600); do
    grep -q "^Full thread dump" "$scratch/err" && break
    sleep 0.1
done
mappings=$(wc -l <"/proc/$pid/maps" 2>/dev/null || echo 0)
wait "$pid"
code=$?
expect_code 0
expect_err "Full thread dump Stillpoint (1 participants)"
expect_true "$mappings mappings after 3000 threads" [ "$mappings" -lt 2000 ]

# --- a thread dump when somebody asks from outside -----------------------------------------------
cat >busy.lox <<'LOX'
var lock = Lock();
fun runs() { while (!isOver) {} }
fun waits() { lock.acquire(); lock.release(); }
var isOver = false;
lock.acquire();
for (var i = 0; i < 4; i = i + 1) { spawn(runs); spawn(waits); }
print "ready";
sleep(2500);
isOver = true;
lock.release();
LOX
"$sp" run busy.lox >"$scratch/out" 2>"$scratch/err" &
pid=$! last="busy.lox and SIGQUIT"
for _ in $(seq 300); do # main, 8 threads, the VM thread, two of libraries
    [ "$(ls "/proc/$pid/task" | wc -l)" -ge 11 ] && break
    sleep 0.1
done
sleep 0.5
kill -QUIT "$pid"
wait "$pid"
code=$?
expect_code 0
expect_err "Full thread dump Stillpoint (9 participants)"
expect_err "waits for lock 1, held by #1"
expect_err "in waits:3 (guest)"
expect_err "in runs:2 (guest)"
expect_err "in script:8 (guest)"

# --- a system that gives no thread, no stack: a guest error, not a crash ------------------------------
cat >refused.lox <<'LOX'
fun f() { sleep(300); }
fun many() { for (var i = 0; i < 400; i = i + 1) spawn(f); }
var e = attempt(many);
if (e == nil) print "all started"; else print e.message;
LOX
if [ "${ASAN_OPTIONS-}${TSAN_OPTIONS-}" = "" ] && ! grep -q sanitizer <("$sp" --version); then
    (
        ulimit -v 800000
        exec "$sp" run -Xmx16m refused.lox
    ) >"$scratch/out" 2>"$scratch/err"
    code=$? last="refused.lox with 800 MB of address space"
    expect_code 0
    expect_true "it says nothing of memory" grep -qE "^OutOfMemory: the system" "$scratch/out"
fi

# --- programs that are none -------------------------------------------------------------------------------
refuse 74 "cannot read nowhere.lox: No such file" "$sp" run nowhere.lox
mkdir folder
refuse 74 "cannot read folder: Is a directory" "$sp" run folder
printf 'print 1;' >secret.lox
chmod 000 secret.lox
[ "$(id -u)" = 0 ] || refuse 74 "cannot read secret.lox: Permission denied" "$sp" run secret.lox
refuse 64 "-XX:MaxDirectMemorySize=lots" "$sp" run -XX:MaxDirectMemorySize=lots lines.lox

finish
