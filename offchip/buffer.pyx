# SPDX-License-Identifier: BSD-3-Clause
"""A held buffer: memory of a Python object that C may use until it is released."""

cimport cython
from cpython.buffer cimport (
    PyBUF_ANY_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_FULL_RO,
    PyBUF_WRITABLE,
    PyBuffer_IsContiguous,
    PyBuffer_Release,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
)

from offchip.errors import ReadOnlyError

__all__ = ["Buffer"]


cdef bint _holds_objects(const char *text) noexcept:
    """Return whether a buffer format has the code of a Python object; field names are skipped."""
    cdef bint in_name = False
    if text is NULL:
        return False
    while text[0] != 0:
        if text[0] == c":":
            in_name = not in_name
        elif text[0] == c"O" and not in_name:
            return True
        text += 1
    return False


cdef object shared_array(object given, bint writes, str what):
    cdef object array
    cdef object other
    import numpy as np

    # PyTorch negates some views lazily, and its DLPack exports them without the negation.
    if hasattr(given, "is_neg") and given.is_neg():
        raise BufferError(f"{what} is a view with a pending negation: pass x.resolve_neg()")
    try:
        array = np.from_dlpack(given) if hasattr(given, "__dlpack__") else np.asarray(given)
    except Exception as error:
        raise BufferError(
            f"{what}, of type {type(given).__name__}, cannot be used as an array: {error}"
        ) from error
    if writes and not array.flags.writeable:
        # Producers of the first DLPack cannot mark arrays as writable; they may have another way.
        try:
            other = np.asarray(given)
        except Exception:
            other = array
        if other.flags.writeable and np.shares_memory(other, array):
            array = other
    return array


cdef int _refuse(object obj, bint writable, object cause) except -1:
    """Raise the error that explains why the memory of `obj` cannot be used."""
    cdef Py_buffer view
    cdef bint readonly, contiguous
    kind = type(obj).__name__
    try:
        PyObject_GetBuffer(obj, &view, PyBUF_FULL_RO)
    except (BufferError, ValueError):
        raise cause
    readonly = view.readonly != 0
    contiguous = PyBuffer_IsContiguous(&view, c"A") != 0
    PyBuffer_Release(&view)
    if not contiguous:
        raise ValueError(
            f"the memory of this {kind} is not contiguous (a slice with steps, or a view with "
            "gaps); pass a contiguous copy, for example numpy.ascontiguousarray(x)"
        ) from cause
    if writable and readonly:
        raise ReadOnlyError(
            f"the memory of this {kind} is read-only and cannot receive data; pass a writable "
            "object such as a bytearray, an array.array or a writable numpy array"
        ) from cause
    raise cause


@cython.final
@cython.freelist(16)
cdef class Buffer:
    """Contiguous memory of an object, held until released.

    While it is held the object can be neither resized nor freed.

    Parameters
    ----------
    obj : object with the buffer protocol, DLPack or __array_interface__
        bytes, bytearray, array.array, mmap, memoryview, numpy array, tensor of PyTorch, ...
    writable : bool
        Whether the memory will be written to.

    Raises
    ------
    TypeError
        `obj` has no buffer, or its elements are Python objects.
    ValueError
        The memory is not contiguous (neither in C nor in Fortran order).
    ReadOnlyError
        The memory is read-only and `writable` was asked for. It is a BufferError and a TypeError.
    BufferError
        A tensor is not in this machine's memory.
    """

    def __cinit__(self):
        self._held = False
        self.ptr = NULL
        self.nbytes = 0

    def __init__(self, obj, *, bint writable=False):
        self.acquire(obj, writable)

    def __dealloc__(self):
        if self._held:
            PyBuffer_Release(&self._view)

    cdef int acquire(self, object obj, bint writable) except -1:
        cdef int flags = PyBUF_ANY_CONTIGUOUS
        self.release()
        if not PyObject_CheckBuffer(obj):
            if not has_array(obj):
                raise TypeError(
                    "an object with the buffer protocol (bytes, bytearray, numpy array, ...), "
                    f"DLPack or __array_interface__ is required, not {type(obj).__name__}"
                )
            obj = shared_array(obj, writable, "the memory")
        if writable:
            flags |= PyBUF_WRITABLE
        try:
            PyObject_GetBuffer(obj, &self._view, flags | PyBUF_FORMAT)
        except (BufferError, ValueError):
            # Some element types (numpy.datetime64) have no format, which does not matter here.
            try:
                PyObject_GetBuffer(obj, &self._view, flags)
            except (BufferError, ValueError) as error:
                _refuse(obj, writable, error)
        if _holds_objects(self._view.format):
            PyBuffer_Release(&self._view)
            raise TypeError(
                f"the elements of this {type(obj).__name__} are Python objects, whose addresses "
                "are meaningless outside this process; convert it to a numeric type first"
            )
        self._held = True
        self.ptr = self._view.buf
        self.nbytes = self._view.len
        return 0

    cpdef int release(self) except -1:
        """Release the memory. May be called again."""
        if self._held:
            self._held = False
            self.ptr = NULL
            self.nbytes = 0
            PyBuffer_Release(&self._view)
        return 0

    @property
    def obj(self):
        """The object whose memory is held, None after release."""
        if not self._held:
            return None
        return <object>self._view.obj

    @property
    def address(self):
        """Address of the first byte, 0 after release."""
        return <size_t>self.ptr

    @property
    def size(self):
        """Number of bytes, 0 after release."""
        return self.nbytes

    @property
    def readonly(self):
        """True if the memory must not be written to."""
        return self._held and self._view.readonly != 0

    def __len__(self):
        return self.nbytes

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.release()

    def __repr__(self):
        if not self._held:
            return "<Buffer, released>"
        return f"<Buffer of {self.nbytes} bytes at {<size_t>self.ptr:#x}>"


cdef Buffer get_buffer(object obj, bint writable):
    cdef Buffer buffer = Buffer.__new__(Buffer)
    buffer.acquire(obj, writable)
    return buffer
