# SPDX-License-Identifier: BSD-3-Clause
"""printf with a constant format prints the same as with one that the run time parses."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu import DpuSet
from dpu.elf.reader import ElfFile
from dpu.toolchain import BuildOptions, Toolchain, build
from dpu.toolchain.frontend.print_records import print_by_records
from dpu.toolchain.link.program import Program

CALLS = (
    ("plain\\n", ""),
    ("no end", ""),
    ("100 %% of %d\\n", ", -7"),
    ("%d%u%i|%5d|%-5u|%05d|%+d|%x %X %o %#x\\n", ", 1, 2u, -3, 4, 5u, 6, 7, 255, 255, 8, 16"),
    ("%ld %lld %lu %llx %d\\n", ", -5000000000L, -6000000000LL, 7000000000UL, 1ULL << 60, 9"),
    ("%zu %td %jd\\n", ", (size_t)3, (ptrdiff_t)-3, (intmax_t)-4"),
    ("%f %.2f %10.3e %g %G %d\\n", ", 1.5, 2.345, 12345.678, 0.0001, 1e30, 4"),
    ("%c%c %s<%10s><%-4s>%s\\n", ', \'a\', \'b\', "text", "right", "x", (const char *)0'),
    ("%p %d\\n", ", (void *)0x1234, 2"),
    ("%.3s %*d %.*f %hd %hhu %b\\n", ', "abcdef", 6, 42, 1, 2.55, 70000, 300, 5'),
    ('quote \\" back \\\\ tab\\t %d\\n', ", 5"),
)
TEXT = """#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
int main(void)
{
    const char *volatile format;
    BODY
    return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_same_as_when_the_run_time_parses(toolchain: Toolchain, tmp_path: Path, level: str) -> None:
    calls = [f'printf("{text}"{values});' for text, values in CALLS]
    parsed = [f'format = "{text}";\nprintf(format{values});' for text, values in CALLS]
    body = "\n".join([*calls, 'puts("====");', *parsed])
    (tmp_path / "a.c").write_text(TEXT.replace("BODY", body))
    options = BuildOptions(level=level, options=["-w"])
    build([tmp_path / "a.c"], tmp_path / "a.dpu", options, toolchain=toolchain)
    log = io.StringIO()
    with DpuSet(1, binary=str(tmp_path / "a.dpu")) as dpus:
        dpus.exec()
        dpus.log(log)
    by_record, _, by_run_time = log.getvalue().partition("====\n")
    assert "no end100 % of -7\n" in by_record
    assert by_record.partition("===\n")[2] == by_run_time


def test_program_without_difficult_formats_has_no_parser(
    compile_text: Callable[..., Program],
) -> None:
    def names(body: str) -> set[str]:
        program = compile_text(TEXT.replace("BODY", body))
        return {symbol.name for symbol in ElfFile(program.elf).symbols}

    assert "printf" not in names('printf("%d %s\\n", 5, "x"); format = 0;')
    assert "printf" in names('printf("%*d\\n", 5, 6); format = 0;')


def test_calls_that_are_left_alone() -> None:
    text = """@a = private constant [4 x i8] c"%hd\\00", align 1
@b = global [3 x i8] c"%d\\00", align 1
  %1 = call i32 (ptr, ...) @printf(ptr noundef @a, i32 noundef 5)
  %2 = call i32 (ptr, ...) @printf(ptr noundef @b, i32 noundef 5)
  %3 = call i32 (ptr, ...) @printf(ptr noundef %0)
"""
    assert print_by_records(text) == text
