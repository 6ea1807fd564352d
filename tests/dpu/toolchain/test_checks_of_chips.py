# SPDX-License-Identifier: BSD-3-Clause
"""``DPU_CHECK`` for chips with more tasklets than UPMEM's, and with a cache of MRAM."""

from __future__ import annotations

import re

import pytest

from tests.dpu.toolchain.checked_programs import Check

CACHE = "softCacheKiB=4"

# Body, check and report; PREVIOUS and LAST are the last two tasklets of the chip.
OF_LAST = {
    "race": (
        "int main(void) { if (me() >= LAST - 1) total += me(); return 0; }",
        "race",
        (r"race: tasklet (PREVIOUS|LAST) .* 'total'", r"the other is tasklet (PREVIOUS|LAST), "),
    ),
    "a write after all have read": (
        "int main(void) { wanted_by[me()] = total; barrier_wait(&all);\n"
        "  if (me() == LAST) total = 1; return 0; }",
        "race",
        (),
    ),
    "a write after all have read but one": (
        "int main(void) { wanted_by[me()] = total; if (me() != LAST - 1) barrier_wait(&most);\n"
        "  if (me() == LAST) total = 1; return 0; }",
        "race",
        (r"race: tasklet LAST writes .* 'total'", r"the other is tasklet PREVIOUS, which reads it"),
    ),
    "race in MRAM": (
        "int main(void) { if (me() >= LAST - 1) mram_write(buffer + (me() & 1) * 2, input, 8);\n"
        "  return 0; }",
        "race",
        (r"race: tasklet (PREVIOUS|LAST) writes 8 bytes of 'input' \+ 0 \(MRAM \w+\) by DMA",),
    ),
    "access during a transfer": (
        "int main(void) { barrier_wait(&all);\n"
        "  if (me() == LAST - 1) mram_read(input, buffer, 256);\n"
        "  else if (me() == LAST) for (uint32_t i = 0; i < 8; i++) total = buffer[60]; return 0; }",
        "dma",
        ("access during a transfer: tasklet LAST reads", "tasklet PREVIOUS, which writes it by"),
    ),
    "stack overflow": (
        "static uint32_t __attribute__((noinline)) deep(uint32_t n) {\n"
        "  volatile uint32_t a[32]; a[n & 31] = n; return n == 0 ? 0 : deep(n - 1) + a[n & 31]; }\n"
        "int main(void) { if (me() == LAST) total = deep(12); return 0; }",
        "stack",
        ("stack overflow: the stack of tasklet LAST has 1024 bytes", "-DSTACK_SIZE_TASKLET_LAST="),
    ),
    "uninitialised address": (
        "int main(void) { volatile uint32_t index[4]; index[0] = 0;\n"
        "  total = buffer[index[me() == LAST] & 63]; return 0; }",
        "uninitialised",
        ("uninitialised: an address of tasklet LAST depends",),
    ),
    "null pointer": (
        "int main(void) { if (me() == LAST) total = *(volatile uint32_t *)wanted; return 0; }",
        "bounds",
        ("null pointer: tasklet LAST reads 4 bytes",),
    ),
    "deadlock of locks": (
        "int main(void) { if (me() == LAST - 1) { mutex_lock(first); handshake_wait_for(LAST);\n"
        "    mutex_lock(second); }\n"
        "  if (me() == LAST) { mutex_lock(second); handshake_notify(); mutex_lock(first); }\n"
        "  return 0; }",
        "deadlock",
        ("deadlock: 2 tasklets wait", "tasklet LAST waits for mutex 'first'", "that tasklet LAST"),
    ),
    "deadlock of all": (
        "int main(void) { mutex_lock(first); return 0; }",
        "deadlock",
        ("deadlock: LAST tasklets wait", "tasklet LAST waits for mutex 'first'"),
    ),
    "deadlock at a barrier": (
        "int main(void) { barrier_wait(&more); return 0; }",
        "deadlock",
        ("deadlock: tasklets sleep", "barrier 'more'", "tasklet LAST sleeps", r"\(main\+"),
    ),
}
HEAD = """
#define LAST (NR_TASKLETS - 1)
BARRIER_INIT(most, LAST);
uint32_t wanted_by[NR_TASKLETS];
"""

# All tasklets use memory of every kind, in an order that barriers, mutexes and handshakes give.
CLEAN = """
static uint32_t sums[NR_TASKLETS];
__mram_noinit uint32_t far[16 * NR_TASKLETS];
int main(void)
{
    if (me() == 0)
        mem_reset();
    barrier_wait(&all);
    uint32_t *block = mem_alloc(64), frame[4] = {me(), 1, 2, 3};
    mram_read(&far[16 * me()], block, 64);
    for (uint32_t i = 0; i < 16; i++)
        block[i] += frame[i & 3];
    sums[me()] = block[3];
    mram_write(block, &far[16 * me()], 64);
    if (me() != 0)
        handshake_wait_for(me() - 1);
    if (me() != LAST)
        handshake_notify();
    barrier_wait(&all);
    mram_read(&far[16 * (LAST - me())], block, 64);
    mutex_lock(first);
    total += sums[LAST - me()] + block[0];
    mutex_unlock(first);
    barrier_wait(&all);
    return total == 0;
}
"""


