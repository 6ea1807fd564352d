# SPDX-License-Identifier: BSD-3-Clause
"""Waits of `accl.from_comm()` for a rank that does not call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MISSING = (
    "ACCLUnfinishedError from_comm: after 0.2 s, not all 3 ranks of the communicator have called "
    "from_comm(), which all of them must do"
)


@pytest.mark.parametrize(
    ("end", "said"), [("timeout", MISSING), ("interrupt", "KeyboardInterrupt")]
)
def test_a_rank_that_does_not_come_is_waited_for_up_to_a_limit(
    run_ranks: Callable[..., Any], end: str, said: str
) -> None:
    assert run_ranks(3, "run_late", end) == [[said, said, ""], 3]
