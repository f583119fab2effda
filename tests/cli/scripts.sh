#!/bin/sh
# scripts.sh -- ./run and ./test do what they promise, on machines made of stand-ins.
# SPDX-License-Identifier: MIT
#
#   scripts.sh          run every case; exit 0 when all hold
#   scripts.sh CASE...  only these
#
# Read next: new_machine(), then one case.
#
# Each case gets a checkout of its own (the real scripts, two source files) in a folder whose
# name has spaces, and a PATH with nothing in it but stand-ins for apt-get, dpkg-query, sudo,
# cmake and so on, which write down how they were called, and links to the plain tools.
set -u
unset CDPATH
self=$(readlink -f -- "$0") here=${self%/*}
origin=$(readlink -f -- "$here/../..")
work=$(mktemp -d) || exit 74
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# ---- the stand-ins --------------------------------------------------------------------

make_stand_ins()
{
    mkdir -p "$work/tools"
    for tool in sh awk cat chmod cut dirname env find flock grep kill mkdir mv printf readlink rm \
        sed sha256sum sleep sort tail touch tr true uname xargs; do
        # Not by `command -v`, which names the shell's own before the file.
        for folder in /usr/bin /bin; do
            if [ -x "$folder/$tool" ]; then
                ln -s "$folder/$tool" "$work/tools/$tool"
                break
            fi
        done
    done
    cat >"$work/fake" <<'END'
#!/bin/sh
# One stand-in for all: its name says which. M is the machine's folder.
name=${0##*/}
printf '%s\n' "$name $*" >>"$M/calls"
program='#!/bin/sh
printf "pid=%s pwd=%s" "$$" "$PWD"
for a; do printf " [%s]" "$a"; done
echo
exit "${PROGRAM_EXITS:-0}"
'
case $name in
id) echo "${FAKE_UID:-0}" ;;
sudo)
    [ "${FAKE_SUDO:-no}" = yes ] && [ "$1" = -n ] || exit 1
    shift
    exec "$@"
    ;;
dpkg-query)
    shift 2
    code=0
    for p; do
        if grep -qx "$p" "$M/installed"; then
            echo "$p installed"
        elif [ "$p" = "${FAKE_HALF:-}" ]; then
            echo "$p config-files"
        else
            code=1
        fi
    done
    exit "$code"
    ;;
apt-get)
    for a; do
        case $a in
        "${FAKE_APT_FAILS:-never}")
            echo 'Reading package lists...'
            echo 'E: the mirror is on fire'
            exit 100
            ;;
        esac
        case $a in -*) ;; *) echo "$a" >>"$M/installed" ;; esac
    done
    echo "frontend=$DEBIAN_FRONTEND" >>"$M/calls"
    ;;
cmake)
    case $* in
    --version) echo "cmake version ${FAKE_CMAKE:-3.25.1}" ;;
    *--preset*)
        preset=${*#*--preset } preset=${preset%% *}
        mkdir -p "$PWD/build/$preset"
        tests=${*##*STILLPOINT_TESTS=}
        {
            printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\n' "$PWD"
            printf 'STILLPOINT_TESTS:BOOL=%s\nCMAKE_C_COMPILER:PATH=cc\n' "$tests"
        } >"$PWD/build/$preset/CMakeCache.txt"
        ;;
    --build*)
        sleep "${FAKE_BUILD_SECONDS:-0}"
        [ -z "${FAKE_EDIT:-}" ] || echo '/* edited during the build */' >>"$FAKE_EDIT"
        if [ "${2##*/}" = "${FAKE_BUILD_FAILS:-never}" ]; then
            echo 'FAILED: main.c.o'
            echo 'main.c:7:3: error: a stand-in for an error'
            exit 1
        fi
        printf '%s' "$program" >"$2/stillpoint"
        chmod +x "$2/stillpoint"
        ;;
    esac
    ;;
ctest)
    dir=${*#*--test-dir } dir=${dir%% -j*}
    echo '1/1 Test #1: something'
    echo
    if [ "${dir##*/}" = "${FAKE_TESTS_FAIL:-never}" ]; then
        printf '0%% tests passed, 1 tests failed out of 1\n\nThe following tests FAILED:\n\t1 - x\n'
        echo 'Errors while running CTest'
        exit 8
    fi
    printf '100%% tests passed, 0 tests failed out of 1\n\nTotal Test time (real) = 0.01 sec\n'
    ;;
cc)
    for a; do out=$a; done
    printf '#!/bin/sh\nexit "${FAKE_PROBE_EXITS:-0}"\n' >"$out"
    chmod +x "$out"
    ;;
