#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Steps of a newcomer, on a fresh Debian 12 with the packages that README names and no others:
#     bare_debian.sh [FOLDER]
# Needs root, debootstrap and the network. FOLDER keeps the root file system for another run; it is a
# temporary one otherwise. What is tested is what is committed. The last line has the times from the
# start of `make demo`. Another release, or Ubuntu, whose packages are in two parts:
#     SUITE=noble DEBOOTSTRAP='--components=main,universe --keyring=FILE' MIRROR='URL [SCRIPT]'
# TESTS are as for `make test`; none are run with TESTS=none.
set -eu
cd "$(dirname "$0")/.."

for tool in debootstrap unshare chroot git; do
    command -v $tool >/dev/null ||
        { echo "error: $tool was not found; apt-get install $tool" >&2; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "error: making a root file system needs root" >&2; exit 1; }

if [ $# -gt 0 ]; then
    folder=$1
    mkdir -p "$folder"
else
    folder=$(mktemp -d)
    trap 'rm -rf --one-file-system "$folder"' EXIT
fi
system=$folder/root

# The packages are those of README's own line.
packages=$(sed -n 's/^apt-get install \([^#]*\).*/\1/p' README.md)
[ -n "$packages" ] || { echo "error: README.md has no line 'apt-get install ...'" >&2; exit 1; }

if [ ! -e "$folder/made" ]; then
    rm -rf --one-file-system "$system"
    included=$(echo ca-certificates $packages | tr ' ' ',')
    debootstrap --variant=minbase ${DEBOOTSTRAP:-} --include="$included" "${SUITE:-bookworm}" \
        "$system" ${MIRROR:-} >"$folder/log" 2>&1 ||
        { tail -20 "$folder/log" >&2; exit 1; }
    touch "$folder/made"
fi

# Files by which this machine reaches the network, and its installer the packages.
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do
    [ ! -e $file ] || cp -L $file "$system$file"
done
[ ! -d /etc/ssl/certs ] || cp -rL /etc/ssl/certs "$system/etc/ssl/" 2>/dev/null || true

rm -rf "$system/home/newcomer"
git clone --quiet . "$system/home/newcomer/offchip"
rm -rf "$system/home/newcomer/offchip/.git"

# All mounts are in a namespace of their own and go with it.
export system
unshare --mount --pid --fork --kill-child sh -eu -c '
    mount --make-rprivate /
    mount -t proc proc "$system/proc"
    mount --rbind /sys "$system/sys"
    mount --rbind /dev "$system/dev"
    mount -t tmpfs tmpfs "$system/dev/shm"
    mount -t tmpfs tmpfs "$system/tmp"
    exec chroot "$system" /usr/bin/env -i HOME=/home/newcomer PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        CI="${CI:-}" TESTS="${TESTS:-tests}" PIP_DEFAULT_TIMEOUT="${PIP_DEFAULT_TIMEOUT:-60}" sh -euc "
            cd /home/newcomer/offchip
            begun=\$(date +%s)
            make demo
            first=\$((\$(stat -c %Y build/demo/fused.svg) - begun))
            demo=\$((\$(date +%s) - begun))
            echo \"first picture after \$first s, end of the demo after \$demo s\"
            .venv/bin/offchip selftest
            [ \$TESTS != none ] || exit 0
            status=0
            make test || status=\$?
            echo \"first picture after \$first s, end of the demo after \$demo s,\" \
                \"end of the tests after \$((\$(date +%s) - begun)) s, on \$(nproc) cores\"
            exit \$status
        "
'
