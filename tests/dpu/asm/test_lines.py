# SPDX-License-Identifier: BSD-3-Clause
"""Line tables: what is written is read again, by Python and by C, and damaged ones do no harm."""

from __future__ import annotations

import random
import struct

import pytest

from dpu.asm.lines import LineRow, LineTable, read_lines, write_lines
from dpu.elf.format import IRAM_BASE

ROWS = [
    LineRow(IRAM_BASE, "a.c", 12),
    LineRow(IRAM_BASE + 8, "a.c", 13),
    LineRow(IRAM_BASE + 80, "/folder/b.h", 7),
    LineRow(IRAM_BASE + 8000, "a.c", 70000),
    LineRow(IRAM_BASE + 8008, "", 0),
    LineRow(IRAM_BASE + 9600, "a.c", 1),
    LineRow(IRAM_BASE + 9608, "", 0),
]


def test_what_is_written_is_read() -> None:
    assert read_lines(write_lines(ROWS)) == ROWS


def test_a_last_sequence_is_ended() -> None:
    assert read_lines(write_lines(ROWS[:2])) == [*ROWS[:2], LineRow(IRAM_BASE + 16, "", 0)]


def test_rows_at_random_are_read() -> None:
    rng = random.Random(4)
    places = sorted(rng.sample(range(4000), 300))
    rows = [
        LineRow(IRAM_BASE + 8 * place, rng.choice(["x.c", "y.h", "/z.c"]), rng.randrange(1, 500))
        for place in places
    ]
    assert read_lines(write_lines(rows))[:-1] == rows


def test_a_table_finds_the_row_that_holds() -> None:
    table = LineTable(ROWS)
    assert table.find(IRAM_BASE + 79) == ROWS[1]
    assert table.find(IRAM_BASE + 80) == ROWS[2]
    assert table.find(IRAM_BASE - 1) is None
    assert table.find(IRAM_BASE + 8008) is None
    assert table.find(IRAM_BASE + 9600) == ROWS[5]


def test_nothing_has_no_lines() -> None:
    assert read_lines(b"") == []
    assert read_lines(write_lines([])) == []
    assert LineTable([]).find(IRAM_BASE) is None


@pytest.mark.parametrize("version", [0, 1, 5, 6])
def test_other_versions_are_passed_over(version: int) -> None:
    data = bytearray(write_lines(ROWS))
    struct.pack_into("<H", data, 4, version)
    assert read_lines(bytes(data) + write_lines(ROWS)) == ROWS


def test_damaged_tables_do_no_harm() -> None:
    rng = random.Random(5)
    data = write_lines(ROWS)
    for length in range(len(data)):
        read_lines(data[:length])
    for _ in range(3000):
        damaged = bytearray(data)
        for _ in range(rng.randrange(1, 6)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        for row in read_lines(bytes(damaged)):
            assert 0 <= row.address < 1 << 32
            assert 0 <= row.line < 1 << 32
