# SPDX-License-Identifier: BSD-3-Clause
"""True if the package's messages are enabled, checked on every call."""

# True if messages of level INFO are enabled.
cdef bint log_on() noexcept
# Emits one; exceptions of handlers are reported as unraisable.
cdef void log_info(object text) noexcept
# Emits one of level WARNING, which goes to stderr unless the program says something else.
cdef void log_warning(object text) noexcept
