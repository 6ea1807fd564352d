# SPDX-License-Identifier: BSD-3-Clause
"""Wait for kernels in other ways than wait_result(): await, callbacks, limits, many contexts."""

import asyncio
import tempfile
import threading

import veo

KERNEL = """
#include <unistd.h>
long sum_to(long n) { long s = 0; for (long i = 1; i <= n; i++) s += i; return s; }
int nap(int milliseconds) { usleep((useconds_t)milliseconds * 1000); return milliseconds; }
"""


async def await_two(lib: veo.VeoLibrary, one: veo.VeoCtxt, two: veo.VeoCtxt) -> None:
    """Await requests of two contexts, which run at the same time."""
    results = await asyncio.gather(awaited(lib.sum_to(one, 1000)), awaited(lib.nap(two, 50)))
    print("awaited:", results)
    assert results == [500500, 50]


async def awaited(request: veo.VeoRequest) -> object:
    """Make a coroutine of a request."""
    return await request


def call_back(lib: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    """Have a function called when a request is done."""
    finished = threading.Event()
    results = []

    def on_done(request: veo.VeoRequest) -> None:
        results.append(request.result())
        finished.set()

    lib.sum_to(ctx, 100).add_done_callback(on_done)
    assert finished.wait(10)
    print("called back with:", results)
    assert results == [5050]


def wait_with_a_limit(lib: veo.VeoLibrary, ctx: veo.VeoCtxt) -> None:
    """Give up waiting, and go on later: the kernel is not disturbed."""
    request = lib.nap(ctx, 300)
    assert not request.done()
    try:
        request.result(timeout=0.01)
    except TimeoutError:
        print("not done after 10 ms, as expected")
    else:
        raise AssertionError("a kernel that sleeps 300 ms was done after 10 ms")
    assert request.wait(timeout=10)
    print("done later:", request.result())


with tempfile.TemporaryDirectory() as folder:
    build = veo.VeBuild(check=True)
    build.set_build_dir(folder)
    build.set_c_src("asynchronous", KERNEL, flags="-O1 -fpic -D_DEFAULT_SOURCE")
    proc = veo.VeoProc(0)
    library = proc.load_library(build.build_so())
    library.sum_to.args_type("long")
    library.sum_to.ret_type("long")
    library.nap.args_type("int")
    library.nap.ret_type("int")
    contexts = [proc.open_context(), proc.open_context()]
    asyncio.run(await_two(library, *contexts))
    call_back(library, contexts[0])
    wait_with_a_limit(library, contexts[1])
    proc.proc_destroy()
