# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates specifications with mappings by AccelForge.

It is run by its path with a Python that has AccelForge. It reads a JSON list of YAML texts from
standard input, and writes a line for each: the numbers by column, or an error.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any


def numbers(data: Any) -> dict[str, float]:
    """Return the numbers of the one row of a result."""
    cells = {column: data[column].iloc[0] for column in data.columns}
    return {column: float(cell) for column, cell in cells.items() if hasattr(cell, "__float__")}


def main() -> None:
    warnings.simplefilter("ignore")
    import accelforge

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec.yaml"
        for text in json.load(sys.stdin):
            path.write_text(text)
            try:
                found: Any = numbers(accelforge.Spec.from_yaml(path).evaluate_mapping().data)
            except Exception as error:
                found = {"error": f"{type(error).__name__}: {error}"[:2000]}
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
