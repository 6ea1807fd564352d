# SPDX-License-Identifier: BSD-3-Clause
"""Type strings, and values to and from the 64-bit patterns that VE registers hold.

A VE argument is one 64-bit register, whatever its type: integers are sign- or zero-extended, a
double is its own pattern, and a float is in the upper half with zeros below. So is a result,
except that only the bits of its type count.
"""

from cpython.float cimport PyFloat_AsDouble
from cpython.long cimport PyLong_AsUnsignedLongLong, PyLong_Check
from libc.math cimport floor, isinf, isnan
from libc.stdint cimport (
    INT8_MAX, INT8_MIN, INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, UINT8_MAX, UINT16_MAX,
    UINT32_MAX, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from libc.string cimport memcpy

from operator import index

from veo.memptr import VEMemPtr
from veo.signature import SPELLING

__all__ = ["ConvFromI64", "ConvToI64"]


cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object value, int *overflow) except? -1
    bint PyLong_CheckExact(object value)
    bint PyFloat_CheckExact(object value)
    double PyFloat_AS_DOUBLE(object value)


_QUALIFIERS = frozenset(
    ["const", "volatile", "restrict", "__restrict", "__restrict__", "register", "extern"]
)
_INTEGER_WORDS = frozenset(["signed", "unsigned", "char", "short", "int", "long"])
_NAMES = {
    "void": "v", "float": "f", "double": "d", "bool": "?", "_Bool": "?",
    "int8_t": "b", "uint8_t": "B", "int16_t": "h", "uint16_t": "H",
    "int32_t": "i", "uint32_t": "I", "int64_t": "l", "uint64_t": "L",
    "size_t": "L", "ssize_t": "l", "ptrdiff_t": "l", "intptr_t": "l", "uintptr_t": "L",
    "off_t": "l",
}


def _integer_letter(list words):
    """Return the letter for words such as ``unsigned long int`` in any order, None if invalid."""
    signs = words.count("signed") + words.count("unsigned")
    longs = words.count("long")
    kinds = (words.count("char"), words.count("short"), words.count("int"))
    if signs > 1 or longs > 2 or max(kinds) > 1:
        return None
    chars, shorts, ints = kinds
    if chars + shorts + (longs > 0) > 1 or (chars and ints):
        return None
    letter = "b" if chars else "h" if shorts else "l" if longs else "i"
    return letter.upper() if "unsigned" in words else letter


cdef char parse_type(object text) except 0:
    cdef object spelled = text
    if isinstance(text, (bytes, bytearray)):
        spelled = bytes(text).decode("utf-8", "replace")
    if not isinstance(spelled, str):
        raise TypeError(
            f"Don't know how to convert {text!r} to I64: a type is a string such as 'int', "
            "'double' or 'char *'"
        )
    words = [
        word for word in spelled.replace("*", " * ").split() if word not in _QUALIFIERS
    ]
    letter = None
    if words and words[-1] == "*":
        letter = "p"
    elif words and _INTEGER_WORDS.issuperset(words):
        letter = _integer_letter(words)
    elif len(words) == 1:
        letter = _NAMES.get(words[0])
    if letter is None:
        hint = ""
        if words[:1] in (["struct"], ["union"]):
            hint = ": a struct can only be passed by its address"
        elif spelled.rstrip().endswith("]"):
            hint = ": an array is passed by its address, as a pointer type"
        elif words in (["long", "double"], ["double", "long"]):
            hint = ": it does not fit into a register"
        raise TypeError(f"Don't know how to convert '{spelled}' to I64{hint}")
    return <char><int>ord(letter)


cdef char signature_letter(char code) noexcept:
    return c"B" if code == c"?" else code


cdef str _spelling(char code):
    return SPELLING[chr(code)]


cdef object _as_integer(object value):
    """Convert an index, or a number that is whole, to an int."""
    cdef double number
    kind = type(value)
    try:
        return index(value)
    except TypeError:
        pass
    # Arrays of one element convert to float, but are not numbers.
    if hasattr(kind, "__float__") and not getattr(value, "ndim", 0):
        number = float(value)
        if not isnan(number) and not isinf(number) and floor(number) == number:
            return int(number)
        raise TypeError(
            f"an integer is required, and {value!r} is not whole; use int(), round() or another "
            "type"
        )
    hint = ""
    if isinstance(value, (bytes, bytearray, memoryview)) or hasattr(value, "__array_interface__"):
        hint = "; to pass the memory of an object wrap it in OnStack()"
    raise TypeError(f"an integer is required, not {kind.__name__}{hint}")


cdef int _out_of_range(char code, object value) except -1:
    raise OverflowError(f"{value} does not fit into type {_spelling(code)}")


cdef bint _fits(char code, long long number) noexcept:
    if code == c"i":
        return INT32_MIN <= number <= INT32_MAX
    if code == c"l":
        return True
    if code == c"L" or code == c"p":
        return number >= 0
    if code == c"I":
        return 0 <= number <= <long long>UINT32_MAX
    if code == c"b":
        return INT8_MIN <= number <= INT8_MAX
    if code == c"B":
        return 0 <= number <= UINT8_MAX
    if code == c"h":
        return INT16_MIN <= number <= INT16_MAX
    return 0 <= number <= UINT16_MAX


