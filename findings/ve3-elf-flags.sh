#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# VE3 code in ELF files.
#
# Guess: code for VE3 (.vso3) has a machine number or ELF class of its own.
# Seen: e_machine is 251 in both; only e_flags differ: 0 in libveda.vso, 0x10101 in libveda.vso3.
# Why it matters: a loader or packager that looks at e_machine alone takes code of VE3 for code of
#   VE1. Compare e_flags too.
# Versions: veda 2.3.1. Nothing of it is executed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps --target "$work" veda==2.3.1

cd "$work/veda/libve" && "$work/venv/bin/python" - <<'P'
import struct

for name, wanted in (("libveda.vso", 0), ("libveda.vso3", 0x10101)):
    header = open(name, "rb").read(64)
    machine, flags = struct.unpack("<18x H 28x I 12x", header)
    print(f"{name}: class {header[4]}, e_machine {machine}, e_flags {flags:#x}")
    assert (header[4], machine, flags) == (2, 251, wanted), "changed"
P
