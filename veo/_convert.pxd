# SPDX-License-Identifier: BSD-3-Clause
"""Type strings, and values to and from the 64-bit patterns that VE registers hold."""

from libc.stdint cimport uint64_t

# A type is one letter, in the alphabet of veosoft_args_set_signature() and with '?' for bool.

# The letter of a type as C spells it; TypeError for what cannot be passed.
cdef char parse_type(object text) except 0
# The letter that veosoft_args_set_signature() takes for ours.
cdef char signature_letter(char code) noexcept
# The pattern of a Python value; TypeError or OverflowError.
cdef int to_bits(char code, object value, uint64_t *bits) except -1
# The same of an int or a float that fits, without errors: 0 for all else, and what does not fit.
cdef bint number_to_bits(char code, object value, uint64_t *bits) noexcept
# The value of a result; pointers become plain integers.
cdef object from_bits(char code, uint64_t bits)

# A VE address that the user gave; ValueError if it belongs to another process than `owner`.
cdef int to_address(object value, object owner, uint64_t *address) except -1
# A number of bytes; ValueError if negative, TypeError if it is not a number.
cdef Py_ssize_t to_size(object value, object what) except -1
