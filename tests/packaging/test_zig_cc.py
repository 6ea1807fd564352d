# SPDX-License-Identifier: BSD-3-Clause
"""zig as a compiler for wheels does what gcc would, and says nothing of the machine it runs on."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from buildtools import zig_cc
from tests.support.elf_file import ElfFile

SCRIPT = Path(zig_cc.__file__)

needs_zig = pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None, reason="the ziglang wheel is not installed"
)
# The first link for a glibc makes zig's stubs of it.
slow_at_first = pytest.mark.timeout(400)

SHARED = ["-shared", "-fPIC", "-pthread", "-Wl,-z,relro", "-Wl,-z,now"]


def zig(folder, *words, **environment):
    return subprocess.run(
        [sys.executable, "-P", str(SCRIPT), *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def made(folder, *words):
    done = zig(folder, *words)
    assert done.returncode == 0, done.stderr
    return ElfFile(folder / words[words.index("-o") + 1])


@pytest.fixture
def folder(tmp_path):
    """A folder with a space in its name, and a source."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "a.c").write_text(
        "#include <math.h>\n#include <stdio.h>\ndouble f(double x);\n"
        "double f(double x) { puts(__FILE__); return pow(x, 2.5); }\n"
    )
    return folder


def test_options_tell_no_machines_apart():
    options = zig_cc.compiler_options("/a/folder of ours")
    assert options[:2] == ["-target", f"{os.uname().machine}-linux-gnu.{zig_cc.GLIBC}"]
    assert "-g0" in options
    assert "-ffile-prefix-map=/a/folder of ours=." in options


def test_glibc_is_that_of_the_wheels_tag(root):
    script = (root / "buildtools/manylinux.sh").read_text()
    (tag,) = re.findall(r"^platform=manylinux_(\d+)_(\d+)_\$OFFCHIP_MACHINE$", script, re.MULTILINE)
    assert ".".join(tag) == zig_cc.GLIBC


def test_it_compiles_for_another_processor(tmp_path):
    (tmp_path / "a.c").write_text("int f(void);\nint f(void) { return 1; }\n")
    done = zig(tmp_path, "-c", "a.c", "-o", "a.o", OFFCHIP_MACHINE="aarch64")
    assert done.returncode == 0, done.stderr
    machine = 183  # EM_AARCH64
    assert int.from_bytes((tmp_path / "a.o").read_bytes()[18:20], "little") == machine


def test_link_without_a_filter_is_left_alone():
    assert zig_cc.filter_link(["-shared", "a.o", "-Wl,-soname,x.so", "-o", "x.so"]) is None


def test_link_of_a_filter_has_the_linker_s_own_options():
    words = [
        "-shared",
        "-O2",
        "-fPIC",
        "-pthread",
        "-nostdlib",
        "-Wl,-soname,x.so,-z,now",
        "-Wl,--filter=y.so",
    ]
    assert zig_cc.filter_link([*words, "-o", "x.so"]) == [
        *("-shared", "-soname", "x.so", "-z", "now", "--filter=y.so", "-o", "x.so")
    ]


