#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Vector code from plain loops for the Vector Engine.
#
# Guess: -O3 vectorises a simple loop over doubles, as for x86-64 and AArch64.
# Seen: it stays scalar on the VE: one fmul.d and fadd.d per element, no vector instruction.
# Why it matters: kernels that clang compiles leave the vector unit idle. Vector code needs
#   intrinsics (velintrin.h) or NEC's compiler.
# Versions: ziglang 0.17.1 (clang 22.1.8). Nothing runs on a VE.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$work/cache" ZIG_LOCAL_CACHE_DIR="$work/cache"

cat > "$work/axpy.c" <<'C'
void axpy(double *restrict y, const double *restrict x, double a, long n)
{
    for (long i = 0; i < n; i++)
        y[i] += a * x[i];
}
C
for target in x86_64 aarch64 ve; do
    "$work/venv/bin/python" -m ziglang clang -target $target-unknown-linux-gnu -O3 -S \
        "$work/axpy.c" -o "$work/$target.s"
    count=$(grep -cE '	(mulpd|fm(la|ul).*2d|p?v(fmul|fmad|fmuls|ld)[.a-z]*)' "$work/$target.s" || :)
    echo "$target: $count lines with vector instructions"
    case $target in
        ve) [ "$count" = 0 ] && grep -q 'fmul\.d' "$work/$target.s" ;;
        *) [ "$count" -gt 0 ] ;;
    esac || { echo "$target: changed" >&2; exit 1; }
done
