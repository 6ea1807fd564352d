#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Structures by value on the Vector Engine.
#
# Guess: a structure of 4 to 16 bytes travels in registers, as on x86-64 and AArch64.
# Seen: the VE gets an address, for any size, and returns structures and unions through
#   a hidden first argument. The code is that of a function with a pointer. _Complex double, of the
#   same 16 bytes, does travel in two registers.
# Why it matters: offloading passes 64-bit registers. A host that packs a small structure into one
#   makes the VE follow it as an address. Declare kernels with pointers.
# Versions: ziglang 0.17.1 (clang 22.1.8). Nothing runs on a VE.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$work/cache" ZIG_LOCAL_CACHE_DIR="$work/cache"

cat > "$work/value.c" <<'C'
struct pair { double a, b; };
union word { long l; double d; };
double pair(struct pair p) { return p.b; }
long word(union word w) { return w.l; }
union word make(long l) { return (union word){l}; }
double imaginary(_Complex double z) { return __imag__ z; }
C
cat > "$work/address.c" <<'C'
struct pair { double a, b; };
union word { long l; double d; };
double pair(struct pair *p) { return p->b; }
long word(union word *w) { return w->l; }
void make(union word *w, long l) { w->l = l; }
double imaginary(double re, double im) { return im; }
C
# Instructions of a function.
body() {
    sed -n "/^$2:/,/end/p" "$work/$1.s" | grep -E '^	[a-z]'
}
for target in x86_64 aarch64 ve; do
    for name in value address; do
        "$work/venv/bin/python" -m ziglang clang -target $target-unknown-linux-gnu -O2 -S \
            -fno-asynchronous-unwind-tables "$work/$name.c" -o "$work/$name.s"
    done
    same=
    for function in pair word make imaginary; do
        [ "$(body value $function)" != "$(body address $function)" ] || same="$same $function"
    done
    echo "$target: same code by value and by address:${same:- none}"
    case $target in
        ve) [ "$same" = " pair word make imaginary" ] ;;
        *) [ "$same" = " imaginary" ] ;;
    esac || { echo "$target: changed" >&2; exit 1; }
done
