# SPDX-License-Identifier: BSD-3-Clause
"""Sources that cannot be a DPU program are refused, and the message says why."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu.compiler import Compiler
from dpu.toolchain import BuildOptions, Toolchain, ToolchainError, build
from dpu.toolchain.errors import CommandError
from dpu.toolchain.link.program import Program

Compile = Callable[..., Program]

MAIN = "int main(void) { return 0; }\n"


def test_wram_overflow_names_the_largest_variables(compile_text: Compile) -> None:
    text = "int small[100], large[20000];\nint main(void) { return large[small[1]]; }"
    with pytest.raises(ToolchainError, match=r"WRAM overflows by \d+ bytes.*large \(80000 bytes\)"):
        compile_text(text)


@pytest.mark.parametrize(
    ("text", "tasklets", "message"),
    [
        (MAIN, 17, r"NR_TASKLETS must be 1 to 16, not 17 \(v1B\)"),
        ("int x[15500];\nint main(void) { return x[x[1]]; }", 2, r"WRAM overflows.* of 63488"),
        ("volatile int x;\nint main(void) { " + "x += 1;" * 1330 + " }", 1, "IRAM .* of 3968"),
    ],
)
def test_the_smaller_chip_has_less_room(
    compile_text: Compile, text: str, tasklets: int, message: str
) -> None:
    with pytest.raises(ToolchainError, match=message):
        compile_text(text, tasklets=tasklets, chip="v1B")
    compile_text(text, tasklets=tasklets)


def test_stacks_count_as_wram(compile_text: Compile) -> None:
    with pytest.raises(ToolchainError, match=r"WRAM overflows.*all stacks \(98304 bytes\)"):
        compile_text(MAIN, tasklets=24, defines={"STACK_SIZE_DEFAULT": 4096})


@pytest.mark.parametrize("size", [70_000_000, 500_000_000])
def test_mram_overflow_names_the_variable(compile_text: Compile, size: int) -> None:
    text = f'#include "kernel.h"\nIN_MRAM char huge[{size}];\n{MAIN}'
    with pytest.raises(ToolchainError, match=rf"MRAM overflows.*huge \({size} bytes\)"):
        compile_text(text)


def test_iram_overflow_names_the_largest_function(compile_text: Compile) -> None:
    body = "x = x * 3 + (x >> 2);" * 1200
    text = f"volatile int x;\nvoid far(void) {{ {body} }}\nint main(void) {{ far(); return 0; }}"
    with pytest.raises(ToolchainError, match=r"IRAM overflows by \d+ .*: far \(\d+ instructions\)"):
        compile_text(text)


@pytest.mark.full
def test_iram_overflow_is_told_beyond_what_jumps_reach(compile_text: Compile) -> None:
    moves = '__asm__ volatile("' + "move r0, r0\\n" * 1000 + '");'
    text = f"volatile int x;\nint main(void) {{ if (x) {{ {moves * 66} }} return 0; }}"
    with pytest.raises(ToolchainError, match=r"IRAM overflows by 6\d+ .*: main \(66\d+ inst"):
        compile_text(text)


def test_undefined_function_is_named(compile_text: Compile) -> None:
    text = "int missing(int);\nint main(void) { return missing(1); }"
    with pytest.raises(CommandError, match="undefined symbol: missing"):
        compile_text(text)


def test_call_of_a_weak_function_that_is_not_there_is_named(compile_text: Compile) -> None:
    text = "__attribute__((weak)) int missing(int);\nint main(void) { return missing(1); }"
    with pytest.raises(ToolchainError, match="in main: .*not defined"):
        compile_text(text)


def test_program_without_main_is_refused(compile_text: Compile) -> None:
    with pytest.raises(ToolchainError, match="main is not defined"):
        compile_text("int f(void) { return 1; }")


def test_compiler_says_file_and_line(compile_text: Compile) -> None:
    with pytest.raises(CommandError, match=r"source\.c:2:.*undeclared identifier 'nothing'"):
        compile_text("int main(void) {\n return nothing; }")


@pytest.mark.parametrize("level", ["-O1", "-O2"])
def test_access_to_mram_that_cannot_be_served_says_file_and_line(
    compile_text: Compile, level: str
) -> None:
    text = """#include "kernel.h"
