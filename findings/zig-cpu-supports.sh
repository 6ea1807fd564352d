#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# __builtin_cpu_supports() in programs that zig cc compiles.
#
# Guess: as with gcc and clang, it says what the processor has, after __builtin_cpu_init() at the
#   latest.
# Seen: it says no to every feature, SSE2 too, which all x86-64 processors have. __get_cpuid() of
#   <cpuid.h> answers. gcc's answer, where gcc is installed, is printed beside it.
# Why it matters: zig cc is used to make wheels for old glibc; libraries that choose their routines
#   by this builtin run the slowest ones, without a warning. Ask cpuid and xgetbv.
# Version: ziglang 0.17.1.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
if [ "$(uname -m)" != x86_64 ]; then
    echo "x86-64 only"
    exit 0
fi
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1
cd "$work"
cat > supports.c <<'C'
#include <cpuid.h>
#include <stdio.h>
int main(void)
{
    unsigned a, b, c, d;
    __builtin_cpu_init();
    __get_cpuid(1, &a, &b, &c, &d);
    printf("cpuid: sse2 %d; __builtin_cpu_supports: sse2 %d, avx2 %d\n", (d & bit_SSE2) != 0,
           __builtin_cpu_supports("sse2") != 0, __builtin_cpu_supports("avx2") != 0);
    return 0;
}
C
venv/bin/python -m ziglang cc -O2 supports.c -o by_zig
if command -v gcc > gcc.path; then
    gcc -O2 supports.c -o by_gcc
    echo "gcc: $(./by_gcc)"
fi
seen=$(./by_zig)
echo "zig cc: $seen"
[ "$seen" = "cpuid: sse2 1; __builtin_cpu_supports: sse2 0, avx2 0" ] || { echo changed; exit 1; }
