# SPDX-License-Identifier: BSD-3-Clause
"""buildtools/translate.py: what is translated again, and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from buildtools.translate import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder for one source, ``one.pyx``, in the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("one.pyx").write_text("def one():\n    return 1\n")
    assert main(tmp_path / "made", ["one.pyx"]) == 0
    return tmp_path / "made"


def test_a_source_that_is_the_same_is_not_translated_again(folder):
    (folder / "one.c").write_text("kept")
    assert main(folder, ["one.pyx"]) == 0
    assert (folder / "one.c").read_text() == "kept"

    Path("one.pyx").write_text("def one():\n    return 2\n")
    assert main(folder, ["one.pyx"]) == 0
    assert (folder / "one.c").read_text() != "kept"


@pytest.mark.parametrize("text", ["", "{", '{"one.pyx": [["one.pyx"', None])
def test_a_record_that_is_not_whole_has_all_translated_again(folder, text):
    record = folder / "translated.json"
    before = json.loads(record.read_text())
    (folder / "one.c").write_text("old")
    if text is None:
        record.unlink()
    else:
        record.write_text(text)

    assert main(folder, ["one.pyx"]) == 0
    assert (folder / "one.c").read_text() != "old"
    assert json.loads(record.read_text()) == before
