# SPDX-License-Identifier: BSD-3-Clause
"""`offchip demo`: the pipeline on all packages, and what it says of wrong results."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from dpu.toolchain import ToolchainError, find_toolchain
from offchip.demo.__main__ import check, find_result, huffman_bits
from offchip.demo.plan import read_text


def test_pipeline_agrees_with_numpy():
    try:
        find_toolchain()
    except ToolchainError as error:
        pytest.skip(str(error))
    done = subprocess.run(
        [sys.executable, "-P", "-m", "offchip", "demo", "--json"],
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["wrong"] == []
    assert result["bits"] == huffman_bits(np.bincount(read_text(), minlength=256))
    counting = result["modelled"]["count on DPUs"]
    assert result["predicted"]["count on DPUs"] == pytest.approx(counting, rel=0.2)


def test_result_is_found_among_messages_of_mpi():
    # UCX writes to standard output.
    noise = "[1795513233.702473] [host:22544:0]  tcp_iface.c:984  UCX  ERROR no network\n"
    assert find_result(f'{noise}12\n{{"bits": 3}}\n{noise}') == {"bits": 3}
    with pytest.raises(RuntimeError, match=r"gave no result; they printed: .*no network"):
        find_result(noise)
    with pytest.raises(RuntimeError, match="printed: nothing"):
        find_result("")


@pytest.mark.parametrize("package", ["veo", "dpu", "accl"])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_library_that_cannot_be_used_is_a_message(package, options, tmp_path):
    lost = str(tmp_path / "lost.so")
    environment = {**os.environ, f"{package.upper()}_LIBRARY": lost}
    done = run_demo(*options, env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"offchip demo: {package}: {lost!r}, requested by")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("module", ["yaml", "jinja2"])
def test_missing_extra_is_said_before_anything_runs(module, tmp_path):
    folder = tmp_path.joinpath(*module.split("."))
    folder.mkdir(parents=True)
    text = f"raise ModuleNotFoundError('No module named {module}', name={module!r})\n"
    (folder / "__init__.py").write_text(text)
    done = run_demo(env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "Install offchip[forge]" in done.stderr


def run_demo(*options, env):
    return subprocess.run(
        [sys.executable, "-P", "-m", "offchip", "demo", *options],
        capture_output=True,
        text=True,
        timeout=60,
        env=env,
    )


def test_wrong_results_are_told():
    text = np.array([1, 1, 1, 2, 3], np.uint8)
    counts = np.bincount(text, minlength=256)
    lengths = [0, 1, 2, 2] + [0] * 252
    right = {"counts": counts.tolist(), "lengths": lengths, "bits": 7}
    assert check(right, text) == []
    assert check({**right, "counts": [0] * 256}, text) == ["the counts differ from NumPy's"]
    assert check({**right, "bits": 8}, text) == ["the code is not Huffman's"]
    wrong = check({**right, "lengths": [0, 1, 1, 1] + [0] * 252, "bits": 5}, text)
    assert wrong == ["the code is not Huffman's", "the lengths are not those of a code"]


@pytest.mark.parametrize(("counts", "bits"), [([5], 0), ([1, 1], 2), ([1, 1, 2, 4], 14), ([], 0)])
def test_bits_of_a_code(counts, bits):
    assert huffman_bits(np.array(counts)) == bits
