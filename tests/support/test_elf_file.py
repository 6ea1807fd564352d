# SPDX-License-Identifier: BSD-3-Clause
"""The reader of ELF files finds what the linker was told to write."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.support.builds import compiler_name
from tests.support.elf_file import ElfFile, is_elf

SOURCE = (
    "#include <math.h>\nextern int absent(void);\nint present(double x);\n"
    "int present(double x) { return absent() + (int)pow(x, x); }\n"
)


def made(compile_c, *flags):
    return ElfFile(compile_c(SOURCE, flags=[*flags, "-lm"]))


def test_dynamic_entries(compile_c):
    file = made(compile_c, "-Wl,-soname,other.so.7", "-Wl,-rpath,$ORIGIN/x,--enable-new-dtags")
    assert file.dynamic("SONAME") == ["other.so.7"]
    assert file.dynamic("RUNPATH") == ["$ORIGIN/x"]
    assert "libm.so.6" in file.dynamic("NEEDED")
    assert file.dynamic("FILTER") == file.dynamic("AUXILIARY") == []


def test_filter(compile_c):
    if shutil.which(compiler_name()) is None:
        pytest.skip(f"{compiler_name()} is not installed, and zig cc makes no filter libraries")
    assert made(compile_c, "-Wl,--filter,real.so").dynamic("FILTER") == ["real.so"]
    assert made(compile_c, "-Wl,--auxiliary,real.so").dynamic("AUXILIARY") == ["real.so"]


def test_symbols(compile_c):
    file = made(compile_c)
    assert {"absent", "pow"} <= file.symbols(defined=False)
    assert "present" in file.symbols(defined=True)
    assert "present" not in file.symbols(defined=False)
    assert "absent" not in file.symbols(defined=True)


def test_needed_versions_of_several_libraries(compile_c):
    text = '#include <stdio.h>\nvoid said(void);\nvoid said(void) { puts("x"); }\n' + SOURCE
    versions = ElfFile(compile_c(text, flags=["-lm"])).needed_versions()
    # puts is of the first release; pow was given a new version later.
    assert {"GLIBC_2.2.5", "GLIBC_2.29"} <= versions


@pytest.mark.parametrize(("flag", "has"), [("-g", True), ("-s", False)])
def test_sections(compile_c, flag, has):
    names = made(compile_c, flag).section_names
    assert ".dynsym" in names
    assert (".debug_info" in names) is has
    assert (".symtab" in names) is has


def test_other_files_are_refused(tmp_path):
    text = tmp_path / "text"
    text.write_text("#!/bin/sh\n" + "x" * 100)
    assert not is_elf(text)
    assert not is_elf(tmp_path)
    with pytest.raises(ValueError, match="not a 64-bit"):
        ElfFile(text)


def test_agrees_with_readelf(compile_c):
    path = compile_c(SOURCE, flags=["-lm"])
    try:
        shown = subprocess.run(
            ["readelf", "--wide", "--dyn-syms", path], capture_output=True, text=True, check=True
        ).stdout
    except FileNotFoundError:
        pytest.skip("no readelf (binutils) to compare with")
    rows = [line.split() for line in shown.splitlines() if line.strip()[:1].isdigit()]
    named = {row[7].partition("@")[0]: row[6] != "UND" for row in rows if len(row) > 7}
    file = ElfFile(path)
    assert {n for n, defined in named.items() if defined} == file.symbols(defined=True)
    assert {n for n, defined in named.items() if not defined} == file.symbols(defined=False)
