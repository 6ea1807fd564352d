# SPDX-License-Identifier: BSD-3-Clause
"""The run time on the simulated DPU: what one tasklet computes, and how many work together."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.dpu.support.running import Running
from tests.support.builds import clean_environment

ROOT = Path(__file__).resolve().parents[3]
SEED = int(os.environ.get("OFFCHIP_TEST_SEED", "20261121"))
DONE, FAULT, STEPPED = 0, 1, 4
BREAKPOINT = 1
TASKLETS = [1, 2, 11, 24]
MASK = (1 << 64) - 1
CASES, RESULTS = 256, 24


def launch(program: Running) -> None:
    status = program.launch()
    result = program.machine.result
    assert status == DONE, (status, result.fault, result.breakpoint, result.fault_pc)


@pytest.mark.parametrize("tasklets", TASKLETS)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_tasklets_wait_for_each_other(
    load: Callable[..., Running], tasklets: int, level: str
) -> None:
    with load("synchronisation", tasklets=tasklets, level=level) as program:
        launch(program)
        assert program.get("order_errors", "I") == [0]
        assert program.get("trylock_errors", "I") == [0]
        assert program.get("book_errors", "I") == [0]
        assert program.get("counter", "I") == [50 * tasklets]
        assert sum(program.get("pool_counter", "I")) == 50 * tasklets
        assert sum(program.get("virtual_counter", "I")) == 50 * tasklets
        assert program.get("most_inside", "I") == [min(3, tasklets)]
        assert program.get("handed", "I")[:tasklets] == list(range(1, tasklets + 1))
        assert program.get("tasklets_seen", "I") == [tasklets]


@pytest.mark.parametrize("tasklets", TASKLETS)
def test_memory_keeps_what_is_written(load: Callable[..., Running], tasklets: int) -> None:
    with load("memory", tasklets=tasklets) as program:
        launch(program)
        assert program.get("errors", "I") == [0] * 12
        assert program.get("blocks_left", "I") == [12 * tasklets]
        assert program.get("counted_a", "I")[0] % 16 == 0
        assert program.get("counted_a", "I")[0] > 10_000


def test_heap_goes_on_in_the_next_launch_until_it_is_reset(load: Callable[..., Running]) -> None:
    with load("memory") as program:
        launch(program)
        first = program.get("first_heap", "I")
        launch(program)
        assert program.get("errors", "I") == [0] * 12
        assert program.get("first_heap", "I") == first


def test_library_functions(load: Callable[..., Running]) -> None:
    with load("library", tasklets=2, stack=2048) as program:
        launch(program)
        count = program.get("failure_count", "I")[0]
        assert program.get("failures", "I")[:count] == []
        assert program.get("checks", "I") == [239]


@pytest.fixture(scope="session")
def decode(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], str]:
    """The host library's decoder of logs, as a filter."""
    folder = tmp_path_factory.mktemp("decoder")
    (folder / "decode.c").write_text(
        '#include "log_decode.h"\n#include <stdio.h>\n'
        "static uint8_t log[1 << 20];\n"
        "static bool put(void *nothing, const char *text, size_t size)\n"
        "{ return nothing == NULL && fwrite(text, 1, size, stdout) == size; }\n"
        "int main(void)\n"
        "{ return dpu_log_decode(log, fread(log, 1, sizeof log, stdin), put, NULL); }\n"
    )
    library = ROOT / "csrc" / "dpu" / "lib" / "log"
    command = [os.environ.get("CC", "gcc"), f"-I{library}", str(folder / "decode.c")]
    command += [str(library / "log_decode.c"), "-o", str(folder / "decode")]
    environment = clean_environment()
    subprocess.run(command, check=True, env=environment)

    def decode(log: bytes) -> str:
        done = subprocess.run([folder / "decode"], input=log, capture_output=True, check=True)
        return done.stdout.decode()

    return decode


def read_log(program: Running) -> bytes:
    written, wrapped = program.get("__stdout_buffer_state", "I")
    assert not wrapped
    assert written % 8 == 0
    return bytes(program.get("__stdout_buffer", "B")[:written])


