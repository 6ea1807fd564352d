# SPDX-License-Identifier: BSD-3-Clause
"""Warns if another distribution has the same import name."""

from __future__ import annotations

import os
import sys
import warnings

__all__ = ["find_conflicts", "warn_of_conflicts"]

NAME = "accelforge"
PLACES = ("site-packages", "dist-packages")


def find_conflicts(folders: list[str]) -> list[str]:
    """List the records of distributions of that name.

    Parameters
    ----------
    folders : list of str
        Where packages are installed.
    """
    found = []
    for folder in dict.fromkeys(folders):
        try:
            with os.scandir(folder) as entries:
                found += [
                    entry.path
                    for entry in entries
                    if entry.name.startswith(f"{NAME}-") and entry.name.endswith(".dist-info")
                ]
        except OSError:
            continue
    return found


def warn_of_conflicts() -> None:
    """Warn if the distribution of that name is installed beside this package."""
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    installed = [path for path in sys.path if os.path.basename(path) in PLACES]
    for record in find_conflicts([own, *installed]):
        warnings.warn(
            f"the distribution of {record} also installs the package {NAME!r}; this is offchip's. "
            f"Uninstall both (pip uninstall {NAME} offchip), then install the one you want",
            UserWarning,
            stacklevel=3,
        )