setarch)
    [ "$2" = -R ] && [ "${FAKE_SETARCH:-helps}" = helps ] || exit 1
    shift 2
    FAKE_PROBE_EXITS=0 exec "$@"
    ;;
esac
END
    chmod +x "$work/fake"
}

debian='apt-get dpkg-query'
tools='cmake ctest ninja cc pkg-config setarch'
build_packages='cmake gcc libx-dev'
test_packages='check'

# new_machine FAKE...: an empty machine as root with these stand-ins; $M, $C its checkout.
new_machine()
{
    machines=$((machines + 1))
    M="$work/machine $machines" C="$work/machine $machines/a place"
    export M
    mkdir -p "$M/bin" "$C/cmake" "$C/base" "$C/tools" "$C/tests"
    for fake in id git "$@"; do
        ln -s "$work/fake" "$M/bin/$fake"
    done
    : >"$M/calls"
    : >"$M/installed"
    cp "$origin/run" "$origin/test" "$C/"
    cp "$origin/cmake/bootstrap.sh" "$C/cmake/"
    printf '# a comment\n[build]\ncmake\ngcc  # why\nlibx-dev\n[test]\ncheck\n' >"$C/packages.txt"
    echo 'int main(void) { return 0; }' >"$C/tools/main.c"
    : >"$C/CMakeLists.txt"
}

# A Debian on which everything is installed, in the state after a first ./run.
new_built_machine()
{
    # shellcheck disable=SC2086
    new_machine $debian $tools
    # shellcheck disable=SC2086
    printf '%s\n' $build_packages $test_packages >"$M/installed"
    go "$C/run"
    : >"$M/calls"
}

# go COMMAND...: runs it on the machine; afterwards $code, $M/out, $M/err.
go()
{
    (
        PATH="$M/bin:$work/tools"
        export PATH
        exec "$@"
    ) >"$M/out" 2>"$M/err"
    code=$?
}

# ---- what the cases say ---------------------------------------------------------------

# holds WHAT COMMAND...: WHAT is a claim, the command decides it.
holds()
{
    what=$1
    shift
    checks=$((checks + 1))
    "$@" && return 0
    case_failed=1
    echo "    not so: $what ($*)"
}

exits() { holds "exit code $1, was $code" [ "$code" = "$1" ]; }
called() { holds "called: $1" grep -Fqx -- "$1" "$M/calls"; }
calls_of() { grep -c "^$1 " "$M/calls"; }
called_times() { holds "$1 called $2 times" [ "$(calls_of "$1")" = "$2" ]; }
never_called() { for n; do called_times "$n" 0; done; }
is_empty() { holds "$1 is empty" [ ! -s "$M/$1" ]; }
says() { holds "$1 says: $2" grep -Fq -- "$2" "$M/$1"; }
silent_about() { holds "$1 does not say: $2" eval "! grep -Fq -- '$2' '$M/$1'"; }
one_line() { holds "$1 is one line" [ "$(grep -c '' "$M/$1")" = 1 ]; }
last_line_is() { holds "last line of out: $1" [ "$(tail -n 1 "$M/out")" = "$1" ]; }

apt_options='-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3'
apt_install='install -y --no-install-recommends'

