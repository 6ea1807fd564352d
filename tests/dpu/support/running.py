# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs on the machine, without the library that does so for users."""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path
from types import TracebackType

from dpu.elf.format import IRAM_BASE, MRAM_BASE, SectionType
from dpu.elf.reader import ElfFile
from tests.dpu.support.native import NativeMachine

VENDOR_ACCOUNTING = 1
KERNELS = Path(__file__).resolve().parents[1] / "toolchain" / "kernels"
SEED = int(os.environ.get("OFFCHIP_TEST_SEED", "20261121"))


class Running:
    """A program on a machine of its own; to be used in `with`."""

    def __init__(self, library: ctypes.CDLL, elf: bytes) -> None:
        self.file = ElfFile(elf)
        self.machine = NativeMachine(library, VENDOR_ACCOUNTING)
        for section in self.file.sections:
            if not section.is_allocated or section.type == SectionType.NOBITS or not section.size:
                continue
            data = section.data
            if section.address >= IRAM_BASE:
                self.machine.load(struct.unpack(f"<{len(data) // 8}Q", data))
            elif section.address >= MRAM_BASE:
                start = section.address - MRAM_BASE
                self.machine.mram[start : start + len(data)] = data
            else:
                self.machine.wram[section.address : section.address + len(data)] = data

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.machine.close()

    def _memory(self, name: str) -> tuple[memoryview, int, int]:
        symbol = self.file.symbol(name)
        if symbol.value >= MRAM_BASE:
            return self.machine.mram, symbol.value - MRAM_BASE, symbol.size
        return self.machine.wram, symbol.value, symbol.size

    def put(self, name: str, form: str, *values: int) -> None:
        """Write numbers from the start of a variable."""
        memory, start, size = self._memory(name)
        data = struct.pack(f"<{len(values)}{form}", *values)
        assert len(data) <= size, name
        memory[start : start + len(data)] = data

    def get(self, name: str, form: str) -> list[int]:
        """Read all of a variable as numbers."""
        memory, start, size = self._memory(name)
        return list(
            struct.unpack(f"<{size // struct.calcsize(form)}{form}", memory[start : start + size])
        )

    def launch(self) -> int:
        """Run to the end and return the status."""
        return self.machine.launch()
