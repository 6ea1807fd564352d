# SPDX-License-Identifier: BSD-3-Clause
"""The fields of a NumPy array that its C headers make part of NumPy's ABI.

Every extension that is compiled against NumPy reads them in place, so they cannot move while
binaries of other versions must load. Reading them costs nothing; the buffer protocol takes longer
than a small collective. `_ndarray.pyx` compares them with what an array
reports when the package is imported, which fails if they differ.
"""

from cpython.object cimport PyObject


cdef extern from *:
    """
    #ifndef OFFCHIP_ACCL_NDARRAY
    #define OFFCHIP_ACCL_NDARRAY
    struct accl_ndarray {
        PyObject_HEAD
        char *data;
        int nd;
        Py_ssize_t *dimensions;
        Py_ssize_t *strides;
        PyObject *base;
        PyObject *descr;
        int flags;
    };
    enum { ACCL_C_CONTIGUOUS = 0x1, ACCL_WRITEABLE = 0x400 };
    #endif
    """
    struct accl_ndarray:
        char *data
        int nd
        Py_ssize_t *dimensions
        Py_ssize_t *strides
        PyObject *base
        PyObject *descr
        int flags

    enum:
        ACCL_C_CONTIGUOUS
        ACCL_WRITEABLE


cdef inline accl_ndarray *fields(object array) noexcept:
    return <accl_ndarray *><PyObject *>array


cdef inline Py_ssize_t element_count(const accl_ndarray *array) noexcept:
    cdef Py_ssize_t count = 1
    cdef int i
    for i in range(array.nd):
        count *= array.dimensions[i]
    return count
