# SPDX-License-Identifier: BSD-3-Clause
"""``python -m dpu.asm`` and ``python -m dpu.objdump``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dpu.asm.__main__ import main as assemble_command
from dpu.elf.program import ProgramFile
from dpu.objdump import main as dump_command

TEXT = """
        .globl  main
        .type   main, @function
main:   move    r0, COUNT
        sw      zero, result, r0
        jump    r23
        .size   main, . - main
        .section .dpu_host
        .globl  result
result: .long   0
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.s"
    path.write_text(TEXT)
    return path


def test_a_program_is_made_and_listed(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "a.dpu"
    arguments = [str(source), "-o", str(output), "-DCOUNT=7", "--nr-tasklets", "3"]
    assert assemble_command([*arguments, "--listing", "-"]) == 0
    listed = capsys.readouterr().out
    assert "main:\n80000028 606300700000" in listed
    assert "move    r0, COUNT" in listed
    program = ProgramFile(output.read_bytes())
    assert {s.name: s.value for s in program.symbols}["NR_TASKLETS"] == 3
    assert assemble_command([*arguments, "-nostartfiles"]) == 0
    assert len(ProgramFile(output.read_bytes()).words()) == 3


def test_errors_are_printed(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert assemble_command([str(source), "-o", str(source.parent / "out")]) == 1
    assert capsys.readouterr().err == f"{source}:4:21: error: undefined symbol 'COUNT'\n"
    assert not (source.parent / "out").exists()


def test_objdump_shows_everything(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "a.dpu"
    assert assemble_command([str(source), "-o", str(output), "-D", "COUNT=7"]) == 0
    assert dump_command([str(output)]) == 0
    text = capsys.readouterr().out
    assert "chip v1A, entry 0x80000000, flags 0x2800000" in text
    assert "call r23, main" in text
    assert "global func   .text main" in text
    assert ".data.__sys_host result" in text
    assert dump_command(["-d", str(output)]) == 0
    assert capsys.readouterr().out.startswith("instructions:\n80000000 <__bootstrap>:")


def test_objdump_prints_one_object_per_file(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, other = tmp_path / "a.dpu", tmp_path / "other"
    other.write_bytes(b"")
    assert assemble_command([str(source), "-o", str(output), "-D", "COUNT=7"]) == 0
    assert dump_command(["--json", str(output), str(other), str(output)]) == 1
    written = capsys.readouterr()
    assert f"{other}: not an ELF file" in written.err
    first, second = [json.loads(line) for line in written.out.splitlines()]
    assert first == second
    assert (first["file"], first["chip"], first["entry"]) == (str(output), "v1A", 0x80000000)
    symbols = {one["name"]: one for one in first["symbols"]}
    assert symbols["main"]["is_function"] and not symbols["result"]["is_function"]
    program = ProgramFile(output.read_bytes())
    assert [one["word"] for one in first["instructions"]] == program.words()
    index = (symbols["main"]["value"] - 0x80000000) // 8
    assert first["instructions"][index]["text"] == "move r0, 7"
    assert {one["memory"] for one in first["segments"]} >= {"IRAM", "WRAM"}


def test_objdump_refuses_other_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for data, message in (
        (b"", "not an ELF file"),
        (Path(sys.executable).read_bytes()[:4096], "not a 32-bit little-endian ELF file"),
    ):
        path = tmp_path / "other"
        path.write_bytes(data)
        assert dump_command([str(path)]) == 1
        assert message in capsys.readouterr().err
    assert dump_command([str(tmp_path / "missing")]) == 1
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize("module", ["dpu.asm", "dpu.objdump"])
def test_the_commands_can_be_run(module: str) -> None:
    command = [sys.executable, "-P", "-m", module, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert f"usage: python -m {module}" in done.stdout
