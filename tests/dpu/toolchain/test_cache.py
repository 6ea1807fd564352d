# SPDX-License-Identifier: BSD-3-Clause
"""Programs and the run-time library are kept, and made again if what was kept is damaged."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from dpu.asm.lines import SECTION, read_lines
from dpu.elf.reader import ElfFile
from dpu.toolchain import Toolchain, build_cached
from dpu.toolchain.link.runtime import runtime_objects
from dpu.toolchain.target import RUNTIME_SOURCES


def test_a_program_and_the_run_time_survive_damage(
    toolchain: Toolchain, tmp_path: Path, own_cache: Path
) -> None:
    source, output = tmp_path / "a.c", tmp_path / "a.dpu"
    source.write_text("int main(void) { return 0; }\n")
    build_cached([source], output, toolchain=toolchain)
    whole = output.read_bytes()

    (program,) = own_cache.glob("program-*/program")
    for damaged in (whole[: len(whole) // 2], whole[::-1]):
        program.write_bytes(damaged)
        build_cached([source], output, toolchain=toolchain)
        assert output.read_bytes() == program.read_bytes() == whole

    objects = runtime_objects(toolchain, "v1A")
    before = objects[0].read_bytes()
    os.truncate(objects[0], 100)
    shutil.rmtree(program.parent)
    build_cached([source], output, toolchain=toolchain)
    assert output.read_bytes() == whole
    assert objects[0].read_bytes() == before


def test_the_run_time_is_the_same_whoever_compiles_it(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for folder in (RUNTIME_SOURCES, tmp_path):
        monkeypatch.chdir(folder)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache {len(made)}"))
        made.append({file.name: file.read_bytes() for file in runtime_objects(toolchain, "v1A")})
    assert made[0] == made[1]

    # The table of lines has whole paths, so that a fault leads to the source from everywhere.
    files = set()
    for content in made[0].values():
        table = ElfFile(content).section(SECTION)
        rows = read_lines(table.data) if table is not None else []
        files |= {row.file for row in rows if row.line}
    assert str(RUNTIME_SOURCES / "memory.c") in files
    assert [file for file in files if not Path(file).is_absolute()] == []
