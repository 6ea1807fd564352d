# SPDX-License-Identifier: BSD-3-Clause
"""Wrong use of the veo package: every marked line must be refused by the type checker."""

from __future__ import annotations

import veo

proc = veo.VeoProc(b"0")  # mistake
proc = veo.VeoProc(0, 3)  # mistake
ctx: veo.VeoCtxt = proc.open_context("x")  # mistake
proc.read_mem(bytearray(8), "0x1000", 8)  # mistake
proc.write_mem(0x1000, "text", 4)  # mistake
proc.alloc_mem("8")  # mistake
proc.nodeid.real.nonsense  # noqa: B018  # mistake
veo.OnStack(5)  # mistake
veo.OnStack(b"x", inout="in")  # mistake
function = proc.load_library("x").find_function("f")
function.args_type(int)  # mistake
function(proc)  # mistake
function.nonsense  # noqa: B018  # mistake
size: str = proc.alloc_mem(8).size  # mistake
veo.VeoLibrary(None, "x", 0)  # mistake
veo.use_library(None)  # mistake
