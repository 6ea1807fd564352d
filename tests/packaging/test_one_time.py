# SPDX-License-Identifier: BSD-3-Clause
"""Two sdists of the same files become the same file."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from buildtools import one_time

TIME = 1_700_000_000


def pack(folder: Path, name: str, names: list[str], time: float) -> Path:
    """Make an archive of files with a time, in an order."""
    tree = folder / f"tree-{name}"
    path = folder / f"{name}.tar.gz"
    with tarfile.open(path, "w:gz") as file:
        for entry in names:
            made = tree / entry
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(f"content of {entry}\n")
            made.chmod(0o755 if entry.endswith(".sh") else 0o644)
            os.utime(made, (time, time))
            file.add(made, entry)
    return path


NAMES = ["top/a.c", "top/run.sh", f"top/{'long/' * 40}name.txt", "top/ä.txt"]


def test_order_and_times_do_not_matter(tmp_path: Path) -> None:
    first = pack(tmp_path, "first", NAMES, 1.5e9 + 0.25)
    second = pack(tmp_path, "second", NAMES[::-1], 1.6e9)
    assert first.read_bytes() != second.read_bytes()
    for path in (first, second):
        one_time.rewrite(path, TIME)
    assert first.read_bytes() == second.read_bytes()
    assert {p.name for p in tmp_path.iterdir() if p.is_file()} == {first.name, second.name}


def test_names_modes_and_contents_stay(tmp_path: Path) -> None:
    path = pack(tmp_path, "archive", NAMES, 1.5e9)
    one_time.rewrite(path, TIME)
    with tarfile.open(path) as file:
        members = {member.name: member for member in file}
        assert list(members) == sorted(NAMES)
        for name, member in members.items():
            content = file.extractfile(member)
            assert content is not None
            assert content.read().decode() == f"content of {name}\n"
            assert member.mode & 0o777 == (0o755 if name.endswith(".sh") else 0o644)
            assert (member.mtime, member.uid, member.uname) == (TIME, 0, "")


@pytest.mark.parametrize(("time", "words"), [("", ["a"]), ("soon", ["a"]), ("1", [])])
def test_time_and_file_are_needed(time: str, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-P", one_time.__file__, *words],
        env={**os.environ, "SOURCE_DATE_EPOCH": time},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("usage: SOURCE_DATE_EPOCH=")
