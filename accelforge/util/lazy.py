# SPDX-License-Identifier: BSD-3-Clause
"""Packages that are needed for some purposes only, and are imported when one comes up."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["need"]


def need(module: str, purpose: str) -> Any:
    """Import a module of the extra ``forge``.

    Parameters
    ----------
    module : str
        Its import name.
    purpose : str
        What it is needed for, as the subject of a sentence.

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
            "Install offchip[forge]; in a checkout: pip install '.[forge]'",
            name=module,
        ) from error
