# shellcheck shell=sh disable=SC2154 # who sources this sets root and me
# bootstrap.sh -- from a bare machine to a built preset; sourced by ./run and ./test.
# SPDX-License-Identifier: MIT
#
# Read next: make_preset() at the end, then ./run and ./test.
#
# Promises
#   P1  Nothing here writes to standard output or reads standard input, provided that
#       make_preset is called with `</dev/null >&2`.
#   P2  A preset whose stamp matches its sources costs one hash over the source folders:
#       no package tool, no cmake, no lock, no message.
#   P3  A stamp is written only after a build that succeeded, and holds the hash taken
#       before it: an interrupted build, or a file edited during one, is built again.
#   P4  Nothing depends on git, on HOME, on the current folder or on a terminal.
# Asks of callers
#   C1  root   the checkout, an absolute path without symbolic links
#   C2  me     the name that starts each message
#
# Exit codes: 1 the build failed; 74 the system refused something (a package, a folder, a tool).

EX_ENVIRONMENT=74
layer_folders='base safepoint alloc gc vm tools'

say() { printf '%s: %s\n' "$me" "$*" >&2; }

die()
{
    die_code=$1
    shift
    say "$@"
    exit "$die_code"
}

# A closed descriptor would be handed to the first file that somebody opens.
open_closed_descriptors()
{
    (: >&2) || exec 2>/dev/null
    (: <&0) 2>/dev/null || exec </dev/null
}

# ---- packages -------------------------------------------------------------------------

