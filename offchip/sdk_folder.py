# SPDX-License-Identifier: BSD-3-Clause
"""Folders like those of vendors' SDKs: where they are by default, how their files are written."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["default_folder", "link_file", "run_command", "write_file"]


def default_folder(name: str) -> Path:
    """Return a folder in the user's data folder, one per Python environment.

    Parameters
    ----------
    name : str
        How its name begins, such as ``upmem``.
    """
    base = os.environ.get("XDG_DATA_HOME", "")
    data = Path(base) if os.path.isabs(base) else Path.home() / ".local" / "share"
    environment = hashlib.blake2b(os.fsencode(sys.prefix), digest_size=4).hexdigest()
    return data / "offchip" / f"{name}-{environment}"


def write_file(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Replace a file atomically: it may be in use."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".new-", delete=False) as file:
        file.write(text)
    os.chmod(file.name, mode)
    os.replace(file.name, path)


def link_file(path: Path, target: Path) -> None:
    """Make a symbolic link, or replace one atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".new-") as folder:
        fresh = Path(folder, path.name)
        fresh.symlink_to(target)
        os.replace(fresh, path)


def run_command(
    prog: str,
    description: str,
    name: str,
    write: Callable[[Path], str],
    argv: Sequence[str] | None,
) -> int:
    """Run a command that writes such a folder, and prints shell commands that use it.

    Parameters
    ----------
    prog, description : str
        Of the command, for its help.
    name : str
        How the default folder's name begins.
    write : callable
        Writes the folder, and returns the shell commands.
    argv : sequence of str or None
        Its arguments, those of the process if None.

    Returns
    -------
    int
        The exit status: 1 if the folder cannot be written.
    """
    parser = argparse.ArgumentParser(
        prog=prog,
        description=f'{description}, and print shell commands that use it: eval "$({prog})".',
    )
    parser.add_argument("folder", nargs="?", help="the folder; by default one in your data folder")
    options = parser.parse_args(argv)
    folder = Path(options.folder) if options.folder is not None else default_folder(name)
    try:
        print(write(folder), end="")
    except OSError as error:
        print(f"{prog}: error: cannot write {folder}: {error}", file=sys.stderr)
        return 1
    return 0
