# SPDX-License-Identifier: BSD-3-Clause
"""Compile a kernel, load it into a Vector Engine process, call it."""

import os
import tempfile

import veo

KERNEL = """
#include <stdio.h>
double hello(int who, double x) { printf("Hello from the VE, %d\\n", who); return 2 * x; }
"""

with tempfile.TemporaryDirectory() as folder:
    build = veo.VeBuild(check=True)
    build.set_build_dir(folder)
    build.set_c_src("hello", KERNEL)
    path = build.build_so()

    proc = veo.VeoProc(int(os.environ.get("VE_NODE_NUMBER", "0")))
    lib = proc.load_library(path)
    lib.hello.args_type("int", "double")
    lib.hello.ret_type("double")
    ctx = proc.open_context()
    print("result:", lib.hello(ctx, 42, 1.5).wait_result())
    proc.proc_destroy()
