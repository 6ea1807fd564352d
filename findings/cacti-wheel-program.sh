#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The program in the wheel of hwcomponents-cacti.
#
# Guess: a wheel tagged py3-none-any has nothing that depends on the machine.
# Seen: it has CACTI as a program for x86-64 that needs GLIBC_2.38 and GLIBCXX_3.4.32, and its
#   objects, so that `make` there links those instead of compiling.
# Why it matters: the models of SRAM, caches and DDR fail on Debian 12, Ubuntu 22.04 and RHEL 9
#   (CACTI failed with exit code 1). Remove obj_opt, obj_dbg and the program, then `make opt`.
# Versions: hwcomponents-cacti 1.0.40. Nothing of it is executed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" download -q --disable-pip-version-check --no-deps --python-version 3.12 \
    --dest "$work" hwcomponents-cacti==1.0.40

cd "$work" && venv/bin/python - <<'P'
import glob
import re
import zipfile

wheel = zipfile.ZipFile(glob.glob("*.whl")[0])
program = wheel.read("hwcomponents_cacti/cacti/cacti")
objects = [name for name in wheel.namelist() if name.endswith(".o")]


def newest_version(prefix):
    found = re.findall(prefix + rb"_(\d+\.\d+(?:\.\d+)?)\0", program)
    return max(found, key=lambda version: [int(n) for n in version.split(b".")]).decode()


newest = [newest_version(b"GLIBC"), newest_version(b"GLIBCXX")]
print(wheel.filename, "- the program needs GLIBC and GLIBCXX", *newest, f"- {len(objects)} objects")
assert wheel.filename.endswith("-py3-none-any.whl") and program[:4] == b"\x7fELF", "changed"
assert newest == ["2.38", "3.4.32"] and objects, "changed"
P
