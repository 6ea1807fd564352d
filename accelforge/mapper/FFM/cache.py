# SPDX-License-Identifier: BSD-3-Clause
"""A folder with the outcomes of searches."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accelforge.mapper.FFM.group import PmappingGroup
from accelforge.mapper.FFM.outcome import Outcome

__all__ = ["Cache"]

# It is part of a file's name: raise it where searches find something else, or files change.
_VERSION = 1
_DIGEST = hashlib.sha256().digest_size
# Of use to other rounds of a search only.
_LEFT_OUT = ("groups", "low", "backings", "backing_of")
_NUMBERS = tuple(f.name for f in fields(Outcome) if f.name not in _LEFT_OUT)


class Cache:
    """Reads and writes outcomes.

    A file begins with a digest of the rest, so that damaged files are not used. It holds numbers
    and text, and nothing that is executed.

    Parameters
    ----------
    folder : str or Path
        It is made when the first file is written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def _file(self, key: str) -> Path:
        name = hashlib.sha256(f"{_VERSION} {key}".encode()).hexdigest()
        return self.folder / f"{name[:40]}.pmappings"

    def read(self, key: str) -> Outcome | None:
        """Return the outcome of a mapspace, or None if there is none.

        Parameters
        ----------
        key : str
            The text of the mapspace.
        """
        try:
            data = self._file(key).read_bytes()
        except OSError:
            return None
        digest, body = data[:_DIGEST], data[_DIGEST:]
        if hashlib.sha256(body).digest() != digest:
            return None
        try:
            with np.load(io.BytesIO(body), allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            return _unpack(arrays, key)
        except (ValueError, KeyError, TypeError, IndexError, zipfile.BadZipFile):
            return None

    def write(self, key: str, outcome: Outcome) -> None:
        """Write the outcome of a mapspace; other processes see all of the file, or none.

        Parameters
        ----------
        key : str
            The text of the mapspace.
        outcome : Outcome
            What its search found.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self._file(key)
        draft = file.with_suffix(f".{os.getpid()}.part")
        try:
            body = io.BytesIO()
            np.savez(body, allow_pickle=False, **_pack(outcome, key))
            draft.write_bytes(hashlib.sha256(body.getvalue()).digest() + body.getvalue())
            draft.replace(file)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise


def _pack(outcome: Outcome, key: str) -> dict[str, NDArray[Any]]:
    """Turn an outcome into arrays, and a text that says what they are."""
    arrays: dict[str, NDArray[Any]] = {}

    def put(array: Any) -> str:
        name = f"a{len(arrays)}"
        arrays[name] = np.asarray(array)
        return name

    groups = [
        {
            "einsum": group.einsum,
            "nodes": group.nodes,
            "stops": group.stops,
            "objectives": put(group.objectives),
            "tiles": put(group.tiles),
            "reservations": [[*at, put(rows)] for at, rows in group.reservations.items()],
            "persistent": [[*at, put(rows)] for at, rows in group.persistent.items()],
            "shared": [[t, m, d, put(rows)] for t, (m, d, rows) in group.shared.items()],
            "template": put(group.template),
            "full_tiles": put([n for tiles in group.full_tiles for n in tiles]),
            "lengths": put([len(tiles) for tiles in group.full_tiles]),
            "templates": list(group.templates),
        }
        for group in outcome.groups
    ]
    said = {name: getattr(outcome, name) for name in _NUMBERS}
    text = json.dumps({"key": key, "groups": groups, **said})
    return {"text": np.frombuffer(text.encode(), np.uint8), **arrays}


def _unpack(arrays: dict[str, NDArray[Any]], key: str) -> Outcome | None:
    said = json.loads(arrays["text"].tobytes().decode())
    if said["key"] != key:
        return None
    values = {name: said[name] for name in _NUMBERS}
    values["bound"] = tuple(values["bound"])
    return Outcome([_group(entry, arrays) for entry in said["groups"]], **values)


def _group(entry: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> PmappingGroup:
    ends = np.cumsum(arrays[entry["lengths"]].astype(np.int64)).tolist()
    flat = arrays[entry["full_tiles"]].astype(np.int64).tolist()
    return PmappingGroup(
        entry["einsum"],
        tuple(tuple(node) for node in entry["nodes"]),
        arrays[entry["objectives"]],
        arrays[entry["tiles"]],
        {(m, d): arrays[rows] for m, d, rows in entry["reservations"]},
        {t: (m, d, arrays[rows]) for t, m, d, rows in entry["shared"]},
        {(m, d): arrays[rows] for m, d, rows in entry["persistent"]},
        arrays[entry["template"]],
        [tuple(flat[a:b]) for a, b in zip([0, *ends[:-1]], ends, strict=True)],
        entry["templates"],
        tuple(entry["stops"]),
    )
