# SPDX-License-Identifier: BSD-3-Clause
"""The cases of the C API, with the library that is installed and with one under TSan."""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.builds import c_program


class Installed(NamedTuple):
    """Places where the package keeps what C programs need."""

    library: Path
    include: Path


@pytest.fixture(scope="session")
def installed() -> Installed:
    found = importlib.util.find_spec("dpu")
    assert found is not None and found.origin is not None
    package = Path(found.origin).parent
    return Installed(package / "lib/libdpu.so", package / "include")


@pytest.fixture(scope="session")
def cases_program(compiler: str, checked: Callable[[Path], Path]) -> Path:
    """The cases, linked with the library as a user of it would."""
    return checked(c_program("tests/dpu/abi/all_cases", "installed"))


@pytest.fixture(scope="session")
def dpu_programs(tmp_path_factory: pytest.TempPathFactory, cases_program: Path) -> Path:
    """The folder with count.dpu and assert.dpu."""
    folder = tmp_path_factory.mktemp("programs")
    subprocess.run([str(cases_program), "writes_its_programs"], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="session")
def tsan_cases(compiler: str) -> Path:
    """The cases and the library, built for ThreadSanitizer."""
    return c_program("tests/dpu/abi/all_cases", "tsan")