@pytest.mark.parametrize("tasklets", [1, 16])
def test_printed_lines_reach_the_host(
    load: Callable[..., Running], decode: Callable[[bytes], str], tasklets: int
) -> None:
    with load("printing", tasklets=tasklets, stack=2048) as program:
        launch(program)
        lines = decode(read_log(program)).splitlines()
        assert lines[tasklets:] == ["the end", "plain", "!"]
        assert sorted(lines[:tasklets]) == sorted(
            f"tasklet {i} of {tasklets}: {1.5 * i:5.2f} {'abc':<6}| {12345678901234 + i} "
            f"{255 + i:#x} {chr(97 + i)} -5%"
            for i in range(tasklets)
        )
        # The next launch starts with an empty log.
        launch(program)
        assert len(decode(read_log(program)).splitlines()) == tasklets + 3


FAULTS = {
    "mem_alloc(70000)": 1,
    "fsb_alloc(8192, 8)": 1,
    "fsb_alloc(0xffffffff, 1)": 1,
    "buddy_init(32768); buddy_init(32768)": 1,
    "sink = 5 / zero": 2,
    "sink = 5u / (unsigned)zero": 2,
    "sink = (uint64_t)((int64_t)sink % (int64_t)zero)": 2,
    "assert(me() == 77)": 3,
    "halt()": 4,
    "abort()": 4,
    "exit(0)": 4,
    'printf("%s", "this is more than the 64 bytes that the buffer of this program can hold")': 5,
    "profiling_start(&section); profiling_start(&section)": 6,
    "profiling_stop(&section)": 7,
    "mram_write_unaligned(bytes + 1, (__mram_ptr void *)0x2002, 3)": 8,
}


@pytest.mark.parametrize("statement", FAULTS)
def test_faults_have_their_numbers(load: Callable[..., Running], statement: str) -> None:
    with load("faults", defines={"STATEMENT": statement}) as program:
        assert program.launch() == FAULT
        assert program.machine.result.fault == BREAKPOINT
        assert program.machine.result.breakpoint == FAULTS[statement]


def test_what_is_right_is_no_fault(load: Callable[..., Running]) -> None:
    statement = (
        "assert(me() == 0); mem_alloc(60000); profiling_start(&section); profiling_stop(&section);"
        'printf("%s", "short"); sink = 5 / (zero + 1)'
    )
    with load("faults", defines={"STATEMENT": statement}) as program:
        launch(program)


@pytest.mark.parametrize("shared", [0, 1])
@pytest.mark.parametrize("tasklets", [1, 5, 16])
def test_fifos_pass_elements_while_the_program_runs(
    load: Callable[..., Running], shared: int, tasklets: int
) -> None:
    with load("fifo", tasklets=tasklets, stack=512) as program:
        wram = program.machine.wram

        def fields(name: str) -> tuple[int, list[int]]:
            address = program.file.symbol(name).value
            return address, list(struct.unpack("<QQIIII", wram[address : address + 32]))

        def data(name: str) -> int:
            return fields(name)[1][2]

        values = list(range(10, 60))
        sent, received = 0, []
        program.put("shared", "I", shared)
        program.put("active", "Q", 1)
        program.machine.library.dpu_machine_boot(program.machine.handle)
        for _ in range(3000):
            address, (read, written, _, _, bits, size) = fields("input")
            assert (bits, size) == (3, 16)
            if sent < len(values) and written - read < 8:
                at = data("input") + (written & 7) * 16
                wram[at : at + 16] = struct.pack("<QQ", values[sent], 0)
                wram[address + 8 : address + 16] = struct.pack("<Q", written + 1)
                sent += 1
            address, (read, written, _, _, bits, size) = fields("output")
            assert (bits, size) == (3, 8)
            assert written - read <= 8
            if read != written:
                at = data("output") + (read & 7) * 8
                received += struct.unpack("<Q", wram[at : at + 8])
                wram[address : address + 8] = struct.pack("<Q", read + 1)
            if len(received) == len(values):
                program.put("active", "Q", 0)
            for _ in range(40):
                status = program.machine.round()
                if status != STEPPED:
                    break
            if status != STEPPED:
                break
        assert status == DONE
        extra = tasklets if shared else 0
        assert sorted(received) == [2 * value + extra for value in values]