case_root_installs_exactly_what_is_missing()
{
    # shellcheck disable=SC2086
    new_machine $debian $tools
    echo gcc >"$M/installed"
    FAKE_HALF=cmake go "$C/run" a 'b c'
    exits 0
    called "apt-get $apt_options update"
    called "apt-get $apt_options $apt_install cmake libx-dev"
    called 'frontend=noninteractive'
    called_times apt-get 2
    called_times dpkg-query 1
    holds 'the update comes first' [ "$(grep '^apt-get' "$M/calls" | sed -n '1s/.* //p')" = update ]
    called 'cmake --fresh --preset release -DSTILLPOINT_TESTS=OFF'
    called "cmake --build $C/build/release --target stillpoint"
    one_line out
    says out ' [a] [b c]'
    says err 'run: installing cmake libx-dev'
    never_called git sudo
}

case_nothing_to_do_calls_nothing_and_says_nothing()
{
    new_built_machine
    exits 0
    go "$C/run" --version
    exits 0
    is_empty calls
    is_empty err
    one_line out
    says out ' [--version]'
    # Not even the lock, which a read-only checkout could not give.
    rm "$C/build/.lock"
    mkdir "$C/build/.lock"
    go "$C/run" --version
    exits 0
    is_empty err
}

case_the_script_becomes_the_program()
{
    new_built_machine
    # shellcheck disable=SC2016
    go sh -c 'echo "pid=$$"; exec "$1" x' sh "$C/run"
    holds 'one process' [ "$(cut -d' ' -f1 "$M/out" | sort -u | grep -c pid=)" = 1 ]
    PROGRAM_EXITS=70 go "$C/run" x
    exits 70
    go "$C/run"
    says out ' [ttsp]'
}

case_a_change_builds_again_without_apt()
{
    new_built_machine
    echo '/* changed */' >>"$C/tools/main.c"
    go "$C/run" x
    called "cmake --preset release -DSTILLPOINT_TESTS=OFF"
    called_times dpkg-query 1
    never_called apt-get
    one_line out
    echo 'a new file' >"$C/base/new.c"
    : >"$M/calls"
    go "$C/run" x
    called "cmake --build $C/build/release --target stillpoint"
    : >"$M/calls"
    echo 'tests are not part of the program' >"$C/tests/test_x.c"
    go "$C/run" x
    is_empty calls
    printf '[build]\ncmake\ngcc\nlibx-dev\nliby-dev\n[test]\ncheck\n' >"$C/packages.txt"
    go "$C/run" x
    called "apt-get $apt_options $apt_install liby-dev"
}

case_sudo_without_a_password_is_used()
{
    # shellcheck disable=SC2086
    new_machine $debian $tools sudo
    FAKE_UID=1000 FAKE_SUDO=yes go "$C/run" x
    exits 0
    called "sudo -n env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get $apt_options update"
    called "apt-get $apt_options $apt_install $build_packages"
}

case_neither_root_nor_sudo_prints_the_line_to_type()
{
    # shellcheck disable=SC2086
    new_machine $debian $tools sudo
    FAKE_UID=1000 go "$C/run" x
    exits 74
    is_empty out
    never_called apt-get cmake
    holds 'the line' grep -Fqx "sudo apt-get update && sudo apt-get $apt_install $build_packages" \
        "$M/err"
    # shellcheck disable=SC2086
    new_machine $debian $tools
    FAKE_UID=1000 go "$C/test"
    exits 74
    never_called apt-get cmake
    holds 'the line without sudo' grep -Fqx \
        "su -c 'apt-get update && apt-get $apt_install $build_packages $test_packages'" "$M/err"
}

case_apt_that_fails_gives_one_line()
{
    for phase in update install; do
        # shellcheck disable=SC2086
        new_machine $debian $tools
        FAKE_APT_FAILS=$phase go "$C/run" x
        exits 74
        is_empty out
        says err "run: apt-get $phase failed: E: the mirror is on fire"
        holds 'what is done and what failed' [ "$(grep -c '' "$M/err")" = 2 ]
        never_called cmake
    done
}

