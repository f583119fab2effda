#!/usr/bin/env bash
# threads.sh STILLPOINT -- guest threads as a user meets them: whole lines, dumps, a system that
# refuses, races that show without a lock.
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
sp=$1
cd "$scratch" || exit 74
is_plain=yes
"$sp" --version | grep -q sanitizer && is_plain=no

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

# --- many short threads leave next to nothing behind ------------------------------------------
# A stack that stays would be 4 KiB each at least; what does stay, until the program ends, are
# some 500 bytes each.
groups=400
[ $is_plain = no ] && groups=60
cat >storm.lox <<LOX
fun f(i) { return i; }
var threads = Array(50);
fun group() {
  for (var i = 0; i < 50; i = i + 1) threads[i] = spawn(f, i);
  for (var i = 0; i < 50; i = i + 1) threads[i].join();
}
for (var i = 0; i < 10; i = i + 1) group();
sleep(400); // the last ones are joined, not gone yet
threadDump();
sleep(400);
for (var i = 0; i < $groups; i = i + 1) group();
sleep(400);
threadDump();
sleep(600000); // until it is killed
LOX
"$sp" run storm.lox >"$scratch/out" 2>"$scratch/err" &
pid=$! last="storm.lox"
# measure_at N: mappings and resident KiB when the Nth dump is there; none if it never is
measure_at() {
    mappings=999999 resident=999999
    for _ in $(seq 600); do
        [ "$(grep -c "^Full thread dump" "$scratch/err")" -ge "$1" ] && break
        kill -0 "$pid" 2>/dev/null || return
        sleep 0.1
    done
    mappings=$(wc -l <"/proc/$pid/maps")
    resident=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status")
}
measure_at 1
mappings_before=$mappings resident_before=$resident
measure_at 2
kill -KILL "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
code=$?
expect_code 137
expect_true "not 1 participant alone in both dumps" \
    [ "$(grep -c "^Full thread dump Stillpoint (1 participants)" "$scratch/err")" = 2 ]
expect_true "$mappings mappings after $((groups * 50)) threads, $mappings_before before" \
    [ "$mappings" -lt $((mappings_before + 200)) ]
[ $is_plain = no ] || # a sanitizer keeps what was freed
    expect_true "$resident KiB after $((groups * 50)) threads, $resident_before before" \
        [ "$resident" -lt $((resident_before + groups * 50)) ]

# --- nowhere to print to -------------------------------------------------------------------------
cat >full.lox <<'LOX'
fun writer() { while (true) print "more than the device takes"; }
var a = spawn(writer); var b = spawn(writer);
a.join();
LOX
if [ -w /dev/full ]; then
    "$sp" run full.lox >/dev/full 2>"$scratch/err"
    code=$? last="full.lox >/dev/full"
    : >"$scratch/out"
    expect_code 74
    expect_err "cannot write to stdout: No space left on device"
fi

# --- a thread dump when somebody asks from outside -----------------------------------------------
# Main sleeps in short pieces: ThreadSanitizer keeps a signal back until the sleep is over.
cat >busy.lox <<'LOX'
var lock = Lock();
var all = Barrier(9);
fun runs() { all.wait(); while (true) {} }
fun waits() { all.wait(); lock.acquire(); }
lock.acquire();
for (var i = 0; i < 4; i = i + 1) { spawn(runs); spawn(waits); }
all.wait();
safepoint(); // the log tells that all are there
while (true) sleep(5);
LOX
"$sp" run "-Xlog:safepoint:file=$scratch/busy.log:none" busy.lox >"$scratch/out" 2>"$scratch/err" &
pid=$! last="busy.lox and SIGQUIT"
# await TEXT FILE: until it stands there, the program has ended, or a minute is over
await() {
    for _ in $(seq 600); do
        grep -qsF -- "$1" "$2" && break
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
}
await ForceSafepoint "$scratch/busy.log"
sleep 0.3 # they run on to where they stay
kill -QUIT "$pid"
await "in script:9 (guest)" "$scratch/err"
kill -KILL "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
code=$?
expect_code 137 # it ran on
expect_err "Full thread dump Stillpoint (9 participants)"
expect_err "waits for lock 1, held by #1"
expect_err "in waits:4 (guest)"
expect_err "in runs:3 (guest)"
expect_err "in script:9 (guest)"

# --- a system that gives no thread, no stack: a guest error, not a crash ------------------------------
cat >refused.lox <<'LOX'
fun f() { sleep(300); }
fun many() { for (var i = 0; i < 400; i = i + 1) spawn(f); }
var e = attempt(many);
if (e == nil) print "all started"; else print e.message;
LOX
if [ $is_plain = yes ]; then
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
