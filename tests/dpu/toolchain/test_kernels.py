# SPDX-License-Identifier: BSD-3-Clause
"""Kernels in C, compiled and run: each gives what Python computes.

``OFFCHIP_FULL=1`` compiles each at every level for every number of tasklets.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise, product

import pytest

from tests.dpu.support.native import DONE
from tests.dpu.support.running import Running
from tests.support.full import FULL

RunKernel = Callable[..., Running]

ALL = list(product([1, 3, 16], ["-O0", "-O2", "-Os"]))
SAMPLE = [(1, "-Os"), (3, "-O0"), (16, "-O2")]

pytestmark = pytest.mark.parametrize(("tasklets", "level"), ALL if FULL else SAMPLE)


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def numbers(rng: random.Random, count: int, bits: int) -> list[int]:
    return [signed(rng.getrandbits(bits), bits) for _ in range(count)]


def test_vector_add(run_kernel: RunKernel, rng: random.Random, tasklets: int, level: str) -> None:
    a, b = numbers(rng, 1024, 32), numbers(rng, 1024, 32)
    with run_kernel("vector_add", tasklets=tasklets, level=level) as dpu:
        dpu.put("count", "I", 1024)
        dpu.put("a", "i", *a)
        dpu.put("b", "i", *b)
        assert dpu.launch() == DONE
        assert dpu.get("b", "i")[:1024] == [signed(x + y, 32) for x, y in zip(a, b, strict=True)]


def test_reduction(run_kernel: RunKernel, rng: random.Random, tasklets: int, level: str) -> None:
    a = numbers(rng, 1024, 64)
    with run_kernel("reduction", tasklets=tasklets, level=level) as dpu:
        dpu.put("count", "I", 1024)
        dpu.put("a", "q", *a)
        assert dpu.launch() == DONE
        found = [dpu.get(name, "q")[0] for name in ("sum", "least", "greatest")]
    assert found == [signed(sum(a), 64), min(a), max(a)]


def test_histogram(run_kernel: RunKernel, rng: random.Random, tasklets: int, level: str) -> None:
    a = rng.choices(range(256), k=4096)
    with run_kernel("histogram", tasklets=tasklets, level=level) as dpu:
        dpu.put("count", "I", 4096)
        dpu.put("a", "B", *a)
        assert dpu.launch() == DONE
        assert dpu.get("bins", "I") == [a.count(value) for value in range(256)]


def test_scan_and_select(
    run_kernel: RunKernel, rng: random.Random, tasklets: int, level: str
) -> None:
    values = [rng.getrandbits(32) for _ in range(64 * tasklets)]
    odd = [value for value in values if value & 1]
    with run_kernel("scan_select", tasklets=tasklets, level=level) as dpu:
        dpu.put("values", "I", *values)
        assert dpu.launch() == DONE
        assert dpu.get("kept", "I") == [len(odd)]
        assert dpu.get("chosen", "I")[: len(odd)] == odd


def test_gemv(run_kernel: RunKernel, rng: random.Random, tasklets: int, level: str) -> None:
    rows = [numbers(rng, 64, bits) for bits in (32, 16, 8, 4) for _ in range(12)]
    vector = numbers(rng, 32, 32) + numbers(rng, 32, 12)
    with run_kernel("gemv", tasklets=tasklets, level=level) as dpu:
        dpu.put("matrix", "i", *(value for row in rows for value in row))
        dpu.put("vector", "i", *vector)
        assert dpu.launch() == DONE
        found = dpu.get("result", "i")
    assert found == [
        signed(sum(x * y for x, y in zip(row, vector, strict=True)), 32) for row in rows
    ]


def test_binary_search(
    run_kernel: RunKernel, rng: random.Random, tasklets: int, level: str
) -> None:
    table = sorted({signed(rng.getrandbits(64), 64) for _ in range(2048)})
    keys = rng.sample(table, 32) + numbers(rng, 32, 64)
    with run_kernel("binary_search", tasklets=tasklets, level=level) as dpu:
        dpu.put("table", "q", *table)
        dpu.put("keys", "q", *keys)
        assert dpu.launch() == DONE
        found = dpu.get("places", "i")
    assert found == [table.index(key) if key in table else -1 for key in keys]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_sort(
    run_kernel: RunKernel, rng: random.Random, tasklets: int, level: str, which: int
) -> None:
    entries = [
        (signed(rng.getrandbits(32), 32), rng.randrange(-3, 3), rng.randrange(4), 0)
        for _ in range(200)
    ]
    with run_kernel("sort", tasklets=tasklets, level=level) as dpu:
        words = [
            word
            for key, rank, tag, _ in entries
            for word in (key & 0xFFFF_FFFF, rank & 0xFFFF | tag << 16)
        ]
        dpu.put("entries", "I", *words)
        dpu.put("which", "I", which)
        assert dpu.launch() == DONE
        found = dpu.get("entries", "I")
    keys = [
        (signed(key, 32), signed(rest, 16), rest >> 16 & 255, 0)
        for key, rest in zip(found[::2], found[1::2], strict=True)
    ]
    assert sorted(keys) == sorted(entries)
    order = [lambda e: e[0], lambda e: (e[1], e[0]), lambda e: (e[2], e[0])][which]
    assert all(order(a) <= order(b) for a, b in pairwise(keys))


def test_transpose_and_string_match(
    run_kernel: RunKernel, rng: random.Random, tasklets: int, level: str
) -> None:
    matrix = numbers(rng, 1600, 16)
    text = "".join(rng.choices("ab", k=250)).encode()
    with run_kernel("transpose", tasklets=tasklets, level=level) as dpu:
        dpu.put("matrix", "h", *matrix)
        dpu.put("text", "B", *text)
        dpu.put("word", "B", *b"aba")
        assert dpu.launch() == DONE
        assert dpu.get("transposed", "h") == [
            matrix[r * 40 + c] for c in range(40) for r in range(40)
        ]
        assert dpu.get("matches", "I") == [sum(text[i:].startswith(b"aba") for i in range(250))]


def test_sparse(run_kernel: RunKernel, rng: random.Random, tasklets: int, level: str) -> None:
    starts = [0, *sorted(rng.choices(range(401), k=59)), 400]
    columns = rng.choices(range(60), k=400)
    values, vector = numbers(rng, 400, 32), [*numbers(rng, 30, 32), *numbers(rng, 28, 6), 0, -1]
    values[59], values[58] = -(1 << 31), -(1 << 31)
    with run_kernel("sparse", tasklets=tasklets, level=level) as dpu:
        dpu.put("starts", "I", *starts)
        dpu.put("columns", "I", *columns)
        dpu.put("values", "i", *values)
        dpu.put("vector", "i", *vector)
        assert dpu.launch() == DONE
        found = [
            dpu.get(name, form)
            for name, form in (("result", "q"), ("quotients", "i"), ("remainders", "i"))
        ]
    expected = [
        signed(sum(values[e] * vector[columns[e]] for e in range(*span)), 64)
        for span in pairwise(starts)
    ]
    quotients = []
    for value, divisor in zip(values[:60], [v or 7 for v in vector], strict=True):
        size = abs(value) // abs(divisor)
        quotients.append(size if (value < 0) == (divisor < 0) else -size)
    remainders = [
        value - q * (v or 7) for value, q, v in zip(values[:60], quotients, vector, strict=True)
    ]
    assert found == [expected, [signed(q, 32) for q in quotients], remainders]
