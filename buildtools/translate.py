# SPDX-License-Identifier: BSD-3-Clause
"""Translate the .pyx files of a package to C, and note what they were made from.

    python buildtools/translate.py FOLDER SOURCE.pyx ...

The working directory is the root. FOLDER gets a .c file for each source and ``depends``, a file of
dependencies as ninja reads it. One process does a package, because Cython needs a second to start;
processes of several configurations, which share the folder, take turns.
Contents are compared, not times: nothing is translated again whose sources are the same, and a .c
file is written only if it differs. Of Cython itself the version stands for its files, which the
environments of installers have in another place each time.

One of the sources is not there: offchip._cython has what Cython would write into every module.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from Cython import __version__ as VERSION
from Cython.Build.SharedModule import generate_shared_module
from Cython.Compiler.Main import CompilationOptions
from Cython.Compiler.Main import compile as cython

DIRECTIVES = {
    "language_level": 3,
    "binding": True,
    "embedsignature": True,
    "embedsignature.format": "python",
    "annotation_typing": False,
    "auto_pickle": False,
    "autotestdict": False,
    "show_performance_hints": False,
}


SHARED = "offchip._cython"
SHARED_SOURCE = "offchip/_cython.pyx"


def digest(files: Iterable[str]) -> str:
    """Digest all that a translation depends on; empty if a file is missing."""
    found = hashlib.sha256(f"{VERSION} {DIRECTIVES} {SHARED}".encode())
    for name in files:
        if not Path(name).exists():
            return ""
        found.update(f"\0{name}\0".encode() + Path(name).read_bytes())
    return found.hexdigest()


def files_in(root: Path, words: Iterable[str]) -> list[str]:
    """Give those of the paths that are in the root, from there. Cython's own may have "..", too."""
    paths = [Path(os.path.normpath(root / word)) for word in words]
    return [str(path.relative_to(root)) for path in paths if path.is_relative_to(root)]


def make_shared(made: Path) -> list[str]:
    """Write the C of the shared module; what it was made from, empty if that failed."""
    options = CompilationOptions(
        shared_c_file_path=str(made), module_name=SHARED, compiler_directives=dict(DIRECTIVES)
    )
    failed, _ = generate_shared_module(options)
    return [] if failed else ["buildtools/translate.py"]


def make(source: str, made: Path) -> list[str]:
    """Write the C of a source; the files of the root that it was made from, empty if it failed."""
    options = CompilationOptions(
        output_file=str(made),
        include_path=["."],
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED,
        depfile=True,
    )
    if cython([source], options).num_errors:
        return []
    words = Path(f"{made}.dep").read_text().replace("\\\n", " ").partition(": ")[2].split()
    return files_in(Path.cwd(), words)


def translate(source: str, target: Path) -> list[str]:
    """Translate one file, and keep what is there if it is the same; the files as above."""
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder, target.name)
        files = make_shared(made) if source == SHARED_SOURCE else make(source, made)
        if files and (not target.exists() or target.read_bytes() != made.read_bytes()):
            made.replace(target)
    return files


def main(folder: Path, sources: list[str]) -> int:
    """Translate what has changed."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        return update(folder, sources)


def read_record(record: Path) -> dict[str, tuple[list[str], str]]:
    """Read for each source the files that it was made from, and their digest.

    Empty if there is none, or only a part of one, as a full disk leaves it: all is translated then.
    """
    try:
        return dict(json.loads(record.read_text()))
    except (FileNotFoundError, ValueError):
        return {}


def update(folder: Path, sources: list[str]) -> int:
    """Translate what has changed, alone in the folder."""
    record = folder / "translated.json"
    known = read_record(record)
    failed = False
    for source in sources:
        target = folder / Path(source).with_suffix(".c").name
        files, before = known.get(source, ([], ""))
        if not before or not target.exists() or digest(files) != before:
            files = translate(source, target)
            failed |= not files
            known[source] = (files, digest(files) if files else "")
    known = {source: known[source] for source in sources}
    made = record.with_suffix(".new")
    made.write_text(json.dumps(known))
    made.replace(record)
    needed = sorted({file for files, _ in known.values() for file in files})
    first = folder / Path(sources[0]).with_suffix(".c").name
    names = " ".join(str(Path.cwd() / name).replace(" ", "\\ ") for name in needed)
    (folder / "depends").write_text(f"{str(first).replace(' ', chr(92) + ' ')}: {names}\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