def sizes_of(tasklets: int) -> str:
    return f"softTasklets={tasklets},softWramKiB=128"


@pytest.mark.parametrize("tasklets", [32, 64])
@pytest.mark.parametrize("name", OF_LAST)
def test_a_fault_of_the_last_of_many_tasklets_is_found(
    check: Check, name: str, tasklets: int
) -> None:
    body, only, patterns = OF_LAST[name]
    done = check(HEAD + body, f"{only},exit=9", tasklets=tasklets, sizes=sizes_of(tasklets))
    assert done.returncode == (9 if patterns else 0), done.stderr
    for pattern in patterns:
        last = str(tasklets - 1)
        wanted = pattern.replace("PREVIOUS", str(tasklets - 2)).replace("LAST", last)
        assert re.search(wanted, done.stderr), (wanted, done.stderr)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("tasklets", [32, 64])
def test_a_correct_program_of_many_tasklets_has_no_findings(
    check: Check, tasklets: int, level: str
) -> None:
    sizes = sizes_of(tasklets)
    done = check(HEAD + CLEAN, "all,exit=9", tasklets=tasklets, sizes=sizes, level=level)
    assert "== checks: nothing found" in done.stderr
    assert done.returncode == 0, done.stderr


# Accesses to MRAM without a transfer.
DIRECT = {
    "race": (
        "int main(void) { input[3] += me(); return 0; }",
        "race",
        (
            r"race: tasklet \d (reads|writes) 4 bytes of 'input' \+ 12 \(MRAM \w+\), and nothing",
            r"the other is tasklet \d, which (reads|writes) it\n",
        ),
    ),
    "race of one byte": (
        "int main(void) { __mram_ptr uint8_t *p = (__mram_ptr uint8_t *)input;\n"
        "  if (me() == 0) p[5] = 1; else input[1] = 7; return 0; }",
        "race",
        (r"race: tasklet \d writes \d bytes? of 'input' \+ 5 \(MRAM",),
    ),
    "race with a transfer": (
        "int main(void) { if (me() == 0) mram_write(buffer, input, 64); else input[15] = 7;\n"
        "  return 0; }",
        "race",
        (r"race: tasklet 1 writes 4 bytes of 'input' \+ 60", "tasklet 0, which writes it by DMA"),
    ),
    "access during a transfer": (
        "int main(void) { barrier_wait(&all);\n"
        "  if (me() == 0) mram_write(buffer, input, 256); else wanted = input[60]; return 0; }",
        "dma",
        (
            r"access during a transfer: tasklet 1 reads 4 bytes of 'input' \+ 240 \(MRAM",
            "tasklet 0, which writes it by DMA",
        ),
    ),
    "uninitialised address": (
        "int main(void) { volatile uint32_t index[4]; index[1] = 0;\n"
        "  total = input[index[me()] & 63]; return 0; }",
        "uninitialised",
        ("uninitialised: an address of tasklet 0 depends",),
    ),
    "null pointer": (
        "int main(void) { total = *(volatile uint32_t *)wanted; return 0; }",
        "bounds",
        ("null pointer: tasklet 0 reads 4 bytes",),
    ),
}
DIRECT_CLEAN = """
__mram_noinit uint8_t bytes[64];
__mram_noinit uint32_t sum;
int main(void)
{
    for (uint32_t i = me(); i < 64; i += NR_TASKLETS)
        bytes[i] = i;
    barrier_wait(&all);
    for (uint32_t i = 0; i < 64; i++) {
        mutex_lock(first);
        sum += bytes[i];
        mutex_unlock(first);
    }
    barrier_wait(&all);
    if (me() == 1) {
        mram_read(bytes, buffer, 64);
        mram_write(buffer, bytes, 64);
    }
    barrier_wait(&all);
    input[me()] = bytes[me()];
    return 0;
}
"""


@pytest.mark.parametrize("name", DIRECT)
def test_a_fault_of_a_direct_access_to_mram_is_found(check: Check, name: str) -> None:
    body, only, patterns = DIRECT[name]
    done = check(body, f"{only},exit=9", sizes=CACHE)
    assert done.returncode == 9, done.stderr
    for pattern in patterns:
        assert re.search(pattern, done.stderr), (pattern, done.stderr)


@pytest.mark.parametrize("tasklets", [2, 64])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_correct_program_with_a_cache_has_no_findings(
    check: Check, tasklets: int, level: str
) -> None:
    sizes = f"{CACHE},{sizes_of(max(tasklets, 24))}"
    done = check(DIRECT_CLEAN, "all,exit=9", tasklets=tasklets, sizes=sizes, level=level)
    assert "== checks: nothing found" in done.stderr
    assert done.returncode == 0, done.stderr
