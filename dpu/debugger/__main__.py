# SPDX-License-Identifier: BSD-3-Clause
"""The host of a program that is debugged alone: launches it on one DPU, and prints its output."""

from __future__ import annotations

import sys
from contextlib import suppress

from .. import DpuSet
from ..errors import DpuError


def _print_log(dpus: DpuSet) -> None:
    with suppress(DpuError):
        # A program that prints nothing has no log.
        dpus.log(sys.stdout)
    sys.stdout.flush()


def main() -> int:
    """Launch the program that is the argument."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: python -m dpu.debugger PROGRAM\n\n" + (__doc__ or "").strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    try:
        with DpuSet(nr_dpus=1, binary=sys.argv[1]) as dpus:
            try:
                dpus.exec()
            finally:
                _print_log(dpus)
    except DpuError as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