IN_MRAM int table[10];
int main(void)
{
    __atomic_fetch_add(&table[0], 1, 5);
    return 0;
}
"""
    with pytest.raises(
        ToolchainError, match=r"source\.c:5: error: main .* MRAM in a way that is not"
    ):
        compile_text(text, level=level)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            r".reloc ., R_RISCV_SET16, main\nnop",
            r"source\.c:4: error: in main: relocation type 55 is not",
        ),
        (
            r".option norelax\ncsrr %0, cycle",
            r"source\.c:4: error: in main: the DPU has no counterpart of",
        ),
    ],
)
def test_assembly_that_is_not_taken_says_file_and_line(
    compile_text: Compile, statement: str, message: str
) -> None:
    text = f"""int main(void)
{{
    int x = 3;
    __asm__ volatile("{statement}" : "+r"(x));
    return x;
}}
"""
    with pytest.raises(ToolchainError, match=message):
        compile_text(text)


def test_pointer_that_only_seems_to_be_in_mram_is_named(compile_text: Compile) -> None:
    text = "#include <attributes.h>\n__mram int *lost;\nint main(void) { return lost != 0; }"
    with pytest.raises(ToolchainError, match="lost: placed in MRAM, but without an MRAM type"):
        compile_text(text)


def test_pointers_to_mram_may_be_computed_and_stored(compile_text: Compile) -> None:
    text = """#include "kernel.h"
IN_MRAM int table[10];
MRAM int *where;
HOST uint32_t n;
int main(void)
{
    where = &table[n];
    MRAM int *volatile *place = (MRAM int *volatile *)&where;
    *place = *place + 1;
    n = (uint32_t)*place;
    return 0;
}
"""
    assert compile_text(text).words


def test_section_that_a_dpu_does_not_have_is_named(compile_text: Compile) -> None:
    text = '__attribute__((section("elsewhere"), used)) int x = 1;\nint main(void) { return x; }'
    with pytest.raises(ToolchainError, match="section 'elsewhere' .*has no memory"):
        compile_text(text)


def test_more_atomic_bits_than_there_are(compile_text: Compile) -> None:
    text = (
        '#include "kernel.h"\nBIT unsigned char bits[57];\nint main(void) { lock(bits); return 0; }'
    )
    with pytest.raises(ToolchainError, match="atomic bits overflow: the program has 57 of 56"):
        compile_text(text)


@pytest.mark.parametrize(
    ("defines", "message"),
    [
        ({"NR_TASKLETS": 25}, "NR_TASKLETS must be 1 to 24, not 25"),
        ({"NR_TASKLETS": 0}, "NR_TASKLETS must be 1 to 24, not 0"),
        ({"NR_TASKLETS": "many"}, "NR_TASKLETS must be a number, not 'many'"),
        ({"STACK_SIZE_DEFAULT": 70000}, "STACK_SIZE_DEFAULT must be 0 to 65536 bytes"),
        ({"STACK_SIZE_TASKLET_24": 64}, "tasklet numbers are 0 to 23"),
    ],
)
def test_impossible_tasklets(
    compile_text: Compile, defines: dict[str, object], message: str
) -> None:
    with pytest.raises(ToolchainError, match=re.escape(message)):
        compile_text(MAIN, defines=defines)


def test_unknown_chip_and_nothing_to_compile(toolchain: Toolchain, tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="chip must be v1A or v1B"):
        build(["x.c"], tmp_path / "x", BuildOptions(chip="v2"), toolchain=toolchain)
    with pytest.raises(ToolchainError, match="no input files"):
        build([], tmp_path / "x", toolchain=toolchain)


def test_compiler_raises_what_the_vendors_does(toolchain: Toolchain, tmp_path: Path) -> None:
    source, output = tmp_path / "a.c", tmp_path / "a.dpu"
    source.write_text("int big[20000];\nint main(void) { return big[1]; }")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        Compiler().compile([str(source)], output=str(output))
    assert "WRAM overflows" in caught.value.stderr
    assert not output.exists()
    source.write_text("int main(void) {")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        Compiler().compile(str(source), output=str(output))
    assert "a.c:1:" in caught.value.stderr


def test_compiler_makes_a_program(toolchain: Toolchain, tmp_path: Path) -> None:
    source, output = tmp_path / "a.c", tmp_path / "a.dpu"
    source.write_text("int main(void) { return VALUE; }")
    done = Compiler(target="v1B").compile(
        [source], output=output, defines={"VALUE": 3, "NR_TASKLETS": 2}, opt_lvl="-O3"
    )
    assert done.returncode == 0
    assert output.read_bytes().startswith(b"\x7fELF")