case_without_dpkg_the_tools_are_enough()
{
    # shellcheck disable=SC2086
    new_machine $tools
    go "$C/run" x
    exits 0
    says out ' [x]'
    new_machine cmake ctest cc
    go "$C/run" x
    exits 74
    is_empty out
    says err 'please install: ninja, pkg-config'
    says err 'liburcu-memb libunwind'
    # shellcheck disable=SC2086
    new_machine $tools
    FAKE_CMAKE=3.24.9 go "$C/run" x
    exits 74
    says err 'CMake 3.25 or newer'
    FAKE_CMAKE=4.0.0 go "$C/run" x
    exits 0
}

case_home_terminal_and_descriptors_are_not_needed()
{
    # shellcheck disable=SC2086
    new_machine $debian $tools
    go env -u HOME "$C/run" x <&-
    exits 0
    says out ' [x]'
    go "$C/run" x <&-
    exits 0
    is_empty err
    echo '/* changed */' >>"$C/tools/main.c"
    # shellcheck disable=SC2016
    go sh -c 'exec "$1" x <&- 2>&-' sh "$C/run"
    exits 0
    says out ' [x]'
    one_line out
}

case_any_folder_and_a_link_will_do()
{
    new_built_machine
    mkdir "$M/else where"
    ln -s "$C/run" "$M/else where/start it"
    # shellcheck disable=SC2016
    go sh -c 'cd "$1" && exec "./start it" x' sh "$M/else where"
    exits 0
    is_empty calls
    says out "pwd=$M/else where [x]"
    mv "$C" "$M/moved"
    go "$M/moved/run" x
    exits 0
    called 'cmake --fresh --preset release -DSTILLPOINT_TESTS=OFF'
}

# A file in the place of the folder refuses everybody, root too.
case_a_build_folder_that_cannot_be_written()
{
    # shellcheck disable=SC2086
    new_machine $debian $tools
    : >"$C/build"
    for script in run test; do
        go "$C/$script"
        exits 74
        is_empty out
        one_line err
        says err "$script: cannot write $C/build/"
    done
    is_empty calls
}

case_a_build_that_fails_shows_the_end_of_its_log()
{
    new_built_machine
    echo '/* changed */' >>"$C/tools/main.c"
    FAKE_BUILD_FAILS=release go "$C/run" x
    exits 1
    is_empty out
    says err 'main.c:7:3: error: a stand-in for an error'
    says err "$C/build/release/build.log"
    holds 'the log is kept' grep -q 'stand-in for an error' "$C/build/release/build.log"
    : >"$M/calls"
    go "$C/run" x
    exits 0
    called "cmake --build $C/build/release --target stillpoint"
}

case_an_edit_during_the_build_is_built_again()
{
    # shellcheck disable=SC2086
    new_machine $debian $tools
    FAKE_EDIT=$C/tools/main.c go "$C/run" x
    : >"$M/calls"
    go "$C/run" x
    called "cmake --build $C/build/release --target stillpoint"
}

case_two_at_once_build_once()
{
    command -v flock >/dev/null || return 0
    # shellcheck disable=SC2086
    new_machine $debian $tools
    (
        PATH="$M/bin:$work/tools" FAKE_BUILD_SECONDS=2 exec "$C/run" first
    ) >"$M/out1" 2>"$M/err1" &
    first=$!
    wait_for 'cmake --build'
    go "$C/run" second
    exits 0
    says out ' [second]'
    says err 'run: another ./run or ./test is building here; waiting for it to end'
    wait "$first"
    says out1 ' [first]'
    holds 'one build' [ "$(grep -c '^cmake --build' "$M/calls")" = 1 ]
}

# The build outlives the script here, as after a kill of the script alone: it keeps the lock.
case_a_killed_script_leaves_no_stamp()
{
    # shellcheck disable=SC2086
    new_machine $debian $tools
    (
        PATH="$M/bin:$work/tools" FAKE_BUILD_SECONDS=1 exec "$C/run" first
    ) >"$M/out1" 2>&1 &
    first=$!
    wait_for 'cmake --build'
    kill -9 "$first"
    wait "$first" 2>/dev/null
    go "$C/run" second
    exits 0
    says out ' [second]'
    silent_about out1 '[first]'
    holds 'a second build' [ "$(grep -c '^cmake --build' "$M/calls")" = 2 ]
}

