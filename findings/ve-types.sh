#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Types of clang's Vector Engine target.
#
# Guess: __BIGGEST_ALIGNMENT__ is enough for max_align_t, and wchar_t is signed, as on x86-64 and
#   64-bit RISC-V.
# Seen: the macro is 8, but long double and max_align_t need 16; wchar_t is unsigned.
# Why it matters: an allocator or a message header that rounds up to __BIGGEST_ALIGNMENT__
#   misaligns long double on the VE, and its offsets differ from those of the host. Use
#   alignof(max_align_t).
# Versions: ziglang 0.17.1 (clang 22.1.8). Nothing runs on a VE.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$work/cache" ZIG_LOCAL_CACHE_DIR="$work/cache"

cat > "$work/types.c" <<'C'
#include <stddef.h>
_Static_assert(_Alignof(max_align_t) == 16 && _Alignof(long double) == 16, "16 for both");
_Static_assert(__BIGGEST_ALIGNMENT__ == MACRO, "__BIGGEST_ALIGNMENT__");
_Static_assert(((wchar_t)-1 > 0) == UNSIGNED, "wchar_t");
C
check() {
    "$work/venv/bin/python" -m ziglang cc -target "$1" -DMACRO="$2" -DUNSIGNED="$3" \
        -c "$work/types.c" -o "$work/types.o"
    echo "$1: __BIGGEST_ALIGNMENT__ $2, alignof(max_align_t) 16, wchar_t unsigned: $3"
}
check x86_64-linux-gnu 16 0
check riscv64-linux-gnu 16 0
check ve-linux-gnu 8 1
