# SPDX-License-Identifier: BSD-3-Clause
"""memcpy(), memmove() and memset() take pointers into MRAM."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable

import pytest

from dpu.toolchain.errors import CommandError
from dpu.toolchain.link.program import Program
from tests.dpu.support.native import DONE
from tests.dpu.support.running import Running

Compile = Callable[..., Program]

TEXT = """
#include <mram.h>
#include <stdint.h>
#include <string.h>
__mram_noinit uint8_t far[512], other[512];
__host uint8_t near[512];
__host uint32_t to, from, size, kind, wrong;
void *(*plain)(void *, const void *, size_t) = memcpy;
int main(void)
{
    __mram_ptr void *result = far + to;
    switch (kind) {
    case 0: result = memcpy(far + to, near + from, size); break;
    case 1: wrong += memcpy(near + to, far + from, size) != near + to; break;
    case 2: result = memcpy(far + to, other + from, size); break;
    case 3: result = memmove(far + to, far + from, size); break;
    case 4: result = memset(far + to, (int)from, size); break;
    case 5: plain(near + to, near + from, size); memset(near, 7, 3); break;
    }
    wrong += result != far + to;
    return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("kind", range(6))
def test_bytes_go_where_the_pointers_lead(
    compile_text: Compile,
    machine_library: ctypes.CDLL,
    rng: random.Random,
    level: str,
    kind: int,
) -> None:
    program = compile_text(TEXT, level=level, options=["-Wall", "-Wextra", "-Werror"])
    with Running(machine_library, program.elf) as dpu:
        for _ in range(30):
            memory = {name: bytearray(rng.randbytes(512)) for name in ("far", "other", "near")}
            size = rng.choice([0, 1, 7, 8, 9, rng.randrange(200)])
            to, start = rng.randrange(250), rng.randrange(250)
            for name, data in memory.items():
                dpu.put(name, "B", *data)
            for name, value in (("to", to), ("from", start), ("size", size), ("kind", kind)):
                dpu.put(name, "I", value)
            assert dpu.launch() == DONE
            target = memory["near" if kind in (1, 5) else "far"]
            source = memory[("near", "far", "other", "far", "far", "near")[kind]]
            part = bytes([start] * size) if kind == 4 else bytes(source[start : start + size])
            if kind == 5:
                for index in range(size):
                    target[to + index] = target[start + index]
                target[:3] = b"\7\7\7"
            else:
                target[to : to + size] = part
            for name, data in memory.items():
                assert bytes(dpu.get(name, "B")) == bytes(data), (name, to, start, size)
        assert dpu.get("wrong", "I") == [0]


def test_numbers_for_pointers_are_warned_of(compile_text: Compile) -> None:
    text = (
        "#include <stdint.h>\n#include <string.h>\nuint32_t at; char c[8];\n"
        "int main(void) { memcpy(c, at, 4); memcpy(at, c, 4); memset(at, 0, 4); return 0; }\n"
    )
    compile_text(text)
    with pytest.raises(CommandError, match="a number is passed where a pointer belongs"):
        compile_text(text, options=["-Werror"])
