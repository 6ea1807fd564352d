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
from pathlib import Path

import pytest

from tests.support.builds import (
    OURS,
    ROOT,
    SANITIZERS,
    Objects,
    clean_environment,
    compile_c,
    find_sources,
)

SECONDS = int(os.environ.get("OFFCHIP_FUZZ_SECONDS", "8"))
SEED = os.environ.get("OFFCHIP_FUZZ_SEED", "1")


def build_target(objects: Objects, program: Path, target: Path, *sources: str) -> Path:
    """Link a target with the driver and sources."""
    flags = SANITIZERS["asan"]
    wanted = [str(target), *sources, "tests/support/fuzz_main.c"]
    made = objects.compile(wanted, flags)
    compile_c(*OURS, *flags, *made, "-lm", "-o", program)
    return program


def fuzz(program: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), "--seed", SEED, *map(str, arguments)],
        cwd=program.parent,
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


def make_test(file: str, targets: Mapping[str, str]) -> Callable[..., None]:
    """Give a test that runs targets of the folder that has the file, which are made of sources."""
    folder = Path(file).resolve().parent

    # Compiling a whole library takes minutes on a busy machine.
    @pytest.mark.timeout(SECONDS + 600)
    @pytest.mark.parametrize("target", targets)
    def test_a_reader_survives_damaged_input(tmp_path: Path, target: str, objects: Objects) -> None:
        sources = find_sources(*targets[target].split())
        source = folder / f"fuzz_{target}.c"
        program = build_target(objects, tmp_path / "fuzz", source, *sources)
        inputs = load_corpus(folder, target, tmp_path)
        inputs += sorted((folder / "inputs" / target).glob("*"))
        done = fuzz(program, "--seconds", str(SECONDS), "--least", "100", *inputs)
        assert done.returncode == 0, done.stdout[-4000:]
        print(done.stdout.splitlines()[-1])
        mutations = int(done.stdout.split()[-2])
        assert mutations >= 100

    return test_a_reader_survives_damaged_input
