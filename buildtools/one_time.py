#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write an sdist anew with one time for all that is in it, and with no owners.

    python buildtools/one_time.py FILE.tar.gz

setuptools gives members the times of a checkout, and the archive that of its making, so that two
sdists of a commit differ. The time is SOURCE_DATE_EPOCH.
"""

from __future__ import annotations

import gzip
import os
import sys
import tarfile
from pathlib import Path

__all__ = ["main", "rewrite"]


def rewrite(path: Path, time: int) -> None:
    """Replace an archive by one with the same names, modes and contents."""
    fresh = path.with_name(f".{path.name}.new")
    with (
        tarfile.open(path) as old,
        fresh.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=time) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old, key=lambda member: member.name):
            member.mtime = time
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            # Extended headers of the old archive, such as fractions of seconds, are dropped.
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    os.replace(fresh, path)


def main(arguments: list[str]) -> int:
    """Run the command."""
    time = os.environ.get("SOURCE_DATE_EPOCH", "")
    if len(arguments) != 1 or not time.isdigit():
        print("usage: SOURCE_DATE_EPOCH=SECONDS one_time.py FILE.tar.gz", file=sys.stderr)
        return 2
    rewrite(Path(arguments[0]), int(time))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
