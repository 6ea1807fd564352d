#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# sqrt(), fma() and a division of long by a constant in scalar code for the Vector Engine.
#
# Guess: with -fno-math-errno the first two are an instruction each, as the vector unit has both, and
#   `a / 7` is a multiplication, as for every other 64-bit target.
# Seen: the scalar unit has neither square root nor fused multiplication and no upper half of a
#   product: sqrt() and fma() are calls, in a frame of 240 bytes that is checked against the limit of
#   the stack, and a long is divided by divs.l. An int is multiplied.
# Why it matters: a loop with one sqrt() has a call per element, so its registers are saved, and
#   index arithmetic in long divides. a * b + c is rounded twice in scalar code and once by vfmad:
#   the same formula differs in its last bit between the two units.
# Versions: ziglang 0.17.1 (clang 22.1.8). Nothing runs on a VE.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$work/cache" ZIG_LOCAL_CACHE_DIR="$work/cache"

cat > "$work/scalar.c" <<'C'
double root(double a) { return __builtin_sqrt(a); }
double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
long seventh(long a) { return a / 7; }
int seventh_of_int(int a) { return a / 7; }
C
for target in aarch64 ve; do
    "$work/venv/bin/python" -m ziglang clang -target $target-unknown-linux-gnu -O2 -fno-math-errno \
        -S "$work/scalar.c" -o "$work/$target.s"
    # The instructions of a function, and what it calls.
    body() { sed -n "/^$1:/,/^.Lfunc_end/p" "$work/$target.s"; }
    case $target in
        aarch64)
            body root | grep -q 'fsqrt' && body fused | grep -q 'fmadd' &&
                body seventh | grep -q 'smulh' && ! body seventh | grep -q 'sdiv' ;;
        ve)
            body root | grep -q 'sqrt@hi' && body fused | grep -q 'fma@hi' &&
                body root | grep -q 'lea %s11, -240(' && body root | grep -q 'monc' &&
                body seventh | grep -q 'divs\.l' && body seventh_of_int | grep -q 'muls\.l' ;;
    esac || { echo "$target: changed" >&2; exit 1; }
done
echo "aarch64: fsqrt, fmadd, smulh; VE: calls of sqrt and fma, divs.l for long, muls.l for int"
