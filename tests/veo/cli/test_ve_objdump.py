# SPDX-License-Identifier: BSD-3-Clause
"""Listings of Vector Engine code."""

from __future__ import annotations

import random
import re
import struct
import subprocess
from pathlib import Path

import pytest

import veo
from tests.support.libstdcxx import needs_libstdcxx
from tests.veo.fuzz.link_corpus import (
    ALLOCATED,
    FUNCTION,
    GLOBAL,
    RELOCATIONS,
    STRTAB,
    SYMBOL,
    archive,
    relocations,
    write_object,
)
from tests.veo.machine.test_disassembler import assemble, text_section
from veo.cli.nec_folder import write_folder
from veo.ve_clang import clang_command

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

COMMAND = Path(veo.__file__).parent / "bin" / "ve-objdump"
SOURCE = """
#include <velintrin.h>
int puts(const char *);
void scale(double factor, double *x, long n)
{
    for (long i = 0; i < n; i += 256) {
        int vl = n - i < 256 ? n - i : 256;
        _vel_vst_vssl(_vel_vfmuld_vsvl(factor, _vel_vld_vssl(8, x + i, vl), vl), 8, x + i, vl);
    }
    puts("done");
}
__attribute__((section(".text.other"))) int other(const int *p)
{
    return *p + 1;
}
"""
LINE = re.compile(r" *([0-9a-f]+): ([0-9a-f]{16})  (.*?)(  # <.*>)?")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("objdump")
    (folder / "kernel.c").write_text(SOURCE)
    subprocess.run([*clang_command("C"), "-O2", "-g", "-c", "kernel.c"], cwd=folder, check=True)
    return folder / "kernel.o"


