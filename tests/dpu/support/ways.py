# SPDX-License-Identifier: BSD-3-Clause
"""Machines in the same state, each of which is run in another way, which must not show."""

from __future__ import annotations

import ctypes
import random

import numpy as np

from tests.dpu.support import native
from tests.dpu.support.native import NativeMachine

# The first is what others are compared with.
WAYS = ("turns", "steps", "drift", "translated", "counted", "observed")
ENGINES = {"drift": native.ENGINE_DRIFT, "translated": native.ENGINE_TRANSLATED}
RESULT = [field[0] for field in native.RunResult._fields_ if field[0] != "thread_instructions"]
IRAM, ATOMIC_BITS = 4096, 256
SECONDS = 300


class Ways:
    """Machines with so many tasklets, of which MRAM bytes are looked at; to be closed."""

    def __init__(self, library: ctypes.CDLL, tasklets: int, mram: int) -> None:
        self.tasklets, self.mram = tasklets, mram
        self.of = {way: NativeMachine(library, 0, tasklets) for way in WAYS}
        self.first = self.of[WAYS[0]]
        self.counts = {way: self.of[way].count() for way in ("counted", "observed")}
        self.of["observed"].observe()
        self.instructions = 0
        for way, machine in self.of.items():
            machine.set_options(engine=ENGINES.get(way, native.ENGINE_TURNS))

    def close(self) -> None:
        for machine in self.of.values():
            machine.close()

    def set_options(self, **options: int) -> bool:
        """Change options of all; False, and nothing has changed, if they contradict each other."""
        return all(machine.try_options(**options) for machine in self.of.values())

    def load(self, words: list[int], wram: bytes, mram: bytes) -> None:
        """Give all the same program and memories, and nothing of what was before."""
        for machine in self.of.values():
            machine.clear_fault()
            machine.run_bits = []
            for bit in range(ATOMIC_BITS):
                machine.set_atomic(bit, False)
            for tasklet in range(self.tasklets):
                machine.set_thread(tasklet, [0] * native.REGISTERS, 0, False, False, False)
            machine.set_counter(0, 3)
            machine.load(words + [0] * (IRAM - len(words)))
            machine.wram[:] = wram
            machine.mram[: self.mram] = mram

    def launch(self, rng: random.Random, *, translates: bool, most: int = 5000) -> None:
        """Launch all; up to MOST rounds are a step. What is not translated is drift."""
        for way, machine in self.of.items():
            machine.boot()
            if way == "steps":
                largest = rng.choice([3, 100, most])
                while machine.step_rounds(rng.randrange(1, largest)) == native.STEPPED:
                    pass
            elif way in ENGINES:
                self._run_in_slices(machine, rng, translates and way == "translated")
            else:
                machine.run()
        self.instructions += self.first.result.instructions

    @staticmethod
    def _run_in_slices(machine: NativeMachine, rng: random.Random, translates: bool) -> None:
        status = native.STEPPED
        while status in (native.STEPPED, native.INTERRUPTED):
            if translates:
                assert machine.translate(SECONDS)
            if rng.random() < 0.2:
                machine.interrupt()
            status = machine.slice(rng.choice([4096, 8192, 12288]))

    def check(self, about: str) -> None:
        """Compare all that can be seen of them, and what observers were told."""
        wanted = self._seen(self.first)
        for way, machine in self.of.items():
            seen = self._seen(machine)
            differ = {key: (wanted[key], seen[key]) for key in wanted if wanted[key] != seen[key]}
            assert not differ, f"{about}: {way}"
            assert machine.wram == self.first.wram, f"{about}: {way}: WRAM"
            mine, first = machine.mram[: self.mram], self.first.mram[: self.mram]
            assert mine == first, f"{about}: {way}: MRAM"
        self._check_observers(about)

    def _seen(self, machine: NativeMachine) -> dict[str, object]:
        seen: dict[str, object] = {name: getattr(machine.result, name) for name in RESULT}
        for tasklet in range(self.tasklets):
            seen[f"tasklet {tasklet}"] = bytes(machine.thread(tasklet))
            seen[f"count {tasklet}"] = machine.result.thread_instructions[tasklet]
        seen |= {"run bits": machine.run_bits, "atomic": machine.atomic}
        return seen | {"counter": machine.counter}

    def _check_observers(self, about: str) -> None:
        rows = []
        for way, counts in self.counts.items():
            row = np.frombuffer(counts, np.uint64).reshape(self.tasklets, -1, 2)
            rows.append(np.cumsum(row, axis=1, dtype=np.uint64)[:, :IRAM])
            assert rows[-1][:, :, 0].sum() == self.instructions, f"{about}: {way}"
        assert np.array_equal(*rows), f"{about}: counts"
        assert self.of["observed"].observed().instructions == self.instructions, about
