# SPDX-License-Identifier: BSD-3-Clause
"""A compiled program has the sections, symbols and words that a DPU program has."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu import _isa
from dpu.compiler import Compiler
from dpu.elf.reader import ElfFile
from dpu.toolchain import Toolchain, find_toolchain
from dpu.toolchain.compilers import Kind
from dpu.toolchain.errors import TranslationError
from dpu.toolchain.ir.code import Code
from dpu.toolchain.ir.registers import REGISTERS
from dpu.toolchain.link.program import Program
from dpu.toolchain.target import RESERVED_REGISTERS
from dpu.toolchain.translate.assembly import AssemblyReader
from dpu.toolchain.translate.conventions import Conventions
from dpu.toolchain.translate.translator import Translator

Compile = Callable[..., Program]

TEXT = """#include "kernel.h"
HOST uint32_t shared = 7;
IN_MRAM char input[16];
MRAM __attribute__((section(".mram"), used, aligned(8))) int constants[2] = {5, 6};
static BIT unsigned char first, second;
__attribute__((section(".data.immediate_memory.x"), used)) int low = 9;
typedef int (*function)(int);
static int twice(int x) { return x * 2; }
static int thrice(int x) { return x * 3; }
function table[] = {twice, thrice};
MRAM int *pointer = constants;
int main(void)
{
    lock(&second);
    unlock(&first);
    shared += (uint32_t)pointer;
    return table[shared & 1](low);
}
"""


def translate(*words: int) -> Code:
    code = Code()
    assembly = AssemblyReader(code, b"", Conventions(code, b"", 0))
    Translator(code, 0, {}, hex, assembly).run(struct.pack(f"<{len(words)}I", *words))
    return code


def test_sections_and_symbols(compile_text: Compile) -> None:
    program = compile_text(TEXT, tasklets=5)
    file = ElfFile(program.elf)
    sections = {section.name: section for section in file.sections}
    assert sections[".text"].address == 0x8000_0000
    assert sections[".data"].address == 0
    assert sections[".data"].data[:8] == bytes(8)
    assert sections[".data.__sys_host"].data[:4] == b"\7\0\0\0"
    assert sections[".mram.noinit"].address == 0x0800_0000
    assert sections[".mram"].data == struct.pack("<2i", 5, 6)
    assert b"v1A\0" in sections[".dpu.attributes"].data
    assert file.symbol("NR_TASKLETS").value == 5
    assert file.symbol("constants").value == sections[".mram"].address == 0x0800_0010
    assert file.symbol("__sys_used_mram_end").value == 0x0800_0018
    assert file.symbol("first").value in (0xF000_00C8, 0xF000_00C9)
    assert file.symbol("low").value == 8
    assert file.symbol("__bootstrap").value == 0x8000_0000
    assert file.symbol("__sys_heap_pointer_reset").value % 8 == 0


def test_pointers_in_data_are_the_dpus(compile_text: Compile) -> None:
    program = compile_text(TEXT)
    file = ElfFile(program.elf)
    section = file.section(".data")
    assert section is not None
    data = section.data
    table = file.symbol("table").value
    functions = struct.unpack_from("<2I", data, table)
    assert functions == (program.functions["twice"][0], program.functions["thrice"][0])
    assert struct.unpack_from("<I", data, file.symbol("pointer").value) == (0x10,)


def test_words_are_instructions_of_the_dpu(compile_text: Compile) -> None:
    program = compile_text(TEXT)
    assert all(_isa.decode(word) is not None for word in program.words)
    text = ElfFile(program.elf).section(".text")
    assert text is not None
    assert struct.unpack(f"<{len(program.words)}Q", text.data) == program.words


@pytest.mark.parametrize("number", RESERVED_REGISTERS)
@pytest.mark.parametrize("shift", [7, 15, 20])
def test_reserved_registers_are_refused_wherever_they_are(number: int, shift: int) -> None:
    add = 0x33 | 10 << 7 | 10 << 15 | 10 << 20
    word = add & ~(31 << shift) | number << shift
    with pytest.raises(TranslationError, match=f"0x0: register x{number} is reserved"):
        translate(word)


def test_reserved_register_in_assembly_names_the_function(compile_text: Compile) -> None:
    with pytest.raises(TranslationError, match=r"in main: register x24 is res"):
        compile_text(
            'int main(void) { __asm__ volatile(".option norelax\\nli x24, 1"); return 0; }'
        )


def test_every_register_is_either_mapped_or_reserved() -> None:
    assert sorted([0, *REGISTERS, *RESERVED_REGISTERS]) == list(range(32))
    assert len(set(REGISTERS.values())) == len(REGISTERS)
    for low in (10, 12, 14, 16, 8, 18, 20):
        assert REGISTERS[low] == REGISTERS[low + 1] + 1, "a pair has its low word in the odd one"
        assert REGISTERS[low + 1] % 2 == 0


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (0x0000_0053, "no counterpart of instruction 0x00000053"),  # fadd.s
        (0x3005_1073, "no counterpart of instruction"),  # csrw
        (0x0005_0517, "pc-relative address"),  # auipc
        (0x0045_00E7, "computed jump with an offset"),  # jalr 4(a0)
        (0x0005_700B, "words of assembly are damaged"),
        (0x00B5_3583 & ~(31 << 7) | 11 << 7, "does not begin a pair"),  # ld a1
    ],
)
def test_what_a_dpu_cannot_do_is_refused(word: int, message: str) -> None:
    with pytest.raises(TranslationError, match=message):
        translate(word)


def script(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def test_vendors_compiler_is_preferred(tmp_path: Path) -> None:
    script(tmp_path / "bin" / "dpu-upmem-dpurte-clang", "#!/bin/sh\n")
    for environment in (
        {"PATH": os.environ["PATH"], "UPMEM_HOME": str(tmp_path)},
        {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"},
    ):
        found = find_toolchain(environment)
        assert found.kind is Kind.VENDOR
        assert found.compiler == (str(tmp_path / "bin" / "dpu-upmem-dpurte-clang"),)
        assert "vendor" in found.describe()


def test_own_command_is_not_taken_for_the_vendors(toolchain: Toolchain, tmp_path: Path) -> None:
    text = "#!/usr/bin/python3\nfrom dpu.toolchain.command import main\n"
    script(tmp_path / "bin" / "dpu-upmem-dpurte-clang", text)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    assert find_toolchain({"PATH": path}) == toolchain


def test_compiler_runs_the_vendors_with_its_arguments(tmp_path: Path) -> None:
    command = tmp_path / "bin" / "clang"
    script(command, '#!/bin/sh\necho "$@"\necho warned >&2\n')
    done = Compiler(str(command), target="v1B").compile(
        ["a.c", "b.c"],
        output="x.dpu",
        includes=["inc"],
        defines={"NR_TASKLETS": 4},
        options=["-Wall"],
    )
    chip_and_level = ["--target=dpu-upmem-dpurte", "-g", "-mcpu=v1B", "-O2"]
    assert done.stdout.split()[:4] == chip_and_level
    assert done.stdout.split()[4:] == "-DNR_TASKLETS=4 -Iinc -Wall a.c b.c -o x.dpu".split()
    assert done.stderr == "warned\n"


def test_pointers_of_other_types_are_warnings(compile_text: Compile) -> None:
    text = """static int take(int *pointer) { return *pointer; }
int main(void)
{
    long long number = 1;
    void (*function)(void) = main;
    return take(&number) + (function != 0);
}
"""
    assert compile_text(text).words
