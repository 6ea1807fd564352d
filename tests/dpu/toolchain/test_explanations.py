# SPDX-License-Identifier: BSD-3-Clause
"""Launches that end badly say which tasklets were where, and what they waited for."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpu import DpuError, DpuSet, DpuWarning
from dpu.toolchain import BuildOptions, Toolchain, build, build_cached

TASKLETS = 4
# A comment marks each place where something is expected to be.
TEXT = """#include <alloc.h>
#include <assert.h>
#include <barrier.h>
#include <defs.h>
#include <handshake.h>
#include <mutex.h>
#include <sem.h>
#include <stdint.h>
BARRIER_INIT(meeting, COUNT);
SEMAPHORE_INIT(room, 0);
MUTEX_INIT(key);
barrier_t unnamed[2];
__host uint32_t mode, counter;

static void __attribute__((noinline)) meet(void)
{
    barrier_wait(&meeting); /* meet */
}

int main(void)
{
    switch (mode) {
    case 1:
        meet();
        counter++;
        break;
    case 2:
        sem_take(&room); /* take */
        break;
    case 3:
        if (me() == 1)
            handshake_wait_for(2); /* wait for */
        break;
    case 4:
        if (me() == 3)
            handshake_notify(); /* notify */
        break;
    case 5:
        unnamed[1] = (barrier_t){0xff, 2, 2, meeting.lock};
        if (me() == 0)
            barrier_wait(&unnamed[1]); /* unnamed */
        break;
    case 6:
        mutex_lock(key); /* lock */
        counter++;
        for (;;)
            ; /* spin */
    case 7:
        if (me() == 2)
            meet();
        else
            for (;;)
                ;
        break;
    case 8:
        assert(me() != 2); /* assert */
        break;
    case 9:
        mem_alloc(1 << 20); /* alloc */
    }
    return 0;
}
"""


def line_of(mark: str) -> int:
    return next(i for i, line in enumerate(TEXT.splitlines(), 1) if f"/* {mark} */" in line)


def place(mark: str) -> str:
    return rf"pc 0x\w+ \(\w+\+0x\w+, \S+source\.c:{line_of(mark)}\)"


@pytest.fixture(scope="module")
def programs(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The program with barriers for so many tasklets."""
    folder = tmp_path_factory.mktemp("explained")
    source = folder / "source.c"
    source.write_text(TEXT)
    made = {}
    for count in (TASKLETS - 1, TASKLETS, TASKLETS + 12):
        made[count] = folder / f"for{count}.dpu"
        defines = {"NR_TASKLETS": str(TASKLETS), "COUNT": str(count)}
        build([source], made[count], BuildOptions(defines=defines), toolchain=toolchain)
    return made


@pytest.fixture
def warning_of(programs: dict[int, Path]) -> Callable[..., str]:
    """Run a mode of the program; its only warning."""

    def run(mode: int, count: int = TASKLETS, dpus: int = 1, async_mode: bool = False) -> str:
        with DpuSet(dpus, binary=programs[count], library="soft") as some:
            some.mode = mode.to_bytes(4, "little")
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                some.exec(async_mode=async_mode)
                some.sync()
            assert some.report[0].status.name == "DONE"
        (one,) = caught
        assert one.category is DpuWarning and one.filename == __file__
        return str(one.message)

    return run


def test_freeing_a_set_waits_for_a_thread_that_launches(
    programs: dict[int, Path],
) -> None:
    """That thread is still in exec() while its launch has ended, and is about to show a warning."""
    shows, goes_on = threading.Event(), threading.Event()

    def show(*_: object, **__: object) -> None:
        shows.set()
        assert goes_on.wait(60)

    some = DpuSet(1, binary=programs[TASKLETS + 12], library="soft")
    some.mode = (1).to_bytes(4, "little")
    with warnings.catch_warnings(), ThreadPoolExecutor(2) as pool:
        warnings.simplefilter("always")
        warnings.showwarning = show
        launched = pool.submit(some.exec)
        assert shows.wait(60)
        freed = pool.submit(some.free)
        try:
            with pytest.raises(TimeoutError):
                freed.result(0.5)
        finally:
            goes_on.set()
        launched.result(60)
        freed.result(60)


def test_a_barrier_for_more_tasklets_than_there_are(warning_of: Callable[..., str]) -> None:
    text = warning_of(1, TASKLETS + 12)
    assert text.startswith("DPU 0.0.0 ")
    assert "the launch ended while tasklets slept that nobody wakes: " in text
    assert re.search(
        r"barrier 'meeting' of 16 tasklets, of which the program has 4 \(NR_TASKLETS\): "
        rf"0-3 wait at {place('meet')}$",
        text,
    ), text


def test_a_barrier_for_fewer_tasklets_than_come(warning_of: Callable[..., str]) -> None:
    text = warning_of(1, TASKLETS - 1, async_mode=True)
    assert re.search(
        rf"barrier 'meeting' of 3 tasklets: 3 waits at {place('meet')}; "
        r"missing: 2 of 0-2 \(ended\)$",
        text,
    ), text


