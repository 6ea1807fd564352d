# SPDX-License-Identifier: BSD-3-Clause
"""Instructions that operations take on a DPU, measured by a loop that does nothing else."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["INSTRUCTIONS", "OPERATIONS", "Operation", "count_instructions"]

SOURCE = Path(__file__).parent / "dpu" / "operation.c"
ELEMENTS, TASKLETS, ROUNDS = 128, 16, 8
# A load, a store, two pointers and a branch.
LOOP = 5


class Operation(NamedTuple):
    """An operation, and what it is measured with.

    Parameters
    ----------
    symbol : str
        In C.
    operand, result : numpy scalar type
        Types.
    low, high : int
        Limits of random operands.
    scalar : int
        The second operand.
    """

    symbol: str
    operand: Any
    result: Any
    low: int
    high: int
    scalar: int


OPERATIONS = {
    "add32": Operation("+", np.int32, np.int32, 0, 1024, 700),
    "add64": Operation("+", np.int64, np.int64, -(2**40), 2**40, -(2**39)),
    "mul16": Operation("*", np.int16, np.int32, -128, 128, 99),
    "mul32": Operation("*", np.int32, np.int32, 0, 1024, 700),
}
"""Operations that kernels use."""

INSTRUCTIONS = {"add32": 1, "add64": 2, "mul16": 7, "mul32": 12}
"""Results of `count_instructions` for each of them, rounded."""


def count_instructions(operation: Operation) -> float:
    """Return the instructions that an operation takes, by running it on the simulator.

    Parameters
    ----------
    operation : Operation
        The operation.
    """
    from dpu import DpuSet
    from dpu.compiler import Compiler

    width = np.dtype(operation.operand).itemsize
    defines: dict[str, str | int | None] = {
        "NR_TASKLETS": TASKLETS,
        "TYPE": f"int{8 * width}_t",
        "RESULT": f"int{8 * np.dtype(operation.result).itemsize}_t",
        "OPERATION": operation.symbol,
    }
    numbers = np.random.default_rng(1).integers(operation.low, operation.high, (TASKLETS, ELEMENTS))
    with tempfile.TemporaryDirectory(prefix="accelforge-") as folder:
        program = Path(folder) / "operation.dpu"
        Compiler().compile(SOURCE, program, defines=defines)
        with DpuSet(nr_dpus=1, binary=program.read_bytes()) as dpus:
            dpus.copy("numbers", numbers.astype(operation.operand))
            dpus.copy("by", np.full(8 // width, operation.scalar, operation.operand))
            counts = []
            for rounds in (0, ROUNDS):
                dpus.copy("rounds", np.array([rounds], np.uint32))
                dpus.exec()
                counts.append(dpus.report.instructions)
    return (counts[1] - counts[0]) / (ROUNDS * numbers.size) - LOOP
