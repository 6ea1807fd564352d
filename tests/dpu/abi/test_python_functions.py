# SPDX-License-Identifier: BSD-3-Clause
"""The functions of libdpu.so for the vendor's Python package, called as it does: by ctypes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAM = """
import ctypes, sys

class Ranks(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint32), ("first", ctypes.c_void_p)]

class Set(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("ranks", Ranks)]

library = ctypes.PyDLL(sys.argv[1])
names_of = library.Py_dpu_get_symbol_names
names_of.restype, names_of.argtypes = ctypes.py_object, [ctypes.c_void_p]
prepare = library.Py_dpu_prepare_xfers
prepare.argtypes = [Set, ctypes.py_object, ctypes.POINTER(ctypes.c_size_t)]
read_log = library.Py_dpu_log_read
read_log.argtypes = [Set, ctypes.py_object]
library.dpu_load.argtypes = [Set, ctypes.c_char_p, ctypes.c_void_p]
library.dpu_push_xfer.argtypes = [
    Set, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_int]
library.dpu_free.argtypes = [Set]
library.dpusoft_last_error_detail.restype = ctypes.c_char_p

dpus, program, size = Set(), ctypes.c_void_p(), ctypes.c_size_t(99)
assert library.dpu_alloc(2, None, ctypes.byref(dpus)) == 0
assert library.dpu_load(dpus, sys.argv[2].encode(), ctypes.byref(program)) == 0
TO, FROM = 0, 1

def detail():
    return library.dpusoft_last_error_detail().decode()

# Names.
names = names_of(program)
assert "wbuf" in names and all(type(name) is str for name in names), names
assert names_of(None) == []

# Buffers go in and come back, None is left out.
first, second = bytearray(b"abcd"), bytearray(b"efgh")
assert prepare(dpus, [first, second], ctypes.byref(size)) == 0 and size.value == 4
assert library.dpu_push_xfer(dpus, TO, b"wbuf", 0, 4, 0) == 0
back = bytearray(4)
assert prepare(dpus, [None, back], ctypes.byref(size)) == 0 and size.value == 4
assert library.dpu_push_xfer(dpus, FROM, b"wbuf", 0, 4, 0) == 0
assert back == second, back
second.append(1)  # nothing is held any more

for items, text in [
    ([first], "not a list of 2 items"),
    ([first, bytearray(8)], "buffer 1 has 8 bytes, others have 4"),
    ([None, None], "all items of the list are None"),
]:
    assert prepare(dpus, items, ctypes.byref(size)) != 0 and text in detail(), detail()
try:
    prepare(dpus, [b"read-only", first], ctypes.byref(size))
except BufferError:
    assert "not a writable buffer" in detail()
else:
    raise AssertionError("a buffer that cannot be written to")

# A program that prints nothing has no log: write() is not called.
class Stream:
    def write(self, text):
        raise AssertionError(text)

assert read_log(dpus, Stream()) != 0
assert library.dpu_free(dpus) == 0
print("ok")
"""


def test_names_and_buffers(
    run_python: Callable[..., Any], installed: Any, dpu_programs: Path
) -> None:
    done = run_python(PROGRAM, str(installed.library), str(dpu_programs / "count.dpu"))
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
