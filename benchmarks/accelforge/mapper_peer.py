# SPDX-License-Identifier: BSD-3-Clause
"""Map with AccelForge: ``PYTHON mapper_peer.py``, where PYTHON has AccelForge.

Each line of the input is a case as JSON: the files, the variables, the metrics and the settings of
the mapper. The answer is a line with the seconds, and the totals of the mappings that were found.
The details of these are not evaluated, which needs graphviz.
"""

import json
import sys
import time
import warnings
from functools import reduce
from operator import or_

import accelforge as af
from accelforge.mapper.FFM.main import map_workload_to_arch

warnings.simplefilter("ignore")

TOTALS = [f"Total<SEP>{name}" for name in ("energy", "latency", "energy_delay_product")]


def run(case):
    """Map one case."""
    spec = af.Spec.from_yaml(*case["files"], jinja_parse_data=case["variables"])
    spec.mapper.metrics = reduce(or_, (af.Metrics[name] for name in case["metrics"].split("|")))
    for name, value in case["settings"].items():
        setattr(spec.mapper, name, value)
    start = time.perf_counter()
    data = map_workload_to_arch(spec, print_progress=False, eval_in_detail=False).data
    seconds = time.perf_counter() - start
    columns = [name for name in TOTALS if name in data.columns]
    rows = [{name: float(data[name].iloc[i]) for name in columns} for i in range(len(data))]
    return {"seconds": seconds, "rows": rows}


af.set_n_parallel_jobs(1)
for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
