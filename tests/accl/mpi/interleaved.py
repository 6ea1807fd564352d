# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of several threads and communicators, and a model of which of them end.

A program has a list of steps for each thread of each rank. A step starts a call, makes a call and
waits for it, or waits for a call that was started. Calls use memory of their own, so the order of
those of a rank is that of their communicators alone: sends to one rank, receives from one rank that
a message could be for, and collectives keep theirs, and a barrier keeps it with all calls of its
communicator. Threads of a rank have communicators of their own.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field

__all__ = ["COMMUNICATORS", "Call", "Program", "Step", "expect", "make_program", "members"]

# Communicator 0 has all ranks, 1 and 3 too, 2 the first two; the second thread has the last.
COMMUNICATORS = 4
ANY = -1
COLLECTIVES = ("allreduce", "allgather", "barrier")
# Messages that all rx buffers of a rank hold: more are never sent to it in one program.
SHORT_MESSAGES = 12


def members(comm: int, ranks: int) -> list[int]:
    """List the ranks of a communicator."""
    return list(range(min(2, ranks))) if comm == 2 else list(range(ranks))


@dataclass
class Call:
    """A call of one rank; `number` is the same for what belongs together."""

    kind: str  # send, recv, or one of COLLECTIVES
    comm: int
    number: int
    other: int = 0  # the other side of a message, by its place in the communicator
    tag: int = ANY
    large: bool = False


@dataclass
class Step:
    """A step of a thread: start, call or wait."""

    what: str
    call: Call


# [rank][thread]: steps
Program = list[list[list[Step]]]


def _events(rng: random.Random, ranks: int, length: int) -> list[tuple[int, Call]]:
    """Make calls that belong together, as pairs of a rank and its call, in an order that ends."""
    large = {}
    short: dict[int, int] = defaultdict(int)
    made = []
    for number in range(length):
        comm = rng.randrange(COMMUNICATORS)
        group = members(comm, ranks)
        if rng.random() < 0.3:
            kind = rng.choice(COLLECTIVES)
            made += [(rank, Call(kind, comm, number)) for rank in group]
            continue
        src, dst = rng.randrange(len(group)), rng.randrange(len(group))
        pair = (comm, src, dst)
        if pair not in large:
            large[pair] = src != dst and rng.random() < 0.3
        short[group[dst]] += not large[pair]
        if short[group[dst]] > SHORT_MESSAGES:
            continue
        tag = rng.choice((ANY, 1, 2))
        matches = rng.choice((tag, ANY)) if tag != ANY else rng.choice((ANY, 1, 2))
        made.append((group[src], Call("send", comm, number, dst, tag, large[pair])))
        made.append((group[dst], Call("recv", comm, number, src, matches, large[pair])))
    return made


def make_program(seed: int, ranks: int, length: int = 14) -> Program:
    """Make a program, which may end or not: see `expect()`."""
    rng = random.Random(seed * 64 + ranks)
    calls: list[list[list[Call]]] = [[[], []] for _ in range(ranks)]
    for rank, call in _events(rng, ranks, length):
        calls[rank][call.comm == COMMUNICATORS - 1].append(call)

    program: Program = []
    for threads in calls:
        program.append([])
        for own in threads:
            # Neighbours change places, now and then.
            for i in range(len(own) - 1):
                if rng.random() < 0.3:
                    own[i], own[i + 1] = own[i + 1], own[i]
            steps: list[Step] = []
            started: list[Call] = []
            for call in own:
                later = call.kind != "barrier" and rng.random() < 0.6
                steps.append(Step("start" if later else "call", call))
                if later:
                    started.append(call)
                while started and rng.random() < 0.3:
                    steps.append(Step("wait", started.pop(rng.randrange(len(started)))))
            rng.shuffle(started)
            steps += [Step("wait", call) for call in started]
            program[-1].append(steps)
    return program


