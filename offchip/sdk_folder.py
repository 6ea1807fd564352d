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
    write : callable
        Writes the folder, and returns the shell commands.
    """

    prog: str
    description: str
    name: str
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
            _link_places(self._links(place), Path(os.path.abspath(where)))
        return text

    def _links(self, place: str) -> dict[Path, str]:
        """List what goes where: to all of the usual places, or the first part to another one."""
        usual = PLACES[self.prog]
        first = next(iter(usual))
        links = usual if place == first else {place: usual[first]}
        return {Path(os.path.abspath(path)): part for path, part in links.items()}

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
        usual = list(PLACES[self.prog])
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument(
            "--at",
            nargs="?",
            const=usual[0],
            metavar="PATH",
            help=f"also make a symbolic link there, by default {' and '.join(usual)}, where "
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
            _remove_links(Path(os.path.abspath(one)))
            _remove_written(one, self.write)
        return ""

    def _own_folder(self) -> Iterator[Path]:
        with contextlib.suppress(RuntimeError):
            yield self.folder(False)


# --- links where projects look ------------------------------------------------------------------


def _link_places(links: dict[Path, str], folder: Path) -> None:
    """Link places to parts of a folder, and note there what was made; nothing if one is taken."""
    links = {place: part for place, part in links.items() if not _leads_to(place, folder / part)}
    for place in links:
        if os.path.lexists(place):
            raise FileExistsError(
                f"{place} is there already, and is not offchip's: it stays as it is"
            )

    for place, part in links.items():
        missing = [one for one in place.parents if not one.exists()]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(folder / part)
        with (folder / _LINKS).open("a") as file:
            file.write("".join(f"{line}\n" for line in (place, *missing)))


def _leads_to(place: Path, target: Path) -> bool:
    return place.is_symlink() and os.path.realpath(place) == os.path.realpath(target)


def _remove_links(folder: Path) -> None:
    """Remove what `_link_places` made: links that still lead to the folder, and empty folders."""
    noted = folder / _LINKS
    if not noted.is_file():
        return
    # Folders come after what is in them.
    for path in map(Path, sorted(noted.read_text().splitlines(), reverse=True)):
        if path.is_symlink():
            if Path(os.readlink(path)).is_relative_to(folder):
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
