# SPDX-License-Identifier: BSD-3-Clause
"""Memory that is passed to kernels: stack arguments, argument lists, tagged addresses."""

from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from offchip.buffer cimport Buffer, get_buffer
from offchip cimport native
from veo._convert cimport to_address, to_size
from veo._main_wait cimport keep_waiting, limit_wait, main_wait, main_wait_of, was_late
from veo._native cimport Library, get_library
from veo.libveo cimport (
    VEO_INTENT_IN,
    VEO_MAX_NUM_ARGS,
    veo_args_intent,
    veo_proc_handle,
    veo_thr_ctxt,
)

from operator import index

from veo.enums import ArgsIntent
from veo.errors import VeoError
from veo.signature import SPELLING

__all__ = ["OnStack", "VEO_HMEM", "VeoArgs"]

# The address of an argument without bytes.
cdef char _nothing[8]


cdef class OnStack:
    """Memory of a Python object, passed to a kernel as a temporary copy on the VE stack.

    The kernel gets the address of the copy. The object can be neither resized nor freed as long
    as this one lives, and it may be used for several calls.

    Parameters
    ----------
    buff : object with the buffer protocol
        Contiguous memory.
    size : int, optional
        Number of bytes; all by default.
    inout : ArgsIntent
        ``INTENT_IN``: copied when the call is made. ``INTENT_OUT``: zero-filled for the kernel,
        copied back before the request counts as done. ``INTENT_INOUT``: both.

    Raises
    ------
    TypeError
        `buff` has no buffer.
    ValueError
        It is not contiguous, is smaller than `size`, or `inout` is not an intent.
    BufferError
        It is read-only and would have to be written.
    """

    def __init__(self, buff, size=None, inout=VEO_INTENT_IN):
        cdef Py_ssize_t wanted
        try:
            intent = ArgsIntent(index(inout))
        except (TypeError, ValueError):
            raise ValueError(
                f"inout must be INTENT_IN, INTENT_INOUT or INTENT_OUT, not {inout!r}"
            ) from None
        wanted = -1 if size is None else to_size(size, "the size of an OnStack")
        buffer = get_buffer(buff, intent != ArgsIntent.INTENT_IN)
        if wanted > buffer.nbytes:
            raise ValueError(
                f"the buffer is smaller than the required size ({buffer.nbytes} < {wanted})"
            )
        self.buffer = buffer
        self.nbytes = buffer.nbytes if wanted < 0 else wanted
        self.intent = <veo_args_intent><int>intent

    def __reduce_ex__(self, protocol):
        raise TypeError("an OnStack cannot be pickled: it refers to memory of this process")

    cdef int put(self, Library library, veo_args *args, int argnum) except -1:
        cdef char *memory
        if self.buffer is None:
            raise ValueError("this OnStack was not initialised")
        memory = <char *>self.buffer.ptr
        if memory is NULL:
            memory = _nothing
        if library.table.veo_args_set_stack(args, self.intent, argnum, memory, self.nbytes) != 0:
            library.fail(f"stack argument {argnum} was rejected", "veo_args_set_stack")
        return 0

    cdef int check_elements(self, char letter) except -1:
        cdef const char *format
        cdef Py_ssize_t size
        cdef bint is_float, swapped
        if self.buffer is None or self.buffer._view.format is NULL or letter in b"bB?v":
            return 0
        format = self.buffer._view.format
        size = self.buffer._view.itemsize
        swapped = format[0] in b">!"
        if format[0] in b"@=<>!":
            format += 1
        if format[0] == c"Z":
            format += 1
            size //= 2
        # Bytes may be anything, and so may records.
        if format[0] == 0 or format[0] in b"bB?cxspT" or format[1] != 0:
            return 0
        is_float = format[0] in b"efdg"
        if is_float == (letter in b"fd") and size == _size_of(letter) and not swapped:
            return 0
        raise TypeError(
            f"its elements have the format {self.buffer._view.format.decode()!r} ({size} bytes), "
            f"and the kernel reads {SPELLING[chr(letter)]}: convert them, or state the type "
            "'void *' with args_type()"
        )

    def c_pointer(self):
        """Return the address of the memory in this process."""
        return <size_t>self.buffer.ptr if self.buffer is not None else 0

    def scope(self):
        """Return the intent, one of ``INTENT_IN``, ``INTENT_INOUT`` and ``INTENT_OUT``."""
        return ArgsIntent(<int>self.intent)

    def size(self):
        """Return the number of bytes that are passed."""
        return self.nbytes

    @property
    def obj(self):
        """The object whose memory is passed."""
        return self.buffer.obj if self.buffer is not None else None

    def __getbuffer__(self, Py_buffer *view, int flags):
        if self.buffer is None:
            raise BufferError("this OnStack was not initialised")
        PyBuffer_FillInfo(
            view, self, self.buffer.ptr, self.nbytes, self.buffer._view.readonly, flags
        )

    def __repr__(self):
        return f"<OnStack of {self.nbytes} bytes, {ArgsIntent(<int>self.intent).name}>"