def objdump(*words: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip


def test_a_listing_assembled_again_is_the_same_code(made: Path, tmp_path: Path) -> None:
    lines = objdump("-d", made).stdout.partition("instructions of .text.other")[0].splitlines()
    found = [match for line in lines if (match := LINE.fullmatch(line))]
    words = [int(match[2], 16) for match in found]
    assert words == text_section(made)
    assert [int(match[1], 16) for match in found] == list(range(0, 8 * len(words), 8))
    assert assemble([match[3] for match in found], tmp_path) == words


def test_lines_and_sources_are_shown(made: Path) -> None:
    done = objdump("-S", "-r", "kernel.o", folder=made.parent)
    assert done.stderr == ""
    rest = done.stdout
    for pattern in (
        r"<scale>:\n# kernel.c:5  {\n",
        r"# kernel.c:8          _vel_vst_vssl.*\n.*lvl .*\n.*vld ",
        r"# kernel.c:10      puts\(\"done\"\);\n",
        r" +# [0-9a-f]+: R_VE_LO32 puts\n",
        r"instructions of .text.other:\n\n0{16} <other>:\n# kernel.c:14      return \*p \+ 1;\n",
    ):
        found = re.search(pattern, rest)
        assert found, pattern
        rest = rest[found.end() :]
    assert re.search(r"br\w+\.l.* -?\d+  # <scale\+0x[0-9a-f]+>\n", done.stdout)
    done = objdump("-l", made)
    assert "# kernel.c:10\n" in done.stdout


def test_tables_are_listed(made: Path) -> None:
    out = objdump("-x", made).stdout
    assert re.search(r"sections:\n(.*\n)*   *\d+ 0{16} +\d+ bytes a-x .text.other\n", out)
    assert re.search(r"symbols:\n(.*\n)*  0{16} +\d+ global func +.text scale\n", out)
    assert re.search(r" 0 global +undefined puts\n", out)
    assert re.search(r"relocations in .rela.text:\n(.*\n)*  [0-9a-f]{16} R_VE_HI32 puts\n", out)


def test_relocations_of_libraries_have_the_names_that_loaders_see(tmp_path: Path) -> None:
    names = b"first\0for_loaders\0"
    symbols = bytes(24) + struct.pack(SYMBOL, 6, GLOBAL << 4, 0, 0, 0, 0)
    rows = relocations([(16, 18, 1, 0), (24, 18, 0, 0), (32, 18, 2, 0)])
    path = tmp_path / "library.so"
    path.write_bytes(
        write_object(
            [
                (".dynsym", 11, ALLOCATED, symbols, len(symbols), 2, 1),
                (".dynstr", STRTAB, ALLOCATED, names, len(names), 0, 0),
                (".rela.dyn", RELOCATIONS, ALLOCATED, rows, len(rows), 1, 0),
            ],
            [("for_debuggers", GLOBAL, FUNCTION, 0, 0, 0)],
        )
    )
    out = objdump("-x", path).stdout
    assert "0000000000000010 R_VE_GLOB_DAT for_loaders\n" in out
    # There is no symbol 0, nor one behind the table's end, and so no name.
    assert re.search(r"18 R_VE_GLOB_DAT 0x0\n.*20 R_VE_GLOB_DAT 0x0\n", out)
    assert "for_debuggers" in out.partition("relocations in")[0]


@needs_libstdcxx
def test_names_of_cxx_are_shown_as_sources_have_them(tmp_path: Path) -> None:
    source = tmp_path / "grid.cpp"
    source.write_text("""
        namespace grid { int at(const int *p, long i) { return p[i]; } extern int (*call)(int); }
        int f(const int *p, int n) { return n > 0 ? grid::call(n) : grid::at(p, n); }
    """)
    command = [*clang_command("C++"), "-O1", "-c", str(source), "-o", str(tmp_path / "grid.o")]
    subprocess.run(command, check=True)
    out = objdump("-d", "-r", "-x", "-C", tmp_path / "grid.o").stdout
    assert re.search(r"\n\w{16} <grid::at\(int const\*, long\)>:\n", out)
    assert re.search(r" func +\.text f\(int const\*, int\)\n", out)
    assert re.search(r"# \w+: R_VE_LO32 grid::call\n", out)
    assert re.search(r"br\w+\.l.*  # <f\(int const\*, int\)\+0x\w+>\n", out)
    assert "_Z" not in out
    out = objdump("-t", tmp_path / "grid.o").stdout
    assert "_ZN4grid2atEPKil" in out


def test_members_of_archives_are_listed(made: Path, tmp_path: Path) -> None:
    path = tmp_path / "libk.a"
    path.write_bytes(archive([("k.o", made.read_bytes()), ("text", b"no object")]))
    done = objdump("-t", path)
    assert done.stdout.startswith(f"{path}(k.o): file format elf64-ve\n")
    assert done.stderr == f"ve-objdump: {path}(text): it is no ELF file for the Vector Engine\n"
    assert done.returncode == 1


@pytest.mark.parametrize("words", [[], ["-d"], ["kernel.o"], ["-q", "kernel.o"]])
def test_wrong_options_show_the_usage(words: list[str]) -> None:
    done = objdump(*words)
    assert "usage: ve-objdump OPTION... FILE..." in done.stderr
    assert done.returncode == 2


def test_a_file_that_is_not_there_is_named() -> None:
    done = objdump("-d", "/nowhere/kernel.o")
    assert "/nowhere/kernel.o" in done.stderr
    assert done.returncode == 1


def test_a_listing_that_cannot_be_written_is_an_error(made: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [COMMAND, "-d", made], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert "ve-objdump: standard output: No space left on device" in done.stderr
    assert done.returncode == 1


def test_damaged_files_are_listed_or_refused(made: Path, tmp_path: Path) -> None:
    generator = random.Random(7)
    whole = made.read_bytes()
    path = tmp_path / "damaged.o"
    for _ in range(60):
        data = bytearray(whole[: generator.choice([len(whole), generator.randrange(len(whole))])])
        for _ in range(generator.choice([1, 5, 40])):
            start = generator.choice([0, len(data) - len(data) // 3])
            data[generator.randrange(start, len(data))] = generator.randrange(256)
        path.write_bytes(data)
        done = subprocess.run([COMMAND, "-Srhtx", path], capture_output=True, check=False)
        assert done.returncode in (0, 1)


def test_the_folder_of_the_sdk_has_it(made: Path, tmp_path: Path) -> None:
    write_folder(tmp_path / "nec")
    done = subprocess.run(
        [tmp_path / "nec/ve/bin/ve-objdump", "-h", made], capture_output=True, text=True, check=True
    )
    assert ".text.other" in done.stdout
