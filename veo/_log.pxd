# SPDX-License-Identifier: BSD-3-Clause
"""Whether anybody listens to the package's messages, asked on every call."""

# Whether messages of level INFO are wanted.
cdef bint log_on() noexcept
# Emits one; what a handler raises is reported as unraisable.
cdef void log_info(object text) noexcept
