# SPDX-License-Identifier: BSD-3-Clause
"""Modules that the import of a package does not load, so that programs and commands start soon."""

from __future__ import annotations

import sysconfig

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


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
@pytest.mark.parametrize("module", ["veo", "dpu", "accl", "accelforge._model"])
def test_import_turns_the_gil_of_a_free_threaded_python_on_and_says_so(run_python, module):
    done = run_python(
        f"import sys; off = not sys._is_gil_enabled(); import {module}\n"
        "print(off, sys._is_gil_enabled())",
        env={"PYTHON_GIL": ""},
    )
    assert done.stdout == "True True\n"
    assert "The global interpreter lock (GIL) has been enabled to load module" in done.stderr
