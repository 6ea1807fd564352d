# SPDX-License-Identifier: BSD-3-Clause
"""The simulator's machine, built from its sources, as ctypes sees it."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterable

from buildtools.c_lists import read_list
from tests.support.builds import ROOT, c_program

SOURCES = ROOT / "csrc" / "dpu"

NO_FORM = 0xFFFF_FFFF
ACCOUNTING_PIPELINE, ACCOUNTING_VENDOR = 0, 1
DONE, FAULT, INTERRUPTED, CYCLE_LIMIT, STEPPED = range(5)
ENGINE_AUTO, ENGINE_TURNS, ENGINE_DRIFT, ENGINE_TRANSLATED, ENGINE_LOCKSTEP = range(5)
FAULT_KINDS = {0: None, 1: "bkp", 2: "dma", 3: "mem", 4: "undecodable"}
TASKLETS, REGISTERS, OPERANDS = 24, 24, 6
TASKLETS_ROOM = 64

u8, u32, u64 = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64

TYPES = {"uint32_t": u32, "uint64_t": u64}
OPTIONS = read_list("csrc/dpu/machine/options.h", "DPU_MACHINE_NUMBERS")


class Options(ctypes.Structure):
    _fields_ = [
        ("size", u32),
        ("architecture", u32),
        ("accounting", u32),
        ("engine", u32),
        ("clock_mhz", u32),
        *((field, TYPES[kind]) for _, kind, field, *_ in OPTIONS),
    ]


class RunResult(ctypes.Structure):
    _fields_ = [
        ("status", u32),
        ("fault", u32),
        ("fault_thread", u32),
        ("fault_pc", u32),
        ("breakpoint", u32),
        ("fault_address", u32),
        ("fault_detail", u32),
        ("fault_bytes", u32),
        ("cycles", u64),
        ("rounds", u64),
        ("instructions", u64),
        ("dma_read_bytes", u64),
        ("dma_write_bytes", u64),
        ("cache_hits", u64),
        ("cache_misses", u64),
        ("cache_write_backs", u64),
        ("cache_fill_bytes", u64),
        ("thread_instructions", u64 * TASKLETS_ROOM),
    ]


class ThreadState(ctypes.Structure):
    _fields_ = [
        ("registers", u32 * REGISTERS),
        ("pc", u32),
        ("zero", u8),
        ("carry", u8),
        ("running", u8),
        ("reserved", u8),
    ]


class CounterState(ctypes.Structure):
    _fields_ = [("value", u64), ("mode", u32), ("reserved", u32)]


class Decoded(ctypes.Structure):
    _fields_ = [("form", u32), ("operand_count", u32), ("values", ctypes.c_int64 * OPERANDS)]


class FormInfo(ctypes.Structure):
    _fields_ = [
        ("mnemonic", ctypes.c_char_p),
        ("form", ctypes.c_char_p),
        ("condition_class", ctypes.c_char_p),
        ("mask", u64),
        ("match", u64),
        ("canon", u64),
        ("destination", u32),
        ("flags", u32),
        ("documented", u32),
        ("operand_count", u32),
        ("operands", u32 * OPERANDS),
        ("widths", u32 * OPERANDS),
        ("is_signed", u32 * OPERANDS),
    ]


class Totals(ctypes.Structure):
    _fields_ = [
        (name, u64)
        for name in (
            *("compiled", "loaded", "failed"),
            *("compile_ns", "code_bytes", "source_bytes"),
        )
    ]


class Observed(ctypes.Structure):
    """Numbers of events that an observer was told of."""

    _fields_ = [(name, u64) for name in ("instructions", "accesses", "transfers", "lines")]


STRUCTURES = {
    "dpu_machine_options": Options,
    "dpu_run_result": RunResult,
    "dpu_thread_state": ThreadState,
    "dpu_counter_state": CounterState,
    "dpu_instruction": Decoded,
    "dpu_form_info": FormInfo,
    "dpu_translate_totals": Totals,
    "observed": Observed,
}

TRUTHS = [
    "dpu_decode",
    "dpu_encode",
    "dpu_form_info",
    "dpu_form_matches",
    "dpu_machine_read_iram",
    "dpu_machine_write_iram",
    "dpu_machine_get_thread",
    "dpu_machine_set_thread",
    "dpu_machine_set_atomic",
    "dpu_machine_get_atomic",
    "dpu_machine_set_counter",
    "dpu_machine_set_options",
    "dpu_translate_wait",
    "dpu_lockstep_can",
    "dpu_lockstep_match",
]


class StructureSize(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("size", ctypes.c_size_t)]


def load() -> ctypes.CDLL:
    """Load the machine; AssertionError if a structure is not as it is here."""
    loaded = ctypes.CDLL(str(c_program("tests/dpu/support/machine.so", "plain")))
    sizes = (StructureSize * len(STRUCTURES)).in_dll(loaded, "structure_sizes")
    found = {item.name.decode(): item.size for item in sizes}
    assert found == {name: ctypes.sizeof(structure) for name, structure in STRUCTURES.items()}
    loaded.dpu_translate_wait.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    loaded.dpu_translate_lanes.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    loaded.dpu_translate_lanes.restype = ctypes.c_void_p
    loaded.dpu_machine_create.restype = ctypes.c_void_p
    loaded.observe_all.restype = ctypes.c_void_p
    loaded.dpu_machine_wram.restype = ctypes.c_void_p
    loaded.dpu_machine_mram.restype = ctypes.c_void_p
    loaded.dpu_machine_get_run_bits.restype = u64
    loaded.dpu_condition_name.restype = ctypes.c_char_p
    loaded.dpu_machine_engine_name.restype = ctypes.c_char_p
    loaded.dpu_form_find.restype = u32
    for name in TRUTHS:
        getattr(loaded, name).restype = ctypes.c_bool
    return loaded


class NativeMachine:
    """A simulated DPU; to be closed."""

    def __init__(self, library: ctypes.CDLL, accounting: int, tasklets: int = 0) -> None:
        self.library = library
        options = Options()
        library.dpu_machine_default_options(ctypes.byref(options))
        options.accounting = accounting
        options.max_cycles = 100_000_000
        options.tasklets = tasklets
        self.handle = ctypes.c_void_p(library.dpu_machine_create(ctypes.byref(options)))
        assert self.handle.value is not None
        self.tasklets = tasklets or TASKLETS
        self._observer: int | None = None
        wram = library.dpu_machine_wram(self.handle, 0, 65536, True)
        self.wram = memoryview((u8 * 65536).from_address(wram)).cast("B")
        mram = library.dpu_machine_mram(self.handle, 0, 64 << 20, True)
        self.mram = memoryview((u8 * (64 << 20)).from_address(mram)).cast("B")
        self.result = RunResult()
        self._state = ThreadState()

    def try_options(self, **fields: int) -> bool:
        """Change options: `engine`, `max_cycles`, `switches`; False if they contradict others."""
        options = Options()
        self.library.dpu_machine_get_options(self.handle, ctypes.byref(options))
        for name, value in fields.items():
            setattr(options, name, value)
        return bool(self.library.dpu_machine_set_options(self.handle, ctypes.byref(options)))

    def set_options(self, **fields: int) -> None:
        """Change options, which are possible."""
        assert self.try_options(**fields)

    def count(self) -> ctypes.Array[u64]:
        """Count instructions and their cycles from now on, by tasklet and place; see observe.h."""
        counts = (u64 * (2 * (4096 + 2) * self.tasklets))()
        self.library.dpu_machine_count(self.handle, counts)
        return counts

    def observe(self) -> None:
        """Have all that happens told to an observer from now on."""
        self._observer = self.library.observe_all(self.handle)
        assert self._observer

    def observed(self) -> Observed:
        """Tell what the observer was told so far."""
        told = Observed()
        self.library.get_observed(ctypes.c_void_p(self._observer), ctypes.byref(told))
        return told

    def close(self) -> None:
        if self._observer is not None:
            self.library.unobserve(self.handle, ctypes.c_void_p(self._observer))
        self.wram.release()
        self.mram.release()
        self.library.dpu_machine_destroy(self.handle)

    def load(self, words: Iterable[int], start: int = 0) -> None:
        data = list(words)
        array = (u64 * len(data))(*data)
        wrote = self.library.dpu_machine_write_iram(
            self.handle, start, array, ctypes.c_size_t(len(data))
        )
        assert wrote

    def iram(self) -> list[int]:
        words = (u64 * 4096)()
        assert self.library.dpu_machine_read_iram(self.handle, 0, words, ctypes.c_size_t(4096))
        return list(words)

    def thread(self, tasklet: int) -> ThreadState:
        """Read the state of a tasklet; it is valid until the next call."""
        state = self._state
        assert self.library.dpu_machine_get_thread(self.handle, tasklet, ctypes.byref(state))
        return state

    def set_thread(
        self, tasklet: int, registers: list[int], pc: int, zero: bool, carry: bool, running: bool
    ) -> None:
        state = ThreadState((u32 * REGISTERS)(*registers), pc, zero, carry, running, 0)
        assert self.library.dpu_machine_set_thread(self.handle, tasklet, ctypes.byref(state))

    @property
    def run_bits(self) -> set[int]:
        bits = self.library.dpu_machine_get_run_bits(self.handle)
        return {bit for bit in range(64) if bits >> bit & 1}

    @run_bits.setter
    def run_bits(self, bits: Iterable[int]) -> None:
        self.library.dpu_machine_set_run_bits(self.handle, u64(sum(1 << bit for bit in bits)))

    @property
    def atomic(self) -> set[int]:
        value = ctypes.c_bool()
        found = set()
        for bit in range(256):
            self.library.dpu_machine_get_atomic(self.handle, bit, ctypes.byref(value))
            if value.value:
                found.add(bit)
        return found

    def set_atomic(self, bit: int, value: bool) -> None:
        assert self.library.dpu_machine_set_atomic(self.handle, bit, ctypes.c_bool(value))

    @property
    def counter(self) -> int:
        state = CounterState()
        self.library.dpu_machine_get_counter(self.handle, ctypes.byref(state))
        return int(state.value)

    def set_counter(self, value: int, mode: int) -> None:
        state = CounterState(value, mode, 0)
        assert self.library.dpu_machine_set_counter(self.handle, ctypes.byref(state))

    def step(self, tasklet: int) -> int:
        """Execute one instruction of a tasklet."""
        return int(
            self.library.dpu_machine_step_thread(self.handle, tasklet, ctypes.byref(self.result))
        )

    def round(self) -> int:
        """Execute one instruction of every tasklet that runs."""
        return int(self.library.dpu_machine_step(self.handle, u64(1), ctypes.byref(self.result)))

    def step_rounds(self, rounds: int) -> int:
        """Execute so many rounds, as debuggers do."""
        return int(
            self.library.dpu_machine_step(self.handle, u64(rounds), ctypes.byref(self.result))
        )

    def run(self) -> int:
        return int(self.library.dpu_machine_run(self.handle, ctypes.byref(self.result)))

    def launch(self) -> int:
        return int(self.library.dpu_machine_launch(self.handle, ctypes.byref(self.result)))

    def slice(self, rounds: int) -> int:
        """Go on to the next multiple of ROUNDS since the boot."""
        return int(
            self.library.dpu_machine_slice(self.handle, u64(rounds), ctypes.byref(self.result))
        )

    def boot(self) -> None:
        self.library.dpu_machine_boot(self.handle)

    def interrupt(self) -> None:
        self.library.dpu_machine_interrupt(self.handle)

    def translate(self, seconds: int) -> bool:
        """Have its program translated, and wait for it."""
        deadline = time.monotonic_ns() + seconds * 1_000_000_000
        return bool(self.library.dpu_translate_wait(self.handle, deadline))

    def translations(self) -> Totals:
        """Tell what was translated in this process."""
        totals = Totals()
        self.library.dpu_translate_get_totals(ctypes.byref(totals))
        return totals

    @property
    def engine_name(self) -> str:
        return str(self.library.dpu_machine_engine_name(self.handle).decode())

    def clear_fault(self) -> None:
        self.library.dpu_machine_clear_fault(self.handle)


def slice_together(machines: list[NativeMachine], rounds: int, seconds: int) -> bool:
    """Let machines with the same program go on in lockstep; False if they cannot."""
    library, first = machines[0].library, machines[0].handle
    if not all(
        library.dpu_lockstep_can(machine.handle)
        and library.dpu_lockstep_match(first, machine.handle)
        for machine in machines
    ):
        return False
    code = library.dpu_translate_lanes(first, time.monotonic_ns() + seconds * 1_000_000_000)
    if code is None or len(machines) > library.dpu_translate_lanes_of_host():
        return False
    count = len(machines)
    handles = (ctypes.c_void_p * count)(*(machine.handle.value for machine in machines))
    results = (ctypes.POINTER(RunResult) * count)(
        *(ctypes.pointer(machine.result) for machine in machines)
    )
    library.dpu_lockstep_slice(handles, u32(count), u64(rounds), ctypes.c_void_p(code), results)
    return True
