# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs the fuzz targets of a folder for a few seconds, under sanitizers.

``OFFCHIP_FUZZ_SEED`` and ``OFFCHIP_FUZZ_SECONDS`` ask for other mutations, and more of them.
A target X is ``fuzz_X.c``; ``make_corpus()`` of ``X_corpus.py`` makes its first inputs. Inputs that
once did harm are in ``inputs/X/`` and are run every time.
"""

from __future__ import annotations

import importlib
import os
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SECONDS = int(os.environ.get("OFFCHIP_FUZZ_SECONDS", "8"))
SEED = os.environ.get("OFFCHIP_FUZZ_SEED", "1")

COMPILE = [os.environ.get("CC", "gcc"), "-std=gnu11", "-O1", "-g", "-fsanitize=address,undefined"]
COMPILE += [
    "-fno-sanitize-recover=all",
    f"-I{ROOT / 'csrc'}",
    *(f"-I{ROOT / 'include' / name}" for name in ("veo", "dpu", "accl")),
]
COMPILE += ["-D_GNU_SOURCE", '-DOFFCHIP_VERSION="of the tests"', "-pthread"]


class Builder:
    """Compiles each source once, whatever number of targets it is part of."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._objects: dict[Path, Path] = {}

    def _place(self, source: Path) -> Path:
        target = self._folder / f"{len(self._objects)}-{source.stem}.o"
        self._objects[source] = target
        return target

    def build(self, program: Path, *sources: Path) -> Path:
        """Link a target with the driver."""
        wanted = [*sources, HERE / "fuzz_main.c"]
        jobs = [
            [*COMPILE, "-c", str(source), "-o", str(self._place(source))]
            for source in wanted
            if source not in self._objects
        ]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(lambda job: subprocess.run(job, check=True), jobs))
        objects = [str(self._objects[source]) for source in wanted]
        subprocess.run([*COMPILE, *objects, "-lm", "-o", str(program)], check=True)
        return program


def fuzz(program: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return subprocess.run(
        [str(program), "--seed", SEED, *map(str, arguments)],
        cwd=program.parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS + 90,
        check=False,
    )


def load_corpus(folder: Path, target: str, into: Path) -> list[Path]:
    """Make the first inputs of a target of a folder."""
    package = ".".join(folder.relative_to(ROOT).parts)
    maker = importlib.import_module(f"{package}.{target}_corpus")
    inputs: list[Path] = maker.make_corpus(into)
    return inputs


def find(globs: str) -> list[Path]:
    """List the files that globs name, relative to the root."""
    return [path for pattern in globs.split() for path in sorted(ROOT.glob(pattern))]


def make_test(file: str, targets: Mapping[str, str]) -> Callable[..., None]:
    """Give a test that runs targets of the folder that has the file, which are made of sources."""
    folder = Path(file).resolve().parent

    # Compiling a whole library takes minutes on a busy machine.
    @pytest.mark.timeout(SECONDS + 600)
    @pytest.mark.parametrize("target", targets)
    def test_a_reader_survives_damaged_input(
        tmp_path: Path, target: str, fuzz_builder: Builder
    ) -> None:
        sources = find(targets[target])
        program = fuzz_builder.build(tmp_path / "fuzz", folder / f"fuzz_{target}.c", *sources)
        inputs = load_corpus(folder, target, tmp_path)
        inputs += sorted((folder / "inputs" / target).glob("*"))
        done = fuzz(program, "--seconds", str(SECONDS), "--least", "100", *inputs)
        assert done.returncode == 0, done.stdout[-4000:]
        print(done.stdout.splitlines()[-1])
        mutations = int(done.stdout.split()[-2])
        assert mutations >= 100

    return test_a_reader_survives_damaged_input