# packages_of SECTION...: the names in these sections of packages.txt, on one line.
packages_of()
{
    awk -v want=" $* " '
        { sub(/#.*/, ""); gsub(/[ \t\r]/, "") }
        /^\[/ { gsub(/[][]/, ""); on = index(want, " " $0 " "); next }
        on && $0 != "" { printf "%s%s", space, $0; space = " " }
    ' "$root/packages.txt"
}

# missing_of NAME...: those that dpkg does not have installed, on one line; asks it once.
missing_of()
{
    # shellcheck disable=SC2016 # the braces are dpkg-query's
    dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
        awk -v names="$*" '
            $2 == "installed" { have[$1] = 1 }
            END {
                n = split(names, name, " ")
                for (i = 1; i <= n; i++)
                    if (!(name[i] in have)) {
                        printf "%s%s", space, name[i]
                        space = " "
                    }
            }'
}

# apt_get ARGS...: apt-get without questions, as root or through sudo, all of it into the log.
apt_get()
{
    set -- env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get \
        -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
    [ "$apt_as" = root ] || set -- sudo -n "$@"
    "$@" >>"$apt_log" 2>&1 9>&-
}

# The lock of the package lists has no timeout of its own in apt; a machine that has just
# started often updates them by itself.
apt_update()
{
    apt_tries=0
    until apt_get update; do
        apt_tries=$((apt_tries + 1))
        [ "$apt_tries" -lt 12 ] && grep -q 'Could not get lock' "$apt_log" || return 1
        sleep 5
        : >"$apt_log"
    done
}

# The most telling line of the log: a failed download before the error that it led to.
apt_reason()
{
    {
        grep -m1 -E 'Failed to fetch|Temporary failure|Could not (resolve|connect|get lock)' \
            "$apt_log" || grep -m1 '^E: ' "$apt_log" || echo 'it gave no reason'
    } | sed 's/^ *//'
}

# apt_line NAME...: what a person has to type.
apt_line()
{
    line="apt-get update && apt-get install -y --no-install-recommends $*"
    if command -v sudo >/dev/null 2>&1; then
        printf 'sudo apt-get update && sudo %s\n' "${line#*&& }"
    else
        printf "su -c '%s'\n" "$line"
    fi
}

# install_packages SECTION...
install_packages()
{
    # Unquoted on purpose here and below: names of packages hold no spaces.
    # shellcheck disable=SC2046
    missing=$(missing_of $(packages_of "$@"))
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" = 0 ]; then
        apt_as=root
    elif command -v sudo >/dev/null 2>&1 && sudo -n true >/dev/null 2>&1; then
        apt_as=sudo
    else
        # shellcheck disable=SC2086
        say "packages are missing and this is neither root nor sudo without a password; type:"
        # shellcheck disable=SC2086
        apt_line $missing >&2
        exit "$EX_ENVIRONMENT"
    fi
    apt_log=$root/build/apt.log
    : >"$apt_log"
    say "installing $missing"
    apt_update || die "$EX_ENVIRONMENT" "apt-get update failed: $(apt_reason) (log: $apt_log)"
    # shellcheck disable=SC2086
    apt_get install -y --no-install-recommends $missing ||
        die "$EX_ENVIRONMENT" "apt-get install failed: $(apt_reason) (log: $apt_log)"
}

# ---- tools ----------------------------------------------------------------------------

cmake_is_new_enough()
{
    version=$(cmake --version 2>/dev/null |
        sed -n '1s/^cmake version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
    [ -n "$version" ] || return 1
    major=${version% *} minor=${version#* }
    [ "$major" -gt 3 ] || { [ "$major" -eq 3 ] && [ "$minor" -ge 25 ]; }
}

has_compiler()
{
    if [ -n "${CC:-}" ]; then
        command -v "${CC%% *}" >/dev/null 2>&1
    else
        command -v cc >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 ||
            command -v clang >/dev/null 2>&1
    fi
}

need() { lacking="${lacking:+$lacking, }$1"; }

# check_tools SECTION...: what no package manager of ours has installed has to be there.
check_tools()
{
    lacking=
    cmake_is_new_enough || need 'CMake 3.25 or newer'
    has_compiler || need 'a C compiler'
    command -v ninja >/dev/null 2>&1 || need ninja
    libraries='liburcu-memb libunwind'
    case " $* " in *' test '*) libraries="$libraries check jansson" ;; esac
    if command -v pkg-config >/dev/null 2>&1; then
        for library in $libraries; do
            pkg-config --exists "$library" 2>/dev/null || need "$library (development files)"
        done
    else
        need pkg-config
        need "and what it then finds of: $libraries"
    fi
    [ -z "$lacking" ] || die "$EX_ENVIRONMENT" "please install: $lacking"
}

# provide SECTION...: everything the sections name, or an end with 74.
provide()
{
    if command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1; then
        install_packages "$@"
    fi
    check_tools "$@"
}

# ---- stamps and locks -----------------------------------------------------------------

# fingerprint FOLDER...: one hash over the package list, the top CMake files and every file
# in the folders, with the place of the checkout, which CMake's cache depends on.
fingerprint()
{
    (
        printf '%s\n' "$root"
        cd "$root" && find "$@" cmake CMakeLists.txt CMakePresets.json packages.txt -type f \
            ! -name '.*' ! -name '*~' ! -name '*.pyc' -print0 2>/dev/null |
            LC_ALL=C sort -z | xargs -0 sha256sum
    ) 2>/dev/null | sha256sum 2>/dev/null
}

# sources_of KIND: `run` needs the program only, `test` the tests as well.
sources_of()
{
    # shellcheck disable=SC2086
    case $1 in
    run) fingerprint $layer_folders ;;
    test) fingerprint $layer_folders tests ;;
    esac
}

# is_ready PRESET KIND: this kind of build of the preset is done and its sources are unchanged.
is_ready()
{
    [ -x "$root/build/$1/stillpoint" ] && [ -f "$root/build/$1/.stamp-$2" ] || return 1
    stamp=$(cat "$root/build/$1/.stamp-$2") || return 1
    [ -n "$stamp" ] && [ "$stamp" = "$(sources_of "$2")" ]
}

# `true` and not `:`, because a failed redirection of a special built-in ends the shell.
can_write() { (true >>"$1") 2>/dev/null; }

require_build_folder()
{
    mkdir -p "$root/build/$1" 2>/dev/null
    for file in "$root/build/.lock" "$root/build/apt.log" "$root/build/$1/build.log"; do
        can_write "$file" || die "$EX_ENVIRONMENT" "cannot write $file"
    done
}

# wait_for_lock FD WHAT: returns with the lock behind FD held, or at once without flock.
wait_for_lock()
{
    command -v flock >/dev/null 2>&1 || return 0
    flock -n "$1" 2>/dev/null && return 0
    say "$2; waiting for it to end"
    flock "$1" || say "cannot lock; going on without"
}

# ---- building -------------------------------------------------------------------------

cached() { sed -n "s/^$2:[A-Z]*=//p" "$1/CMakeCache.txt" 2>/dev/null; }

# Whether the build folder has the tests: ./run leaves them out, but not out of a folder in
# which ./test has them, unless what they need is gone.
wants_tests()
{
    [ "$2" = test ] && return 0
    [ "$(cached "$root/build/$1" STILLPOINT_TESTS)" = ON ] && pkg-config --exists check jansson
}

# configure PRESET KIND: a cache from another place or one that CMake refuses is thrown away.
configure()
{
    tests=OFF
    wants_tests "$@" && tests=ON
    cache=$root/build/$1/CMakeCache.txt
    if [ -f "$cache" ] && [ "$(cached "$root/build/$1" CMAKE_HOME_DIRECTORY)" = "$root" ]; then
        cmake --preset "$1" -DSTILLPOINT_TESTS="$tests" && return 0
        [ "$2" = test ] || tests=OFF
        printf '\n%s: configuring again from nothing\n' "$me"
    fi
    cmake --fresh --preset "$1" -DSTILLPOINT_TESTS="$tests"
}

compile()
{
    if [ "$2" = run ]; then
        cmake --build "$root/build/$1" --target stillpoint
    else
        cmake --build "$root/build/$1"
    fi
}

# build PRESET KIND: quiet; the log stays, its end is shown when the build fails.
build()
{
    log=$root/build/$1/build.log
    say "building $1"
    (cd "$root" && configure "$@" && compile "$@") >"$log" 2>&1 && return 0
    tail -n 40 "$log" >&2
    say "the $1 build failed; all of it: $log"
    return 1
}

# make_preset PRESET KIND SECTION...: the preset is built from the present sources, or the
# result is not 0. Descriptor 9 is the lock; the build inherits it, so that it outlives a
# script that is killed alone.
make_preset()
{
    preset=$1 kind=$2
    shift 2
    is_ready "$preset" "$kind" && return 0
    require_build_folder "$preset"
    exec 9>>"$root/build/.lock"
    wait_for_lock 9 'another ./run or ./test is building here'
    made=0
    if ! is_ready "$preset" "$kind"; then
        provide "$@"
        before=$(sources_of "$kind")
        before_run=$(sources_of run)
        rm -f "$root/build/$preset/.stamp-run" "$root/build/$preset/.stamp-test"
        if build "$preset" "$kind"; then
            printf '%s\n' "$before_run" >"$root/build/$preset/.stamp-run"
            printf '%s\n' "$before" >"$root/build/$preset/.stamp-$kind"
        else
            made=1
        fi
    fi
    exec 9>&-
    return "$made"
}
