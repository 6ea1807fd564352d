# SPDX-License-Identifier: BSD-3-Clause
"""The run time comes with the toolchain, is compiled once, and C is that of the DPU."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu.toolchain import BuildOptions, Toolchain, build, build_cached
from dpu.toolchain.frontend.long_type import widen_long
from dpu.toolchain.frontend.unit import compile_object
from dpu.toolchain.link.program import Program
from dpu.toolchain.link.runtime import runtime_objects
from dpu.toolchain.target import RUNTIME_HEADERS, RUNTIME_SOURCES
from tests.support.builds import STANDARD, STRICT, clean_environment

Compile = Callable[..., Program]

LONG = """
#include <limits.h>
#include <stdint.h>
_Static_assert(sizeof(long) == 8 && sizeof(unsigned long int) == 8, "");
_Static_assert(sizeof(long long) == 8 && sizeof(long double) == sizeof(double), "");
_Static_assert(sizeof 1L == 8 && sizeof 0x1ul == 8 && sizeof 1.0L == 8 && sizeof 0x1p3L == 8, "");
_Static_assert(LONG_MAX == INT64_MAX && ULONG_MAX == UINT64_MAX, "");
_Static_assert((char)-1 < 0 && sizeof(void *) == 4 && sizeof(__SIZE_TYPE__) == 4, "");
#if LONG_MAX != 9223372036854775807 || __SIZEOF_LONG__ != 8
#error long
#endif
"""


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("long x;", "long long x;"),
        ("unsigned long int x = 5UL;", "unsigned long long int x = 5ULL;"),
        ("long long x = 5ll + 6uLL;", "long long x = 5ll + 6uLL;"),
        ("long\nlong x;", "long\nlong x;"),
        ("long double x = 1.5L + 1e-3l;", " double x = 1.5 + 1e-3;"),
        ("0xfL + 0xeLU + 07l", "0xfLL + 0xeULL + 07LL"),
        ("0x1p-3L + 1e5", "0x1p-3 + 1e5"),
        ('"a long \\" 5L" + \'L\' + L"x" + longer', '"a long \\" 5L" + \'L\' + L"x" + longer'),
        ('# 5 "long/5L.c" 3\nlong', '# 5 "long/5L.c" 3\nlong long'),
        ("char l = x.l + a1L;", "char l = x.l + a1L;"),
    ],
)
def test_long_is_widened_and_nothing_else(text: str, wide: str) -> None:
    assert widen_long(text) == wide


def test_long_has_64_bits(compile_text: Compile) -> None:
    compile_text(LONG + "int main(void) { return 0; }")


def test_errors_in_widened_text_show_the_lines_of_the_file(compile_text: Compile) -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        compile_text("long value;\nint main(void) { return value + nothing_like_it; }")
    assert "source.c:2:33: error:" in caught.value.stderr
    assert "return value + nothing_like_it" in caught.value.stderr


def test_static_function_with_many_arguments(compile_text: Compile) -> None:
    names = [f"a{n}" for n in range(14)]
    compile_text(
        f"""volatile int x;
__attribute__((noinline)) static int sum({", ".join(f"int {name}" for name in names)})
{{ return {" * ".join(names)}; }}
int main(void) {{ return sum({", ".join("x" for _ in names)}) + sum({", ".join(["x + 1"] * 14)}); }}
"""
    )


def test_mram_that_is_not_loaded_takes_no_place_in_an_object(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    source = tmp_path / "large.c"
    source.write_text("#include <mram.h>\n__mram_noinit int large[1 << 22];\n")
    compile_object(source, tmp_path / "large.o", BuildOptions(), toolchain=toolchain)
    assert (tmp_path / "large.o").stat().st_size < 10_000


def test_runtime_has_no_warnings(toolchain: Toolchain) -> None:
    command = [*toolchain.compiler, *toolchain.target_options, "-D__DPU__", "-D__dpu_v1A__"]
    command += ["-isystem", str(RUNTIME_HEADERS), f"-I{RUNTIME_SOURCES}", *STANDARD, *STRICT]
    sources = sorted(map(str, RUNTIME_SOURCES.glob("*.c")))
    environment = clean_environment()
    done = subprocess.run(
        [*command, "-fsyntax-only", *sources],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_same_program_is_compiled_once(
    toolchain: Toolchain, tmp_path: Path, own_cache: Path
) -> None:
    header, source, output = tmp_path / "h.h", tmp_path / "a.c", tmp_path / "a.dpu"
    source.write_text('#include "h.h"\n#warning careful\nint main(void) { return VALUE; }\n')
    built = {}
    for value in (1, 2, 1):
        header.write_text(f"#define VALUE {value}\n")
        warnings = build_cached([source], output, toolchain=toolchain)
        assert "careful" in warnings
        built.setdefault(value, output.read_bytes())
        assert built[value] == output.read_bytes()
    assert built[1] != built[2]
    names = sorted(path.name.partition("-")[0] for path in own_cache.glob("[!.]*"))
    assert names == ["program", "program", "runtime"]
    assert build([source], output, toolchain=toolchain).elf == built[1]  # type: ignore[union-attr]


def test_processes_may_fill_the_cache_at_the_same_time(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    script = (
        "import os\nfrom dpu.toolchain import find_toolchain\n"
        "from dpu.toolchain.link.runtime import runtime_objects\n"
        "tools = find_toolchain({'PATH': os.environ['PATH']})\n"
        "assert all(path.stat().st_size for path in runtime_objects(tools, 'v1A'))\n"
    )
    processes = [subprocess.Popen([sys.executable, "-P", "-c", script]) for _ in range(2)]
    assert [process.wait(100) for process in processes] == [0, 0]
    assert len(list((tmp_path / "offchip" / "dpu").glob("[!.]*"))) == 1


def test_a_cache_that_cannot_be_written_is_done_without(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file where the folder would be: permissions do not stop the superuser.
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("offchip.code_cache._temporary", None)
    with pytest.warns(
        RuntimeWarning, match="offchip/dpu cannot be written; what is compiled is not"
    ):
        assert all(path.exists() for path in runtime_objects(toolchain, "v1A"))
