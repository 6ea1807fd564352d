# SPDX-License-Identifier: BSD-3-Clause
"""``python -m accelforge``: shows the engine, the devices that are ready, and optional packages."""

from __future__ import annotations

import argparse
import json
import sys

from offchip import __version__
from offchip.closed_pipe import ends_at_closed_pipe
from offchip.info import ask_forge

__all__ = ["main"]


@ends_at_closed_pipe
def main(argv: list[str] | None = None) -> int:
    """Print what the package uses.

    Parameters
    ----------
    argv : list of str, optional
        Arguments of the command.

    Returns
    -------
    int
        1 if the package cannot be used.
    """
    parser = argparse.ArgumentParser(
        prog="python -m accelforge",
        description="Show the engine, the devices that are ready, and optional packages.",
        epilog="Example: python -m accelforge --json",
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    options = parser.parse_args(argv)

    found = ask_forge([])
    error, parts = found.error, dict(found.parts or {})
    devices: list[str] = []
    if error is None:
        from accelforge.devices import FILES

        devices = sorted(FILES)
    if options.json:
        shown = {"version": __version__, "error": error, "devices": devices, "parts": parts}
        print(json.dumps(shown, indent=2))
    elif error is None:
        print(f"offchip {__version__}, package accelforge")
        print(f"{'devices':12} {', '.join(devices)}")
        for name, version in parts.items():
            print(f"{name:12} {version or 'not installed'}")
    if error is not None:
        print(error, file=sys.stderr)
    return 0 if error is None else 1


if __name__ == "__main__":
    sys.exit(main())
