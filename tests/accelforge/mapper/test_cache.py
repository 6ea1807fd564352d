# SPDX-License-Identifier: BSD-3-Clause
"""A folder with the outcomes of searches."""

from __future__ import annotations

import hashlib
import io
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from accelforge.mapper.FFM.cache import Cache
from accelforge.mapper.FFM.group import PmappingGroup
from accelforge.mapper.FFM.outcome import Outcome

KEY = '{"the text": "of a mapspace"}'


def outcome() -> Outcome:
    group = PmappingGroup(
        einsum="e",
        nodes=(("hold", "Main", "t0"), ("spatial", "MAC", "X", "v0")),
        objectives=np.array([[1.5, 2.0], [2.5, 1.0]]),
        tiles=np.array([[2], [1]]),
        reservations={("Main", 0): np.array([0.5, 0.25])},
        shared={"t0": ("Main", 1, np.array([0.1, 0.2]))},
        persistent={("Main", 1): np.array([0.0, 0.3])},
        template=np.array([0, 1], np.int32),
        full_tiles=[(2, 1), (1,)],
        stops=(1,),
        templates=[[{"temporal": "v0"}], [{"hold": "Main", "tensors": ["t0"]}]],
    )
    return Outcome([group], 2, 50, 100, True, (0.5, 0.5))


def plain(value: Any) -> Any:
    """Turn arrays into lists, so that outcomes can be compared."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def test_an_outcome_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    Cache(folder).write(KEY, outcome())
    read = Cache(folder).read(KEY)
    assert read is not None
    assert plain(asdict(read)) == plain(asdict(outcome()))
    assert read.groups[0].nodes == outcome().groups[0].nodes
    assert read.groups[0].tiles.dtype == np.int64
    assert read.groups[0].mapping(0) == outcome().groups[0].mapping(0)


def test_an_outcome_without_pmappings(tmp_path: Path) -> None:
    Cache(tmp_path).write(KEY, Outcome([], 3))
    assert Cache(tmp_path).read(KEY) == Outcome([], 3)


def test_another_mapspace_is_not_there(tmp_path: Path) -> None:
    Cache(tmp_path).write(KEY, outcome())
    assert Cache(tmp_path).read("another") is None
    assert Cache(tmp_path / "missing").read(KEY) is None


def test_the_text_of_the_mapspace_must_be_the_same(tmp_path: Path) -> None:
    Cache(tmp_path).write("another", outcome())
    (file,) = tmp_path.iterdir()
    file.rename(Cache(tmp_path)._file(KEY))
    assert Cache(tmp_path).read(KEY) is None


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_not_used(tmp_path: Path, share: float) -> None:
    Cache(tmp_path).write(KEY, outcome())
    (file,) = tmp_path.iterdir()
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])
    assert Cache(tmp_path).read(KEY) is None


def test_damaged_bytes_are_an_outcome_or_none(tmp_path: Path) -> None:
    Cache(tmp_path).write(KEY, outcome())
    (file,) = tmp_path.iterdir()
    data = bytearray(file.read_bytes())
    for number in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[number] ^= 0x55
        file.write_bytes(damaged)
        read = Cache(tmp_path).read(KEY)
        assert read is None or plain(asdict(read)) == plain(asdict(outcome()))


def test_objects_are_not_loaded(tmp_path: Path) -> None:
    body = io.BytesIO()
    np.savez(body, text=np.array([print], dtype=object))
    data = body.getvalue()
    Cache(tmp_path)._file(KEY).write_bytes(hashlib.sha256(data).digest() + data)
    assert Cache(tmp_path).read(KEY) is None


def test_only_whole_files_are_left(tmp_path: Path) -> None:
    Cache(tmp_path).write(KEY, outcome())
    with pytest.raises(TypeError):
        Cache(tmp_path).write("bad", Outcome([], valid=object()))  # type: ignore[arg-type]
    assert [file.suffix for file in tmp_path.iterdir()] == [".pmappings"]
