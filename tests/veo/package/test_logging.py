# SPDX-License-Identifier: BSD-3-Clause
"""veo.logging: handlers on the standard logger, silent until asked."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import veo.logging as vlog


@pytest.fixture(autouse=True)
def reset() -> Iterator[None]:
    yield
    vlog.reset_handler(vlog.VEO, level=logging.NOTSET)


def test_silent_until_a_handler_is_set() -> None:
    program = "import veo.logging, logging; logging.getLogger('veo').warning('heard')"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout + done.stderr == ""


def test_import_leaves_root_logger_alone() -> None:
    program = "import logging, veo.logging; assert not logging.getLogger().handlers"
    subprocess.run([sys.executable, "-P", "-c", program], check=True)


def test_stream_handler_writes_from_its_level_on() -> None:
    stream = io.StringIO()
    logger = vlog.set_stream_handler(vlog.VEO, stream, format="%(levelname)s %(message)s")
    assert logger is logging.getLogger("veo")
    logger.debug("low")
    logger.info("created %d", 7)
    assert stream.getvalue() == "INFO created 7\n"


def test_stream_handler_defaults_to_present_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    vlog.set_stream_handler(vlog.VEO).info("seen")
    assert "seen" in capsys.readouterr().err


def test_same_stream_twice_prints_once() -> None:
    stream = io.StringIO()
    vlog.set_stream_handler(vlog.VEO, stream)
    vlog.set_stream_handler(vlog.VEO, stream, format="%(message)s").info("once")
    assert stream.getvalue() == "once\n"


def test_two_handlers_have_levels_of_their_own(tmp_path: Path) -> None:
    stream = io.StringIO()
    vlog.set_file_handler(vlog.VEO, tmp_path / "log", level="DEBUG", format="%(message)s")
    logger = vlog.set_stream_handler(vlog.VEO, stream, level=logging.ERROR, format="%(message)s")
    logger.debug("fine")
    logger.error("bad")
    assert stream.getvalue() == "bad\n"
    assert (tmp_path / "log").read_text() == "fine\nbad\n"


@pytest.mark.parametrize(("mode", "expected"), [("a", "old\nnew\n"), ("w", "new\n")])
def test_file_handler_mode(tmp_path: Path, mode: str, expected: str) -> None:
    path = tmp_path / "log"
    path.write_text("old\n")
    vlog.set_file_handler(vlog.VEO, str(path), mode=mode, format="%(message)s").info("new")
    assert path.read_text() == expected


def test_file_handler_delay_opens_at_first_record(tmp_path: Path) -> None:
    path = tmp_path / "log"
    logger = vlog.set_file_handler(vlog.VEO, path, delay=True)
    assert not path.exists()
    logger.info("x")
    assert path.exists()


def test_reset_removes_own_handlers_and_sets_level() -> None:
    stream, own = io.StringIO(), logging.NullHandler()
    logger = vlog.set_stream_handler(vlog.VEO, stream)
    logger.addHandler(own)
    assert vlog.reset_handler(vlog.VEO) is logger
    assert logger.level == logging.WARNING
    logger.error("gone")
    assert stream.getvalue() == ""
    assert own in logger.handlers
    logger.removeHandler(own)


def test_reset_leaves_stream_open() -> None:
    stream = io.StringIO()
    vlog.set_stream_handler(vlog.VEO, stream)
    vlog.reset_handler(vlog.VEO)
    assert not stream.closed


@pytest.mark.parametrize("call", ["set_stream_handler", "reset_handler", "set_file_handler"])
def test_unknown_logger_is_key_error(call: str, tmp_path: Path) -> None:
    arguments = [tmp_path / "log"] if call == "set_file_handler" else []
    with pytest.raises(KeyError):
        getattr(vlog, call)("vasp", *arguments)
    assert not (tmp_path / "log").exists()