def test_a_semaphore_that_nobody_gives(warning_of: Callable[..., str]) -> None:
    text = warning_of(2)
    assert re.search(
        rf"semaphore 'room': 0-3 wait at {place('take')}; missing: sem_give\(\)$", text
    ), text


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (3, rf"1 waits at {place('wait for')}; missing: handshake_notify\(\) of 2$"),
        (4, rf"3 waits at {place('notify')}; missing: handshake_wait_for\(3\)$"),
    ],
)
def test_a_handshake_of_one_tasklet(
    mode: int, expected: str, warning_of: Callable[..., str]
) -> None:
    text = warning_of(mode)
    assert re.search(f"handshake: {expected}", text), text


def test_a_barrier_without_a_name(warning_of: Callable[..., str]) -> None:
    text = warning_of(5)
    assert re.search(rf"barrier_wait\(\): 0 waits at {place('unnamed')}$", text), text


def test_other_dpus_are_counted(warning_of: Callable[..., str]) -> None:
    assert warning_of(2, dpus=3).endswith("; 2 more DPUs have such a warning")


def test_a_launch_that_ends_well_has_no_warning(programs: dict[int, Path]) -> None:
    with DpuSet(2, binary=programs[TASKLETS], library="soft") as dpus, warnings.catch_warnings():
        warnings.simplefilter("error")
        dpus.mode = (1).to_bytes(4, "little")
        for _ in range(3):
            dpus.exec()
        assert [value > 0 for value in dpus.counter.uint32()] == [True, True]


def explain_timeout(program: Path, mode: int) -> str:
    with DpuSet(1, binary=program, profile="softMaxCycles=100000", library="soft") as dpus:
        dpus.mode = mode.to_bytes(4, "little")
        with pytest.raises(DpuError, match="^result timeout") as caught:
            dpus.exec()
    return caught.value.detail


def test_tasklets_that_spin_at_a_lock(programs: dict[int, Path]) -> None:
    text = explain_timeout(programs[TASKLETS], 6)
    assert "the launch took more than 100000 cycles (softMaxCycles); running: 0 at " in text
    assert re.search(rf"; 1-3 at {place('lock')}, waiting for mutex 'key'$", text), text


def test_tasklets_that_sleep_when_the_launch_is_stopped(programs: dict[int, Path]) -> None:
    text = explain_timeout(programs[TASKLETS], 7)
    assert re.search(r"; running: 0(, 1, 3)? at pc ", text), text
    assert re.search(
        rf"; asleep: barrier 'meeting' of 4 tasklets: 2 waits at {place('meet')}; "
        r"missing: 0, 1, 3$",
        text,
    ), text


def test_an_interruption_says_where_tasklets_were(programs: dict[int, Path]) -> None:
    with DpuSet(1, binary=programs[TASKLETS], library="soft") as dpus:
        dpus.mode = (7).to_bytes(4, "little")
        dpus.exec(async_mode=True)
        # Only a launch that has begun has places.
        while not dpus.exec_async().wait(timeout=0.2):
            dpus.interrupt()
        with pytest.raises(DpuError) as caught:
            dpus.sync()
    assert "the launch was interrupted" in caught.value.detail


@pytest.mark.parametrize(
    ("mode", "mark", "reason"),
    [(8, "assert", r"assert failed \(fault 3\)"), (9, "alloc", r"the heap is full \(fault 1\)")],
)
def test_a_fault_in_the_run_time_leads_to_its_caller(
    mode: int, mark: str, reason: str, programs: dict[int, Path]
) -> None:
    with DpuSet(3, binary=programs[TASKLETS], library="soft") as dpus:
        dpus.mode = mode.to_bytes(4, "little")
        with pytest.raises(DpuError, match="^dpu is in fault") as caught:
            dpus.exec()
    assert re.search(
        rf"dpu/runtime/\w+\.c:\d+\), called at {place(mark)}: {reason}; "
        r"2 more DPUs failed as well$",
        caught.value.detail,
    ), caught.value.detail


RECURSION = """#include <defs.h>
#include <stdint.h>
__host volatile uint32_t total;
static uint32_t __attribute__((noinline)) deep(uint32_t n)
{
    volatile uint32_t values[32];
    values[n & 31] = n;
    return deep(n + 1) + values[n & 31];
}
int main(void)
{
    total = deep(0);
    return 0;
}
"""


def test_a_fault_after_a_stack_overflow_says_so(toolchain: Toolchain, tmp_path: Path) -> None:
    source, program = tmp_path / "deep.c", tmp_path / "deep.dpu"
    source.write_text(RECURSION)
    build([source], program, BuildOptions(), toolchain=toolchain)
    with (
        DpuSet(1, binary=program, library="soft") as dpus,
        pytest.raises(DpuError, match="^dpu is in fault") as caught,
    ):
        dpus.exec()
    assert re.search(
        r": WRAM access at .* out of bounds; stack overflow: the stack of tasklet 0 is 1024 bytes "
        r"at 0x[0-9a-f]+, and the stack pointer is 0x[0-9a-f]+, \d+ bytes beyond its end; "
        r"`python -m dpu.stack PROGRAM` "
        r"prints what each function needs, and -DSTACK_SIZE_DEFAULT=BYTES or "
        r"-DSTACK_SIZE_TASKLET_0=BYTES of dpu-clang give more$",
        caught.value.detail,
    ), caught.value.detail


