#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Bare RISC-V with `zig cc` and with the clang inside it.
#
# Guess: `zig cc` is clang: riscv32-freestanding gives clang's default (rv32imac, soft float), and
#   -march=rv32im selects a smaller core.
# Seen: `zig cc` compiles for rv32imafdc with the double-float ABI, so floats are in fa0, and
#   refuses -march=rv32im (unknown CPU). `zig clang` does both as clang does; `zig cc` wants
#   -mcpu=generic_rv32+m instead.
# Why it matters: small cores have no FPU, where such code stops at its first float, and ld.lld
#   refuses to link objects of the two ABIs.
# Versions: ziglang 0.17.1 (clang 22.1.8), pyelftools 0.33.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1 pyelftools==0.33
export ZIG_GLOBAL_CACHE_DIR="$work/cache" ZIG_LOCAL_CACHE_DIR="$work/cache"

cat > "$work/add.c" <<'C'
float add(float a, float b) { return a + b; }
C
# Prints the ABI (flags of the ELF header) and the name of the ISA of an object.
describe() {
    "$work/venv/bin/python" - "$work/$1.o" <<'P'
import re
import sys
from elftools.elf.elffile import ELFFile

elf = ELFFile(open(sys.argv[1], "rb"))
abi = {0: "soft-float", 2: "single-float", 4: "double-float"}[elf["e_flags"] & 6]
print(abi, re.search(rb"rv32\w*", elf.get_section_by_name(".riscv.attributes").data())[0].decode())
P
}
compile() {
    name=$1
    shift
    "$work/venv/bin/python" -m ziglang "$@" -O2 -c "$work/add.c" -o "$work/$name.o" 2> "$work/log"
}
expect() {
    seen=$(describe "$1")
    echo "$1: $seen"
    echo "$seen" | grep -q "$2" || { echo "$1: changed" >&2; exit 1; }
}
compile zig-cc cc -target riscv32-freestanding
expect zig-cc '^double-float rv32i.*_m.*_a.*_f.*_d.*_c'
compile zig-clang clang --target=riscv32-unknown-elf
expect zig-clang '^soft-float rv32i2p1_m2p0_a2p1_c2p0'
if compile march cc -target riscv32-freestanding -march=rv32im ||
    ! grep -q "unknown CPU" "$work/log"; then
    echo "zig cc -march=rv32im: changed" >&2
    exit 1
fi
echo "zig cc -march=rv32im: $(grep 'unknown CPU' "$work/log")"
compile zig-clang-march clang --target=riscv32-unknown-elf -march=rv32im
expect zig-clang-march '^soft-float rv32i2p1_m2p0_zmmul1p0$'
compile zig-cc-mcpu cc -target riscv32-freestanding -mcpu=generic_rv32+m
expect zig-cc-mcpu '^soft-float rv32i2p1_m2p0_zmmul1p0$'
