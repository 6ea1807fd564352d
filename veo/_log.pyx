# SPDX-License-Identifier: BSD-3-Clause
"""True if the package's messages are enabled, checked on every call.

Importing `logging` takes longer than importing this package; until another
module imports it, logging cannot be configured. After that the answer is in the logger's own cache,
which the standard module clears in place whenever a level changes.
"""

from cpython.dict cimport PyDict_GetItem, PyDict_GetItemWithError, PyDict_Size
from cpython.object cimport PyObject

import atexit
import sys

__all__ = []

cdef object _logger = None
cdef dict _cache = None
cdef dict _modules = sys.modules
cdef object _info = 20
cdef bint _silent = False
# How many modules there were when logging was not among them, and how often that is believed. An
# import changes the number, unless another module goes at that moment.
cdef Py_ssize_t _modules_seen = -1
cdef int _beliefs = 0


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


cdef bint _may_find_logger() noexcept:
    global _modules_seen, _beliefs
    if PyDict_Size(_modules) == _modules_seen and _beliefs > 0:
        _beliefs -= 1
        return False
    _modules_seen = PyDict_Size(_modules)
    _beliefs = 64
    return PyDict_GetItem(_modules, "logging") is not NULL and _find_logger()


cdef bint log_on() noexcept:
    cdef PyObject *known
    if _silent:
        return False
    if _logger is None and not _may_find_logger():
        return False
    if _cache is not None:
        known = PyDict_GetItemWithError(_cache, _info)
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
