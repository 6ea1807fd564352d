# SPDX-License-Identifier: BSD-3-Clause
"""Variables of the environment: one table for the reader, the errors and the docs page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from accl import ACCLArgumentError, accl
from accl.environment import SETTINGS, _told, read_setting
from offchip.environment import VARIABLES

ROOT = Path(__file__).resolve().parents[3]

CHOICES = [name for name, setting in SETTINGS.items() if setting.words]


@pytest.mark.parametrize("name", CHOICES)
def test_a_word_that_is_none_names_variable_value_and_what_is_allowed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = SETTINGS[name].words
    for word in words:
        monkeypatch.setenv(name, word)
        assert read_setting(name) == word
    for unset in ("", None):
        monkeypatch.setenv(name, "") if unset == "" else monkeypatch.delenv(name)
        assert read_setting(name) == words[0]
    monkeypatch.setenv(name, words[1] + "x")
    allowed = f"{', '.join(words[:-1])} or {words[-1]}"
    with pytest.raises(ACCLArgumentError, match=f"{name} is '{words[1]}x': it can be {allowed}"):
        read_setting(name)


def test_the_engine_has_the_same_words(monkeypatch: pytest.MonkeyPatch, job: str) -> None:
    source = (ROOT / "csrc/accl/engine/world.c").read_text()
    for word in SETTINGS["ACCL_TRANSPORT"].words:
        assert f'"{word}"' in source
    monkeypatch.setenv("ACCL_TRANSPORT", "sharedx")
    with pytest.raises(ACCLArgumentError, match="ACCL_TRANSPORT is 'sharedx': it can be auto, "):
        accl(2, 0, job=job)


def test_a_misspelt_name_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("accl.environment._told", set(_told))
    monkeypatch.setenv("ACCL_TRANPORT", "shared")
    monkeypatch.setenv("ACCL_DEBUG", "1")
    for _ in range(2):
        read_setting("ACCL_MEMORY")
    texts = [record.message for record in caplog.records]
    assert texts == ["ACCL_TRANPORT is not read: is ACCL_TRANSPORT meant?"]


def test_the_table_has_each_variable_that_is_read() -> None:
    read = set()
    for path in [*ROOT.glob("accl/*.py*"), *ROOT.glob("csrc/accl/**/*.c")]:
        read |= set(
            re.findall(r"(?:getenv|read_setting|environ\.get)\(\"(ACCL_\w+)\"", path.read_text())
        )
    assert read == set(SETTINGS) - {"ACCL_LIBRARY"}
    assert {item.name for item in VARIABLES if item.name.startswith("ACCL_")} == set(SETTINGS)
