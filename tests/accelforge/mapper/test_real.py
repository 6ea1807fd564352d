# SPDX-License-Identifier: BSD-3-Clause
"""Mappings that the mapper finds, evaluated by the real AccelForge, cost what it says.

They need a Python that has AccelForge: its path is in OFFCHIP_ACCELFORGE_PYTHON. The number of
specifications is in OFFCHIP_ACCELFORGE_CASES, the first seed in OFFCHIP_ACCELFORGE_SEED.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("yaml")
pytest.importorskip("jinja2")

import accelforge as af
from tests.accelforge.package.random_specs import Generator

HERE = Path(__file__).resolve().parent
PYTHON = os.environ.get("OFFCHIP_ACCELFORGE_PYTHON")
CASES = int(os.environ.get("OFFCHIP_ACCELFORGE_CASES", "50"))
SEED = int(os.environ.get("OFFCHIP_ACCELFORGE_SEED", "1"))

# The mapper uses these internally, and evaluations of mappings here do not show them.
INTERNAL = ("stride", "initial")

Found = list[tuple[str, dict[str, Any]]]


def specification(seed: int) -> str:
    """Return a random architecture, whose first memory keeps all, and a workload."""
    generator = Generator(seed)
    generator.workload()
    generator.architecture()
    outer = True
    for tag, _, fields in generator.nodes:
        if tag in ("Memory", "Toll"):
            keep = "~Intermediates" if outer and tag == "Memory" else "Nothing"
            fields["tensors"] = {"keep": keep, "may_keep": "All"}
            outer = outer and tag != "Memory"
    return f"{generator.architecture_text()}\n{generator.workload_text()}\n"


def found_mappings(text: str, path: Path) -> Found:
    """Return the YAML of each mapping of the front, and what the mapper says it costs."""
    path.write_text(text)
    spec = af.Spec.from_yaml(path)
    spec.mapper.metrics = af.Metrics.ENERGY | af.Metrics.LATENCY
    spec.mapper.time_limit = 5
    try:
        result = spec.map_workload_to_arch(print_progress=False)
    except ValueError:  # nothing fits, or the time is over
        return []
    table = result._table()
    rows: Found = []
    for row in range(min(len(result), 3)):
        mapping = table["Total<SEP>mapping"][row]._plain().to_yaml()
        lines = ["mapping:", *(f"  {line}" for line in mapping.splitlines())]
        numbers = {c: cells[row] for c, cells in table.items() if hasattr(cells[row], "__float__")}
        rows.append((text + "\n".join(lines) + "\n", numbers))
    return rows


def evaluate(texts: list[str]) -> list[dict[str, Any]]:
    """Evaluate specifications by AccelForge."""
    assert PYTHON is not None
    command = [PYTHON, str(HERE / "evaluate_mappings.py")]
    done = subprocess.run(
        command, input=json.dumps(texts), stdout=subprocess.PIPE, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """List columns that differ; the original computes in single precision."""
    if "error" in theirs:
        return [theirs["error"]]
    return [
        f"{column}: {ours.get(column)}, not {number}"
        for column, number in theirs.items()
        if not set(INTERNAL) & set(column.split("<SEP>"))
        and not math.isclose(ours.get(column, 0), number, rel_tol=1e-4, abs_tol=1e-12)
    ]


@pytest.mark.skipif(PYTHON is None, reason="OFFCHIP_ACCELFORGE_PYTHON names no Python")
@pytest.mark.timeout(60 + 20 * CASES)
def test_the_original_agrees_about_what_is_found(tmp_path: Path) -> None:
    rows: list[tuple[int, str, dict[str, Any]]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # power gating, limits
        for seed in range(SEED, SEED + CASES):
            found = found_mappings(specification(seed), tmp_path / "spec.yaml")
            rows += [(seed, text, numbers) for text, numbers in found]
    assert len({seed for seed, _, _ in rows}) > CASES // 2

    wrong = {}
    theirs = evaluate([text for _, text, _ in rows])
    for (seed, _, ours), other in zip(rows, theirs, strict=True):
        if differences(ours, other):
            wrong[seed] = differences(ours, other)[:4]
    assert not wrong


def test_the_comparison_sees_differences() -> None:
    theirs = {"Total<SEP>energy": 2.0, "E<SEP>stride<SEP>M<SEP>0": 4.0, "E<SEP>usage": 0.0}
    assert differences({"Total<SEP>energy": 2.0}, theirs) == []
    assert len(differences({"Total<SEP>energy": 2.01}, theirs)) == 1
    assert differences({}, {"error": "no"}) == ["no"]