# A frame of tasklet 1 is larger than its stack; tasklet 0 is the one that stops.
NEIGHBOUR = """#include <defs.h>
#include <built_ins.h>
volatile int begun;
__attribute__((noinline)) void deep(void)
{
    volatile char big[2000];
    big[1990] = 1;
    begun = 1;
    for (;;)
        big[1991]++;
}
int main(void)
{
    if (me() == 1)
        deep();
    while (begun == 0)
        ;
    halt();
    return 0;
}
"""


def test_a_fault_names_the_tasklet_whose_stack_was_exceeded(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    source, program = tmp_path / "near.c", tmp_path / "near.dpu"
    source.write_text(NEIGHBOUR)
    options = BuildOptions(level="-O0", defines={"NR_TASKLETS": 2})
    warnings = build_cached([source], program, options, toolchain=toolchain)
    need = re.search(r"main needs (\d+) bytes, main \(\d+\) > deep \((\d+)\)", warnings)
    assert need is not None and int(need[1]) >= int(need[2]) >= 2000, warnings
    assert "and the stack of all tasklets has 1024: -DSTACK_SIZE_DEFAULT=" in warnings
    with (
        DpuSet(1, binary=program, library="soft") as dpus,
        pytest.raises(DpuError, match="^dpu is in fault") as caught,
    ):
        dpus.exec()
    found = re.search(
        r"^DPU .*: tasklet 0 at .*; stack overflow: the stack of tasklet 1 is 1024 bytes at .*, "
        r"(\d+) bytes beyond its end; .*-DSTACK_SIZE_TASKLET_1=BYTES",
        caught.value.detail,
    )
    assert found is not None and int(found[1]) == int(need[1]) - 1024, caught.value.detail


@pytest.mark.parametrize(("size", "warns"), [(2800, True), (3200, False)])
def test_the_linker_warns_of_a_stack_that_is_too_small(
    toolchain: Toolchain, tmp_path: Path, size: int, warns: bool
) -> None:
    source = tmp_path / "large.c"
    source.write_text(
        "#include <stdint.h>\n#include <string.h>\n__host uint32_t sum;\n"
        "__attribute__((noinline)) void fill(uint32_t *to) { memset(to, 1, 2800); }\n"
        "int main(void) { uint32_t all[700]; fill(all);"
        " for (int i = 0; i < 700; i++) sum += all[i]; return 0; }\n"
    )
    options = BuildOptions(level="-O2", defines={"NR_TASKLETS": 16, "STACK_SIZE_DEFAULT": size})
    warnings = build_cached([source], tmp_path / "large.dpu", options, toolchain=toolchain)
    assert ("stack too small: main needs " in warnings) == warns, warnings
    assert (f"and the stack of all tasklets has {size}: " in warnings) == warns


# As programs of the vendor's compiler are: the run time has lines of another machine, and so have
# functions of its headers, wherever they were inlined.
FOREIGN = """#include <stdint.h>
__host uint32_t address;
# 5 "/build/SDK/dpu-rt/src/syslib/store.c"
void __attribute__((noinline)) store(uint32_t *to)
{
    *to = 1;
}
# 30 "/usr/share/upmem/include/syslib/load.h"
static inline __attribute__((always_inline)) uint32_t load(const uint32_t *from)
{
    return *(const volatile uint32_t *)from;
}
# 50 "own.c"
int main(void)
{
    if (address & 0x100000)
        store((uint32_t *)address);
    address =
        load((const uint32_t *)address) + 1;
    return 0;
}
"""


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (
            0x110000,
            r"store\+0x\w+, \S*syslib/store\.c:7\), called at pc 0x\w+ \(main\S+ \S*own\.c:53\)",
        ),
        (0x20000, r"\(main\+0x\w+, \S*own\.c:5[235]\)"),
    ],
)
def test_places_in_the_vendors_run_time_lead_to_the_program(
    address: int, expected: str, toolchain: Toolchain, tmp_path: Path
) -> None:
    source, output = tmp_path / "source.c", tmp_path / "program.dpu"
    source.write_text("#include <attributes.h>\n" + FOREIGN)
    build([source], output, BuildOptions(), toolchain=toolchain)
    with DpuSet(1, binary=output, library="soft") as dpus:
        dpus.address = address.to_bytes(4, "little")
        with pytest.raises(DpuError, match="^dpu is in fault") as caught:
            dpus.exec()
    assert re.search(rf"{expected}: WRAM access at ", caught.value.detail), caught.value.detail
