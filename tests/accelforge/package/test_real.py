# SPDX-License-Identifier: BSD-3-Clause
"""Random specifications in the real AccelForge and in the engine.

They need a Python that has AccelForge: its path is in OFFCHIP_ACCELFORGE_PYTHON. The number of
cases is in OFFCHIP_ACCELFORGE_CASES, the first seed in OFFCHIP_ACCELFORGE_SEED.
"""

from __future__ import annotations

import json
import os
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest

from accelforge import Spec
from accelforge._model import evaluate
from accelforge.model import problem
from tests.accelforge.package import problems, real

HERE = Path(__file__).resolve().parent
PYTHON = os.environ.get("OFFCHIP_ACCELFORGE_PYTHON")
CASES = int(os.environ.get("OFFCHIP_ACCELFORGE_CASES", "50"))
SEED = os.environ.get("OFFCHIP_ACCELFORGE_SEED", "1")


def build_problem(path: Path) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # power gating, for one
        return problem.build_problem(Spec.from_yaml(path)).problem


@pytest.mark.skipif(PYTHON is None, reason="OFFCHIP_ACCELFORGE_PYTHON names no Python")
@pytest.mark.timeout(60 + 5 * CASES)
def test_random_specifications_agree(tmp_path: Path) -> None:
    assert PYTHON is not None
    command = [PYTHON, str(HERE / "random_specs.py"), SEED, str(CASES)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(cases) == CASES
    wrong = {}
    for case in cases:
        if "refused" in case:
            continue
        found = real.differences(case)
        if "results" in case:
            # The same from the YAML: the front end makes a problem of its own.
            path = tmp_path / "spec.yaml"
            path.write_text(case["yaml"])
            found += real.differences({**case, "problem": build_problem(path)})
        if found:
            wrong[case["seed"]] = found[:5]
    assert not wrong
    assert sum("results" in case for case in cases) > CASES // 2


def test_the_comparison_sees_differences() -> None:
    problem = problems.pe_array_gemm()
    ours = evaluate(problem).as_dict()
    case = {"problem": problem, "results": [[list(key), value] for key, value in ours.items()]}
    assert real.differences(case) == []
    case["results"][0][1] *= 1.0001
    assert len(real.differences(case)) == 1
    case["results"].append([["action", "Z", "GLB", "A", "compute"], 3.0])
    assert len(real.differences(case)) == 2
    assert real.differences({"problem": problem, "error": {"type": "X", "text": ""}})
