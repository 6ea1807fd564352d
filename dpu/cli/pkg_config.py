# SPDX-License-Identifier: BSD-3-Clause
"""The command ``dpu-pkg-config``: options to compile and link C programs for the host.

For the package ``dpu`` it prints the paths of this installation's headers and libdpu; everything
else is passed to ``pkg-config``. If UPMEM_HOME has the vendor's command, that one is used.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from offchip.pkg_config import CLibrary, run_pkg_config

__all__ = ["VERSION", "main"]

_NAME = "dpu-pkg-config"
VERSION = "2025.1.0"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process otherwise.

    Returns
    -------
    int
        The exit status.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    _leave_to_vendor(words)
    folder = Path(__file__).resolve().parent.parent
    return run_pkg_config(CLibrary("dpu", folder, VERSION), words)


def _leave_to_vendor(words: list[str]) -> None:
    home = os.environ.get("UPMEM_HOME")
    command = shutil.which(_NAME, path=str(Path(home) / "bin")) if home else None
    if command is not None and b"from dpu." not in Path(command).read_bytes()[:4096]:
        os.execv(command, [command, *words])


if __name__ == "__main__":
    sys.exit(main())
