# SPDX-License-Identifier: BSD-3-Clause
"""Sets of DPUs: a whole allocation, a rank of it, or one DPU."""

from libc.stdint cimport uint32_t
from dpu._alloc cimport allocate, release
from dpu._callback cimport call_back
from dpu._context cimport DpuContext, restore_context, save_context
from dpu._handle cimport SetHandle
from dpu._launch cimport get_reports, interrupt, launch, synchronise
from dpu._log cimport read_log
from dpu._native cimport fail_set, get_library
from dpu._program_set cimport ProgramSet
from dpu.libdpu cimport (
    DPU_CHECKPOINT_INTERNAL,
    DPU_CHECKPOINT_IRAM,
    DPU_CHECKPOINT_MRAM,
    DPU_CHECKPOINT_WRAM,
    DPU_SET_DPU,
    dpu_set_t,
)
from offchip.request cimport timeout_ns

import os
import sys
import weakref

from dpu._launch import DpuRequest
from dpu.errors import DpuError
from dpu.ffi import RawSet
from dpu.logs import check_constructor_log, choose_streams
from dpu.reports import SetReport

__all__ = ["ALLOCATE_ALL", "DpuSet"]

#: As a number of DPUs or ranks: all free ones.
ALLOCATE_ALL = 0xffffffff


cdef DpuSet _make_part(SetHandle handle, dpu_set_t c, uint32_t rank0, uint32_t rank1,
                       uint32_t dpu0, uint32_t dpu1):
    cdef DpuSet part = DpuSet.__new__(DpuSet)
    part.handle = handle
    part.c = c
    part.rank0, part.rank1, part.dpu0, part.dpu1 = rank0, rank1, dpu0, dpu1
    return part


cdef DpuSet _make_rank(SetHandle handle, uint32_t rank, DpuSet member):
    """Make a rank with its DPUs, one of which may already exist."""
    cdef DpuSet made, dpu
    cdef uint32_t i
    made = _make_part(handle, handle.rank_sets[rank], rank, rank + 1,
                      handle.first_dpu[rank], handle.first_dpu[rank + 1])
    made._rank_list = [made]
    made._dpu_list = []
    reference = weakref.ref(made)
    for i in range(made.dpu0, made.dpu1):
        if member is not None and member.dpu0 == i:
            dpu = member
        else:
            dpu = _make_part(handle, handle.dpu_sets[i], rank, rank + 1, i, i + 1)
        dpu._rank_ref = reference
        made._dpu_list.append(dpu)
    return made


