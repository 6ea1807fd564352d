# SPDX-License-Identifier: BSD-3-Clause
"""Print what pyproject.toml requires, a line each, for installers.

    python buildtools/requirements.py [EXTRA ...]

Without extras, what building and importing needs.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def find_requirements(table: dict[str, Any], extras: list[str]) -> list[str]:
    """List the requirements of extras, with those of extras that they name."""
    project = table["project"]
    found = []
    for extra in extras:
        for requirement in project["optional-dependencies"][extra]:
            own = re.fullmatch(rf"{project['name']}\[([\w,-]+)\]", requirement)
            found += find_requirements(table, own[1].split(",")) if own else [requirement]
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    contents = tomllib.loads(PYPROJECT.read_text())
    try:
        required = find_requirements(contents, sys.argv[1:])
    except KeyError as error:
        sys.exit(f"error: pyproject.toml has no extra {error}")
    if not sys.argv[1:]:
        required = contents["build-system"]["requires"] + contents["project"]["dependencies"]
    print("\n".join(required))
