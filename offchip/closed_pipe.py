# SPDX-License-Identifier: BSD-3-Clause
"""Commands whose reader leaves early, as in ``offchip info | head -1``."""

from __future__ import annotations

import functools
import os
import select
import sys
from collections.abc import Callable
from typing import ParamSpec

__all__ = ["ends_at_closed_pipe"]

_P = ParamSpec("_P")


def ends_at_closed_pipe(main: Callable[_P, int]) -> Callable[_P, int]:
    """Make a command end with status 1, without a traceback, once nobody reads what it prints.

    Parameters
    ----------
    main : callable
        The command; returns its exit status. A pipe of its own that breaks is its own matter.
    """

    @functools.wraps(main)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> int:
        try:
            status = main(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            if not _is_closed():
                raise
            # The exit flushes once more.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        return status

    return run


def _is_closed() -> bool:
    """Return whether the standard output is what broke."""
    output = select.poll()
    output.register(sys.stdout, 0)
    return bool(output.poll(0))  # an error or a hang-up
