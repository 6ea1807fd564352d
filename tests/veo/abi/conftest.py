# SPDX-License-Identifier: BSD-3-Clause
"""The cases of the C API, with the library that is installed and with one under TSan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.builds import ROOT, STRICT, c_program

HERE = Path(__file__).resolve().parent
# Runs one of many cases.
CASE_RUNNER = ROOT / "tests" / "support" / "case.c"


Run = Callable[..., str]


class Installed(NamedTuple):
    """Where the package keeps what C programs need."""

    library: Path
    worker: Path
    include: Path


@pytest.fixture(scope="session")
def installed() -> Installed:
    import veo

    package = Path(veo.__file__).parent
    return Installed(package / "lib/libveo.so.1", package / "bin/veorun", package / "include")


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory, compiler: str, run: Run) -> dict[str, str]:
    """Build the libraries that the cases load; the result is their environment."""
    folder = tmp_path_factory.mktemp("kernels")
    main = folder / "kernels.so"
    other = folder / "other.so"
    run([compiler, *STRICT, "-g", "-O1", "-shared", "-fPIC", "-o", main, HERE / "kernels.c"])
    source = folder / "other.c"
    source.write_text("unsigned long count(void) { static unsigned long n = 1000; return n++; }\n")
    run([compiler, "-g", "-shared", "-fPIC", "-o", other, source])
    environment = {"KERNELS": str(main), "OTHER_KERNELS": str(other)}
    for name, machine in (("VE_LIBRARY", 251), ("ARM_LIBRARY", 183)):
        image = bytearray(other.read_bytes())
        image[18:20] = machine.to_bytes(2, "little")
        path = folder / f"{name.lower()}.so"
        path.write_bytes(image)
        path.chmod(0o755)
        environment[name] = str(path)
    return environment


@pytest.fixture(scope="session")
def case_sources() -> list[Path]:
    return [*sorted((HERE / "cases").glob("*.c")), CASE_RUNNER]


@pytest.fixture(scope="session")
def cases_program(compiler: str, checked: Callable[[Path], Path]) -> Path:
    """The cases, linked with the library as a user of it would."""
    return checked(c_program("tests/veo/abi/all_cases", "installed"))
