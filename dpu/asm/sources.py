# SPDX-License-Identifier: BSD-3-Clause
"""Reads sources: files, the C preprocessor, comments, statements."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from .errors import AsmError, Location

__all__ = ["Line", "Source", "SourceLike", "lines_of", "preprocess", "read_source"]

_COMMENT = re.compile(
    r'"(?:[^"\\\n]|\\.)*"?|\'(?:\\.|[^\'\\\n])\'?|/\*.*?(?:\*/|\Z)|//[^\n]*|\#[^\n]*', re.DOTALL
)
_STATEMENT = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:\\.|[^'\\])'?|[^;"'])+|["']""")
_MARKER = re.compile(r'\s*#\s*(?:line\s+)?(\d+)(?:\s+"((?:[^"\\]|\\.)*)")?')
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*[a-z]", re.MULTILINE)
_PREDEFINED = {"__DPU__": "1", "__dpu__": "1", "__ASSEMBLER__": "1"}


class Readable(Protocol):
    """An object with a method ``read``."""

    def read(self) -> str | bytes:
        """Return the whole text."""


SourceLike = "str | os.PathLike[str] | Source | Readable"


@dataclass(frozen=True)
class Source:
    """A text to assemble.

    Parameters
    ----------
    name : str
        Its name in errors.
    text : str
        The program.
    preprocess : bool
        Whether it goes through the C preprocessor, as files named ``.S`` do.
    folder : Path, optional
        Where included files are searched for first.
    """

    name: str
    text: str
    preprocess: bool = True
    folder: Path | None = None


class Line(NamedTuple):
    """A line with its origin; depth counts the macros that it was expanded from."""

    text: str
    file: str
    number: int
    depth: int = 0

    def location(self, column: int = 0) -> Location:
        """Return the location of a column."""
        return Location(self.file, self.number, column)


def read_source(source: str | os.PathLike[str] | Source | Readable, index: int = 0) -> Source:
    """Read a source: a path, a `Source`, or an open file."""
    if isinstance(source, Source):
        return source

    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if "\n" in str(source):
            raise AsmError(
                "this is source text, not a path: pass it as Source(name, text) "
                "or io.StringIO(text)"
            )
        try:
            data = path.read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
            raise AsmError(f"cannot be read: {reason}", Location(str(path))) from error
        except ValueError as error:
            raise AsmError(f"cannot be read: {error}", Location(repr(str(path)))) from error
        text = data.decode("utf-8", "surrogateescape")
        return Source(str(path), text, path.suffix == ".S", path.parent)

    content = source.read()
    if isinstance(content, bytes):
        content = content.decode("utf-8", "surrogateescape")
    name = getattr(source, "name", None)
    return Source(name if isinstance(name, str) else f"<source {index}>", content)


def _compiler() -> list[str] | None:
    chosen = os.environ.get("CC")
    if chosen:
        return shlex.split(chosen)
    for name in ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path is not None:
            return [path]
    if importlib.util.find_spec("ziglang") is None:
        return None
    # -P: a ziglang in the current folder is not the wheel's.
    return [sys.executable, "-P", "-m", "ziglang", "cc"]


def preprocess(
    source: Source,
    defines: Mapping[str, object],
    include_dirs: Sequence[str | os.PathLike[str]],
) -> Source:
    """Run the C preprocessor over a source that contains directives or macros.

    Parameters
    ----------
    source : Source
        The text.
    defines : mapping of str to object
        Macros; None defines one without a value.
    include_dirs : sequence of path
        Folders of included files.

    Returns
    -------
    Source
        The preprocessed text, or the same source.

    Raises
    ------
    AsmError
        If there is no preprocessor, or it fails.
    """
    _check_characters(source)
    names = [*defines, *_PREDEFINED]
    mentioned = re.search(r"\b(?:" + "|".join(map(re.escape, names)) + r")\b", source.text)
    if not source.preprocess or not (_DIRECTIVE.search(source.text) or mentioned):
        return source

    compiler = _compiler()
    if compiler is None:
        raise AsmError(
            "this source needs the C preprocessor, and no C compiler is found: none of cc, gcc "
            "and clang is on PATH, CC is not set and the ziglang package is not installed. "
            "Install one, or use a file named .s without # lines",
            Location(source.name),
        )
    command = [*compiler, "-E", "-undef", "-x", "assembler-with-cpp"]
    for name, value in {**_PREDEFINED, **defines}.items():
        command.append(f"-D{name}" if value is None else f"-D{name}={value}")
    if source.folder is not None:
        command.append(f"-I{source.folder}")
    command += [f"-I{os.fspath(folder)}" for folder in include_dirs]
    return Source(source.name, _run_preprocessor(command, source), False, source.folder)


def _check_characters(source: Source) -> None:
    """Raise AsmError if the text cannot be encoded."""
    try:
        source.text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        line = source.text.count("\n", 0, error.start) + 1
        raise AsmError(
            f"U+{ord(source.text[error.start]):04X} is half of a character and cannot be encoded",
            Location(source.name, line),
        ) from error


def _run_preprocessor(command: Sequence[str], source: Source) -> str:
    quoted = source.name.replace("\\", "\\\\").replace('"', '\\"')
    text = f'# 1 "{quoted}"\n{source.text}'
    try:
        done = subprocess.run(
            [*command, "-"],
            input=text.encode("utf-8", "surrogateescape"),
            capture_output=True,
            check=False,
        )
    except (OSError, ValueError) as error:
        raise AsmError(
            f"cannot run the C preprocessor {command[0]!r}: {error}", Location(source.name)
        ) from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise AsmError(f"the C preprocessor {command[0]!r} failed:\n{said}", Location(source.name))
    return done.stdout.decode("utf-8", "surrogateescape")


def _without_comments(text: str, name: str) -> str:
    def replace(match: re.Match[str]) -> str:
        found = match[0]
        if found[0] in "\"'":
            return found
        if found.startswith("/*"):
            if not found.endswith("*/") or len(found) < 4:
                line = text.count("\n", 0, match.start()) + 1
                raise AsmError("unterminated comment", Location(name, line))
            return " " + "\n" * found.count("\n")
        if found[0] == "#":
            # Line markers of the preprocessor give the origin of the lines that follow.
            before = text.rfind("\n", 0, match.start()) + 1
            if not text[before : match.start()].strip() and _MARKER.match(found):
                return found
        return ""

    return _COMMENT.sub(replace, text)


def lines_of(source: Source) -> Iterator[Line]:
    """Yield the lines of a source without comments, with their origin."""
    file, number = source.name, 0
    for text in _without_comments(source.text, source.name).split("\n"):
        number += 1
        if "#" in text:
            marker = _MARKER.match(text)
            if marker and text.lstrip().startswith("#"):
                number = int(marker[1]) - 1
                file = marker[2].replace("\\\\", "\\") if marker[2] is not None else file
                continue
        if not text or text.isspace():
            continue
        yield Line(text, file, number)


def statements_of(line: Line) -> list[tuple[str, int]]:
    """Split a line at semicolons into statements with their first columns."""
    if ";" not in line.text:
        return [(line.text, 1)]
    return [(match[0], match.start() + 1) for match in _STATEMENT.finditer(line.text)]
