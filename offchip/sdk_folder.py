# SPDX-License-Identifier: BSD-3-Clause
"""Folders like those of vendors' SDKs: where they are, how they are written, linked and removed."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from offchip.completion import complete
from offchip.sdk_places import PLACES, own_path

__all__ = ["SdkCommand", "link_file", "write_file"]

# In a folder: a link that was made to it, and the folders that were made for that, a line each.
_LINKS = ".links"


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


class _Parser(argparse.ArgumentParser):
    """A parser whose errors make ``eval "$(command)"`` fail."""

    def error(self, message: str) -> NoReturn:
        print("false")
        super().error(message)


@dataclass(frozen=True)
class SdkCommand:
    """A command that writes such a folder, and prints shell commands that use it.

    Attributes
    ----------
    prog, description : str
        Of the command, for its help.
    name : str
        How the default folder's name begins, such as ``upmem``.
    part : str
        What projects look for in `PLACES`, as a path in the folder.
    write : callable
        Writes the folder, and returns the shell commands.
    """

    prog: str
    description: str
    name: str
    part: str
    write: Callable[[Path], str]

    def run(self, argv: Sequence[str] | None) -> int:
        """Run it.

        Parameters
        ----------
        argv : sequence of str or None
            Its arguments, those of the process if None.

        Returns
        -------
        int
            The exit status: 1 if the folder, or the link, cannot be written. A shell that
            evaluates the output gets that status too.
        """
        parser = self._parser()
        complete(parser)
        options = parser.parse_args(argv)
        folder = None if options.folder is None else Path(options.folder)
        try:
            text = self._remove(folder) if options.remove else self._write(folder, options.at)
        except (OSError, RuntimeError) as error:
            print("false")
            print(f"{self.prog}: error: {error}; {self._remedy(options)}", file=sys.stderr)
            return 1
        print(text, end="")
        return 0

    def _write(self, folder: Path | None, place: str | None) -> str:
        # Links are for all users, of whom some cannot read the data folder. Path.home() may raise a
        # RuntimeError.
        where = folder if folder is not None else self.folder(place is not None)
        try:
            text = self.write(where)
        except OSError as error:
            raise OSError(f"cannot write {where}: {error}") from error
        if place is not None:
            _link_place(Path(os.path.abspath(place)), where / self.part, where)
        return text

    def folder(self, is_shared: bool) -> Path:
        """Return the default folder: in the user's data folder, one per Python environment.

        Parameters
        ----------
        is_shared : bool
            All users need it: it is in the environment itself.
        """
        if is_shared:
            return Path(sys.prefix) / "share" / "offchip" / self.name
        base = os.environ.get("XDG_DATA_HOME", "")
        data = Path(base) if os.path.isabs(base) else Path.home() / ".local" / "share"
        environment = hashlib.blake2b(os.fsencode(sys.prefix), digest_size=4).hexdigest()
        return data / "offchip" / f"{self.name}-{environment}"

    def _parser(self) -> argparse.ArgumentParser:
        parser = _Parser(
            prog=self.prog,
            description=(f"{self.description}, and print shell commands that use it."),
            epilog=f'Example: eval "$({self.prog})"',
        )
        parser.add_argument(
            "folder",
            nargs="?",
            help="the folder; by default one in your data folder, with --at one in the environment",
        )
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument(
            "--at",
            nargs="?",
            const=PLACES[self.prog],
            metavar="PATH",
            help=f"also make a symbolic link there, {PLACES[self.prog]} by default, where "
            "unmodified projects look; what is there already is not replaced",
        )
        choice.add_argument(
            "--remove", action="store_true", help="remove the folder and the links that --at made"
        )
        return parser

    def _remedy(self, options: argparse.Namespace) -> str:
        if options.at is not None:
            return f"'sudo {own_path(self.prog)} --at' may write there, or name a place you own"
        return f"name a folder that you can write to ({self.prog} FOLDER), or set XDG_DATA_HOME"

    def _remove(self, folder: Path | None) -> str:
        found = [folder] if folder is not None else [self.folder(True), *self._own_folder()]
        for one in found:
            _remove_links(one, one / self.part)
            _remove_written(one, self.write)
        return ""

    def _own_folder(self) -> Iterator[Path]:
        with contextlib.suppress(RuntimeError):
            yield self.folder(False)


# --- links where projects look ------------------------------------------------------------------


def _link_place(place: Path, target: Path, folder: Path) -> None:
    """Make a link at a place where nothing is, and note in the folder what was made."""
    target = Path(os.path.abspath(target))
    if place.is_symlink() and Path(os.path.realpath(place)) == Path(os.path.realpath(target)):
        return
    if os.path.lexists(place):
        raise FileExistsError(f"{place} is there already, and is not offchip's: it stays as it is")

    missing = [one for one in place.parents if not one.exists()]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
    noted = folder / _LINKS
    lines = [str(place), *map(str, missing)]
    with noted.open("a") as file:
        file.write("".join(f"{line}\n" for line in lines))


def _remove_links(folder: Path, target: Path) -> None:
    """Remove what `_link_place` made: links that still lead to the folder, and empty folders."""
    noted = folder / _LINKS
    if not noted.is_file():
        return
    wanted = Path(os.path.abspath(target))
    for line in noted.read_text().splitlines():
        path = Path(line)
        if path.is_symlink():
            if Path(os.readlink(path)) == wanted:
                path.unlink()
        else:
            _remove_if_empty(path)
    noted.unlink()


def _remove_if_empty(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.rmdir()


def _remove_written(folder: Path, write: Callable[[Path], str]) -> None:
    """Remove the files that are written into a folder, and folders that are then empty."""
    if not folder.is_dir():
        return
    with tempfile.TemporaryDirectory(prefix="offchip-") as name:
        write(Path(name, "copy"))
        copies = sorted(Path(name, "copy").rglob("*"), reverse=True)
        paths = [folder / copy.relative_to(Path(name, "copy")) for copy in copies]
        real = {path for path, copy in zip(paths, copies, strict=True) if not _is_folder(copy)}
    for path in paths:
        if path in real:
            path.unlink(missing_ok=True)
        else:
            _remove_if_empty(path)
    _remove_if_empty(folder)
    if folder.parent.name == "offchip":
        _remove_if_empty(folder.parent)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