cdef Py_ssize_t _size_of(char letter) noexcept:
    return 2 if letter in b"hH" else 4 if letter in b"iIf" else 8


cdef class VeoArgs:
    """An argument list of the C API. Calls of a `VeoFunction` make their own.

    Parameters
    ----------
    library : str, path or Library, optional
        As for `use_library()`.
    """

    def __cinit__(self):
        self.args = NULL

    def __init__(self, library=None):
        cdef Library chosen = get_library(library)
        if self.args is not NULL:
            raise TypeError("this VeoArgs is already initialised")
        self.library = chosen
        self.forks = native.fork_count
        self._stacks = {}
        self.args = chosen.table.veo_args_alloc()
        if self.args is NULL:
            raise MemoryError("veo_args_alloc")

    def __dealloc__(self):
        if self.args is not NULL and self.forks == native.fork_count:
            self.library.table.veo_args_free(self.args)

    def __reduce_ex__(self, protocol):
        raise TypeError("a VeoArgs cannot be pickled: it is memory of the loaded library")

    @property
    def stacks(self):
        """The `OnStack` objects in the list, which it keeps alive."""
        return list(self._stacks.values()) if self._stacks is not None else []

    cdef int check(self, int argnum, int rc) except -1:
        if rc == 0:
            self._stacks.pop(argnum, None)
            return 0
        if not 0 <= argnum < VEO_MAX_NUM_ARGS:
            raise IndexError(f"argument numbers are 0 to {VEO_MAX_NUM_ARGS - 1}, not {argnum}")
        raise VeoError(f"argument {argnum} was rejected")

    cdef int _check_number(self, int argnum) except -1:
        # The vendor's library does not check.
        if self.args is NULL:
            raise ValueError("this VeoArgs was not initialised")
        return self.check(argnum, 0 if 0 <= argnum < VEO_MAX_NUM_ARGS else -1)

    def set_i32(self, int argnum, int32_t val):
        """Set an argument to a 32-bit integer."""
        self._check_number(argnum)
        self.check(argnum, self.library.table.veo_args_set_i32(self.args, argnum, val))

    def set_i64(self, int argnum, int64_t val):
        """Set an argument to a 64-bit integer."""
        self._check_number(argnum)
        self.check(argnum, self.library.table.veo_args_set_i64(self.args, argnum, val))

    def set_u32(self, int argnum, uint32_t val):
        """Set an argument to an unsigned 32-bit integer."""
        self._check_number(argnum)
        self.check(argnum, self.library.table.veo_args_set_u32(self.args, argnum, val))

    def set_u64(self, int argnum, uint64_t val):
        """Set an argument to an unsigned 64-bit integer."""
        self._check_number(argnum)
        self.check(argnum, self.library.table.veo_args_set_u64(self.args, argnum, val))

    def set_float(self, int argnum, float val):
        """Set an argument to a number in single precision."""
        self._check_number(argnum)
        self.check(argnum, self.library.table.veo_args_set_float(self.args, argnum, val))

    def set_double(self, int argnum, double val):
        """Set an argument to a number in double precision."""
        self._check_number(argnum)
        self.check(argnum, self.library.table.veo_args_set_double(self.args, argnum, val))

    def set_stack(self, OnStack stack not None, int argnum):
        """Set an argument to a copy of memory on the VE stack."""
        self._check_number(argnum)
        stack.put(self.library, self.args, argnum)
        self._stacks[argnum] = stack

    def clear(self):
        """Remove all arguments."""
        if self.args is NULL:
            raise ValueError("this VeoArgs was not initialised")
        self.library.table.veo_args_clear(self.args)
        self._stacks.clear()


cdef Library _library_of(object address):
    """Find the library that made a tagged address, if possible."""
    proc = getattr(address, "proc", None)
    return get_library(getattr(proc, "library", None))


