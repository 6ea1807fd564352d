# SPDX-License-Identifier: BSD-3-Clause
"""Building of generated programs, some of which are too large at some levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dpu.toolchain import BuildOptions, Toolchain, ToolchainError, build

__all__ = ["build_what_fits"]


def build_what_fits(
    sources: Sequence[Path], path: Path, options: BuildOptions, toolchain: Toolchain
) -> None:
    """Build a program, for size if it has too many instructions at the level of the options."""
    try:
        build(sources, path, options, toolchain=toolchain)
    except ToolchainError as error:
        if "IRAM overflows" not in str(error):
            raise
        build(sources, path, replace(options, level="-Os"), toolchain=toolchain)
