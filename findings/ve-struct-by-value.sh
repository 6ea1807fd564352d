#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A structure that a function of the Vector Engine gets by value, and writes to.
#
# Guess: the caller or the function copies it, as C says that the caller's own does not change.
# Seen: LLVM's IR says "byval", which asks the target for a copy; for x86-64 the caller copies the
#   four words. For the VE nobody does: the caller passes the address of its own structure, and the
#   function stores there. At -O2 clang knows from the IR that the caller's field cannot have
#   changed, so results differ between levels.
# Why it matters: C programs that change such a parameter are wrong at -O0 and -O1; two of 445
#   random programs were. Pass a pointer, or copy the parameter to a local variable first.
# Version: ziglang 0.17.1 (clang 22.1.8).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1
cd "$work"
cat > wide.c <<'C'
struct wide { long field[4]; };
__attribute__((noinline)) void change(struct wide own) { own.field[0] = 7; }
long keep(struct wide *mine) { change(*mine); return mine->field[0]; }
C
clang="venv/bin/python -m ziglang clang"
for target in ve-unknown-linux-gnu x86_64-linux-gnu; do
    for level in 0 1; do
        $clang --target=$target -O$level -fno-asynchronous-unwind-tables -S wide.c -o $target-$level.s
        $clang --target=$target -O$level -S -emit-llvm wide.c -o $target-$level.ll
        grep -q 'call void @change(ptr.* byval(%struct.wide)' $target-$level.ll
    done
done

venv/bin/python - <<'P'
import re
from pathlib import Path


def body(file, name):
    return re.search(rf"^{name}:.*?(?=^\.Lfunc_end)", Path(file).read_text(), re.M | re.S)[0]


for level in (0, 1):
    ve = body(f"ve-unknown-linux-gnu-{level}.s", "keep")
    x86 = body(f"x86_64-linux-gnu-{level}.s", "keep")
    # Reads of the words behind the first; %s14 is of the stack's limit.
    ve_copies = re.findall(r"\bld\s+\S+ (?:8|16|24)\(, %s(?!14\b|11\b)|memcpy", ve)
    x86_copies = re.findall(r"mov\w*\s+(?:8|16|24)\(%r\w+\), %|memcpy", x86)
    stored = re.search(r"st %s1, \(, %s0\)", body(f"ve-unknown-linux-gnu-{level}.s", "change"))
    print(f"-O{level}: the caller reads of the words to copy: VE {len(ve_copies)},",
          f"x86-64 {len(x86_copies)}; the VE's function stores where",
          "the address that it got says" if stored else "it has a copy")
    assert not ve_copies and x86_copies and stored, "changed"
P
