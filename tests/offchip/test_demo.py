# SPDX-License-Identifier: BSD-3-Clause
"""`offchip demo`: the pipeline on all packages, and what it says of wrong results."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from dpu.toolchain import ToolchainError, find_toolchain
from offchip.demo.__main__ import check, huffman_bits
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
