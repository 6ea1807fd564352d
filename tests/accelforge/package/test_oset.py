# SPDX-License-Identifier: BSD-3-Clause
"""Sets that are walked through in one order, in every process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from accelforge.util.oset import fzs, oset

PRINT = """
from accelforge.util.oset import fzs, oset
items = ["b", 2, "1", 1, "a", ("a", 1), None, 1.5, True and 3, "2"]
print([list(kind(items)) for kind in (oset, fzs)], oset(items), list(oset([fzs("ab"), fzs("cd")])))
"""


@pytest.mark.parametrize("kind", [oset, fzs])
def test_members_are_in_order(kind: type) -> None:
    assert list(kind([3, 1, 2, 1])) == [1, 2, 3]
    assert list(kind("hello")) == ["e", "h", "l", "o"]
    assert list(kind()) == []


def test_the_order_of_mixed_types_does_not_follow_the_hash_seed() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", PRINT],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(8)
    }
    assert len(printed) == 1
