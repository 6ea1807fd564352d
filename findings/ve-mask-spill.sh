#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A mask register of the Vector Engine that clang saves on the stack.
#
# Guess: an object that clang writes itself has the code that the same clang writes as assembly.
# Seen: "svm %s16, %vm1, 1" names a word of the mask. In assembly, and in what the assembler makes
#   of it, the number is a constant; in an object that is written directly, the same bits name the
#   scalar register %s1. Which words are saved then depends on what is in %s0 to %s3. The loads
#   (lvm) are right.
# Why it matters: kernels with masks that live across a call, or with more than 15 masks, compute
#   with wrong masks. Compile with -via-file-asm, or -S and then the assembler.
# Version: ziglang 0.17.1 (clang 22.1.8).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1 pyelftools==0.33
cd "$work"
cat > mask.c <<'C'
#include <velintrin.h>
void other(void);
void positive(const double *x, const double *y, double *out, long n)
{
    __vm256 mask = _vel_vfmkdgt_mvl(_vel_vld_vssl(8, x, n), n);
    other();
    __vr a = _vel_vld_vssl(8, x, n), b = _vel_vld_vssl(8, y, n);
    _vel_vst_vssl(_vel_vmrg_vvvml(a, b, mask, n), 8, out, n);
}
C
headers=$(venv/bin/python -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/lib/include
clang="venv/bin/python -m ziglang clang --target=ve-unknown-linux-gnu"
$clang -O2 -isystem "$headers" -c mask.c -o direct.o
$clang -O2 -isystem "$headers" -via-file-asm -c mask.c -o assembled.o

venv/bin/python - <<'P'
from io import BytesIO
from pathlib import Path
from struct import unpack

from elftools.elf.elffile import ELFFile

SVM = 0xA7  # bits 63 to 56; bit 47 is 1 if bits 46 to 40 name a register


def masks_saved(name):
    text = ELFFile(BytesIO(Path(name).read_bytes())).get_section_by_name(".text").data()
    words = unpack(f"<{len(text) // 8}Q", text)
    return [(w >> 47 & 1, w >> 40 & 127) for w in words if w >> 56 == SVM]


seen = {name: masks_saved(f"{name}.o") for name in ("assembled", "direct")}
for name, found in seen.items():
    shown = ", ".join(f"{'%s' if register else ''}{number}" for register, number in found)
    print(f"{name}: svm %s16, %vm1, with {shown}")
assert seen["assembled"] == [(0, n) for n in range(4)], "changed"
assert seen["direct"] == [(1, n) for n in range(4)], "changed"
P
