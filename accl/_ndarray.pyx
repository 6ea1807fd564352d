# SPDX-License-Identifier: BSD-3-Clause
"""Checks that NumPy's arrays have the layout of `_ndarray.pxd`."""

from accl._ndarray cimport ACCL_C_CONTIGUOUS, ACCL_WRITEABLE, accl_ndarray, element_count, fields

import numpy as np

__all__ = ["check_layout"]


def check_layout():
    """Compare fields of some arrays with their attributes.

    Raises
    ------
    ImportError
        They differ: the package does not support this version of NumPy.
    """
    cdef accl_ndarray *array
    whole = np.zeros((3, 4, 5), dtype=np.float32)
    frozen = whole[1]
    frozen.flags.writeable = False
    for sample in (whole, whole[1:], whole[:, ::2], frozen, whole[0, 0, 0:0]):
        array = fields(sample)
        same = (
            <size_t>array.data == sample.__array_interface__["data"][0]
            and array.nd == sample.ndim
            and tuple(array.dimensions[i] for i in range(array.nd)) == sample.shape
            and tuple(array.strides[i] for i in range(array.nd)) == sample.strides
            and (None if array.base is NULL else <object>array.base) is sample.base
            and <object>array.descr is sample.dtype
            and bool(array.flags & ACCL_C_CONTIGUOUS) == sample.flags.c_contiguous
            and bool(array.flags & ACCL_WRITEABLE) == sample.flags.writeable
            and element_count(array) == sample.size
        )
        if not same:
            raise ImportError(
                f"accl does not support the array layout of NumPy {np.__version__}"
            )


check_layout()
