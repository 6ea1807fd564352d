# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs the fuzz targets of a folder for a few seconds, under sanitizers.

``OFFCHIP_FUZZ_SEED`` and ``OFFCHIP_FUZZ_SECONDS`` ask for other mutations, and more of them.
A target X is ``fuzz_X.c``, whose first comment has a line ``build:`` as that of a C unit test;
``make_corpus()`` of ``X_corpus.py`` makes its first inputs. Inputs that
once did harm are in ``inputs/X/`` and are run every time.
"""

from __future__ import annotations

import importlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.builds import ROOT, c_program, clean_environment
from tests.support.full import share

SECONDS = int(os.environ.get("OFFCHIP_FUZZ_SECONDS", share("1", "8")))
SEED = os.environ.get("OFFCHIP_FUZZ_SEED", "1")


def fuzz(program: Path, folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), "--seed", SEED, *map(str, arguments)],
        cwd=folder,
        env=clean_environment(),
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


def make_test(file: str) -> Callable[..., None]:
    """Give a test that runs the targets of the folder that has the file."""
    folder = Path(file).resolve().parent
    targets = [path.stem.removeprefix("fuzz_") for path in sorted(folder.glob("fuzz_*.c"))]

    # Run alone, it compiles a whole library, which takes minutes on a busy machine.
    @pytest.mark.timeout(SECONDS + 600)
    @pytest.mark.parametrize("target", targets)
    def test_a_reader_survives_damaged_input(tmp_path: Path, target: str, compiler: str) -> None:
        path = folder.relative_to(ROOT) / f"fuzz_{target}"
        inputs = load_corpus(folder, target, tmp_path)
        inputs += sorted((folder / "inputs" / target).glob("*"))
        program = c_program(path.as_posix(), "asan")
        done = fuzz(program, tmp_path, "--seconds", str(SECONDS), "--least", "100", *inputs)
        assert done.returncode == 0, done.stdout[-4000:]
        print(done.stdout.splitlines()[-1])
        mutations = int(done.stdout.split()[-2])
        assert mutations >= 100

    return test_a_reader_survives_damaged_input
