# SPDX-License-Identifier: BSD-3-Clause
"""Profiles that are damaged are refused, or read as far as they go; reports of them can be made."""

from __future__ import annotations

import os
import random

import pytest

from dpu.profile import ProfileError, annotate, merge, program_figures, read, report
from dpu.profile.raw import _read_options

from .programs import build, command, run

TIMES = int(os.environ.get("OFFCHIP_FUZZ_SECONDS", "8")) * 25


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("damaged")
    file = folder / "profile"
    run(command(build(folder), 2, 2), DPU_PROFILE=f"file={file},timeline=20")
    return file.read_bytes()


def use(data: bytes) -> None:
    try:
        profile = read(data)
    except ProfileError:
        return
    for figures in program_figures(merge([profile, profile])):
        assert report(figures, instructions=3)
        assert annotate(figures)


def test_every_cut(data: bytes) -> None:
    for size in [*range(0, 200), *range(200, len(data), len(data) // 100)]:
        use(data[:size])


def test_bytes_that_were_changed(data: bytes) -> None:
    source = random.Random(os.environ.get("OFFCHIP_FUZZ_SEED", "1"))
    for _ in range(TIMES):
        changed = bytearray(data)
        for _ in range(source.choice([1, 1, 3, 20])):
            at = source.randrange(len(changed))
            changed[at] = source.choice([0, 1, 0x7F, 0x80, 0xFF, source.randrange(256)])
        use(bytes(changed))


def test_another_version(data: bytes) -> None:
    with pytest.raises(ProfileError, match=f"has version 99; this program reads {data[8]}"):
        read(data[:8] + bytes([99]) + data[9:])


@pytest.mark.parametrize("option", ["", "k", "k=", "k=x", "k=-1", "k=1.5", "k=" + "9" * 5000])
def test_an_option_without_a_number(option: str) -> None:
    with pytest.raises(ProfileError, match="is not an option of a DPU"):
        _read_options(f"softDmaSetup=34,{option}")


def test_an_unknown_record_is_skipped(data: bytes) -> None:
    more = data[:16] + b"\x63\0\0\0\x08\0\0\0" + bytes(8) + data[16:]
    assert read(more) == read(data)