# wait_for PREFIX: until a call that begins so is on record, 10 s at most.
wait_for()
{
    tries=0
    until grep -q "^$1" "$M/calls" || [ "$tries" -ge 200 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
}

case_test_help_and_wrong_arguments()
{
    # shellcheck disable=SC2086
    new_machine $debian $tools
    go "$C/test" --help
    exits 0
    says out 'usage: ./test'
    go "$C/test" --quikc
    exits 64
    says err "unknown argument '--quikc'"
    is_empty calls
    holds 'no build folder' [ ! -e "$C/build" ]
}

case_test_runs_three_builds_and_ends_with_a_summary()
{
    # shellcheck disable=SC2086
    new_machine $debian $tools
    go "$C/test"
    exits 0
    called "apt-get $apt_options $apt_install $build_packages $test_packages"
    for preset in release asan tsan; do
        called "cmake --fresh --preset $preset -DSTILLPOINT_TESTS=ON"
        called "cmake --build $C/build/$preset"
        holds "ctest for $preset" grep -q "^ctest --test-dir $C/build/$preset -j2" "$M/calls"
    done
    last_line_is 'Total Test time (real) = 0.01 sec'
    says out 'verdict: release: passed. asan: passed. tsan: passed.'
    silent_about out 'building'
    : >"$M/calls"
    go "$C/test" --quick
    exits 0
    never_called apt-get dpkg-query cmake
    called_times ctest 1
    : >"$M/calls"
    go "$C/run" x
    is_empty calls
}

case_test_names_the_build_whose_tests_fail()
{
    for preset in release asan tsan; do
        # shellcheck disable=SC2086
        new_machine $debian $tools
        FAKE_TESTS_FAIL=$preset go "$C/test"
        exits 1
        called_times ctest 3
        last_line_is 'Errors while running CTest'
        says out "== failed in: $preset"
        holds 'nothing but the summary after the verdict' [ "$(sed -n \
            '/^== failed in/,$p' "$M/out" | grep -c '')" = 7 ]
    done
}

case_test_names_the_build_that_does_not_build()
{
    for preset in release asan tsan; do
        # shellcheck disable=SC2086
        new_machine $debian $tools
        FAKE_BUILD_FAILS=$preset go "$C/test"
        exits 1
        called_times ctest 2
        says err "test: the $preset build failed"
        says out "== failed in: $preset"
        last_line_is 'Total Test time (real) = 0.01 sec'
    done
}

case_tsan_that_cannot_start_is_tried_without_randomisation()
{
    # shellcheck disable=SC2086
    new_machine $debian $tools
    FAKE_PROBE_EXITS=66 go "$C/test"
    exits 0
    holds 'tests under setarch' grep -q '^setarch .* -R ctest --test-dir' "$M/calls"
    says out 'tsan: passed.'
    # shellcheck disable=SC2086
    new_machine $debian $tools
    FAKE_PROBE_EXITS=66 FAKE_SETARCH=refused go "$C/test"
    exits 0
    says out '== tsan: SKIP: '
    says out 'vm.mmap_rnd_bits'
    says out 'tsan: SKIPPED.'
    called_times ctest 2
    last_line_is 'Total Test time (real) = 0.01 sec'
}

# ---- main -----------------------------------------------------------------------------

machines=0 checks=0 bad=0 ran=0
make_stand_ins
# shellcheck disable=SC2046 # the names are words
[ $# -gt 0 ] || set -- $(sed -n 's/^\(case_[a-z_]*\)()$/\1/p' "$self")
for name; do
    case_failed=0
    "$name"
    ran=$((ran + 1))
    if [ "$case_failed" = 0 ]; then
        echo "ok      $name"
    else
        bad=$((bad + 1))
        echo "FAILED  $name"
        sed 's/^/    err: /' "$M/err"
        sed 's/^/    out: /' "$M/out"
        sed 's/^/    call: /' "$M/calls"
    fi
done
echo "$ran cases, $checks checks, $bad failed"
[ "$bad" = 0 ] && [ "$checks" -gt 0 ]