def operand(rng: random.Random) -> int:
    bits = rng.getrandbits(64)
    kind = rng.randrange(6)
    if kind == 0:
        return bits
    if kind == 1:
        return bits >> rng.randrange(64)
    if kind == 2:  # single precision around 1
        return (bits & 0xFFFF_FFFF_807F_FFFF) | rng.randrange(100, 156) << 23
    if kind == 3:  # double precision around 1
        return (bits & 0x800F_FFFF_FFFF_FFFF) | rng.randrange(993, 1053) << 52
    if kind == 4:
        return bits & ~((1 << rng.randrange(64)) - 1)
    edges = [0, 1, 1 << 31, 0x7F800000, 0x7FC00000, 0x7FF << 52, 1 << 63, 0x3FF << 52]
    return rng.choice([*edges, (1 << 52) - 1, 0x7FFFFF, MASK, 0x7FFFFFFF, (1 << 63) - 1])


def signed(value: int, bits: int = 64) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def compare(a: np.floating, b: np.floating) -> int:
    truths = [a < b, a <= b, a > b, a >= b, a == b, a != b]
    return sum(int(truth) << i for i, truth in enumerate(truths))


def bits_of(value: np.floating) -> int:
    return int.from_bytes(value.tobytes(), "little")


def wanted_results(a: int, b: int) -> list[int | np.floating]:
    """Compute the program's results on the host; numbers that may be NaN as such."""
    x, y = (np.uint32(v & 0xFFFF_FFFF).view(np.float32) for v in (a, b))
    u, v = (np.uint64(w).view(np.float64) for w in (a, b))
    divisor = b or 1
    sa, sb = signed(a), signed(divisor)
    quotient = abs(sa) // abs(sb) * (1 if (sa < 0) == (sb < 0) else -1)
    low_a, low_b = np.int32(signed(a, 32)), np.uint32(b & 0xFFFF_FFFF)
    return [
        *(x + y, x - y, x * y, x / y),
        *(u + v, u - v, u * v, u / v),
        compare(x, y),
        compare(u, v),
        np.float64(x),
        np.float32(u),
        a * b & MASK,
        a // divisor,
        a % divisor,
        quotient & MASK,
        (sa - quotient * sb) & MASK,
        a << (b & 63) & MASK,
        a >> (b & 63),
        sa >> (b & 63) & MASK,
        np.int64(sa).astype(np.float32),
        np.uint64(a).astype(np.float64),
        bits_of(low_a.astype(np.float32)) | bits_of(low_b.astype(np.float32)) << 32,
        bits_of(low_a.astype(np.float64)) ^ bits_of(low_b.astype(np.float64)),
    ]


@pytest.mark.parametrize(
    ("level", "costs"), [("-O0", "offchip"), ("-O2", "offchip"), ("-O2", "upmem")]
)
def test_arithmetic_is_that_of_the_host(
    load: Callable[..., Running], level: str, costs: str
) -> None:
    rng = random.Random(SEED)
    operands = [operand(rng) for _ in range(2 * CASES)]
    with load("arithmetic", tasklets=16, stack=2048, level=level, costs=costs) as program:
        program.put("operands", "Q", *operands)
        launch(program)
        results = program.get("results", "Q")
    for i in range(CASES):
        a, b = operands[2 * i : 2 * i + 2]
        with np.errstate(all="ignore"):
            wanted = wanted_results(a, b)
        for k, want in enumerate(wanted):
            got = results[RESULTS * i + k]
            where = f"seed {SEED}: result {k} of {a:#x}, {b:#x} is {got:#x}, not {want!r}"
            if isinstance(want, np.floating):
                kind = np.uint32 if want.dtype == np.float32 else np.uint64
                number = kind(got).view(want.dtype)
                assert number.tobytes() == want.tobytes() or np.isnan([number, want]).all(), where
            else:
                assert got == want, where