cdef int to_bits(char code, object value, uint64_t *bits) except -1:
    cdef long long number
    cdef int overflow = 0
    cdef double real
    cdef float single
    cdef uint32_t half
    bits[0] = 0
    if code == c"d":
        real = PyFloat_AsDouble(value)
        memcpy(bits, &real, 8)
        return 0
    if code == c"f":
        single = <float>PyFloat_AsDouble(value)
        memcpy(&half, &single, 4)
        bits[0] = <uint64_t>half << 32
        return 0
    if code == c"?":
        bits[0] = 1 if value else 0
        return 0
    if not PyLong_Check(value):
        if code == c"p" and hasattr(value, "addr"):
            value = value.addr
        value = _as_integer(value)
    number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if overflow == 0:
        if not _fits(code, number):
            return _out_of_range(code, value)
        bits[0] = <uint64_t>number
        return 0
    if overflow < 0 or (code != c"L" and code != c"p"):
        return _out_of_range(code, value)
    try:
        bits[0] = PyLong_AsUnsignedLongLong(value)
    except OverflowError:
        return _out_of_range(code, value)
    return 0


cdef bint number_to_bits(char code, object value, uint64_t *bits) noexcept:
    cdef long long number
    cdef int overflow = 0
    cdef double real
    if PyLong_CheckExact(value):
        if code == c"d" or code == c"f" or code == c"?":
            return False
        # An int raises nothing.
        number = PyLong_AsLongLongAndOverflow(value, &overflow)
        bits[0] = <uint64_t>number
        return overflow == 0 and _fits(code, number)
    if code != c"d" or not PyFloat_CheckExact(value):
        return False
    real = PyFloat_AS_DOUBLE(value)
    memcpy(bits, &real, 8)
    return True


cdef object from_bits(char code, uint64_t bits):
    cdef double real
    cdef float single
    cdef uint32_t half
    if code == c"i":
        return <int32_t>bits
    if code == c"d":
        memcpy(&real, &bits, 8)
        return real
    if code == c"l":
        return <int64_t>bits
    if code == c"v":
        return None
    if code == c"f":
        half = <uint32_t>(bits >> 32)
        memcpy(&single, &half, 4)
        return <double>single
    if code == c"L" or code == c"p":
        return bits
    if code == c"I":
        return <uint32_t>bits
    if code == c"b":
        return <int8_t>bits
    if code == c"B":
        return <uint8_t>bits
    if code == c"h":
        return <int16_t>bits
    if code == c"H":
        return <uint16_t>bits
    # Only the lowest byte of a C bool is defined.
    return <uint8_t>bits != 0


cdef int to_address(object value, object owner, uint64_t *address) except -1:
    if not PyLong_Check(value):
        if hasattr(value, "_ve_array"):
            value = value._ve_array
    if isinstance(value, VEMemPtr) and owner is not None:
        if value.proc is not None and value.proc is not owner:
            raise ValueError(f"{value!r} belongs to another process than {owner!r}")
    try:
        return to_bits(c"p", value, address)
    except TypeError:
        raise TypeError(
            f"a VE address (an int or a VEMemPtr) is required, not {type(value).__name__}"
        ) from None


cdef Py_ssize_t to_size(object value, object what) except -1:
    number = value if PyLong_Check(value) else _as_integer(value)
    if number < 0:
        raise ValueError(f"{what} cannot be negative: {number}")
    return number


class ConvToI64:
    """Python values to the 64-bit patterns in which they are passed, one function per type."""

    @staticmethod
    def _convert(code, value):
        cdef uint64_t bits
        to_bits(<char><int>ord(code), value, &bits)
        return bits - (1 << 64) if bits >> 63 else bits

    @staticmethod
    def from_char(x):
        """Convert a signed char."""
        return ConvToI64._convert("b", x)

    @staticmethod
    def from_uchar(x):
        """Convert an unsigned char."""
        return ConvToI64._convert("B", x)

    @staticmethod
    def from_short(x):
        """Convert a short."""
        return ConvToI64._convert("h", x)

    @staticmethod
    def from_ushort(x):
        """Convert an unsigned short."""
        return ConvToI64._convert("H", x)

    @staticmethod
    def from_int(x):
        """Convert an int."""
        return ConvToI64._convert("i", x)

    @staticmethod
    def from_uint(x):
        """Convert an unsigned int."""
        return ConvToI64._convert("I", x)

    @staticmethod
    def from_long(x):
        """Convert a long."""
        return ConvToI64._convert("l", x)

    @staticmethod
    def from_ulong(x):
        """Convert an unsigned long."""
        return ConvToI64._convert("L", x)

    @staticmethod
    def from_float(x):
        """Convert a float: its pattern is in the upper half."""
        return ConvToI64._convert("f", x)

    @staticmethod
    def from_double(x):
        """Convert a double."""
        return ConvToI64._convert("d", x)

    @staticmethod
    def from_addr(x):
        """Convert an address."""
        return ConvToI64._convert("p", x)

    @staticmethod
    def from_void(x):
        """Return the value as it is."""
        return x


class ConvFromI64:
    """64-bit patterns of results to Python values."""

    @staticmethod
    def convert(type, x):
        """Convert the pattern `x` as a result of C type `type`.

        Parameters
        ----------
        type : str
            The type as C spells it.
        x : int
            The pattern, signed or unsigned.
        """
        return from_bits(parse_type(type), <uint64_t>(x & 0xffffffffffffffff))
