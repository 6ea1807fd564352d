# SPDX-License-Identifier: BSD-3-Clause
"""Runs C programs on the soft engine of accl.h: ranks as processes, and as threads of one.

The engine and the programs are built under AddressSanitizer with UBSan and under ThreadSanitizer.
With OFFCHIP_FULL=1 there is more of it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.builds import UNDER_VALGRIND, c_program, clean_environment
from tests.support.full import FULL

LIMIT_S = int(os.environ.get("OFFCHIP_PROGRAM_SECONDS", "100"))
CARRIED = ["ring", "large", "communicators", "mismatch", "streams", "chain"]
MESSAGES = [*CARRIED, "forked", "again"]


class Programs:
    """The programs, with the engine in them."""

    def __init__(self, unrandomised: tuple[str, ...], checked: Callable[[Path], Path]) -> None:
        self._checked = checked
        self._unrandomised = unrandomised

    def run(
        self,
        name: str,
        sanitizer: str,
        *words: str,
        timeout: float = LIMIT_S,
        transport: str = "auto",
    ) -> None:
        """Run a program to its "ok"; with the transport "hosts" two ranks are on each host."""
        if UNDER_VALGRIND:
            sanitizer, timeout = "plain", 1000
        environment = {k: v for k, v in clean_environment().items() if k != "ACCL_JOB"}
        if transport == "hosts":
            environment["RANKS_PER_HOST"] = "2"
        else:
            environment["ACCL_TRANSPORT"] = transport
        prefix = self._unrandomised if sanitizer == "tsan" else ()
        done = subprocess.run(
            [*prefix, str(self._checked(c_program(f"tests/accl/abi/{name}", sanitizer))), *words],
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        assert done.returncode == 0 and done.stdout.endswith("ok\n"), done.stdout + done.stderr


@pytest.fixture(scope="module")
def programs(
    compiler: str, unrandomised: tuple[str, ...], checked: Callable[[Path], Path]
) -> Programs:
    return Programs(unrandomised, checked)


@pytest.mark.parametrize(("ranks", "memory"), [(1, 0), (2, 1), (3, 0), (5, 1)])
def test_collectives_give_the_expected_results(programs: Programs, ranks: int, memory: int) -> None:
    programs.run("collectives", "asan", str(ranks), str(memory), str(ranks))


def test_much_data_goes_past_the_caches(programs: Programs) -> None:
    programs.run("collectives", "asan", "3", "1", "large")


@pytest.mark.parametrize("sanitizer", ["asan", "tsan"])
@pytest.mark.parametrize("cores", [1, 2])
def test_ranks_that_share_cores_stay_in_step(
    programs: Programs, cores: int, sanitizer: str
) -> None:
    programs.run("crowded", sanitizer, str(cores))


@pytest.mark.parametrize("case", ["roots", "operations", "counts"])
@pytest.mark.parametrize("transport", ["shared", "packets"])
def test_ranks_that_differ_are_named(programs: Programs, transport: str, case: str) -> None:
    programs.run("differ", "asan", case, transport=transport)


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="only with OFFCHIP_FULL=1, as `make test-full` has it")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("memory", [0, 1])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8])
def test_all_collectives(programs: Programs, ranks: int, memory: int) -> None:
    programs.run("collectives", "plain", str(ranks), str(memory), "full", timeout=800)


@pytest.mark.parametrize("transport", ["shared", "packets", "hosts"])
@pytest.mark.parametrize("ranks", [1, 2, 4, 5])
def test_reductions_and_compression_round_as_the_ring_does(
    programs: Programs, ranks: int, transport: str
) -> None:
    programs.run("rounding", "asan", str(ranks), transport=transport)


def test_jobs_and_users_do_not_meet(programs: Programs) -> None:
    programs.run("jobs", "asan")


@pytest.mark.parametrize("transport", ["shared", "packets"])
def test_every_wait_ends(programs: Programs, transport: str) -> None:
    programs.run("waits", "asan", transport=transport)


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(programs: Programs, case: str) -> None:
    programs.run("messages", "asan", case)


@pytest.mark.parametrize("sanitizer", ["asan", "tsan"])
def test_ranks_that_need_nothing_do_not_wait(programs: Programs, sanitizer: str) -> None:
    programs.run("ahead", sanitizer)


@pytest.mark.parametrize(
    ("sanitizer", "transport"),
    [("asan", "shared"), ("asan", "packets"), ("asan", "hosts"), ("tsan", "shared")],
)
def test_communicators_are_freed(programs: Programs, sanitizer: str, transport: str) -> None:
    programs.run("freed", sanitizer, transport=transport)


@pytest.mark.parametrize("sanitizer", ["asan", "tsan"])
def test_independent_calls_go_on(programs: Programs, sanitizer: str) -> None:
    programs.run("independent", sanitizer)


# --- ranks without memory in common -----------------------------------------------------------


@pytest.mark.parametrize("case", CARRIED)
def test_messages_by_packets(programs: Programs, case: str) -> None:
    programs.run("messages", "asan", case, transport="packets")


@pytest.mark.parametrize(("ranks", "memory", "seed"), [(2, 1, 2), (3, 0, 3), (5, 1, 4)])
def test_collectives_by_packets(programs: Programs, ranks: int, memory: int, seed: int) -> None:
    words = str(ranks), str(memory), str(seed)
    programs.run("collectives", "asan", *words, transport="packets")


@pytest.mark.parametrize(("ranks", "memory", "seed"), [(3, 0, 5), (4, 1, 6), (5, 0, 7)])
def test_collectives_between_hosts(programs: Programs, ranks: int, memory: int, seed: int) -> None:
    words = str(ranks), str(memory), str(seed)
    programs.run("collectives", "asan", *words, transport="hosts")


@pytest.mark.parametrize("sanitizer", ["tsan"])
def test_packets_and_calls_of_different_threads(programs: Programs, sanitizer: str) -> None:
    programs.run("collectives", sanitizer, "3", "0", "7", transport="packets")
    programs.run("collectives", sanitizer, "3", "0", "8", transport="hosts")
    programs.run("messages", sanitizer, "streams", transport="packets")
    programs.run("waits", sanitizer, transport="packets")


# --- several ranks in a process, and death ----------------------------------------------------


@pytest.mark.parametrize("sanitizer", ["asan", "tsan"])
def test_devices_share_a_process(programs: Programs, sanitizer: str) -> None:
    programs.run("instances", sanitizer)


@pytest.mark.timeout(900)
def test_death_is_noticed_within_a_second(programs: Programs) -> None:
    programs.run("killed", "asan", "200" if FULL else "10", "1", timeout=800)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("transport", ["packets", "hosts"])
def test_death_is_noticed_by_ranks_that_packets_reach(programs: Programs, transport: str) -> None:
    rounds = "200" if FULL else "9"
    programs.run("killed", "asan", rounds, "2", timeout=800, transport=transport)


@pytest.mark.parametrize("transport", ["shared", "packets", "hosts"])
def test_death_is_noticed_while_another_rank_makes_no_call(
    programs: Programs, transport: str
) -> None:
    programs.run("killed", "asan", "18" if FULL else "6", "3", "absent", transport=transport)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("transport", ["shared", "packets", "hosts"])
def test_late_ranks_touch_nothing(programs: Programs, transport: str) -> None:
    words = "700" if FULL else "60", "1", "all"
    programs.run("late", "asan", *words, timeout=800, transport=transport)


def test_memory_that_a_stopped_rank_may_use_is_not_given_out(programs: Programs) -> None:
    programs.run("stopped", "asan")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("how", ["send", "interrupt"])
def test_a_message_that_is_being_copied_holds_its_sender(programs: Programs, how: str) -> None:
    programs.run("late", "asan", "700" if FULL else "60", "1", how, timeout=800)


@pytest.mark.timeout(900)
def test_nonsense_in_shared_memory_harms_nobody(programs: Programs) -> None:
    programs.run("scribbles", "asan", "200" if FULL else "24", "1", timeout=800)


@pytest.mark.parametrize("sanitizer", ["asan", "tsan"])
def test_death_before_the_first_call_is_noticed(programs: Programs, sanitizer: str) -> None:
    programs.run("unmet", sanitizer)


def test_null_is_refused_where_something_is_needed(programs: Programs) -> None:
    programs.run("nulls", "asan")


def test_error_tables_are_complete(programs: Programs) -> None:
    programs.run("texts", "asan")


# More than four ranks reduce arrays by way of their buffers.
@pytest.mark.parametrize(
    ("ranks", "sanitizer", "setting"),
    [("2", "asan", "auto"), ("2", "tsan", "never"), ("3", "asan", "never"), ("5", "asan", "never")],
)
def test_arrays_of_the_caller(programs: Programs, ranks: str, sanitizer: str, setting: str) -> None:
    programs.run("arrays", sanitizer, ranks, setting)
