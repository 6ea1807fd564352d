#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Debug information of objects for RISC-V and the Vector Engine in pyelftools and LIEF.
#
# Guess: both know the two machines (the VE's number is 251), as LLVM and the kernel's headers do, so
#   that names and line tables of an object read as those of x86-64 do.
# Seen: pyelftools refuses to relocate the debug information of either (Unsupported relocation type:
#   1). Without relocation it reads it, and every name is the same string, without a warning. LIEF
#   gives 4294967295 for the type of every relocation of the VE.
# Why it matters: a profiler or a test that reads objects this way fails, or reports wrong names. Apply
#   the relocations of .debug_* yourself, or read linked files.
# Versions: pyelftools 0.33, lief 1.0.0, ziglang 0.17.1 (clang 22.1.8).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check \
    pyelftools==0.33 lief==1.0.0 ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$work/cache" ZIG_LOCAL_CACHE_DIR="$work/cache"

cat > "$work/add.c" <<'C'
struct pair { int first; long second; };
extern struct pair offset;
long add(struct pair *pair) { return pair->second + offset.first; }
C
for target in x86_64-linux-gnu riscv64-linux-gnu ve-linux-gnu; do
    "$work/venv/bin/python" -m ziglang cc -target $target -g -O1 -c "$work/add.c" \
        -o "$work/$target.o"
done
cat > "$work/read.py" <<'P'
import sys

import lief
from elftools.common.exceptions import ELFRelocationError
from elftools.elf.elffile import ELFFile


def names(path, relocate):
    """Names of the debug information, in order, or why it cannot be read."""
    with open(path, "rb") as stream:
        try:
            debug = ELFFile(stream).get_dwarf_info(relocate_dwarf_sections=relocate)
        except ELFRelocationError as error:
            return str(error)
        attributes = [
            entry.attributes["DW_AT_name"].value.decode().split()[0].split("/")[-1]
            for unit in debug.iter_CUs()
            for entry in unit.iter_DIEs()
            if "DW_AT_name" in entry.attributes
        ]
    return " ".join(dict.fromkeys(attributes))


refused = "Unsupported relocation type: 1"
for target in ("x86_64-linux-gnu", "riscv64-linux-gnu", "ve-linux-gnu"):
    path = f"{sys.argv[1]}/{target}.o"
    with open(path, "rb") as stream:
        machine = ELFFile(stream)["e_machine"]
    binary = lief.parse(path)
    types = sorted({int(relocation.type) for relocation in binary.relocations})
    seen, raw = names(path, True), names(path, False)
    print(f"{target}: machine {machine}; names {seen!r}, without relocation {raw!r};")
    print(f"    types of relocations in LIEF: {types}")
    reads = "pair" in seen if target.startswith("x86") else seen == refused and " " not in raw
    if not reads or (types == [0xFFFFFFFF]) != target.startswith("ve"):
        sys.exit("changed")
P
"$work/venv/bin/python" -W ignore "$work/read.py" "$work"
