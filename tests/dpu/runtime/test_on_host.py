# SPDX-License-Identifier: BSD-3-Clause
"""The parts of the run time that are plain C, built for the host and compared with what it does.

Each check is a C program that takes a number of random cases and a seed, goes through boundary
values as well, and says on its standard error what differs. All run under sanitizers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import dpu
from tests.support.builds import STANDARD, STRICT, clean_environment, compiler_name
from tests.support.full import rest_if_full, share

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# Flat, as it is installed.
RUNTIME = Path(dpu.__file__).parent / "runtime"
WARNINGS = [
    *STRICT,
    # Address spaces and sections of the DPU mean nothing to the host.
    *("-Wno-attributes", "-Wno-unknown-attributes", "-Wno-ignored-attributes"),
    "-Wno-unknown-warning-option",
]
FLAGS = [*STANDARD, "-g", "-O1", "-ffp-contract=off", "-fno-builtin"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SEED = os.environ.get("OFFCHIP_TEST_SEED", "20261121")
ARITHMETIC = ("float_*.c", "double_*.c", "divide64*.c", "multiply64.c", "integer64.c", "bits.c")
# With --costs=upmem: these replace those with the rest of their names.
UPMEM_COSTS = ("costs_*.c", *ARITHMETIC)
LIBRARY = ("memory.c", "string_copy.c", "string_compare.c", "string_search.c", "string_change.c")
PRINTING = ("printf.c", "puts.c", "print_format.c", "stdout_buffer.c", "memory.c", "string_copy.c")

# Name, sources of the run time, whether they have names of the host's library, cases.
CHECKS = {
    "float": (ARITHMETIC, False, 1_000_000),
    "double": (ARITHMETIC, False, 1_000_000),
    "integer": (ARITHMETIC, False, 500_000),
    "string": (LIBRARY, True, 50_000),
    "print": (PRINTING, True, 3_000),
    "float, upmem": (UPMEM_COSTS, False, 500_000),
    "double, upmem": (UPMEM_COSTS, False, 500_000),
    "integer, upmem": (UPMEM_COSTS, False, 200_000),
}
# A change to a source, and the check that must find it.
PLANTED = {
    "ties away from zero": ("float", "float_parts.h", "63 + ((m >> 7) & 1)", "64"),
    "a bit of the quotient": (
        "double",
        "double_div.c",
        "divide_bits(m, n, 32,",
        "divide_bits(m, n, 31,",
    ),
    "a lost sticky bit": ("double", "double_parts.h", "low | (lost != 0)", "low"),
    "a digit too large": ("integer", "divide64.c", "quotient |= 1;", "quotient |= 3;"),
    "a byte too few": ("string", "memory.c", "size >= 8", "size >= 1"),
    "words in another order": (
        "string",
        "memory.c",
        "COPY_WORD(0);",
        "COPY_WORD(1);\nCOPY_WORD(0);",
    ),
    "a reciprocal from above": (
        "float, upmem",
        "costs_multiply64.h",
        "~multiply_high(d, x)",
        "4 - multiply_high(d, x)",
    ),
    "a sum without its carry": (
        "double, upmem",
        "costs_wide_product.h",
        " + high_word(middle);",
        ";",
    ),
    "halves that are rounded up": (
        "float, upmem",
        "costs_number_add.inc",
        "below > HALF",
        "below >= HALF",
    ),
    "a product of halves too few": (
        "integer, upmem",
        "costs_multiply64.c",
        "crossed += multiply_low",
        "crossed ^= multiply_low",
    ),
    "a bit of the bits": ("integer, upmem", "costs_divide64.c", "--shift >= 0", "--shift > 0"),
    "no padding": ("print", "stdout_buffer.c", "(staged & 7) != 0", "(staged & 3) != 0"),
}


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, env=clean_environment(), timeout=100, check=False
    )


@pytest.fixture
def build_check(tmp_path: Path) -> Callable[[str, Path], Path]:
    def build(name: str, runtime: Path) -> Path:
        patterns, renamed, _ = CHECKS[name]
        check = name.partition(",")[0]
        replaced = {
            path.name.removeprefix("costs_")
            for path in runtime.glob("costs_*.c")
            if patterns is UPMEM_COSTS
        }
        compiler = [compiler_name(), *FLAGS, *WARNINGS, *SANITIZERS]
        objects = []
        for pattern in patterns:
            for source in sorted(runtime.glob(pattern)):
                if source.name in replaced:
                    continue
                objects.append(tmp_path / f"{source.stem}.o")
                flags = ["-DDPU_RUNTIME_HOST_TEST", f"-I{runtime}"]
                if renamed:
                    flags += ["-include", str(HERE / "host" / "rename.h"), f"-I{HERE / 'host'}"]
                    flags += [f"-I{runtime / 'include'}"]
                done = run([*compiler, *flags, "-c", str(source), "-o", str(objects[-1])])
                assert done.returncode == 0, done.stderr
        output = tmp_path / f"check_{check}"
        sources = [str(HERE / f"check_{check}.c"), *map(str, objects)]
        if name == "print":
            sources.append(str(ROOT / "csrc" / "dpu" / "lib" / "log" / "log_decode.c"))
        done = run(
            [
                *compiler,
                f"-I{ROOT / 'csrc' / 'dpu' / 'lib' / 'log'}",
                *sources,
                "-lm",
                "-o",
                str(output),
            ]
        )
        assert done.returncode == 0, done.stderr
        return output

    return build


@pytest.mark.parametrize("name", CHECKS)
def test_results_are_those_of_the_host(name: str, build_check: Callable[[str, Path], Path]) -> None:
    done = run([str(build_check(name, RUNTIME)), str(CHECKS[name][2] // share(5, 1)), SEED])
    assert done.returncode == 0, f"seed {SEED}: {done.stderr}"


@pytest.mark.parametrize("mistake", rest_if_full(PLANTED, 3))
def test_a_planted_mistake_is_found(
    mistake: str, build_check: Callable[[str, Path], Path], tmp_path: Path
) -> None:
    name, file, right, wrong = PLANTED[mistake]
    runtime = tmp_path / "runtime"
    shutil.copytree(RUNTIME, runtime)
    text = (runtime / file).read_text()
    assert right in text
    (runtime / file).write_text(text.replace(right, wrong))
    done = run([str(build_check(name, runtime)), "200000" if name != "print" else "1000", SEED])
    assert done.returncode != 0
