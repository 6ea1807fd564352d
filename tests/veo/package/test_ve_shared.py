# SPDX-License-Identifier: BSD-3-Clause
"""Shared objects of VE code: each dynamic relocation, what they need, versions of symbols."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import veo
from tests.veo.fuzz.link_corpus import (
    DATA,
    FUNCTION,
    GLOBAL,
    HEADER,
    IDENTITY,
    NOTHING,
    SEGMENT,
    SYMBOL,
    THREAD,
    WEAK,
    relocations,
    strings,
)
from veo.ve_clang import clang_command

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

REFQUAD, RELATIVE, GLOB_DAT, JUMP_SLOT, COPY, IRELATIVE, DTPMOD64, DTPOFF64, TPOFF64 = (
    *(2, 17, 18, 19, 20, 21, 22, 23, 24),
)
NEEDED, HASH, STRINGS, SYMBOLS, RELA, RELA_SIZE, STRINGS_SIZE = 1, 4, 5, 6, 7, 8, 10
VERSIONS, VERSIONS_NEEDED, VERSIONS_COUNT = 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF
# The layout: headers, code, words that relocations write, thread-local variables, tables.
CODE, WORDS, THREADS = 0x200, 0x300, 0x400
# or %s0, 42, (0)1; b.l.t (, %s10)
RETURN_42 = struct.pack("<QQ", 0x45002A0000000000, 0x193F008A00000000)
# Symbols of the library by name, with their numbers.
RUN, WORDS_SYMBOL, MINE, OTHER, COUNTER, COPIED, ABSENT = range(1, 8)


def shared_library(
    rows: Sequence[tuple[int, int, int]], needed: str = "", extra: str = ""
) -> bytes:
    """Make a library with relocations: type, symbol, addend; row I writes word I.

    It needs another library, and has a symbol more, which it does not define.
    """
    listed = [
        ("run", GLOBAL, FUNCTION, 1, CODE),
        ("words", GLOBAL, DATA, 1, WORDS),
        ("mine", GLOBAL, THREAD, 1, 8),
        *((name, GLOBAL, NOTHING, 0, 0) for name in ("other", "counter", "copied")),
        ("absent", WEAK, NOTHING, 0, 0),
        *([(extra, GLOBAL, NOTHING, 0, 0)] if extra else []),
    ]
    names, places = strings([*(row[0] for row in listed), needed])
    symbols = bytes(24)
    for place, (_, binding, kind, section, value) in zip(places, listed, strict=False):
        symbols += struct.pack(SYMBOL, place, binding << 4 | kind, 0, section, value, 8)
    count = len(listed) + 1
    chain = [*range(2, count), 0]
    tables = {
        SYMBOLS: symbols,
        STRINGS: names,
        HASH: struct.pack(f"<{4 + len(chain)}I", 1, count, 1, 0, *chain),
        RELA: relocations([(WORDS + 8 * i, *row) for i, row in enumerate(rows)]),
        VERSIONS: struct.pack(f"<{count}H", *([2] * count)),
        VERSIONS_NEEDED: struct.pack("<HHIII", 1, 0, places[0], 0, 0),
    }
    content = bytearray(0x500)
    content[CODE : CODE + len(RETURN_42)] = RETURN_42
    content[THREADS : THREADS + 16] = struct.pack("<QQ", 1, 77)
    entries = [(RELA_SIZE, len(tables[RELA])), (STRINGS_SIZE, len(names)), (VERSIONS_COUNT, 1)]
    entries += [(NEEDED, places[-1])] if needed else []
    for tag, data in tables.items():
        entries.append((tag, len(content)))
        content += data + bytes(-len(data) % 8)
    dynamic = len(content)
    content += b"".join(struct.pack("<QQ", *entry) for entry in [*entries, (0, 0)])
    size = len(content)
    headers = struct.pack(HEADER, IDENTITY, 3, 251, 1, 0, 64, 0, 0, 64, 56, 3, 0, 0, 0)
    headers += struct.pack(SEGMENT, 1, 7, 0, 0, 0, size, size, 4096)
    headers += struct.pack(
        SEGMENT, 2, 6, dynamic, dynamic, dynamic, size - dynamic, size - dynamic, 8
    )
    headers += struct.pack(SEGMENT, 7, 4, THREADS, THREADS, THREADS, 16, 24, 8)
    content[: len(headers)] = headers
    return bytes(content)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = tmp_path / "other.c"
    source.write_text("""
        long other(void) { return 5; }
        long copied = 12345;
        __thread long first = 3;
        __thread long counter = 9;
        long distance(void)
        {
            char *thread;
            __asm__("or %0, 0, %%s14" : "=r"(thread));
            return (char *)&counter - thread;
        }
    """)
    command = [
        *clang_command("C"),
        "-O1",
        "-g",
        "-c",
        str(source),
        "-o",
        str(tmp_path / "libother.so"),
    ]
    subprocess.run(command, check=True)
    return tmp_path


def load(
    proc: veo.VeoProc, folder: Path, rows: Sequence[tuple[int, int, int]]
) -> tuple[veo.VeoLibrary, list[int]]:
    path = folder / "library.so"
    path.write_bytes(shared_library(rows, "libother.so"))
    library = proc.load_library(str(path))
    words = np.empty(len(rows), np.int64)
    proc.read_mem(words, library.get_symbol("words"), words.nbytes)
    return library, words.tolist()


def test_addresses(proc: veo.VeoProc, folder: Path) -> None:
    library, words = load(
        proc,
        folder,
        [
            (REFQUAD, RUN, 5),
            (RELATIVE, 0, 0x123),
            (GLOB_DAT, OTHER, 0),
            (JUMP_SLOT, RUN, 0),
            (REFQUAD, OTHER, -16),
            (GLOB_DAT, ABSENT, 0),
            (IRELATIVE, 0, CODE),
            (COPY, COPIED, 0),
        ],
    )
    run = library.get_symbol("run")
    other = proc.load_library(str(folder / "libother.so")).get_symbol("other")
    bias = library.get_symbol("words") - WORDS
    assert run == bias + CODE
    assert words == [run + 5, bias + 0x123, other, run, other - 16, 0, 42, 12345]


def test_thread_local_variables(proc: veo.VeoProc, folder: Path, ctx: veo.VeoCtxt) -> None:
    _, (module, offset, place, second, far_module, far_offset, far_place) = load(
        proc,
        folder,
        [
            (DTPMOD64, MINE, 0),
            (DTPOFF64, MINE, 0),
            (TPOFF64, MINE, 0),
            (DTPOFF64, MINE, 4),
            (DTPMOD64, COUNTER, 0),
            (DTPOFF64, COUNTER, 0),
            (TPOFF64, COUNTER, 0),
        ],
    )
    assert offset == 8
    assert second == 12
    assert module + offset == place
    other = proc.load_library(str(folder / "libother.so"))
    assert far_module + far_offset == far_place == other.distance(ctx).wait_result()
    assert place % 8 == 0
    assert abs(place - far_place) >= 8


def test_functions_of_a_library_run(proc: veo.VeoProc, folder: Path, ctx: veo.VeoCtxt) -> None:
    library, _ = load(proc, folder, [(GLOB_DAT, OTHER, 0)])
    run = library.find_function("run")
    run.args_type()
    run.ret_type("long")
    assert run(ctx).wait_result() == 42


def test_undefined_symbols_are_named(proc: veo.VeoProc, folder: Path) -> None:
    path = folder / "library.so"
    path.write_bytes(shared_library([(GLOB_DAT, ABSENT + 1, 0)], "libother.so", "nowhere"))
    with pytest.raises(veo.VeoError, match="1 symbol it uses is nowhere: nowhere\n"):
        proc.load_library(str(path))


def test_what_is_missing_of_a_library_that_is_not_there_is_named(
    proc: veo.VeoProc, tmp_path: Path
) -> None:
    path = tmp_path / "library.so"
    path.write_bytes(shared_library([(GLOB_DAT, OTHER, 0), (REFQUAD, COPIED, 0)], "libother.so"))
    with pytest.raises(veo.VeoError, match="2 symbols it uses are nowhere: other, copied"):
        proc.load_library(str(path))


def test_needed_libraries_are_found_in_folders_of_the_setting(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder / "libother.so").rename(elsewhere / "libother.so")
    monkeypatch.setenv("VE_LD_LIBRARY_PATH", f"/nowhere:{elsewhere}")
    with veo.VeoProc(0) as proc:
        _, words = load(proc, folder, [(GLOB_DAT, OTHER, 0)])
        other = proc.load_library(str(elsewhere / "libother.so"))
        assert words == [other.get_symbol("other")]


def test_names_without_a_folder_are_looked_for_in_folders_of_the_setting(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "libother.so").write_text("no library")
    monkeypatch.setenv("VE_LD_LIBRARY_PATH", f"/nowhere:{folder}")
    with veo.VeoProc(0) as proc:
        by_name = proc.load_library("libother.so")
        assert by_name.get_symbol("other") == proc.load_library(
            str(folder / "libother.so")
        ).get_symbol("other")
        with pytest.raises(veo.VeoError, match="cannot load 'libnone.so': cannot open shared"):
            proc.load_library("libnone.so")

    monkeypatch.setenv("VE_LD_LIBRARY_PATH", f"{tmp_path / 'host'}:{folder}")
    with veo.VeoProc(0) as proc, pytest.raises(veo.VeoError, match="file too short"):
        proc.load_library("libother.so")
