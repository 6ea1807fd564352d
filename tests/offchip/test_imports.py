# SPDX-License-Identifier: BSD-3-Clause
"""Modules that the import of a package does not load, so that programs and commands start soon."""

from __future__ import annotations

import pytest

# None of them is needed before something is done.
HEAVY = {
    "asyncio",
    "concurrent.futures",
    "ctypes",
    "inspect",
    "ipaddress",
    "json",
    "logging",
    "matplotlib",
    "mpi4py",
    "numpy",
    "numpy.ma",
    "pandas",
    "pathlib",
    "subprocess",
    "torch",
    "yaml",
    "ziglang",
}
# accelforge finds its files with pathlib; buffers of accl are arrays of NumPy.
LOADED = {
    "accelforge": {"ipaddress", "json", "pathlib"},
    "accl.accl": {"ctypes", "inspect", "numpy"},
}


@pytest.mark.parametrize("module", ["offchip", "veo", "dpu", "accl", "accl.accl", "accelforge"])
def test_import_loads_nothing_that_it_does_not_need(run_python, module):
    # Before anything else: the interpreter itself may have loaded some.
    done = run_python(
        f"import sys; before = set(sys.modules); import {module}; print(set(sys.modules) - before)"
    )
    loaded = eval(done.stdout) if done.returncode == 0 else done.stderr
    assert HEAVY & loaded <= LOADED.get(module, set())