class VEO_HMEM:
    """Functions on tagged addresses, which identify the memory that they are in.

    Such an address comes from `VeoProc.alloc_hmem()` or `VeoProc.set_proc_identifier()`; any
    other is one of host memory.
    """

    @staticmethod
    def is_ve_addr(addr):
        """True if the address is tagged as one of a VE process."""
        cdef uint64_t bits
        cdef Library library = _library_of(addr)
        to_address(addr, None, &bits)
        library.need(<const void *>library.table.veo_is_ve_addr, "veo_is_ve_addr")
        return library.table.veo_is_ve_addr(<const void *>bits) != 0

    @staticmethod
    def get_hmem_addr(addr):
        """Return the address without its tag."""
        cdef uint64_t bits
        cdef Library library = _library_of(addr)
        to_address(addr, None, &bits)
        library.need(<const void *>library.table.veo_get_hmem_addr, "veo_get_hmem_addr")
        return <uint64_t>library.table.veo_get_hmem_addr(<void *>bits)

    @staticmethod
    def get_proc_identifier_from_hmem(addr):
        """Return the number of the process in the tag, -1 if there is no tag."""
        cdef uint64_t bits
        cdef Library library = _library_of(addr)
        to_address(addr, None, &bits)
        library.need(
            <const void *>library.table.veo_get_proc_identifier_from_hmem,
            "veo_get_proc_identifier_from_hmem",
        )
        return library.table.veo_get_proc_identifier_from_hmem(<const void *>bits)

    @staticmethod
    def get_proc_handle_from_hmem(addr):
        """Return the C handle of the process in the tag.

        Raises
        ------
        VeoError
            There is no tag, or no such process.
        """
        cdef uint64_t bits
        cdef veo_proc_handle *handle
        cdef Library library = _library_of(addr)
        to_address(addr, None, &bits)
        library.need(
            <const void *>library.table.veo_get_proc_handle_from_hmem,
            "veo_get_proc_handle_from_hmem",
        )
        handle = library.table.veo_get_proc_handle_from_hmem(<const void *>bits)
        if handle is NULL:
            library.fail(
                f"{bits:#x} is not in a running VE process", "veo_get_proc_handle_from_hmem"
            )
        return <size_t>handle

    @staticmethod
    def hmemcpy(dst, src, size, *, timeout=None):
        """Copy bytes between host memory and that of a VE process, as the addresses' tags say.

        Parameters
        ----------
        dst, src : int or object with the buffer protocol
            Tagged or host addresses. A buffer stands for its memory, and its size is checked;
            a host address given as a number is not checked.
        size : int
            Number of bytes.
        timeout : float, optional
            Timeout in seconds for what is queued in the main context of the VE process before;
            None waits without limit.

        Raises
        ------
        VeoError
            The addresses belong to two VE processes, or a process is gone.
        VeoTimeoutError
            The wait timed out; it says for which request. It is a TimeoutError.
        """
        cdef uint64_t to, source
        cdef Library library
        cdef Py_ssize_t nbytes = to_size(size, "size")
        cdef main_wait wait = main_wait_of(timeout)
        cdef bint late
        cdef int rc
        library = _library_of(dst if getattr(dst, "proc", None) is not None else src)
        target_buffer = _host_memory(dst, nbytes, True, &to)
        source_buffer = _host_memory(src, nbytes, False, &source)
        library.need(<const void *>library.table.veo_hmemcpy, "veo_hmemcpy")
        while True:
            with nogil:
                limit_wait(library.soft, &wait)
                rc = library.table.veo_hmemcpy(<void *>to, <const void *>source, <size_t>nbytes)
                late = was_late(library.soft, &wait, rc < 0)
            if not late:
                break
            keep_waiting(
                &wait, library.soft, _main_of(library, to, source), False, "veo_hmemcpy"
            )
        del target_buffer, source_buffer
        if rc < 0:
            library.fail("veo_hmemcpy failed", "veo_hmemcpy", NULL, rc)


cdef veo_thr_ctxt *_main_of(Library library, uint64_t dst, uint64_t src) noexcept:
    """Find the main context of the process whose memory is copied; NULL if it is gone."""
    cdef const void *address = <const void *>dst
    if library.table.veo_is_ve_addr is NULL or not library.table.veo_is_ve_addr(address):
        address = <const void *>src
    if library.table.veo_get_proc_handle_from_hmem is NULL:
        return NULL
    return library.soft.veosoft_main_context(
        library.table.veo_get_proc_handle_from_hmem(address)
    )


cdef Buffer _host_memory(object memory, Py_ssize_t nbytes, bint writable, uint64_t *address):
    """Return an address, or that of a large enough buffer, which the caller keeps alive."""
    cdef Buffer buffer
    if isinstance(memory, int) or hasattr(memory, "__index__") and not hasattr(memory, "shape"):
        to_address(memory, None, address)
        return None
    buffer = get_buffer(memory, writable)
    if buffer.nbytes < nbytes:
        raise ValueError(
            f"the buffer is smaller than the required size ({buffer.nbytes} < {nbytes})"
        )
    address[0] = <uint64_t><size_t>buffer.ptr
    return buffer
