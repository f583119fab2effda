#!/bin/sh
# poll_names.sh -- what may poll says so in its name, checked in the text of the sources.
# SPDX-License-Identifier: MIT
#
#   poll_names.sh [DIR]         check the tree DIR (default: this checkout); violations are
#                               printed as file:line: message; exit 0 none, 1 some, 2 nothing
#                               to check
#   poll_names.sh --self-test   check that the trees in poll_names_control/ give exactly the
#                               lines that are marked there with the word `planted`
#
# The rule (gc/mutator.h): a C function of alloc/, gc/ or vm/ that may poll, and so may let
# objects move, ends in _mp. So the body of a function with another name calls nothing that
# ends in _mp, by name or by pointer, and none of the functions of safepoint/ that may stop.
# Macros are not looked into: whoever uses one that polls has to know.
set -u
unset CDPATH
self=$(readlink -f -- "$0") here=${self%/*}

# file:function: why it may. One that nothing needs any more is a violation as well.
exceptions='
vm/program.c:program_run: comes from NATIVE and goes back to it; its callers hold no objects
vm/threads.c:thread_main: the first function of a thread, called by the system
vm/stillpoint.c:stillpoint_leave_native: the public name of a function of safepoint/
vm/stillpoint.c:stillpoint_poll_slow: the public name of a function of safepoint/
vm/stillpoint.c:stillpoint_stop: the public name of a function of safepoint/
vm/stillpoint.c:stillpoint_dump_threads: the public name of a function of safepoint/
vm/stillpoint.c:stillpoint_zero: the public name of bulk_zero_mp(), for C programs
vm/stillpoint_heap.c:stillpoint_allocate_slow: the public name of heap_allocate_mp()
vm/stillpoint_heap.c:stillpoint_collect: the public name of collection_request_mp()
vm/stillpoint_heap.c:stillpoint_handle_new: public; it roots what it is given before it may stop
'

# The scanner. A function begins at column 0 and its body ends with a brace there, as
# the project's style has it. Comments and strings are taken out first.
# shellcheck disable=SC2016 # the dollars are awk's
scanner='
BEGIN {
    n = split(ENVIRON["EXCEPTIONS"], line, "\n")
    for (i = 1; i <= n; i++)
        if (match(line[i], /^[^:]+:[^:]+/))
            excepted[substr(line[i], 1, RLENGTH)] = 1
    polls = "(^|[^A-Za-z0-9_])([A-Za-z0-9_]*_mp|participant_(poll|poll_slow|leave_safe|lock)" \
        "|stops_(force|dump_threads))[ \t]*\\("
    functions = violations = 0
}

function complain(where, message) {
    printf "%s: %s\n", where, message
    violations++
}

# `in_comment` lasts from line to line.
function bare(text,    out, end) {
    out = ""
    for (;;) {
        if (in_comment) {
            end = index(text, "*/")
            if (!end)
                return out
            text = substr(text, end + 2)
            in_comment = 0
        }
        if (!match(text, /"([^"\\]|\\.)*"|'\''([^'\''\\]|\\.[^'\'']*)'\''|\/\*|\/\//))
            return out text
        out = out substr(text, 1, RSTART - 1) " "
        if (substr(text, RSTART, 2) == "//")
            return out
        in_comment = substr(text, RSTART, 2) == "/*"
        text = substr(text, RSTART + RLENGTH)
    }
}

# The name in front of the first parenthesis.
function begin_body() {
    functions++
    name = substr(head, 1, index(head, "(") - 1)
    sub(/[ \t]+$/, "", name)
    sub(/.*[^A-Za-z0-9_]/, "", name)
    return name
}

function check(text,    called) {
    if (name ~ /_mp$/)
        return
    while (match(text, polls)) {
        called = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        gsub(/[^A-Za-z0-9_]/, "", called)
        if ((FILENAME ":" name) in excepted)
            is_needed[FILENAME ":" name] = 1
        else
            complain(FILENAME ":" FNR, name "() calls " called "(), which may poll: end it in _mp")
    }
}

FNR == 1 {
    state = "outside"
    head = ""
    in_comment = is_directive = 0
    is_read[FILENAME] = 1
}

{
    text = bare($0)
    was_directive = is_directive
    is_directive = (was_directive || text ~ /^[ \t]*#/) && $0 ~ /\\$/
    if (was_directive || text ~ /^[ \t]*#/)
        next
}

# Inside a body, or inside the braces of a type or of an initializer.
state != "outside" {
    if (state == "body")
        check(text)
    if (text ~ /^}/)
        state = "outside"
    next
}

{
    head = text ~ /^[A-Za-z_]/ ? text : head " " text
    open = index(head, "{")
    if (open) {
        is_function = substr(head, 1, open - 1) ~ /\)[^=;]*$/ && substr(head, 1, open - 1) !~ /=/
        state = is_function ? "body" : "braces"
        if (is_function) {
            begin_body()
            check(substr(head, open))
        }
        if (text ~ /}[;, \t]*$/) # all of it on this line
            state = "outside"
        head = ""
    } else if (text ~ /;[ \t]*$/)
        head = ""
}

END {
    if (!functions) {
        print "no function to check" > "/dev/stderr"
        exit 2
    }
    for (e in excepted) {
        split(e, part, ":")
        if ((part[1] in is_read) && !(e in is_needed))
            complain(e, "an exception in poll_names.sh that is not needed")
    }
    exit violations > 0
}'

# check DIR
check()
{
    cd "$1" || return 2
    set --
    for file in alloc/*.[ch] gc/*.[ch] vm/*.[ch]; do
        [ -f "$file" ] && set -- "$@" "$file"
    done
    [ $# -gt 0 ] || return 2
    EXCEPTIONS=$exceptions LC_ALL=C awk "$scanner" "$@"
}

# Each tree in poll_names_control/ is a checkout of its own with planted violations.
self_test()
{
    failed=0 trees=0 planted=0
    for tree in "$here"/poll_names_control/*/; do
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
    [ "$failed" = 0 ] && [ "$trees" -ge 2 ] && [ "$planted" -ge 8 ]
}

case ${1:-} in
--self-test) self_test ;;
-*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$self" >&2
    exit 64
    ;;
*) (check "${1:-$here/../..}") ;;
esac
