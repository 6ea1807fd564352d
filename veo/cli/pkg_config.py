# SPDX-License-Identifier: BSD-3-Clause
"""The command ``veo-pkg-config``: options to compile and link C programs that use libveo.

The library is that of this installation, the soft twin; NEC's is in ``/opt/nec/ve/veos``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from offchip.pkg_config import CLibrary, run_pkg_config

__all__ = ["main"]

#: Of NEC's library with the same functions.
VERSION = "3.0.2"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, or that of the process; return the exit status."""
    words = sys.argv[1:] if argv is None else argv
    return run_pkg_config(CLibrary("veo", Path(__file__).resolve().parent.parent, VERSION), words)


if __name__ == "__main__":
    sys.exit(main())
