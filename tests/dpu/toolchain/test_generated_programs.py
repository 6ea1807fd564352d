# SPDX-License-Identifier: BSD-3-Clause
"""Programs at random give the same on the DPU as on the host, compiled by the same compiler."""

from __future__ import annotations

import ctypes
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from dpu.toolchain import BuildOptions, Toolchain
from dpu.toolchain.link.program import Program
from tests.dpu.support.native import DONE
from tests.dpu.support.running import SEED, Running
from tests.dpu.toolchain.generated import make_program
from tests.dpu.toolchain.reference_host import START, Reference, find_reference
from tests.dpu.toolchain.what_fits import build_what_fits
from tests.support.full import rest_if_full

_LEVELS = ("-O2", "-O0", "-O1", "-O3", "-Os")
_AT_ONCE = 8
_COUNT = int(os.environ.get("OFFCHIP_TEST_PROGRAMS", "40"))
# Bits that shifts and sums lose are well defined so, and names may hide others.
_OPTIONS = ["-w", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off"]


@pytest.fixture(scope="module")
def reference(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Reference:
    return find_reference(toolchain, tmp_path_factory.mktemp("reference"))


def _on_dpu(text: str, number: int) -> str:
    return f"""{text}
__attribute__((section(".dpu_host"), used)) unsigned long long result;
int main(void) {{ unsigned long long h = {START}ull; body_{number}(&h); result = h; return 0; }}
"""


@pytest.mark.parametrize("first", rest_if_full(range(0, _COUNT, _AT_ONCE), 1))
def test_random_programs_give_the_same_as_on_the_host(
    toolchain: Toolchain,
    reference: Reference,
    machine_library: ctypes.CDLL,
    tmp_path: Path,
    first: int,
) -> None:
    level = _LEVELS[first // _AT_ONCE % len(_LEVELS)]
    options = BuildOptions(level=level, defines={"STACK_SIZE_DEFAULT": 8192}, options=_OPTIONS)
    numbers = range(first, min(first + _AT_ONCE, _COUNT))
    texts = [
        make_program(random.Random(f"{SEED} {number}"), f"body_{number - first}")
        for number in numbers
    ]
    expected = reference.hashes(texts, [*_OPTIONS, "-O1"], tmp_path)
    for number, text in zip(numbers, texts, strict=True):
        print(f"seed {SEED} program {number} {level}")
        source, path = tmp_path / "dpu.c", tmp_path / "program.dpu"
        source.write_text(_on_dpu(text, number - first))
        build_what_fits([source], path, options, toolchain)
        with Running(machine_library, path.read_bytes()) as dpu:
            assert dpu.launch() == DONE
            assert dpu.get("result", "Q") == [expected[number - first]]


def test_the_reference_is_the_same_compiler(reference: Reference, toolchain: Toolchain) -> None:
    if not reference.is_same_compiler:
        pytest.skip("this host runs no 32-bit x86 code: its own compiler is the reference")
    assert reference.compiler[: len(toolchain.compiler)] == list(toolchain.compiler)


def test_a_constant_that_several_products_share(
    compile_text: Callable[..., Program], machine_library: ctypes.CDLL
) -> None:
    # Random programs found a compiler that lost the low words.
    numbers = [-32768, -65536, 5, -98304]
    program = compile_text(
        f"""__attribute__((section(".dpu_host"))) int numbers[4] = {{{str(numbers)[1:-1]}}};
        __attribute__((section(".dpu_host"))) unsigned long long products[4];
        int main(void)
        {{
            for (int i = 0; i < 4; i++)
                products[i] = (unsigned long long)numbers[i] * 0xffff8000ull;
            return 0;
        }}
        """
    )
    with Running(machine_library, program.elf) as dpu:
        assert dpu.launch() == DONE
        assert dpu.get("products", "Q") == [n * 0xFFFF8000 % (1 << 64) for n in numbers]
