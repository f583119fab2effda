#!/bin/sh
# bare_debian.sh -- prove on a machine with nothing but git that ./run and ./test suffice.
# SPDX-License-Identifier: MIT
#
#   bare_debian.sh [CLONE_FROM] [COMMAND...]
#
# Makes a minimal Debian 12 (debootstrap --variant=minbase, plus git), clones the repository
# CLONE_FROM (default: this checkout; what is not committed is not in a clone) inside it, and
# runs each COMMAND there with sh, in the clone; default: './run --version' and './test'.
# Ends with the code of the first COMMAND that fails.
#
# A command of its own and no part of ./test: it needs root, debootstrap, unshare and the
# network. The bare tree is kept and used again, each call works in a fresh copy of it that is
# removed at the end. Mounts are made in a mount namespace of this script alone and processes
# in its own process namespace, so both are gone when it ends, however it ends.
#
# Environment:
#   BARE_DIR      where the trees are        (${TMPDIR:-/tmp}/stillpoint-bare)
#   BARE_MIRROR   where packages come from   (http://deb.debian.org/debian)
#   BARE_KEEP=1   keep the copy, to look at it
set -eu
unset CDPATH
self=$(readlink -f -- "$0")
say() { printf 'bare_debian: %s\n' "$*" >&2; }
die()
{
    say "$@"
    exit 74
}

# ---- inside the namespaces ------------------------------------------------------------

# inside TREE CLONE_FROM COMMAND...
inside()
{
    tree=$1 from=$2
    shift 2
    mount -t proc proc "$tree/proc"
    mount --rbind /dev "$tree/dev"
    mkdir -p "$tree/mnt/origin"
    mount --bind "$from" "$tree/mnt/origin"
    mount -o remount,bind,ro "$tree/mnt/origin"
    cp -L /etc/resolv.conf "$tree/etc/resolv.conf"
    bare="env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin ${http_proxy:+http_proxy=$http_proxy}"
    # The origin may belong to somebody else, which git refuses to clone without this word.
    # shellcheck disable=SC2086 # a command with arguments
    $bare HOME=/root chroot "$tree" sh -ec '
        git config --global --add safe.directory "*"
        git clone -q /mnt/origin "/srv/still point"
        rm /root/.gitconfig'
    for command; do
        say "running: $command"
        started=$(date +%s) code=0
        # shellcheck disable=SC2086 # a command with arguments
        $bare chroot "$tree" sh -c "cd '/srv/still point' && $command" </dev/null || code=$?
        say "exit code $code after $(($(date +%s) - started)) s: $command"
        [ "$code" = 0 ] || exit "$code"
    done
}

if [ "${1:-}" = --inside ]; then
    shift
    inside "$@"
    exit
fi

# ---- outside --------------------------------------------------------------------------

[ "$(id -u)" = 0 ] || die 'needs root'
for tool in debootstrap unshare chroot; do
    command -v "$tool" >/dev/null || die "needs $tool"
done

from=$(readlink -f -- "${1:-$(dirname "$self")/../..}")
[ $# = 0 ] || shift
[ -d "$from" ] || die "$from is no folder"
[ $# -gt 0 ] || set -- './run --version' './test'

folder=${BARE_DIR:-${TMPDIR:-/tmp}/stillpoint-bare}
base=$folder/base
mkdir -p "$folder"
if [ ! -e "$base.complete" ]; then
    say "making $base"
    rm -rf --one-file-system "$base"
    debootstrap --variant=minbase --include=git bookworm "$base" \
        "${BARE_MIRROR:-http://deb.debian.org/debian}" >"$folder/debootstrap.log" 2>&1 ||
        die "debootstrap failed; see $folder/debootstrap.log"
    : >"$base.complete"
fi

tree=$(mktemp -d "$folder/copy.XXXXXX")
# shellcheck disable=SC2317 # called by the trap
clean_up() { [ -n "${BARE_KEEP:-}" ] || rm -rf --one-file-system "$tree"; }
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
cp -a "$base/." "$tree"
code=0
unshare --mount --propagation private --pid --fork --kill-child \
    sh "$self" --inside "$tree" "$from" "$@" || code=$?
[ -z "${BARE_KEEP:-}" ] || say "kept: $tree"
exit "$code"
