#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Names of VEDA's host library in its wheel.
#
# Guess: libveda.so and libveda.so.2.3.1 are, or link to, the shared library.
# Seen: both are text for a linker, INPUT(libveda.so.2): wheels have no symbolic links. Linking
#   with -lveda works; opening either name with dlopen() or ctypes fails (file too short).
# Why it matters: bindings that open the name without a version, as they may where VEDA is
#   installed from source, do not find it. Open libveda.so.2.
# Versions: veda 2.3.1. Nothing of it is executed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps --target "$work" veda==2.3.1

cd "$work/veda/lib64" && "$work/venv/bin/python" - <<'P'
import ctypes
import os

for name in ("libveda.so", "libveda.so.2.3.1"):
    text = open(name, "rb").read(40)
    try:
        ctypes.CDLL(os.path.abspath(name))
        answer = "opened"
    except OSError as error:
        answer = str(error).rpartition(": ")[2]
    print(f"{name}: {text!r}; dlopen: {answer}")
    assert text == b"INPUT(libveda.so.2)" and answer != "opened", "changed"
start = open("libveda.so.2", "rb").read(4)
print("libveda.so.2:", start)
assert start == b"\x7fELF", "changed"
P
