# SPDX-License-Identifier: BSD-3-Clause
"""Configure and build with CMake and Ninja, for setup.py, the Makefile and the tests.

    python -m buildtools.graph [CONFIGURATION [TARGET ...]]

Without arguments it builds what is installed and copies it into the tree, for editable installs.
Configurations are the presets of CMakePresets.json; each is built in ``build/CONFIGURATION``.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from buildtools.progress import Progress

__all__ = ["ROOT", "BuildError", "build", "configure", "folder_of", "install"]

ROOT = Path(__file__).resolve().parent.parent

# CMake takes these from the environment, and only when a folder is new.
VARIABLES = ("CC", "CFLAGS", "LDFLAGS", "CCACHE_DISABLE", "OFFCHIP_MACHINE")


class BuildError(Exception):
    """A build step failed; the text is for the person who builds."""


def _tool(name: str, attribute: str) -> str:
    """Path of a program: that of its wheel, or one on PATH."""
    try:
        found = shutil.which(name, path=getattr(importlib.import_module(name), attribute))
    except (ImportError, AttributeError):
        found = None
    found = found or shutil.which(name)
    if found is None:
        raise BuildError(f"{name} was not found: {sys.executable} -m pip install {name}")
    return found


def folder_of(configuration: str) -> Path:
    """Give the folder that a configuration is built in."""
    return ROOT / "build" / configuration


@contextlib.contextmanager
def _locked(configuration: str) -> Iterator[None]:
    """Keep other processes from building a configuration."""
    folder = folder_of(configuration)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _environment() -> dict[str, str]:
    # A run under a sanitizer preloads its library, which is not for compilers.
    return {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}


def _run(command: Sequence[str], what: str) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise BuildError(f"{what} failed:\n{shlex.join(command)}\n{done.stdout}")


def configure(configuration: str) -> None:
    """Configure a folder, if it is new or was made for something else.

    Objects stay, as ninja compares commands: an installer's next environment has the same compiler.
    """
    werror = os.environ.get("OFFCHIP_WERROR", "0") not in ("", "0")
    command = [_tool("cmake", "CMAKE_BIN_DIR"), "--preset", configuration]
    command += [f"-DCMAKE_MAKE_PROGRAM={_tool('ninja', 'BIN_DIR')}"]
    command += [f"-DPython_EXECUTABLE={sys.executable}", f"-DWERROR={int(werror)}"]
    if os.environ.get("AR"):
        command += [f"-DCMAKE_AR={shutil.which(os.environ['AR']) or os.environ['AR']}"]

    wanted = json.dumps([command, *map(os.environ.get, VARIABLES)])
    folder = folder_of(configuration)
    record = folder / "configured.json"
    if record.exists() and record.read_text() == wanted:
        return
    with _locked(configuration):
        (folder / "CMakeCache.txt").unlink(missing_ok=True)
        for compilers in folder.glob("CMakeFiles/[0-9]*"):
            shutil.rmtree(compilers)
        _run(command, "configuring")
        record.write_text(wanted)


def build(configuration: str, *targets: str) -> None:
    """Build targets of a configuration, all that is installed without any.

    Raises
    ------
    BuildError
        With the output of what failed.
    """
    configure(configuration)
    verbose = os.environ.get("OFFCHIP_VERBOSE", "0") not in ("", "0")
    command = [_tool("ninja", "BIN_DIR"), "-C", str(folder_of(configuration)), *targets]
    command += ["--verbose"] if verbose else []
    said = []
    with (
        _locked(configuration),
        Progress(f"building {configuration}") as progress,
        subprocess.Popen(
            command,
            env={**_environment(), "NINJA_STATUS": "[%f/%t %E] "},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as ninja,
    ):
        assert ninja.stdout is not None
        for line in ninja.stdout:
            step = re.match(r"\[(\d+)/(\d+) (\S*)\] (.*)", line)
            if step is not None:
                done, total, left, part = step.groups()
                progress.show(int(done), int(total), part, left)
            if verbose or (step is None and not line.startswith(("ninja: ", "-- "))):
                said.append(line)
    if ninja.returncode != 0:
        raise BuildError("".join(said))
    # Warnings of compilers.
    print("".join(said), end="", flush=True)


def install(configuration: str, prefix: Path) -> list[str]:
    """Copy what was built to packages in a folder, and remove what an earlier build left there.

    Returns
    -------
    list of str
        The files, relative to the folder.
    """
    manifest = folder_of(configuration) / "install_manifest.txt"
    before = set(manifest.read_text().splitlines()) if manifest.exists() else set()
    command = [_tool("cmake", "CMAKE_BIN_DIR"), "--install", str(folder_of(configuration))]
    _run([*command, "--prefix", str(prefix)], "installing")
    files = manifest.read_text().splitlines()
    for name in before - set(files):
        if Path(name).is_relative_to(prefix):
            Path(name).unlink(missing_ok=True)
    return [os.path.relpath(name, prefix) for name in files]


def main(words: list[str]) -> int:
    """Run the command."""
    try:
        if words:
            build(*words)
        else:
            build("release")
            install("release", ROOT)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
