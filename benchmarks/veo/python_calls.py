# SPDX-License-Identifier: BSD-3-Clause
"""Time calls from Python: ``python_calls.py KERNELS BATCH ROUNDS [unchecked]``.

Written for what offchip and py-veo 1.5.0 have in common, so that one program measures both, and
the package on a library that does nothing. Prints nanoseconds a call, one number a round.
"""

import sys
import time

import numpy as np

import veo


def main() -> None:
    kernels, batch, rounds = sys.argv[1].encode(), int(sys.argv[2]), int(sys.argv[3])
    checked = "unchecked" not in sys.argv[4:]
    proc = veo.VeoProc(0)
    lib = proc.load_library(kernels)
    ctx = proc.open_context()
    next1, mix6 = lib.next1, lib.mix6
    next1.args_type("long")
    next1.ret_type("long")
    mix6.args_type("int", "long", "double", "float", "unsigned int", "void *")
    mix6.ret_type("double")

    def one(n: int) -> None:
        for _ in range(n):
            next1(ctx, 5).wait_result()

    def six(n: int) -> None:
        for _ in range(n):
            mix6(ctx, 1, 2, 3.0, 4.0, 5, 6).wait_result()

    def queued(n: int) -> None:
        requests = [next1(ctx, 5) for _ in range(n)]
        for request in requests:
            request.wait_result()

    numbers = np.arange(batch)

    def many(n: int) -> None:
        ctx.call_many(next1, numbers[:n])

    def timed(work, n: int) -> float:  # type: ignore[no-untyped-def]
        start = time.perf_counter_ns()
        work(n)
        return (time.perf_counter_ns() - start) / n

    def peek(n: int) -> float:
        requests = [next1(ctx, 5) for _ in range(n)]
        next1(ctx, 5).wait_result()
        start = time.perf_counter_ns()
        for request in requests:
            request.peek_result()
        return (time.perf_counter_ns() - start) / n

    if checked:
        assert next1(ctx, 5).wait_result() == 6
        assert mix6(ctx, 1, 2, 3.0, 4.0, 5, 6).wait_result() == 21.0
    for name, measure in (
        ("one", lambda: timed(one, batch)),
        ("six", lambda: timed(six, batch)),
        ("queued", lambda: timed(queued, batch)),
        ("peek", lambda: peek(batch)),
        *([("many", lambda: timed(many, batch))] if hasattr(ctx, "call_many") else []),
    ):
        measure()
        print(name, *(f"{measure():.1f}" for _ in range(rounds)))
    if checked:
        assert next1(ctx, 41).wait_result() == 42


main()
