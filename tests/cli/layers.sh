#!/bin/sh
# layers.sh -- who may include what, checked in the text of the sources.
# SPDX-License-Identifier: MIT
#
#   layers.sh [DIR]         check the tree DIR (default: this checkout); violations are printed
#                           as file:line: message; exit 0 none, 1 some, 2 nothing to check
#   layers.sh --self-test   check that the trees in layers_control/ give exactly the lines
#                           that are marked there with the word `planted`
#
# The rules
#   - base <- safepoint <- alloc <- gc <- vm <- tools: a folder includes itself and folders to
#     its left; tests include everything, and nothing outside tests includes tests.
#   - A header of the project is named from the root, in quotes: "base/os.h".
#   - Only base/os_linux.c includes <sys/...> or <linux/...>; <sys/sdt.h> may stand anywhere.
#   - A header is named in the directive itself, not by a macro: else none of this is checked.
#
# The linker checks the same layers by another way (a library's link line), but misses headers
# of inline functions, types and macros. Hence the text.
set -u
unset CDPATH
self=$(readlink -f -- "$0") here=${self%/*}

# The scanner. It knows comments and strings, so that an include in a comment does not count
# and a comment inside a directive does not hide it; it joins continued lines.
# shellcheck disable=SC2016 # the dollars are awk's
scanner='
BEGIN {
    n = split("base safepoint alloc gc vm tools tests", name, " ")
    for (i = 1; i <= n; i++)
        rank[name[i]] = i
    files = violations = 0
}

function complain(message) {
    printf "%s:%d: %s\n", file, at, message
    violations++
}

function folder_of(path) {
    return index(path, "/") ? substr(path, 1, index(path, "/") - 1) : ""
}

# The text without its comments, each one a space as the compiler has it; strings are kept.
# `in_comment` lasts from line to line.
function without_comments(text,    out, whole, token, end) {
    out = ""
    while (text != "") {
        if (in_comment) {
            end = index(text, "*/")
            if (!end)
                return out
            text = substr(text, end + 2)
            in_comment = 0
            continue
        }
        # What stands between < and > of an include is no comment, whatever it looks like.
        whole = out text
        if (match(whole, /^[ \t]*(#|%:)[ \t]*(include_next|include|import)[ \t]*<[^>]*>/) &&
            RLENGTH > length(out)) {
            out = substr(whole, 1, RLENGTH)
            text = substr(whole, RLENGTH + 1)
            continue
        }
        if (!match(text, /"([^"\\]|\\.)*"|'\''([^'\''\\]|\\.[^'\'']*)'\''|\/\*|\/\//))
            return out text
        token = substr(text, RSTART, RLENGTH)
        out = out substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (token == "//")
            return out
        if (token == "/*") {
            in_comment = 1
            out = out " "
        } else
            out = out token
    }
    return out
}

function check_quoted(path,    to) {
    to = folder_of(path)
    if (path ~ /(^|\/)\.\.?\// || path ~ /\/\// || path ~ /^\//)
        complain("\"" path "\" is not a plain path from the root")
    else if (to == "sys" || to == "linux")
        check_system(path)
    else if (!(to in rank))
        complain("\"" path "\" is not named from the root (no layer is called \"" to "\")")
    else if (!(mine in rank))
        complain((mine == "" ? "the root" : mine "/") \
            " is no layer and may not include \"" path "\"")
    else if (rank[to] > rank[mine])
        complain(mine "/ may not include \"" path "\": " to "/ is above it")
}

function check_angled(path) {
    if (path ~ /(^|\/)\.\.?\// || path ~ /\/\//)
        complain("<" path "> is not a plain path")
    else if (folder_of(path) in rank)
        complain("<" path "> is ours: name it in quotes")
    else
        check_system(path)
}

function check_system(path) {
    if (path ~ /^(sys|linux)\// && path != "sys/sdt.h" && file != "base/os_linux.c")
        complain("<" path "> belongs into base/os_linux.c alone")
}

function check_line(text,    rest) {
    if (text !~ /^[ \t]*(#|%:)[ \t]*(include|include_next|import)[ \t"<\/]/)
        return
    rest = text
    sub(/^[ \t]*(#|%:)[ \t]*(include_next|include|import)[ \t]*/, "", rest)
    if (match(rest, /^"[^"]*"/))
        check_quoted(substr(rest, 2, RLENGTH - 2))
    else if (match(rest, /^<[^>]*>/))
        check_angled(substr(rest, 2, RLENGTH - 2))
    else
        complain("an include whose header is not named in the directive")
}

# One line of input is the name of one file.
{
    file = $0
    sub(/^\.\//, "", file)
    mine = folder_of(file)
    files++
    in_comment = 0
    pending = ""
    number = at = 0
    while ((got = (getline text < $0)) > 0) {
        number++
        sub(/\r$/, "", text)
        if (pending == "")
            at = number
        if (text ~ /\\$/) {
            pending = pending substr(text, 1, length(text) - 1) " "
            continue
        }
        text = pending text
        pending = ""
        check_line(without_comments(text))
    }
    if (got < 0)
        complain("cannot be read")
    close($0)
}

END {
    if (!files) {
        print "no source file to check" > "/dev/stderr"
        exit 2
    }
    exit violations > 0
}'

# check DIR
check()
{
    cd "$1" || return 2
    find . \( -name '.?*' -o -path ./build -o -path ./tests/cli/layers_control \) -prune -o \
        -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.inc' \) -print |
        LC_ALL=C sort | awk "$scanner"
}

# Each tree in layers_control/ is a checkout of its own with planted violations.
self_test()
{
    failed=0 trees=0 planted=0
    for tree in "$here"/layers_control/*/; do
        want=$(cd "$tree" && grep -rn planted . | sed 's|^\./||' | cut -d: -f1,2 | LC_ALL=C sort)
        got=$(check "$tree" 2>&1)
        code=$?
        got_lines=$(printf '%s\n' "$got" | cut -d: -f1,2 | LC_ALL=C sort)
        want_code=0
        [ -z "$want" ] || want_code=1
        if [ "$want" != "$got_lines" ] || [ "$code" != "$want_code" ]; then
            echo "FAILED: $tree: exit code $code, wanted $want_code; planted:"
            printf '%s\n' "$want"
            echo 'found:'
            printf '%s\n' "$got"
            failed=1
        fi
        trees=$((trees + 1))
        [ -z "$want" ] || planted=$((planted + $(printf '%s\n' "$want" | wc -l)))
    done
    echo "$trees trees, $planted planted violations"
    [ "$failed" = 0 ] && [ "$trees" -ge 2 ] && [ "$planted" -ge 15 ]
}

case ${1:-} in
--self-test) self_test ;;
-*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$self" >&2
    exit 64
    ;;
*) (check "${1:-$here/../..}") ;;
esac
