# SPDX-License-Identifier: BSD-3-Clause
"""The memory layout of a program: the linker script, and checks of what fits.

WRAM starts with 8 bytes of zero, for null pointers, and the data that short addresses reach. Data,
host variables and the stacks of the tasklets follow; the rest is the heap.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...elf.format import MRAM_BASE, SymbolType
from ...elf.readable_name import readable_name
from ...elf.reader import ElfFile, ElfSection
from ..errors import ToolchainError
from ..options import COSTS
from ..stacks import Stacks

__all__ = [
    "ATOMIC_FIRST",
    "TEXT_BASE",
    "check_data",
    "check_text",
    "largest",
    "linker_script",
]

IMMEDIATE_MEMORY_SIZE = 2048
# The linker's address of code: any that is not one of data.
TEXT_BASE = 0x1000_0000
ATOMIC_SPACE, ATOMIC_FIRST, ATOMIC_COUNT = 0xF000_0000, 200, 256
_SHOWN = 5
_RUNTIME = "__sys_runtime_costs"
_CACHED = "__sys_cached_mram"

_SCRIPT = """ENTRY(main)
PHDRS {{ text PT_LOAD; wram PT_LOAD; mram PT_LOAD; atomic PT_LOAD; }}
SECTIONS {{
  NR_TASKLETS = {tasklets};
  STACK_SIZE_DEFAULT = {stack};
{runtime}{cached}{sizes}
  .text {text:#x} : {{ *(.text .text.*) }} :text
  .data 0 : {{
    QUAD(0)
    KEEP(*(.data.immediate_memory .data.immediate_memory.*))
    __imm_mem_end = .;
    KEEP(*(.data.__sys_keep))
    __sys_constructors = ALIGN(4);
    KEEP(*(SORT_BY_INIT_PRIORITY(.init_array.*)))
    KEEP(*(.init_array))
    __sys_constructors_end = .;
    *(.data .data.* .sdata .sdata.* .rodata .rodata.* .srodata .srodata.*)
    *(.bss .bss.[!.]* .bss..[!m]* .sbss .sbss.* COMMON)
    . = ALIGN(8);
    __sys_thread_stack_table_ptr = .;
    . = . + {table};
  }} :wram
  .data.__sys_host ALIGN(8) : {{ KEEP(*(.dpu_host .dpu_host.*)) . = ALIGN(8); }}
  .data.__sys_profiling ALIGN(8) : {{ KEEP(*(.data.__sys_profiling)) . = ALIGN(8); }}
  .data.stacks ALIGN(16) (NOLOAD) : {{
{stacks}
  }}
  __sys_heap_pointer_reset = ALIGN(8);
  __sys_heap_end = {wram};
  __sys_end = 0;
  .mram.noinit {mram:#x} (NOLOAD) : {{
    KEEP(*(.bss..mram.noinit.keep .mram.noinit.keep .mram.noinit.keep.*))
    *(.bss..mram.noinit.stdout)
    KEEP(*(.bss..mram.noinit .mram.noinit .mram.noinit.*))
    . = ALIGN(8);
  }} :mram
  .mram ALIGN(8) : {{ KEEP(*(.mram.keep .mram.keep.*)) KEEP(*(.mram .mram.*)) . = ALIGN(8); }}
  __sys_used_mram_end = .;
  .atomic {atomic:#x} (NOLOAD) : {{
    __atomic_start_addr = .;
    *(.atomic .atomic.*)
    __atomic_used_addr = .;
  }} :atomic
  /DISCARD/ : {{ *(.comment) *(.riscv.attributes) *(.note*) *(.eh_frame*) *(.llvm*) }}
}}
"""


def linker_script(stacks: Stacks, costs: str | None = None) -> str:
    """Return the linker script of a program.

    Parameters
    ----------
    stacks : Stacks
        Its tasklets and stacks.
    costs : str, optional
        One of `COSTS`, which libdpu finds in the program for its reports; None without the run
        time.
    """
    every = range(stacks.chip.table_rows)
    return _SCRIPT.format(
        tasklets=stacks.tasklets,
        stack=stacks.size,
        runtime="" if costs is None else f"  {_RUNTIME} = {1 + COSTS.index(costs)};\n",
        cached=f"  {_CACHED} = 1;\n" if stacks.chip.cache else "",
        sizes="\n".join(f"  STACK_SIZE_TASKLET_{t} = {stacks.of(t)};" for t in every),
        stacks="\n".join(f"    __sys_stack_thread_{t} = .; . = . + {stacks.of(t)};" for t in every),
        text=TEXT_BASE,
        table=8 * stacks.chip.table_rows,
        wram=stacks.chip.wram,
        mram=MRAM_BASE,
        atomic=ATOMIC_SPACE + ATOMIC_FIRST,
    )


def largest(entries: Iterable[tuple[str, int]], unit: str) -> str:
    """Return a list of the largest of named sizes."""
    ordered = sorted(entries, key=lambda entry: -entry[1])[:_SHOWN]
    return ", ".join(f"{readable_name(name)} ({size} {unit})" for name, size in ordered)


def _is_in(section: ElfSection | None, memory: str) -> bool:
    return section is not None and section.is_allocated and section.name.startswith(memory)


def _objects(linked: ElfFile, memory: str) -> list[tuple[str, int]]:
    objects = (symbol for symbol in linked.symbols if symbol.type == SymbolType.OBJECT)
    return [(s.name, s.size) for s in objects if _is_in(s.section, memory)]


def check_data(linked: ElfFile, stacks: Stacks) -> None:
    """Raise ToolchainError, with the largest variables, if data does not fit into its memory."""
    end = linked.symbol("__sys_heap_pointer_reset").value
    size = stacks.chip.wram
    if end > size:
        total = sum(stacks.of(tasklet) for tasklet in range(stacks.tasklets))
        parts = [*_objects(linked, ".data"), ("all stacks", total)]
        raise ToolchainError(
            f"WRAM overflows by {end - size} bytes: data and stacks need {end} of "
            f"{size}; the largest: {largest(parts, 'bytes')}"
        )

    end = linked.symbol("__imm_mem_end").value
    if end > IMMEDIATE_MEMORY_SIZE:
        raise ToolchainError(
            f"immediate memory overflows: its data needs {end} of {IMMEDIATE_MEMORY_SIZE} bytes"
        )

    end = linked.symbol("__sys_used_mram_end").value - MRAM_BASE
    size = stacks.chip.mram
    if end > size:
        raise ToolchainError(
            f"MRAM overflows by {end - size} bytes: data needs {end} of {size}; "
            f"the largest: {largest(_objects(linked, '.mram'), 'bytes')}"
        )

    used = linked.symbol("__atomic_used_addr").value - linked.symbol("__atomic_start_addr").value
    if used > ATOMIC_COUNT - ATOMIC_FIRST:
        raise ToolchainError(
            f"atomic bits overflow: the program has {used} of {ATOMIC_COUNT - ATOMIC_FIRST}"
        )


def check_text(count: int, functions: Iterable[tuple[str, int]], stacks: Stacks) -> None:
    """Raise ToolchainError, with the largest functions, if there are too many instructions."""
    size = stacks.chip.instructions
    if count > size:
        raise ToolchainError(
            f"IRAM overflows by {count - size} instructions: the program has {count} of "
            f"{size}; the largest: {largest(functions, 'instructions')}"
        )
