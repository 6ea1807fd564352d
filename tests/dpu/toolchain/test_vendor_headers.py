# SPDX-License-Identifier: BSD-3-Clause
"""Names, macros and headers of headers that programs for the vendor's compiler rely on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpu.toolchain import BuildOptions, Toolchain, build
from dpu.toolchain.errors import CommandError
from dpu.toolchain.link.program import Program

Compile = Callable[..., Program]
MAIN = "int main(void) { return 0; }\n"

# Each of them without and with a semicolon.
OBJECTS = """
#include <barrier.h>
#include <mutex.h>
#include <mutex_pool.h>
#include <sem.h>
#include <stdio.h>
#include <vmutex.h>
#include <wramfifo.h>
BARRIER_INIT(barrier, NR_TASKLETS)
BARRIER_INIT(again, NR_TASKLETS);
SEMAPHORE_INIT(semaphore, 1)
SEMAPHORE_INIT(semaphore_again, 1);
MUTEX_POOL_INIT(pool, 2)
MUTEX_POOL_INIT(pool_again, 2);
VMUTEX_INIT(virtual, 8, 2)
VMUTEX_INIT(virtual_again, 8, 2);
INPUT_FIFO_INIT(in, 1, 8)
OUTPUT_FIFO_INIT(out, 1, 8)
MUTEX_INIT(mutex);
STDOUT_BUFFER_INIT(64)
"""
OWN_NAMES = """
#include <stdlib.h>
static unsigned seed;
void srand(int value) { seed = (unsigned)value; }
unsigned rand(void) { return seed = seed * 5 + 1; }
#define RAND_MAX 99
__host unsigned result;
int main(void) { srand(3); result = rand() % RAND_MAX; return 0; }
"""


@pytest.mark.parametrize(
    "text",
    [
        OBJECTS + MAIN,
        OWN_NAMES,
        "#include <stdint.h>\nint a = INT_MAX; unsigned b = UINT_MAX; int64_t c = LONG_MAX;\n"
        + MAIN,
        "#include <memmram_utils.h>\nint size = DMA_ALIGNED(13), rest = 13 & DMA_OFF_MASK;\n"
        '_Static_assert(ALIGN(17, 16) == 32 && MIN(3, 2) == 2 && MRAM_CACHE_SIZE == 8, "");\n'
        + MAIN,
        "#include <mutex_pool.h>\nint main(void) { assert(1); return 0; }",
    ],
)
def test_programs_for_the_vendors_headers_compile(compile_text: Compile, text: str) -> None:
    compile_text(text, options=["-Wall", "-Wextra", "-Werror"])


def test_there_is_one_tasklet_where_nothing_says_how_many(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    source, output = tmp_path / "a.c", tmp_path / "a.dpu"
    source.write_text('_Static_assert(NR_TASKLETS == COUNT, "");\n' + MAIN)
    build([source], output, BuildOptions(defines={"COUNT": 1}), toolchain=toolchain)
    build(
        [source], output, BuildOptions(defines={"COUNT": 3, "NR_TASKLETS": 3}), toolchain=toolchain
    )
    with pytest.raises(CommandError, match="NR_TASKLETS"):
        build(
            [source],
            output,
            BuildOptions(defines={"COUNT": 1}, options=["-UNR_TASKLETS"]),
            toolchain=toolchain,
        )
