# SPDX-License-Identifier: BSD-3-Clause
"""Compares cases that accelforge/export_problem.py wrote with the engine."""

from __future__ import annotations

import math
from typing import Any

from accelforge._model import ProblemError, evaluate

__all__ = ["differences"]


def differences(case: dict[str, Any], tolerance: float = 1e-5) -> list[str]:
    """List what the engine says differently; the original computes in single precision."""
    # A failed assertion says nothing about the mapping: the original joins no Einsums that share
    # persistent tensors alone, for example.
    if case.get("error", {}).get("type") == "AssertionError":
        return []
    try:
        result = evaluate(case["problem"])
    except ProblemError as error:
        return [] if "error" in case else [f"refused here: {error}"]
    if "error" in case:
        return [f"valid here; {case['error']}"] if result.valid else []
    if not result.valid:
        return [f"invalid here: {result.reason}"]

    ours = result.as_dict()
    found = []
    for column, number in case["results"]:
        mine = ours.get(tuple(column))
        # A column that does not exist is 0.
        if mine is None and number == 0:
            continue
        if mine is None or not math.isclose(mine, number, rel_tol=tolerance, abs_tol=1e-15):
            found.append(f"{column}: {mine}, not {number}")
    return found
