# SPDX-License-Identifier: BSD-3-Clause
"""A core of the Vector Engine for tests, through ctypes, and its code as words."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterable
from dataclasses import dataclass

from tests.support.builds import c_program

u64 = ctypes.c_uint64
# b.l (, %s10)
RETURN = 0x190F008A00000000
FLAGS = {"INX": 1, "INV": 2, "XOF": 4, "FUF": 8, "FOF": 16, "DIV": 32}


class _Field(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("offset", ctypes.c_size_t)]


class _Info(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_char_p) for name in ("name", "mnemonic", "operands", "meaning")),
        ("mask", u64),
        ("match", u64),
        *((name, ctypes.c_uint8) for name in ("format", "masking", "causes")),
    ]


@dataclass(frozen=True)
class Operation:
    """A row of the table of instructions."""

    name: str
    mnemonic: str
    operands: str
    mask: int
    match: int


class Core:
    """A core with three pages for its code; to be closed."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(str(c_program("tests/veo/support/core.so", "plain")))
        self.library.ve_core_create.restype = ctypes.c_void_p
        self.library.ve_operation_info.restype = ctypes.POINTER(_Info)
        self.library.ve_core_run.restype = ctypes.c_bool
        self.library.ve_core_step.restype = ctypes.c_bool
        self.library.ve_core_psw.restype = u64
        self.library.ve_fault_name.restype = ctypes.c_char_p
        self.library.ve_disassemble.restype = ctypes.c_size_t
        self.handle = ctypes.c_void_p(self.library.ve_core_create())
        assert self.handle.value is not None
        self.offsets = self._read_offsets()
        self.s = (u64 * 64).from_address(self.handle.value + self.offsets["s"])
        self.vl = ctypes.c_uint32.from_address(self.handle.value + self.offsets["vl"])
        self.fault = ctypes.c_uint32.from_address(self.handle.value + self.offsets["fault"])
        self._pages = mmap.mmap(-1, 3 * mmap.PAGESIZE)
        self._words = (u64 * (len(self._pages) // 8)).from_buffer(self._pages)
        self.code = ctypes.addressof(self._words)

    def _read_offsets(self) -> dict[str, int]:
        fields = (_Field * 64).in_dll(self.library, "core_fields")
        offsets = {}
        for field in fields:
            if field.name is None:
                break
            offsets[field.name.decode()] = field.offset
        return offsets

    def close(self) -> None:
        self.library.ve_core_destroy(self.handle)

    def operations(self) -> list[Operation]:
        """List the table of instructions."""
        count = ctypes.c_uint32.in_dll(self.library, "operation_count").value
        rows = (self.library.ve_operation_info(number).contents for number in range(count))
        return [
            Operation(
                row.name.decode(), row.mnemonic.decode(), row.operands.decode(), row.mask, row.match
            )
            for row in rows
        ]

    def disassemble(self, word: int) -> str:
        text = ctypes.create_string_buffer(96)
        self.library.ve_disassemble(u64(word), text, ctypes.c_size_t(96))
        return text.value.decode()

    def run(self, words: Iterable[int]) -> bool:
        """Run words, after which the program returns."""
        self._write(words)
        return bool(self.library.ve_core_run(self.handle, u64(self.code)))

    def step_through(self, words: Iterable[int]) -> bool:
        """Run words one at a time."""
        base = self.handle.value or 0
        u64.from_address(base + self.offsets["ic"]).value = self.code
        halted = ctypes.c_bool(False)
        for _ in range(self._write(words) - 1):
            if not self.library.ve_core_step(self.handle, ctypes.byref(halted)):
                return False
        return True

    def _write(self, words: Iterable[int]) -> int:
        """Write words and a return; return their count."""
        code = [*words, RETURN]
        for i, word in enumerate(code):
            self._words[i] = word
        self.library.ve_code_changed()
        return len(code)

    def set_psw(self, value: int) -> None:
        self.library.ve_core_set_psw(self.handle, u64(value))

    def psw(self) -> int:
        return int(self.library.ve_core_psw(self.handle))

    def fault_name(self) -> str:
        """Name why the last run stopped."""
        return str(self.library.ve_fault_name(self.fault.value).decode())

    def set_communication(self, count: int) -> ctypes.Array[u64]:
        """Give the core communication registers."""
        self._communication = (u64 * count)()
        base = self.handle.value or 0
        u64.from_address(base + self.offsets["communication"]).value = ctypes.addressof(
            self._communication
        )
        ctypes.c_uint32.from_address(base + self.offsets["communication_count"]).value = count
        return self._communication
