# SPDX-License-Identifier: BSD-3-Clause
"""Constants of Python and of accl.h are the same, each with its own value."""

from __future__ import annotations

import enum
import re
import subprocess
from pathlib import Path

import numpy as np

from accl import constants
from accl._operand import dtype_number
from tests.support.builds import c_program

# Names of pyaccl that are not those of accl.h.
OTHER_NAMES = {
    "ALLTOALL": "ALL_TO_ALL",
    "CFG_RESET": "RESET_PERIPH",
    "CFG_ENABLE_PACKETS": "ENABLE_PKT",
    "CFG_TIMEOUT": "SET_TIMEOUT",
    "CFG_OPEN_PORT": "OPEN_PORT",
    "CFG_OPEN_CONNECTION": "OPEN_CON",
    "CFG_STACK": "SET_STACK_TYPE",
    "CFG_MAX_SEGMENT_SIZE": "SET_MAX_SEGMENT_SIZE",
}
# Members without a counterpart in C.
ZERO = {"NO_COMPRESSION": 0, "NO_STREAM": 0}


def constants_of_c() -> dict[str, dict[str, int]]:
    """Run the program that prints them."""
    program = c_program("tests/accl/abi/constants", "asan")
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    found: dict[str, dict[str, int]] = {}
    for line in printed.splitlines():
        kind, name, value = line.split()
        found.setdefault(kind, {})[OTHER_NAMES.get(name, name)] = int(value)
    return found


def test_constants_are_those_of_the_header() -> None:
    in_c = constants_of_c()
    modules, dtypes = in_c.pop("module"), in_c.pop("dtype")
    assert modules == {name: getattr(constants, name) for name in modules}

    enums = {
        name: {member.name.upper(): int(member) for member in kind}
        for name, kind in vars(constants).items()
        if isinstance(kind, enum.EnumMeta) and kind.__module__ == constants.__name__
    }
    assert {
        name: {key: value for key, value in members.items() if key not in ZERO}
        for name, members in enums.items()
    } == in_c
    assert all(members[key] == 0 for members in enums.values() for key in ZERO if key in members)

    others = {"NONE", "BFLOAT16", *(name for name in dtypes if name.startswith("BITS"))}
    assert {name: dtype_number(np.dtype(name.lower())) for name in dtypes.keys() - others} == {
        name: value for name, value in dtypes.items() if name not in others
    }
    # The numbers of the C++ driver, which may get more.
    drivers = ["NONE", "INT8", "FLOAT16", "FLOAT32", "FLOAT64", "INT32", "INT64"]
    assert [dtypes[name] for name in drivers] == list(range(7))
    bits = {name for name in dtypes if name.startswith("BITS")}
    assert all(value >= 128 for name, value in dtypes.items() if name not in bits | {*drivers})


def test_operations_of_cplusplus_are_named_like_those_of_the_header(root: Path) -> None:
    """Their numbers come from the header; there may be fewer, as they are those of the driver."""
    text = (root / "include/accl/cpp/accl/constants.hpp").read_text()
    members = text.partition("enum class operation")[2].partition("}")[0]
    named = re.findall(r"^ +(\w+) = ACCL_(\w+)", members, re.MULTILINE)
    assert len(named) > 14
    assert [name.upper() for name, _ in named] == [number for _, number in named]
