# SPDX-License-Identifier: BSD-3-Clause
"""Questions to ELF files find what the linker was told to write."""

from __future__ import annotations

import shutil

import pytest

from tests.support.builds import compiler_name
from tests.support.elf_file import ElfFile

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
