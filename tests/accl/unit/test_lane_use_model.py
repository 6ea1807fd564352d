# SPDX-License-Identifier: BSD-3-Clause
"""A model of csrc/accl/transport/shm/lane_use.h: all interleavings, with store buffers.

A rank is a list of steps, named as the functions of the real code. Stores wait in a queue until the
processor writes them, at any later time and in their order, as x86 does (total store order); a
fence waits for that. A wait may end by the time limit at any moment, and a rank may die between any
two steps. In each state it is checked that nobody touches the buffers of a rank whose call has
returned. The late ranks of tests/accl/abi/late.c do the same in the real code, with delays drawn at
random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

Step = tuple[str, ...]
RETURNED, DEAD = "returned", "dead"


@dataclass(frozen=True)
class Rank:
    """The state of a rank: next step, stores not yet written, and what it touches now."""

    at: int | str = 0
    stores: tuple[tuple[str, int], ...] = ()
    touches: str = ""


State = tuple[tuple[Rank, ...], tuple[tuple[str, int], ...]]


def lane(name: str, rank: int) -> str:
    """Name a word in the lane of a rank."""
    return f"{name} {rank}"


def withdraw(me: int, others: list[int], *, waits: bool = True, fence: bool = True) -> list[Step]:
    """Make the steps of acclib_lane_withdraw()."""
    steps: list[Step] = [("store", lane("uses", me), "0"), ("store", lane("gave up", me), "1")]
    if fence:
        steps.append(("fence",))
    if waits:
        steps += [("until unused", str(other)) for other in others]
    return [*steps, ("return",)]


def use(me: int, owners: list[int], *, checks: bool = True, fence: bool = True) -> list[Step]:
    """Make the steps of acclib_lane_use() and, for each owner, acclib_lane_may_use()."""
    steps: list[Step] = [("store", lane("uses", me), "1")]
    if fence:
        steps.append(("fence",))
    if checks:
        steps += [("may use", str(owner)) for owner in owners]
    return steps


def reduction(me: int, n: int, **flaws: dict[str, bool]) -> list[Step]:
    """Make the steps of reduce_parts(): every rank writes the buffers of all."""
    others = [rank for rank in range(n) if rank != me]
    steps: list[Step] = [("store", lane("posted", me), "1")]
    steps += [("wait", lane("posted", other)) for other in others]
    steps += use(me, others, **flaws.get("use", {}))
    for other in others:
        steps += [("touch", str(other)), ("touched",)]
    steps.append(("store", lane("done", me), "1"))
    steps += [("wait", lane("done", other)) for other in others]
    return [*steps, ("return",), ("failed",), *withdraw(me, others, **flaws.get("withdraw", {}))]


def member_of_root(me: int, n: int, **flaws: dict[str, bool]) -> list[Step]:
    """Make the steps of fetch(): a member reads what the root posted, or has left elsewhere."""
    others = [rank for rank in range(n) if rank != me]
    steps: list[Step] = [("wait", "posted 0"), *use(me, [0], **flaws.get("use", {}))]
    steps += [("touch source",), ("touched",), ("store", lane("done", me), "1"), ("return",)]
    return [*steps, ("failed",), *withdraw(me, others, **flaws.get("withdraw", {}))]


def root_waits(me: int, n: int, **flaws: dict[str, bool]) -> list[Step]:
    """Make the steps of from_root() where the root waits until all members are done."""
    if me:
        return member_of_root(me, n, **flaws)
    steps: list[Step] = [("store", "posted 0", "1")]
    steps += [("wait", lane("done", other)) for other in range(1, n)]
    return [
        *steps,
        ("return",),
        ("failed",),
        *withdraw(0, [*range(1, n)], **flaws.get("withdraw", {})),
    ]


def root_moves(me: int, n: int, **flaws: dict[str, bool]) -> list[Step]:
    """Make the steps of from_root() where the root leaves a copy: acclib_lane_move_source()."""
    if me:
        return member_of_root(me, n, **flaws)
    steps: list[Step] = [("store", "posted 0", "1"), ("store", "moved 0", "1")]
    if flaws.get("move", {}).get("fence", True):
        steps.append(("fence",))
    steps += [("wait if used", str(other)) for other in range(1, n)]
    return [
        *steps,
        ("return",),
        ("failed",),
        *withdraw(0, [*range(1, n)], **flaws.get("withdraw", {})),
    ]


class Model:
    """All states that the ranks of some programs reach."""

    def __init__(self, programs: list[list[Step]]) -> None:
        self.programs = programs

    def touched_after_return(self) -> str:
        """Go through all states; return what is wrong in the first bad one, or ""."""
        start: State = (tuple(Rank() for _ in self.programs), ())
        seen, left = {start}, [start]
        while left:
            for state in self._next(left.pop()):
                if state in seen:
                    continue
                for rank, ranks in enumerate(state[0]):
                    owner = ranks.touches
                    if owner and state[0][int(owner)].at == RETURNED:
                        return f"rank {rank} touches buffers of rank {owner}, which has returned"
                seen.add(state)
                left.append(state)
        self.states = len(seen)
        return ""

    def _next(self, state: State) -> list[State]:
        ranks, memory = state
        found: list[State] = []
        for me, rank in enumerate(ranks):
            if rank.stores:
                word, value = rank.stores[0]
                written = dict(memory) | {word: value}
                found.append(
                    self._with(ranks, me, Rank(rank.at, rank.stores[1:], rank.touches), written)
                )
            if isinstance(rank.at, int):
                # Others learn of a death after what it had stored was written.
                found.append(self._with(ranks, me, Rank(DEAD), dict(memory) | dict(rank.stores)))
                for next_rank in self._steps(me, rank, ranks, dict(memory)):
                    found.append(self._with(ranks, me, next_rank, dict(memory)))
        return found

    @staticmethod
    def _with(ranks: tuple[Rank, ...], me: int, rank: Rank, memory: dict[str, int]) -> State:
        changed = (*ranks[:me], rank, *ranks[me + 1 :])
        return changed, tuple(sorted((word, value) for word, value in memory.items() if value))

    def _steps(
        self, me: int, rank: Rank, ranks: tuple[Rank, ...], memory: dict[str, int]
    ) -> list[Rank]:
        """Do the next step of a rank: what it can be after that."""
        assert isinstance(rank.at, int)
        program = self.programs[me]
        kind, *words = program[rank.at]

        def load(word: str) -> int:
            for stored, value in reversed(rank.stores):
                if stored == word:
                    return value
            return memory.get(word, 0)

        def go(
            at: int | str = rank.at + 1,
            stores: tuple[tuple[str, int], ...] = rank.stores,
            touches: str = rank.touches,
        ) -> Rank:
            return Rank(at, stores, touches)

        failed = program.index(("failed",)) + 1

        def is_used(other: str) -> bool:
            used = load(f"uses {other}") and not load(f"done {other}")
            return bool(used) and ranks[int(other)].at != DEAD

        match kind:
            case "store":
                return [go(stores=(*rank.stores, (words[0], int(words[1]))))]
            case "fence":
                return [] if rank.stores else [go()]
            case "wait":  # or the time is up
                return [go(failed), *([go()] if load(words[0]) else [])]
            case "wait if used":
                if load(f"uses {words[0]}") and not load(f"done {words[0]}"):
                    return [go(failed)]
                return [go()]
            case "until unused":
                return [] if is_used(words[0]) else [go()]
            case "may use":
                return [go(failed if load(f"gave up {words[0]}") else rank.at + 1)]
            case "touch":
                return [go(touches=words[0])]
            case "touch source":  # the root's, or a copy that stays
                return [go(touches="" if load("moved 0") else "0")]
            case "touched":
                return [go(touches="")]
            case _:
                assert kind == "return"
                return [go(RETURNED)]


@pytest.mark.parametrize(
    ("call", "ranks"),
    [
        (reduction, 2),
        (root_waits, 2),
        (root_waits, 3),
        (root_moves, 2),
        (root_moves, 3),
        pytest.param(reduction, 3, marks=pytest.mark.full),
    ],
)
def test_nobody_touches_buffers_of_a_call_that_has_returned(
    call: Callable[..., list[Step]], ranks: int
) -> None:
    model = Model([call(me, ranks) for me in range(ranks)])
    assert model.touched_after_return() == ""
    assert model.states > 100


FLAWS = {
    "the owner does not wait": {"withdraw": {"waits": False}},
    "the owner does not fence": {"withdraw": {"fence": False}},
    "the user does not look": {"use": {"checks": False}},
    "the user does not fence": {"use": {"fence": False}},
}


@pytest.mark.parametrize("flaw", FLAWS)
@pytest.mark.parametrize("call", [reduction, root_waits])
def test_each_part_of_the_rule_is_needed(call: Callable[..., list[Step]], flaw: str) -> None:
    model = Model([call(me, 2, **FLAWS[flaw]) for me in range(2)])
    assert "which has returned" in model.touched_after_return()


def test_the_root_that_moves_its_source_needs_a_fence() -> None:
    model = Model([root_moves(me, 2, move={"fence": False}) for me in range(2)])
    assert "which has returned" in model.touched_after_return()
