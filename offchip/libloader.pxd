# SPDX-License-Identifier: BSD-3-Clause
"""C declarations: csrc/dispatch/loader.h."""


cdef extern from "loader.h" nogil:
    struct offchip_library:
        void *handle
        char *path
        size_t missing_count
        char *error

    const char *offchip_library_missing(const offchip_library *lib, size_t i)
    void offchip_library_close(offchip_library *lib)
