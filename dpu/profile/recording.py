# SPDX-License-Identifier: BSD-3-Clause
"""Runs a host with ``DPU_PROFILE`` set, and reads what it and its children wrote."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .raw import ProfileError, RawProfile, merge, read

__all__ = ["load", "record"]


def load(paths: Sequence[str | os.PathLike[str]]) -> RawProfile:
    """Read profiles from files and join them.

    Raises
    ------
    ProfileError
        One of them is not a profile; the text has its path.
    """
    profiles = []
    for path in paths:
        try:
            profiles.append(read(Path(path).read_bytes()))
        except ProfileError as error:
            raise ProfileError(f"{os.fspath(path)}: {error}") from None
    return profiles[0] if len(profiles) == 1 else merge(profiles)


def record(
    command: Sequence[str],
    options: Mapping[str, str],
    folder: str | os.PathLike[str] | None = None,
    *,
    checks: str | None = None,
    output: int | None = None,
) -> tuple[int, list[Path]]:
    """Run a host.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    options : mapping of str to str
        For ``DPU_PROFILE``, but for the file.
    folder : path, optional
        Where the profiles go, one for each process that launched something; a new folder otherwise.
    checks : str, optional
        What ``DPU_CHECK`` is to say.
    output : int, optional
        The file descriptor that the host has as its standard output; this process's otherwise.

    Returns
    -------
    status : int
        Its exit status; 128 + its number for a signal, as shells say it.
    files : list of Path
        The profiles.
    """
    where = Path(folder if folder is not None else tempfile.mkdtemp(prefix="dpu-profile-"))
    if where.exists() and not where.is_dir():
        raise NotADirectoryError(f"{where} is not a folder: name one for the profiles")
    where.mkdir(parents=True, exist_ok=True)
    file = where.resolve() / "%p.dpuprofile"
    if "," in str(file):
        raise ValueError(f"the path of a profile must not contain a comma: {file}")
    pairs = {"file": str(file), **options}
    value = ",".join(f"{key}={text}" for key, text in pairs.items())
    before = set(where.glob("*.dpuprofile"))
    environment = {**os.environ, "DPU_PROFILE": value}
    if checks is not None:
        environment["DPU_CHECK"] = checks
    with subprocess.Popen(list(command), env=environment, stdout=output) as process:
        while True:
            try:
                status = process.wait()
                break
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)
    files = sorted(set(where.glob("*.dpuprofile")) - before)
    return 128 - status if status < 0 else status, files