cdef class DpuSet(ProgramSet):
    """A set of DPUs.

    It is also a context manager, which frees it, and iterates over its DPUs. After `load()`
    the variables of the program are attributes: reading one returns a `DpuVariable`, assigning a
    buffer (or a list with one per DPU) copies it to the DPUs.

    Parameters
    ----------
    nr_dpus : int, optional
        How many DPUs to allocate, ALLOCATE_ALL for all free ones.
    nr_ranks : int, optional
        How many ranks instead. With neither, all are allocated.
    profile : str
        Properties of the DPUs: ``key=value`` pairs, separated by commas.
    binary : str, path or bytes-like, optional
        A program to load: its file, or its content.
    c_source, asm_source : str, path, text stream or list of them, optional
        Sources of a program to build and load.
    log : stream or list of streams, optional
        Receives the DPUs' output after each `exec()`; a list has one stream (or None) per DPU.
    async_mode : bool
        Whether `copy()`, `exec()` and `call()` are asynchronous by default.
    library : str, path or Library, optional
        As for `dpu.use_library()`; the default library unless given.
    wait_limit : float, optional
        See the attribute `wait_limit`.

    Raises
    ------
    DpuError
        Not enough DPUs are free, or the program cannot be loaded.
    """

    def __init__(self, nr_dpus=None, nr_ranks=None, profile="", binary=None, c_source=None,
                 asm_source=None, log=None, async_mode=False, _do_internals=True, *,
                 library=None, wait_limit=None):
        cdef SetHandle handle
        cdef DpuSet rank
        cdef uint32_t number
        if self.handle is not None:
            raise TypeError("this DpuSet is already initialised")
        if not _do_internals:
            return
        timeout_ns(wait_limit)
        if nr_dpus is not None and nr_ranks is not None:
            raise DpuError("cannot specify nr_dpus and nr_ranks")
        if nr_dpus is None and nr_ranks is None:
            nr_dpus = ALLOCATE_ALL
        text = os.fsencode(profile if profile is not None else "")
        if b"\0" in text:
            raise ValueError("the profile contains a NUL character")
        handle = allocate(get_library(library), nr_dpus, nr_ranks, text)
        handle.wait_limit = wait_limit
        self.handle = handle
        self.c = handle.whole
        self.rank1, self.dpu1 = handle.nr_ranks, handle.nr_dpus
        try:
            self.is_top = True
            self._rank_list = []
            self._dpu_list = []
            for number in range(handle.nr_ranks):
                rank = _make_rank(handle, number, None)
                self._rank_list.append(rank)
                self._dpu_list += rank._dpu_list
            check_constructor_log(log, handle.nr_dpus)
            handle.log = list(log) if isinstance(log, (list, tuple)) else log
            handle.async_mode = bool(async_mode)
            if binary is not None or c_source is not None or asm_source is not None:
                self.load(binary, c_source, asm_source)
        except BaseException:
            handle.end()
            raise

    def __reduce_ex__(self, protocol):
        raise TypeError("a DpuSet cannot be pickled: only this process can use its DPUs")

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if exc_type is not None and self.is_top and self.handle.live:
            # The exception matters more than the result of running operations.
            if self.handle.soft.dpusoft_interrupt is not NULL:
                try:
                    interrupt(self)
                except DpuError:
                    pass
            if not self.handle.live:
                return
        self.free()

    # --- parts -------------------------------------------------------------------------------

    def __len__(self):
        return self.dpu1 - self.dpu0

    def __iter__(self):
        return iter(self.dpus())

    # By default it would be derived from __len__.
    def __bool__(self):
        return True

    def dpus(self):
        """Get the DPUs, each as a set of its own.

        Returns
        -------
        list of DpuSet
            For a single DPU, itself.
        """
        return [self] if self._dpu_list is None else self._dpu_list

    def ranks(self):
        """Get the ranks, each as a set of its own.

        Returns
        -------
        list of DpuSet
            For a rank, itself; for a single DPU the rank that it belongs to.
        """
        if self._rank_list is not None:
            return self._rank_list
        if self.handle is None:
            return []
        rank = self._rank_ref()
        if rank is None:
            rank = _make_rank(self.handle, self.rank0, self)
        return [rank]

    @property
    def library(self):
        """The `Library` that the DPUs belong to."""
        return self.handle.library if self.handle is not None else None

    @property
    def c_set(self):
        """The C structure, as a `dpu.ffi.RawSet`; valid until the set is freed."""
        if self.c.kind == DPU_SET_DPU:
            return RawSet(self.c.kind, 0, 0, <size_t>self.c.dpu)
        return RawSet(self.c.kind, self.c.list.nr_ranks, <size_t>self.c.list.ranks, 0)

    @property
    def closed(self):
        """True if the set was freed."""
        return self.handle is None or not self.handle.live

    @property
    def wait_limit(self):
        """How long each call on these DPUs waits for what is queued, in seconds; None: no limit.

        It is that of the whole allocation. At the limit a call raises DpuTimeoutError, which names
        the operation that it waited for; `exec()` ends its launch. Only the soft twin can.
        """
        return self.handle.wait_limit if self.handle is not None else None

    @wait_limit.setter
    def wait_limit(self, seconds):
        timeout_ns(seconds)
        if self.handle is None:
            fail_set("wait_limit", "the set was never allocated")
        self.handle.wait_limit = seconds

    # --- launches ----------------------------------------------------------------------------

    def exec(self, log=None, async_mode=None, *, timeout=None):
        """Run the program on all DPUs of the set.

        A signal whose handler raises (Ctrl-C) ends a synchronous launch.

        Parameters
        ----------
        log : stream, list or dict, optional
            Receives the output of the DPUs: one stream, one (or None) per DPU, or by set. By
            default the constructor's. Ignored if asynchronous.
        async_mode : bool, optional
            Whether to return immediately; `sync()` waits for the DPUs.
        timeout : float, optional
            After so many seconds the launch is ended; by default `wait_limit`.

        Raises
        ------
        DpuError
            A DPU is in fault; ``error.detail`` names it, the location and the reason.
        DpuTimeoutError
            The time is over. A note says where the tasklets were; programs must be loaded again.
        """
        if self._is_async(async_mode):
            launch(self, True)
            return
        streams = self._choose_streams(log, None)
        launch(self, False, timeout)
        self._write_log(streams)

    def exec_async(self):
        """Start the program on all DPUs of the set, and return a request.

        Returns
        -------
        DpuRequest
            Can be polled, waited for with a timeout, and awaited.
        """
        launch(self, True)
        return DpuRequest(self)

    def sync(self, *, timeout=None):
        """Wait for all asynchronous operations.

        A signal whose handler raises (Ctrl-C) ends the wait, but not the operations.

        Parameters
        ----------
        timeout : float, optional
            After so many seconds DpuTimeoutError says what is waited for; by default `wait_limit`.

        Raises
        ------
        DpuError
            An operation failed, or a DPU is in fault. Exceptions of callbacks are raised unchanged.
        """
        synchronise(self, timeout)

    def interrupt(self):
        """End running and queued launches, even those that would never end.

        `sync()` then raises "result timeout"; programs must be loaded into the DPUs again.
        """
        interrupt(self)

    @property
    def report(self):
        """The report of the last launch: a `dpu.reports.SetReport`, with one item per DPU."""
        return SetReport(get_reports(self))

    # --- logs --------------------------------------------------------------------------------

    def _choose_streams(self, asked, default):
        cdef DpuSet rank
        log = self.handle.log if self.handle is not None else None
        count = self.dpu1 - self.dpu0
        if isinstance(log, list):
            defaults = [default if item is None else item for item in log[self.dpu0:self.dpu1]]
        else:
            defaults = [default if log is None else log] * count
        groups = []
        if isinstance(asked, dict) and self._dpu_list is not None:
            groups.append((self, range(count)))
            for rank in self._rank_list:
                groups.append((rank, range(rank.dpu0 - self.dpu0, rank.dpu1 - self.dpu0)))
        return choose_streams(asked, defaults, self.dpus(), groups)

    def _write_log(self, streams):
        for dpu, stream in zip(self.dpus(), streams, strict=True):
            if stream is not None:
                stream.write(read_log(<DpuSet>dpu))

    def log(self, stream=None):
        """Write the output of the DPUs' last launch.

        Parameters
        ----------
        stream : stream, list or dict, optional
            As for `exec()`; standard output if neither this nor the constructor names one.

        Raises
        ------
        DpuError
            The program cannot print.
        """
        self._write_log(self._choose_streams(stream, sys.stdout))

    # --- the rest ----------------------------------------------------------------------------

    def call(self, fn, arg, async_mode=None, is_blocking=True, single_call=False):
        """Call a function after the operations queued on the set.

        It is called as ``fn(dpu_set, index, arg)``: once per rank, with the rank and its index,
        concurrently for several ranks; or once, with this set and 0xffffffff, for `single_call`
        and for single DPUs.

        Parameters
        ----------
        fn : callable
            The function. It runs in a thread of the library.
        arg : object
            Passed to the function.
        async_mode : bool, optional
            Whether to return immediately.
        is_blocking : bool
            Whether later operations wait for it; if not, `async_mode` is required.
        single_call : bool
            Whether to call once for the whole set.

        Raises
        ------
        DpuError
            The operation failed. Exceptions of `fn` are raised unchanged, by `sync()` if
            asynchronous.
        """
        single = bool(single_call)
        views = [self] if single or self._dpu_list is None else list(self._rank_list)
        call_back(self, views, fn, arg, self._is_async(async_mode), bool(is_blocking), single)

    def checkpoint(self, iram=True, mram=True, wram=True):
        """Save the whole state of a DPU, which clears its fault.

        Parameters
        ----------
        iram, mram, wram : bool
            Which memories to save.

        Returns
        -------
        DpuContext

        Raises
        ------
        DpuError
            The set is not a single DPU.
        """
        return save_context(self, _flags(iram, mram, wram))

    def restore(self, context, iram=True, mram=True, wram=True):
        """Restore a saved state of a DPU. Tasklets that were running continue.

        Parameters
        ----------
        context : DpuContext
            From `checkpoint()`.
        iram, mram, wram : bool
            Which memories to restore, if they were saved.

        Raises
        ------
        DpuError
            The set is not a single DPU.
        """
        if not isinstance(context, DpuContext):
            raise TypeError(f"a DpuContext is required, not {type(context).__name__}")
        restore_context(self, <DpuContext>context, _flags(iram, mram, wram))

    def free(self):
        """Free the DPUs, after the queued operations.

        Raises
        ------
        DpuError
            They were already freed, or this is only a part of an allocated set.
        """
        if not self.is_top and self.handle is not None:
            fail_set("dpu_free", "this is a part of an allocated set; free that one")
        self.enter("dpu_free")
        self.leave()
        release(self.handle)

    def __repr__(self):
        if self.handle is None:
            return "<DpuSet, not allocated>"
        state = "" if self.handle.live else ", freed"
        if self._dpu_list is None:
            return f"<DpuSet: DPU {self.dpu0} of rank {self.rank0}{state}>"
        return (
            f"<DpuSet of {self.dpu1 - self.dpu0} DPU(s) in {self.rank1 - self.rank0} rank(s)"
            f"{state}>"
        )


cdef int _flags(object iram, object mram, object wram) except -1:
    return (
        DPU_CHECKPOINT_INTERNAL | (DPU_CHECKPOINT_IRAM if iram else 0)
        | (DPU_CHECKPOINT_MRAM if mram else 0) | (DPU_CHECKPOINT_WRAM if wram else 0)
    )
