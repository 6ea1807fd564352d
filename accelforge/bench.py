# SPDX-License-Identifier: BSD-3-Clause
"""Measure how fast accelforge is on this machine: ``python -m accelforge.bench``.

Where ``OFFCHIP_ACCELFORGE_PYTHON`` names a Python that has the original AccelForge, that takes
turns with this one.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import accelforge as af
from offchip.measurements import PEER, Baseline, Effort, Measurement, Missing, Series, compare, main
from offchip.peer_process import PeerFailed, PeerProcess

__all__ = ["SERIES"]

VARIABLE = "OFFCHIP_ACCELFORGE_PYTHON"
ORIGINAL = "AccelForge"
RUNNING = "running the workload, in integers by NumPy"

# Does the same with the original, whenever a line of the input asks for it. Its wheel has no
# examples, and takes those of this package; details of a search need graphviz there.
PEER_PROGRAM = """
import contextlib, json, sys, warnings
warnings.simplefilter("ignore")
answers = sys.stdout
with contextlib.redirect_stdout(sys.stderr):
    import accelforge as af
    from accelforge.mapper.FFM.main import map_workload_to_arch
    af.set_n_parallel_jobs(1)
    specs = {}
    for line in sys.stdin:
        work, products, *files = json.loads(line)
        if line not in specs:
            specs[line] = af.Spec.from_yaml(*files, jinja_parse_data={"N_EINSUMS": products})
        if work == "evaluate_mapping":
            specs[line].evaluate_mapping()
        else:
            map_workload_to_arch(specs[line], print_progress=False, eval_in_detail=False)
        print("done", file=answers, flush=True)
"""


def _products(count: int) -> Callable[[], object]:
    """Make the products themselves, of 128 x 128 matrices as in the workload.

    In integers, as those do not use threads of BLAS, whose times vary.
    """
    first, weights = np.ones((128, 128), np.int32), np.full((128, 128), 2, np.int32)
    out = np.empty_like(first)

    def run() -> None:
        for _ in range(count):
            np.matmul(first, weights, out)

    return run


def _works(effort: Effort) -> Iterator[Measurement | Missing]:
    """Evaluate mappings of chains of matrix products, and search the best ones."""
    named = os.environ.get(VARIABLE, "")
    python = shutil.which(named)
    if python is None:
        how = f"{VARIABLE} is {named}, which cannot be run" if named else ""
        how = how or f"install it elsewhere, and set {VARIABLE} to its Python"
        yield Missing("all", ORIGINAL, how)
    with contextlib.ExitStack() as stack:
        peer = None
        if python is not None:
            peer = stack.enter_context(PeerProcess(os.path.abspath(python), PEER_PROGRAM))
        problem = [af.examples.arches.simple, af.examples.workloads.basic.matmuls]
        mapping = af.examples.mappings.unfused_matmuls_to_simple
        for work, sizes, files, repeat in (
            ("evaluate_mapping", (1, 2, 8), [*problem, mapping], 5),
            ("map_workload_to_arch", (1, 2), problem, 2),
        ):
            for products in sizes:
                spec = af.Spec.from_yaml(*files, N_EINSUMS=products)
                run: Callable[..., object] = getattr(spec, work)
                if work == "map_workload_to_arch":
                    run = partial(run, print_progress=False)
                baselines = [Baseline(RUNNING, _products(products), PEER)]
                if peer is not None:
                    theirs = partial(peer.run, json.dumps([work, products, *map(str, files)]))
                    try:
                        theirs()
                        baselines.insert(0, Baseline(ORIGINAL, theirs, PEER, repeat=1))
                    except PeerFailed as error:
                        yield Missing(work, ORIGINAL, str(error))
                        peer = None
                yield from compare(
                    work,
                    run,
                    baselines,
                    x=products,
                    x_unit="products",
                    repeat=repeat,
                    effort=effort,
                )


SERIES: tuple[Series, ...] = (_works,)

if __name__ == "__main__":
    sys.exit(main("accelforge", SERIES))
