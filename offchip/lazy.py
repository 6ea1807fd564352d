# SPDX-License-Identifier: BSD-3-Clause
"""Imports of optional packages, when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["find", "need"]


def need(module: str, purpose: str, extra: str = "forge") -> Any:
    """Import a module of an extra.

    Parameters
    ----------
    module : str
        Its import name.
    purpose : str
        The feature that needs it, as the subject of a sentence.
    extra : str
        The extra.

    Raises
    ------
    ImportError
        It is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {module.partition('.')[0]}, which cannot be imported ({error}). "
            f"Install offchip[{extra}]; in a checkout: pip install '.[{extra}]'",
            name=module,
        ) from error


def find(module: str) -> Any:
    """Import a module if it is installed.

    Parameters
    ----------
    module : str
        Its import name.

    Returns
    -------
    module or None
        None if it is not installed; one that is broken raises its error.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return None
