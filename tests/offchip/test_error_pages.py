# SPDX-License-Identifier: BSD-3-Clause
"""Errors name the page of the documentation that explains them."""

from __future__ import annotations

import importlib
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

from accl.errors import ACCLPeerError
from dpu.errors import DpuError
from dpu.toolchain.errors import CommandError, TranslationError
from offchip.error_pages import PAGES, format_error
from offchip.errors import OffchipError
from veo.errors import VeoKernelException, VeoTimeoutError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", PAGES)
def test_class_and_place_on_the_page_exist(name):
    module, _, kind = name.rpartition(".")
    assert issubclass(getattr(importlib.import_module(module), kind), Exception)
    file, _, place = PAGES[name].partition("#")
    text = (ROOT / file).read_text()
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    assert place in ("", *(re.sub(r"[^\w]+", "-", heading.lower()) for heading in headings))


def test_derived_errors_have_the_note_once_and_their_message_stays():
    error = ACCLPeerError("rank 1 has ended")
    assert str(error) == "rank 1 has ended"
    assert format_error(error) == ("rank 1 has ended\nSee docs/accl.md#when-something-goes-wrong")
    assert format_error(pickle.loads(pickle.dumps(error))) == format_error(error)
    fault = DpuError("fault", detail="DPU 0 at main.c:3")
    assert format_error(fault).splitlines()[1] == "DPU 0 at main.c:3"
    assert format_error(fault).splitlines()[2].startswith("See docs/reference/error_codes.md")
    assert "docs/veo.md" in format_error(VeoKernelException("division by zero"))
    assert format_error(VeoTimeoutError("late")).count("See ") == 1
    assert "docs/dpu_toolchain.md#errors" in format_error(TranslationError("ecall"))


def test_errors_that_no_page_explains_have_no_note():
    assert format_error(OffchipError("x")) == "x"
    assert format_error(CommandError(1, ["cc"], "kernel.c:1: error: no")) == (
        "kernel.c:1: error: no"
    )


def test_commands_end_their_errors_with_the_page(tmp_path):
    command = [sys.executable, "-P", "-m", "veo", "--library", str(tmp_path / "lost.so")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "See docs/backends.md"
