# SPDX-License-Identifier: BSD-3-Clause
"""The debugging functions of the soft twin; `dpu.debug` makes them convenient."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset
from dpu._chip cimport DPU_MACHINE_REGISTERS
from dpu._handle cimport SetHandle, SetView
from dpu._launch cimport report_of
from dpu.libdpu cimport (
    DPU_OK,
    DPUSOFT_STEPPED,
    dpu_error_t,
    dpu_set_t,
    dpusoft_report,
    dpusoft_thread,
)

__all__ = ["boot", "describe_fault", "get_thread", "go_on", "set_breakpoint", "set_thread", "step"]

cdef enum:
    EVERY_THREAD = 0xffffffff
    # Rounds between two looks at signals: some 10 ms.
    SLICE = 500_000


cdef SetHandle _enter(SetView view, str function):
    view.enter(function)
    try:
        view.handle.library.need(
            <const void *>view.handle.soft.dpusoft_debug_boot, "debugging a DPU"
        )
        view.wait_idle(function)
    except BaseException:
        view.leave()
        raise
    return view.handle


def boot(SetView dpu not None):
    """Begin a launch that waits before its first instruction."""
    cdef SetHandle handle = _enter(dpu, "dpusoft_debug_boot")
    cdef dpu_set_t c = dpu.c
    cdef dpu_error_t rc
    try:
        with nogil:
            rc = handle.soft.dpusoft_debug_boot(c)
        dpu.check(rc, "dpusoft_debug_boot")
    finally:
        dpu.leave()


def step(SetView dpu not None, uint32_t thread, uint64_t count):
    """Execute `count` instructions of a tasklet, or rounds of all (0xffffffff)."""
    cdef SetHandle handle = _enter(dpu, "dpusoft_debug_step")
    cdef dpu_set_t c = dpu.c
    cdef dpu_error_t rc
    cdef dpusoft_report report
    cdef uint64_t left = count
    cdef uint64_t part
    try:
        memset(&report, 0, sizeof(report))
        report.size = sizeof(report)
        while True:
            part = min(left, <uint64_t>SLICE)
            with nogil:
                rc = handle.soft.dpusoft_debug_step(c, thread, part, &report)
            dpu.check(rc, "dpusoft_debug_step")
            left -= part
            if left == 0 or report.status != DPUSOFT_STEPPED or not running(handle, c, thread):
                return report_of(&report)
            PyErr_CheckSignals()
    finally:
        dpu.leave()


cdef bint running(SetHandle handle, dpu_set_t c, uint32_t thread) noexcept:
    """Tell whether a tasklet has more to do; of all of them the report's status does."""
    cdef dpusoft_thread state
    if thread == EVERY_THREAD:
        return True
    memset(&state, 0, sizeof(state))
    state.size = sizeof(state)
    return handle.soft.dpusoft_debug_get_thread(c, thread, &state) == DPU_OK and state.running


def go_on(SetView dpu not None, uint64_t rounds):
    """Run until the end, a fault, a breakpoint, or for `rounds` (0: no limit)."""
    cdef SetHandle handle = _enter(dpu, "dpusoft_debug_continue")
    cdef dpu_set_t c = dpu.c
    cdef dpu_error_t rc = DPU_OK
    cdef dpusoft_report report
    cdef uint64_t left = rounds
    cdef uint64_t part
    try:
        memset(&report, 0, sizeof(report))
        report.size = sizeof(report)
        while True:
            part = SLICE if rounds == 0 else min(left, <uint64_t>SLICE)
            with nogil:
                rc = handle.soft.dpusoft_debug_continue(c, part, &report)
            dpu.check(rc, "dpusoft_debug_continue")
            left -= part
            if report.status != DPUSOFT_STEPPED or (rounds != 0 and left == 0):
                return report_of(&report)
            PyErr_CheckSignals()
    finally:
        dpu.leave()


def set_breakpoint(SetView dpu not None, uint32_t pc, bint enabled):
    """Set or remove a breakpoint at an instruction."""
    cdef SetHandle handle = _enter(dpu, "dpusoft_debug_set_breakpoint")
    cdef dpu_set_t c = dpu.c
    cdef dpu_error_t rc
    try:
        with nogil:
            rc = handle.soft.dpusoft_debug_set_breakpoint(c, pc, enabled)
        dpu.check(rc, "dpusoft_debug_set_breakpoint")
    finally:
        dpu.leave()


def get_thread(SetView dpu not None, uint32_t thread):
    """Get registers, pc, zero flag, carry flag and whether it runs."""
    cdef SetHandle handle = _enter(dpu, "dpusoft_debug_get_thread")
    cdef dpu_set_t c = dpu.c
    cdef dpu_error_t rc
    cdef dpusoft_thread state
    cdef int i
    try:
        memset(&state, 0, sizeof(state))
        state.size = sizeof(state)
        with nogil:
            rc = handle.soft.dpusoft_debug_get_thread(c, thread, &state)
        dpu.check(rc, "dpusoft_debug_get_thread")
        registers = tuple([state.registers[i] for i in range(DPU_MACHINE_REGISTERS)])
        return registers, state.pc, state.zero != 0, state.carry != 0, state.running != 0
    finally:
        dpu.leave()


def set_thread(SetView dpu not None, uint32_t thread, registers, uint32_t pc, bint zero,
               bint carry, bint running):
    """Set what `get_thread` gets."""
    cdef SetHandle handle
    cdef dpu_set_t c = dpu.c
    cdef dpu_error_t rc
    cdef dpusoft_thread state
    cdef int i
    if len(registers) != DPU_MACHINE_REGISTERS:
        raise ValueError(f"a tasklet has {DPU_MACHINE_REGISTERS} registers, not {len(registers)}")
    memset(&state, 0, sizeof(state))
    state.size = sizeof(state)
    for i in range(DPU_MACHINE_REGISTERS):
        state.registers[i] = registers[i]
    state.pc = pc
    state.zero = zero
    state.carry = carry
    state.running = running
    handle = _enter(dpu, "dpusoft_debug_set_thread")
    try:
        with nogil:
            rc = handle.soft.dpusoft_debug_set_thread(c, thread, &state)
        dpu.check(rc, "dpusoft_debug_set_thread")
    finally:
        dpu.leave()


def describe_fault(SetView dpu not None):
    """Say in a sentence what a DPU is in fault for, "" if it is not."""
    cdef SetHandle handle = _enter(dpu, "dpusoft_describe_fault")
    cdef dpu_set_t c = dpu.c
    cdef dpu_error_t rc
    cdef char[1024] text
    try:
        text[0] = 0
        with nogil:
            rc = handle.soft.dpusoft_describe_fault(c, text, sizeof(text))
        dpu.check(rc, "dpusoft_describe_fault")
        return text.decode("utf-8", "replace")
    finally:
        dpu.leave()
