# SPDX-License-Identifier: BSD-3-Clause
"""The C compiler: compiles in parallel what has changed, and links.

The flags are ours alone. Those that the interpreter was built with would bring debug info, a
run-time search path of the machine that built it, and ``-fwrapv``, which hides overflows from
the sanitizer.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from buildtools.progress import Progress

__all__ = ["STANDARD", "WARNINGS", "BuildError", "Toolchain", "python_includes", "read_version"]

STANDARD = ["-std=gnu11", "-D_GNU_SOURCE"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wstrict-prototypes", "-Wvla"]


class BuildError(Exception):
    """A build step failed; the text is for the person who builds."""


@dataclass
class Toolchain:
    """A compiler with the flags of one configuration.

    Parameters
    ----------
    root : Path
        Top of the source tree; commands run there, with relative paths.
    sanitize : str
        Value for ``-fsanitize``, empty for an ordinary build.
    werror : bool
        Whether warnings in our own C are errors.
    coverage : bool
        Whether our own C counts what is executed.
    """

    root: Path
    sanitize: str = ""
    werror: bool = False
    coverage: bool = False
    cc: list[str] = field(default_factory=list)
    ar: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cc = self.cc or _command("CC", ["gcc", "clang", "cc"])
        self.ar = self.ar or _command("AR", ["ar", "llvm-ar"])

    @classmethod
    def from_environment(cls, root: Path) -> Toolchain:
        """Make one as CC, AR and the variables OFFCHIP_... say."""
        return cls(
            root=root,
            sanitize=os.environ.get("OFFCHIP_SANITIZE", ""),
            werror=os.environ.get("OFFCHIP_WERROR", "0") not in ("", "0"),
            coverage=os.environ.get("OFFCHIP_COVERAGE", "0") not in ("", "0"),
        )

    @property
    def name(self) -> str:
        """Name of the configuration, for the folder of its objects."""
        parts = [*self.sanitize.split(","), "coverage" if self.coverage else ""]
        return "native" + "".join(f"-{part}" for part in parts if part)

    @property
    def object_folder(self) -> Path:
        """Where objects are kept from one build to the next."""
        return self.root / "build" / self.name

    def _sanitizer_flags(self) -> list[str]:
        if not self.sanitize:
            return []
        flags = [f"-fsanitize={self.sanitize}", "-fno-omit-frame-pointer", "-g", "-fno-wrapv"]
        if "undefined" in self.sanitize:
            flags.append("-fno-sanitize-recover=undefined")
        return flags

    def c_flags(self, *, own: bool) -> list[str]:
        """Return the flags for compiling; `own` marks our C, as opposed to what Cython writes."""
        flags = [*STANDARD, "-fPIC", "-pthread", "-fvisibility=hidden"]
        flags += ["-O1"] if self.sanitize else ["-O2", "-DNDEBUG"]
        flags += self._sanitizer_flags()
        flags += shlex.split(os.environ.get("CFLAGS", ""))
        if own:
            flags += [f'-DOFFCHIP_VERSION="{read_version(self.root)}"', *WARNINGS]
            if self.werror:
                flags.append("-Werror")
            if self.coverage:
                flags += ["--coverage", "-fprofile-update=atomic", "-O0"]
        else:
            flags += ["-Wall", "-Wno-unused-function"]
        return flags

    def link_flags(self) -> list[str]:
        """Return the flags for linking a shared object or an executable."""
        flags = ["-pthread", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,--as-needed"]
        flags += self._sanitizer_flags()
        flags += ["--coverage"] if self.coverage else []
        flags += shlex.split(os.environ.get("LDFLAGS", ""))
        return flags

    def compile(
        self,
        sources: Iterable[str],
        *,
        includes: Sequence[str],
        own: bool = True,
        title: str = "C",
    ) -> list[str]:
        """Compile what has changed since the last time, in parallel.

        Parameters
        ----------
        sources : iterable of str
            Paths relative to the root, ``.c`` or ``.S``.
        includes : sequence of str
            Folders for ``-I``.
        own : bool
            As of `c_flags`.
        title : str
            What they are, for whoever watches.

        Returns
        -------
        list of str
            The objects, in the order of the sources.
        """
        flags = self.c_flags(own=own) + [f"-I{folder}" for folder in includes]
        jobs = []
        objects = []
        for source in sources:
            target = self.object_folder / (source + ".o")
            depfile = f"{os.path.relpath(target, self.root)}.d"
            command = [*self.cc, *flags, "-MMD", "-MF", depfile, "-c", source]
            # Relative, so that a copy of the objects is of use to another clone.
            command += ["-o", os.path.relpath(target, self.root)]
            objects.append(str(target))
            if self._outdated(target, command, _read_depfile(Path(f"{target}.d"))):
                jobs.append((target, command))
        with (
            Progress(f"compiling {title}", len(jobs)) as progress,
            ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool,
        ):

            def make(job: tuple[Path, list[str]]) -> None:
                self.run(job[1], product=job[0])
                progress.step()

            list(pool.map(make, jobs))
        return objects

    def link(self, product: Path, objects: Sequence[str], flags: Sequence[str]) -> None:
        """Link objects into `product`, unless it is newer than all of them."""
        command = [*self.cc, *flags[:1], *self.link_flags(), *objects, *flags[1:]]
        command += ["-o", str(product)]
        inputs = [*objects, *(f.split("=", 2)[-1] for f in flags if "--version-script=" in f)]
        if self._outdated(product, command, inputs):
            self.run(command, product=product)

    def archive(self, product: Path, objects: Sequence[str]) -> None:
        """Put objects into a static library."""
        command = [*self.ar, "rcsD", str(product), *objects]
        if self._outdated(product, command, objects):
            product.unlink(missing_ok=True)
            self.run(command, product=product)

    def run(self, command: Sequence[str], *, product: Path) -> None:
        """Run one step and note how its product was made."""
        product.parent.mkdir(parents=True, exist_ok=True)
        stamp = self._stamp(product)
        stamp.unlink(missing_ok=True)
        if os.environ.get("OFFCHIP_VERBOSE", "0") not in ("", "0"):
            print(shlex.join(command), flush=True)
        else:
            print(f"making {os.path.relpath(product, self.object_folder)}", flush=True)
        try:
            done = subprocess.run(command, cwd=self.root, stderr=subprocess.PIPE, text=True)
        except OSError as error:
            raise BuildError(f"cannot run {command[0]}: {error.strerror}") from error
        if done.stderr:
            print(done.stderr, end="", flush=True)
        if done.returncode != 0:
            raise BuildError(f"{product.name} was not built by\n{shlex.join(command)}")
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(_digest(command))

    def _stamp(self, product: Path) -> Path:
        # Beside the objects, never beside a product, which may be in a folder that is packed.
        return self.object_folder / "stamps" / _digest([os.path.relpath(product, self.root)])

    def _outdated(self, product: Path, command: Sequence[str], inputs: Iterable[str]) -> bool:
        stamp = self._stamp(product)
        inputs = list(inputs)
        if not inputs or not product.exists() or not stamp.exists():
            return True
        if stamp.read_text() != _digest(command):
            return True
        made = product.stat().st_mtime_ns
        for name in inputs:
            path = self.root / name
            if not path.exists() or path.stat().st_mtime_ns > made:
                return True
        return False


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _command(variable: str, candidates: Sequence[str]) -> list[str]:
    if os.environ.get(variable):
        return shlex.split(os.environ[variable])
    for name in candidates:
        if shutil.which(name):
            return [name]
    raise BuildError(
        f"none of {', '.join(candidates)} was found. Install a C compiler (on Debian and Ubuntu: "
        f"apt-get install gcc) or name one in the environment variable {variable}."
    )


def _read_depfile(path: Path) -> list[str]:
    """Read the files that an object was made from; empty if that is not known."""
    if not path.exists():
        return []
    text = path.read_text().replace("\\\n", " ")
    return text.partition(": ")[2].split()


def read_version(root: Path) -> str:
    """Read the version where it is written, without importing the package."""
    text = (root / "offchip" / "__init__.py").read_text()
    match = re.search(r'^__version__ = "([\w.+]+)"$', text, re.MULTILINE)
    if match is None:
        raise BuildError("offchip/__init__.py has no version")
    return match[1]


def python_includes() -> list[str]:
    """Folders with Python.h, checked."""
    folder = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(folder, "Python.h")):
        raise BuildError(
            f"Python.h is not in {folder}. Install the interpreter's headers (on Debian and "
            "Ubuntu: apt-get install python3-dev)."
        )
    return [folder]
