#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Scalars in 64-bit argument registers of the Vector Engine.
#
# Guess: a float is in the lower half of its register, as in xmm0 and fa0, and a callee extends the
#   int that it gets, as on x86-64.
# Seen: a float is in the upper half (its bits come by a shift by 32), and a callee takes an int
#   as extended by its caller: `long f(int x) { return x; }` is a bare return.
# Why it matters: offloading fills these registers from the host. A float in the lower half is read
#   as zero or a denormal; an int without its sign becomes a large long.
# Versions: ziglang 0.17.1 (clang 22.1.8). Nothing runs on a VE.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$work/cache" ZIG_LOCAL_CACHE_DIR="$work/cache"

cat > "$work/scalars.c" <<'C'
long widen(int x) { return x; }
int bits(float x) { return ((union { float f; int i; }){x}).i; }
C
for target in x86_64 ve; do
    "$work/venv/bin/python" -m ziglang clang -target $target-unknown-linux-gnu -O2 -S \
        -fno-asynchronous-unwind-tables -fomit-frame-pointer "$work/scalars.c" -o "$work/$target.s"
    for function in widen bits; do
        sed -n "/^$function:/,/end/p" "$work/$target.s" | sed -n 's/^	\([a-z].*\)/\1;/p' |
            sed 's/[	 ][	 ]*/ /g' | tr '\n' ' ' > "$work/$target.$function"
        echo "$target $function: $(cat "$work/$target.$function")"
    done
done
expect() {
    grep -q "^$2" "$work/$1" || { echo "$1: changed" >&2; exit 1; }
}
expect x86_64.widen 'movslq'
expect x86_64.bits 'movd %xmm0, %eax'
expect ve.widen 'b\.l\.t (, %s10); $'
expect ve.bits 'sra\.l %s0, %s0, 32'
