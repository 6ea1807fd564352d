# SPDX-License-Identifier: BSD-3-Clause
"""True if the package's messages are enabled, checked on every call.

Importing `logging` takes longer than importing this package; until another
module imports it, logging cannot be configured. After that the answer is in the logger's own cache,
which the standard module clears in place whenever a level changes.
"""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject

import atexit
import sys

__all__ = []

cdef object _logger = None
cdef dict _cache = None
cdef dict _modules = sys.modules
cdef object _info = 20
cdef bint _silent = False


def _be_silent():
    """Handlers may already be closed at interpreter exit."""
    global _silent
    _silent = True


atexit.register(_be_silent)


cdef bint _find_logger() noexcept:
    global _logger, _cache
    try:
        import logging

        _logger = logging.getLogger("veo")
        cache = getattr(_logger, "_cache", None)
        _cache = cache if type(cache) is dict else None
    except Exception:
        # Half imported by another thread.
        return False
    return True


cdef bint log_on() noexcept:
    cdef PyObject *known
    if _silent:
        return False
    if _logger is None:
        if PyDict_GetItem(_modules, "logging") is NULL or not _find_logger():
            return False
    if _cache is not None:
        known = PyDict_GetItem(_cache, _info)
        if known is not NULL:
            return <object>known is True
    try:
        return bool(_logger.isEnabledFor(20))
    except Exception:
        return False


cdef void log_info(object text) noexcept:
    _logger.info("%s", text)


cdef void log_warning(object text) noexcept:
    if not _silent and (_logger is not None or _find_logger()):
        _logger.warning("%s", text)
