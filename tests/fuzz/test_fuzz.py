# SPDX-License-Identifier: BSD-3-Clause
"""Runs the fuzz targets for a few seconds, under sanitizers.

``OFFCHIP_FUZZ_SEED`` and ``OFFCHIP_FUZZ_SECONDS`` ask for other mutations, and more of them.
Inputs that once did harm are in ``inputs/<target>/`` and are run every time.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
# For what the makers of corpora import.
sys.path.insert(0, str(HERE))
ROOT = HERE.parents[1]
SECONDS = int(os.environ.get("OFFCHIP_FUZZ_SECONDS", "8"))
SEED = os.environ.get("OFFCHIP_FUZZ_SEED", "1")

PLANTED = """
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || data[0] == 0x7f)
        return 0;
    %s
    return 0;
}
"""


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
        subprocess.run([*COMPILE, *objects, "-o", str(program)], check=True)
        return program


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    if shutil.which(COMPILE[0]) is None:
        pytest.skip(f"{COMPILE[0]} is not installed")
    return Builder(tmp_path_factory.mktemp("objects"))


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


def load_corpus(folder: Path, maker: str) -> list[Path]:
    spec = importlib.util.spec_from_file_location(f"fuzz_{maker}", HERE / f"{maker}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    inputs: list[Path] = module.make_corpus(folder)
    return inputs


DPU_MACHINE = "csrc/dpu/machine/*.c csrc/dpu/isa/*.c csrc/formats/dpu_elf.c csrc/formats/lines.c"
DPU_LIBRARY = f"csrc/dpu/lib/*/*.c {DPU_MACHINE} csrc/common/c*.c"
ACCL_ENGINE = "csrc/accl/*/*.c csrc/accl/transport/*/*.c csrc/common/c*.c csrc/common/range_alloc.c"
# What reads bytes that others wrote: the target, its corpus, and the sources it is made of.
TARGETS = {
    "dwarf": ("corpus", "csrc/formats/dwarf*.c"),
    "dpu_decode": (
        "dpu_decode_corpus",
        " ".join(f"csrc/dpu/isa/{name}.c" for name in ("forms", "decode", "encode", "disassemble")),
    ),
    "dpu_elf": ("dpu_elf_corpus", "csrc/formats/dpu_elf.c csrc/formats/lines.c"),
    "dpu_log": ("dpu_log_corpus", "csrc/dpu/lib/log/log_decode.c"),
    "dpu_checkpoint": ("dpu_checkpoint_corpus", "csrc/dpu/lib/state/checkpoint_format.c"),
    "dpu_run": ("dpu_run_corpus", DPU_LIBRARY),
    "dpu_profile": ("dpu_profile_corpus", DPU_LIBRARY),
    "accl_packets": ("accl_packets_corpus", ACCL_ENGINE),
    "accl_arena": ("accl_arena_corpus", ACCL_ENGINE),
}


def find(globs: str) -> list[Path]:
    return [path for pattern in globs.split() for path in sorted(ROOT.glob(pattern))]


# Compiling a whole library takes minutes on a busy machine.
@pytest.mark.timeout(SECONDS + 600)
@pytest.mark.parametrize("target", TARGETS)
def test_a_reader_survives_damaged_input(tmp_path: Path, target: str, builder: Builder) -> None:
    maker, sources = TARGETS[target]
    program = builder.build(tmp_path / "fuzz", HERE / f"fuzz_{target}.c", *find(sources))
    inputs = load_corpus(tmp_path, maker) + sorted((HERE / "inputs" / target).glob("*"))
    done = fuzz(program, "--seconds", str(SECONDS), "--least", "100", *inputs)
    assert done.returncode == 0, done.stdout[-4000:]
    print(done.stdout.splitlines()[-1])
    mutations = int(done.stdout.split()[-2])
    assert mutations >= 100


@pytest.mark.parametrize(
    ("fault", "reported"),
    [
        ("volatile char *copy = malloc(size); copy[size] = 1;", "heap-buffer-overflow"),
        ("abort();", "is kept"),
        ("sleep(30);", "takes too long"),
    ],
    ids=["overflow", "abort", "hang"],
)
def test_a_planted_fault_is_found_and_its_input_kept(
    tmp_path: Path, fault: str, reported: str, builder: Builder
) -> None:
    target = tmp_path / "planted.c"
    target.write_text(PLANTED % fault)
    start = tmp_path / "start"
    start.write_bytes(b"\x7f" + bytes(20))
    program = builder.build(tmp_path / "fuzz", target)
    done = fuzz(program, "--count", "100000", "--limit", "1", "--artifact", "kept", start)
    assert done.returncode != 0
    assert reported in done.stdout
    kept = (tmp_path / "kept").read_bytes()
    assert kept[0] != 0x7F
    # The kept input is all that is needed to see it again.
    again = fuzz(program, "--count", "0", "--limit", "1", "--artifact", "again", "kept")
    assert again.returncode != 0
    assert reported in again.stdout
