# SPDX-License-Identifier: BSD-3-Clause
"""The pytest plugin, in runs of pytest on small test files."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

PASSES = """
import numpy as np
import pytest

ASSEMBLY = '''
        .globl main
main:   lw r0, zero, number
        add r0, r0, 1
        sw zero, number, r0
        jump r23
        .section .dpu_host
        .globl number
        .size number, 4
number: .space 4
'''

@pytest.mark.ranks(3)
def test_sum(accl_device):
    rank = accl_device.communicators[0].local_rank
    mine, total = accl_device.allocate((4,), np.int32), accl_device.allocate((4,), np.int32)
    mine[:] = rank
    accl_device.allreduce(mine, total)
    assert total.tolist() == [3] * 4

@pytest.mark.ranks(2)
@pytest.mark.parametrize("value", [5, 6])
def test_sides(accl_device, value):
    rank = accl_device.communicators[0].local_rank
    data = accl_device.allocate((1,), np.int32)
    data[:] = value
    if rank == 0:
        accl_device.send(data, 1, 1)
    else:
        data[:] = 0
        accl_device.recv(data, 1, 0)
        assert data[0] == value

def test_dpus(dpu_set):
    import io
    dpus = dpu_set(nr_dpus=2, asm_source=io.StringIO(ASSEMBLY))
    dpus.copy("number", [np.array([1], np.int32), np.array([41], np.int32)])
    dpus.exec()
    assert list(dpus.number.int32()) == [2, 42]

def test_ve(ve_process, ve_compile):
    library = ve_compile("long twice(long x) { return 2 * x; }")
    other = ve_compile("long thrice(long x) { return 3 * x; }", flags="-O1")
    context = ve_process.open_context()
    assert library.twice(context, 21).wait_result() == 42
    assert other.thrice(context, 2).wait_result() == 6
"""

FAILS = """
import pytest

@pytest.mark.ranks(2, timeout=20)
def test_one_rank_differs(accl_device):
    print("x" * 200_000)
    assert accl_device.communicators[0].local_rank == 0

@pytest.mark.ranks(2, timeout=2)
def test_hang(accl_device):
    import time
    if accl_device.communicators[0].local_rank == 1:
        time.sleep(100)

@pytest.mark.ranks("two")
def test_marker(accl_device):
    pass

def test_without_marker(accl_device):
    pass

@pytest.mark.hardware("gpu")
def test_hardware_of_others():
    pass
"""


def run_pytest(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        # Without the plugins of others, which each rank would take a second to load.
        env={
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_PLUGINS": "offchip.pytest_plugin",
            **dict.fromkeys(("VEO_LIBRARY", "DPU_LIBRARY", "ACCL_LIBRARY"), "soft"),
        },
    )


def test_fixtures_and_ranks(tmp_path):
    done = run_pytest(tmp_path, PASSES)
    assert "5 passed" in done.stdout, done.stdout + done.stderr


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    return run_pytest(tmp_path_factory.mktemp("failures"), FAILS).stdout


def test_rank_that_fails_is_shown(failures):
    assert "--- rank 1 of 2" in failures
    assert "assert 1 == 0" in failures


def test_rank_that_hangs_is_ended(failures):
    assert "not done within 2 s" in failures


@pytest.mark.parametrize(
    "text",
    [
        "ranks() takes a number from 1 to 1024, and timeout= in seconds",
        "accl_device needs the marker ranks(n)",
        "hardware() takes one of 'veo', 'dpu', 'accl', not ('gpu',)",
    ],
)
def test_wrong_use_is_explained(failures, text):
    assert text in failures


def test_hardware_that_is_not_there_skips(tmp_path):
    text = "import pytest\n\n@pytest.mark.hardware('dpu')\ndef test_it():\n    assert False\n"
    done = run_pytest(tmp_path, text, "-rs")
    assert "1 skipped" in done.stdout, done.stdout
    assert "dpu runs on its soft twin, and the test needs the hardware" in done.stdout


def test_the_plugin_is_found_by_its_entry_point():
    found = {entry.name: entry.value for entry in importlib.metadata.entry_points(group="pytest11")}
    assert found["offchip"] == "offchip.pytest_plugin"
