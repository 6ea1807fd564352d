# SPDX-License-Identifier: BSD-3-Clause
"""The printed output of DPUs."""

from libc.stdio cimport FILE, fclose
from libc.stdlib cimport free
from dpu._handle cimport SetHandle, SetView
from dpu.libdpu cimport DPU_OK, dpu_error_t, dpu_set_t

__all__ = []


cdef extern from "stdio.h" nogil:
    FILE *open_memstream(char **text, size_t *size)


cdef str read_log(SetView view):
    cdef char *text = NULL
    cdef size_t size = 0
    cdef FILE *stream
    cdef dpu_set_t c = view.c
    cdef dpu_error_t rc
    cdef SetHandle handle
    view.enter("dpu_log_read")
    handle = view.handle
    try:
        view.wait_idle("dpu_log_read")
        stream = open_memstream(&text, &size)
        if stream is NULL:
            raise MemoryError()
        with nogil:
            rc = handle.table.dpu_log_read(c, stream)
        if rc != DPU_OK:
            try:
                view.check(rc, "dpu_log_read")
            finally:
                fclose(stream)
        if fclose(stream) != 0:
            raise MemoryError()
        return text[:size].decode("utf-8", "backslashreplace")
    finally:
        view.leave()
        free(text)
