# SPDX-License-Identifier: BSD-3-Clause
"""The compilation target: what every C file for the DPU is compiled with.

Compiler options, the run time and the translator all depend on these facts, so they are below all
of them.
"""

from __future__ import annotations

from pathlib import Path

from ..asm.chips import CHIPS, Chip

__all__ = ["RESERVED_REGISTERS", "RUNTIME_HEADERS", "RUNTIME_SOURCES", "predefined_macros"]

RUNTIME_SOURCES = Path(__file__).resolve().parents[1] / "runtime"
RUNTIME_HEADERS = RUNTIME_SOURCES / "include"

# RISC-V registers that compiled code must not use: the DPU has 24, and the translator needs five.
RESERVED_REGISTERS = (3, 4, *range(22, 32))


def predefined_macros(chip: Chip) -> list[str]:
    """Return compiler options that define the target's macros.

    Parameters
    ----------
    chip : Chip
        What the program is built for.
    """
    usual = CHIPS[chip.name].tasklets
    names = ("__DPU__", "__dpu__", f"__dpu_{chip.name}__", "__DPU_HAS_NARROW_OPS__")
    return [
        *(f"-D{name}" for name in names),
        f"-D__dpu_wram_size__={chip.wram}",
        f"-D__dpu_mram_size__={chip.mram}",
        *([f"-D__dpu_tasklets__={chip.tasklets}"] if chip.tasklets > usual else ()),
        *([f"-D__dpu_cache_size__={chip.cache}"] if chip.cache else ()),
    ]