@dataclass
class _Model:
    """Executes a program, step by step, until nothing can go on."""

    program: Program
    at: list[list[int]] = field(init=False)
    # Calls of a rank that are not finished, in the order of their submission.
    open: list[list[Call]] = field(init=False)
    # Messages on their way, by communicator, source and destination, in order: sends.
    sent: dict[tuple[int, int, int], list[Call]] = field(init=False)
    done: set[int] = field(default_factory=set)  # by id()
    posted: set[int] = field(default_factory=set)  # large sends that are offered
    taken: dict[int, int] = field(default_factory=dict)  # id() of a receive: number of the send

    def __post_init__(self) -> None:
        self.at = [[0] * len(threads) for threads in self.program]
        self.open = [[] for _ in self.program]
        self.sent = defaultdict(list)

    def steps(self, rank: int, thread: int) -> bool:
        """Do what a thread can; whether that was anything."""
        steps, moved = self.program[rank][thread], False
        while self.at[rank][thread] < len(steps):
            step = steps[self.at[rank][thread]]
            known = id(step.call) in self.done or any(c is step.call for c in self.open[rank])
            if step.what != "wait" and not known:
                self.open[rank].append(step.call)
                moved = True
            if step.what != "start" and id(step.call) not in self.done:
                break
            self.at[rank][thread] += 1
            moved = True
        return moved

    def may_start(self, rank: int, call: Call) -> bool:
        """Return whether no earlier call of the rank is in the way."""
        for earlier in self.open[rank]:
            if earlier is call:
                return True
            if earlier.comm != call.comm:
                continue
            if "barrier" in (earlier.kind, call.kind):
                return False
            if earlier.kind in COLLECTIVES and call.kind in COLLECTIVES:
                return False
            if earlier.kind == call.kind and earlier.other == call.other:
                tags = (earlier.tag, call.tag)
                if call.kind == "send" or tags[0] == tags[1] or ANY in tags:
                    return False
        raise AssertionError("the call is not open")

    def end(self, rank: int, call: Call) -> None:
        self.done.add(id(call))
        self.open[rank] = [other for other in self.open[rank] if other is not call]

    def go_on(self, rank: int, call: Call, place: int) -> bool:
        """Execute a call as far as possible; whether that was anything."""
        if not self.may_start(rank, call):
            return False
        if call.kind == "send":
            moved = id(call) not in self.posted
            if moved:
                self.posted.add(id(call))
                self.sent[call.comm, place, call.other].append(call)
            if not call.large:
                self.end(rank, call)
            return moved
        if call.kind == "recv":
            queue = self.sent[call.comm, call.other, place]
            if not queue or not (ANY in (queue[0].tag, call.tag) or queue[0].tag == call.tag):
                return False
            message = queue.pop(0)
            self.taken[id(call)] = message.number
            self.end(rank, call)
            if message.large:
                group = members(call.comm, len(self.program))
                self.end(group[call.other], message)
            return True
        return self.meet(call)

    def meet(self, call: Call) -> bool:
        """End a collective that all members have come to."""
        group = members(call.comm, len(self.program))
        there = []
        for rank in group:
            mine = [c for c in self.open[rank] if c.comm == call.comm and c.kind in COLLECTIVES]
            if not mine or not self.may_start(rank, mine[0]):
                return False
            there.append((rank, mine[0]))
        for rank, own in there:
            self.end(rank, own)
        return True

    def run(self) -> bool:
        """Return whether the program ends."""
        moved = True
        while moved:
            moved = False
            for rank, threads in enumerate(self.program):
                for thread in range(len(threads)):
                    moved |= self.steps(rank, thread)
                for call in list(self.open[rank]):
                    group = members(call.comm, len(self.program))
                    if any(call is c for c in self.open[rank]):
                        moved |= self.go_on(rank, call, group.index(rank))
        return all(
            self.at[rank][thread] == len(steps)
            for rank, threads in enumerate(self.program)
            for thread, steps in enumerate(threads)
        )


def collectives_agree(program: Program) -> bool:
    """Return whether all members make the collectives of a communicator in the same order."""
    ranks = len(program)
    for comm in range(COMMUNICATORS):
        orders = set()
        for rank in members(comm, ranks):
            calls = [
                step.call.number
                for thread in program[rank]
                for step in thread
                if step.what != "wait" and step.call.comm == comm and step.call.kind in COLLECTIVES
            ]
            orders.add(tuple(calls))
        if len(orders) > 1:
            return False
    return True


def expect(program: Program) -> dict[int, int] | None:
    """Say which send, by its number, each receive takes, by ``id(call)``; None for a deadlock."""
    model = _Model(program)
    return model.taken if model.run() else None
