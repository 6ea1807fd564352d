# SPDX-License-Identifier: BSD-3-Clause
"""How tests build C: the compiler, its flags, the sources of a library, and the environment.

The facts are those of the build itself, in ``buildtools``.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from buildtools.artefacts import (
    DPU_CHECKS,
    DPU_MACHINE,
    DPU_PROFILE,
    DPU_TRANSLATE,
    EXTRA_SOURCES,
    INCLUDES,
    find_artefact,
)
from buildtools.toolchain import STANDARD, WARNINGS

__all__ = [
    "OURS",
    "ROOT",
    "SANITIZERS",
    "STANDARD",
    "STRICT",
    "UNDER_VALGRIND",
    "Objects",
    "c_command",
    "clean_environment",
    "compile_c",
    "compiler_name",
    "find_sources",
    "shared_library",
]

ROOT = Path(__file__).resolve().parents[2]
UNDER_VALGRIND = os.environ.get("OFFCHIP_VALGRIND", "0") not in ("", "0")
STRICT = [*WARNINGS, "-Werror"]
# For C of ours and of the tests.
OURS = [*STANDARD, *STRICT, "-g", "-O1", '-DOFFCHIP_VERSION="of the tests"', "-pthread"]
OURS += [f"-I{folder}" for folder in (*INCLUDES, ".")]
OURS += ["-fno-omit-frame-pointer", "-fno-wrapv"]
SANITIZERS = {
    "asan": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
    "tsan": ["-fsanitize=thread"],
    "valgrind": [],
    "plain": ["-O2"],
}
# What is linked as a whole, by name.
GROUPS = {
    "libveo": find_artefact("veo/lib/libveo.so.1").sources,
    "libdpu": find_artefact("dpu/lib/libdpu.so").sources,
    "libaccl": find_artefact("accl/lib/libaccl.so").sources,
    "dpu_machine": DPU_MACHINE,
    "dpu_checks": DPU_CHECKS,
    "dpu_profile": DPU_PROFILE,
    "dpu_translate": DPU_TRANSLATE,
    "dpu_isa": EXTRA_SOURCES["dpu._isa"],
    "accelforge": EXTRA_SOURCES["accelforge._model"],
    "accelforge_search": EXTRA_SOURCES["accelforge._search"],
    "accelforge_join": EXTRA_SOURCES["accelforge._join"],
}


def compiler_name() -> str:
    """Name the C compiler."""
    return os.environ.get("CC", "gcc")


def c_command() -> list[str] | None:
    """Give a command for plain C: CC, or gcc, or the ziglang wheel's; None if there is none.

    Sanitizers are gcc's and clang's alone; what needs them asks for `compiler_name`.
    """
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    if shutil.which(compiler_name()) is not None:
        return [compiler_name()]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-P", "-m", "ziglang", "cc"]
    return None


def clean_environment(**changes: str) -> dict[str, str]:
    """Give our environment, for compilers and what they build.

    A run of pytest under a sanitizer preloads its library, which is not for them.
    """
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return {**environment, **changes}


def find_sources(*names: str) -> list[str]:
    """List sources, relative to the root: of groups, as in ``@libdpu``, and of globs."""
    patterns = [
        pattern
        for name in names
        for pattern in (GROUPS[name[1:]] if name.startswith("@") else [name])
    ]
    found = []
    for pattern in patterns:
        matches = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))
        assert matches, f"{pattern}: there is no such file"
        found += [match for match in matches if match not in found]
    return found


def compile_c(*words: str | Path, limit: float | None = None) -> None:
    """Call the compiler in the root; AssertionError with its messages if it fails."""
    command = [compiler_name(), *map(str, words)]
    done = subprocess.run(
        command, cwd=ROOT, env=clean_environment(), capture_output=True, text=True, timeout=limit
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"


class Objects:
    """Sources that are compiled once for each set of flags, and archives of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._objects: dict[tuple[str, ...], str] = {}
        self._archives: dict[tuple[str, ...], Path] = {}

    def compile(self, sources: Iterable[str], flags: Sequence[str]) -> list[str]:
        """Compile what is not compiled yet, in parallel; the objects, in the sources' order."""
        keys = [(source, *flags) for source in sources]
        missing = [key for key in keys if key not in self._objects]
        places = [
            str(self._folder / f"{len(self._objects) + i}-{Path(key[0]).stem}.o")
            for i, key in enumerate(missing)
        ]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            jobs = [
                pool.submit(compile_c, *OURS, *flags, "-c", key[0], "-o", place)
                for key, place in zip(missing, places, strict=True)
            ]
        for job in jobs:
            job.result()
        self._objects.update(zip(missing, places, strict=True))
        return [self._objects[key] for key in keys]

    def archive(self, sources: Sequence[str], flags: Sequence[str]) -> Path:
        """Compile sources, and give a static library of them."""
        objects = tuple(self.compile(sources, flags))
        if objects not in self._archives:
            library = self._folder / f"{len(self._archives)}.a"
            subprocess.run(["ar", "rcs", str(library), *objects], check=True)
            self._archives[objects] = library
        return self._archives[objects]


def shared_library(objects: Objects, path: str, sanitizer: str, target: Path) -> Path:
    """Build an artefact that is a shared library for a sanitizer."""
    artefact = find_artefact(path)
    flags = [*SANITIZERS[sanitizer], "-fPIC", "-fvisibility=hidden", "-DNDEBUG"]
    made = objects.compile(artefact.find_sources(ROOT), flags)
    compile_c(*OURS, *flags, "-shared", *made, "-o", target, *artefact.link_flags)
    return target