def test_missing_ziglang_is_named(folder):
    # An empty site: no package is found but Python's own.
    done = subprocess.run(
        [sys.executable, "-P", "-S", str(SCRIPT), "-c", "a.c"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )
    assert done.returncode == 1
    assert re.fullmatch(r"error: .+ has no package ziglang; install .+`wheels`\n", done.stderr)


@needs_zig
@slow_at_first
def test_error_of_the_compiler_is_passed_on(folder):
    (folder / "wrong.c").write_text("int f(void) { return absent; }\n")
    done = zig(folder, "-c", "wrong.c", "-o", "wrong.o")
    assert done.returncode != 0
    assert "absent" in done.stderr
    assert not (folder / "wrong.o").exists()


@needs_zig
@slow_at_first
def test_library_is_stripped_and_for_the_old_glibc(folder):
    file = made(folder, *SHARED, "-O2", "a.c", "-lm", "-o", "a.so")
    assert [name for name in file.section_names if name.startswith((".debug", ".symtab"))] == []
    assert {"libm.so.6", "libc.so.6"} <= set(file.dynamic("NEEDED"))
    # pow was given the version 2.29 by the next release, which gcc on a newer system asks for.
    versions = {v for v in file.needed_versions() if v.startswith("GLIBC_")}
    numbers = [tuple(map(int, v.removeprefix("GLIBC_").split("."))) for v in versions]
    assert numbers
    assert max(numbers) <= tuple(map(int, zig_cc.GLIBC.split(".")))


@needs_zig
@slow_at_first
def test_products_of_two_folders_are_equal_and_name_neither(folder, tmp_path):
    other = tmp_path / "another"
    other.mkdir()
    text = (folder / "a.c").read_text()
    for place in (folder, other):
        source = place / "a.c"
        source.write_text(text)
        made(place, *SHARED, "-O2", str(source), "-lm", "-o", "a.so")
    content = (folder / "a.so").read_bytes()
    assert content == (other / "a.so").read_bytes()
    assert os.fsencode(tmp_path) not in content
    assert b"a.c\0" in content  # what puts() shows


@needs_zig
@slow_at_first
def test_filter_library(folder):
    words = ["-shared", "-nostdlib", "-Wl,-soname,libx.so.1", "-Wl,--filter=$ORIGIN/liby.so.1"]
    assert zig(folder, "-c", "-fPIC", "a.c", "-o", "a.o").returncode == 0
    file = made(folder, *words, "a.o", "-o", "libx.so")
    assert file.dynamic("SONAME") == ["libx.so.1"]
    assert file.dynamic("FILTER") == ["$ORIGIN/liby.so.1"]


@needs_zig
@slow_at_first
def test_program_that_loads_kernels_leaves_the_unwinder_to_libgcc(folder):
    (folder / "main.c").write_text(
        "#include <fenv.h>\n#include <unwind.h>\n"
        "static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *count) {\n"
        "    int before;\n    _Unwind_GetIPInfo(context, &before);\n    ++*(int *)count;\n"
        "    return _URC_NO_REASON;\n}\n"
        "int main(void) {\n    int count = 0;\n    _Unwind_Backtrace(step, &count);\n"
        "    return count == 0 || fesetround(FE_TONEAREST);\n}\n"
    )
    file = made(
        folder,
        *("-pie", "-fPIE", "-rdynamic", "main.c", "-Wl,--no-as-needed", "-lm", "-o", "program"),
    )
    assert {"libgcc_s.so.1", "libm.so.6"} <= set(file.dynamic("NEEDED"))
    assert {"_Unwind_Backtrace", "_Unwind_GetIPInfo"} <= file.symbols(defined=False)
    assert [name for name in file.symbols(defined=True) if name.startswith("_Unwind")] == []
    assert {"GCC_3.3", "GCC_4.2.0"} <= file.needed_versions()
    assert subprocess.run([folder / "program"]).returncode == 0


PROCESSOR = """
#include "common/processor.h"
#include <stdio.h>
int main(void)
{
    printf("%d %d", processor_has_avx2(), processor_has_avx512());
    return 0;
}
"""


@needs_zig
@slow_at_first
def test_vector_instructions_of_the_processor_are_found(root, folder):
    (folder / "p.c").write_text(PROCESSOR)
    done = zig(folder, "-O2", "-I", root / "csrc", "p.c", "-o", "p")
    assert done.returncode == 0, done.stderr
    found = subprocess.run([folder / "p"], capture_output=True, text=True, check=True).stdout
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    if flags is None:
        pytest.skip("/proc/cpuinfo does not say what the processor has")
    has = set(flags[1].split())
    avx2 = {"avx2", "fma", "f16c"} <= has
    avx512 = avx2 and {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= has
    assert found == f"{avx2:d} {avx512:d}"
