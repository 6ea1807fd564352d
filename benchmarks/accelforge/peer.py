# SPDX-License-Identifier: BSD-3-Clause
"""Evaluate a chain of fused matrix products with AccelForge whenever a line comes.

``PYTHON peer.py EXPORTER EINSUMS``, where PYTHON has AccelForge and EXPORTER is the path of
export_problem.py. The first line that is printed is the case as JSON; then, for each line of the
input, the seconds of one evaluation.
"""

import importlib.util
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path

ARCHITECTURE = """
arch:
  nodes:
  - !Memory
    name: MM
    size: inf
    leak_power: 1
    area: 1
    actions: [{name: read, energy: 10, throughput: 1}, {name: write, energy: 12, throughput: 1}]
  - !Memory
    name: GB
    size: 1e9
    leak_power: 1
    area: 1
    actions: [{name: read, energy: 1, throughput: 4}, {name: write, energy: 1.2, throughput: 4}]
  - !Compute
    name: MAC
    leak_power: 1
    area: 1
    actions: [{name: compute, energy: 1, throughput: 8}]
"""


def specification(count: int) -> str:
    """Write T<i+1>[m, n<i+1>] = T<i>[m, n<i>] * W<i>[n<i>, n<i+1>], fused over tiles of m."""
    sizes = ", ".join(["M: 64", *(f"N{i}: 64" for i in range(count + 1))])
    lines = ["workload:", f"  rank_sizes: {{{sizes}}}", "  bits_per_value: {All: 8}", "  einsums:"]
    for i in range(count):
        lines.append(f'  - "T{i + 1}[m, n{i + 1}] = T{i}[m, n{i}] * W{i}[n{i}, n{i + 1}]"')
    outer = ["T0", *([f"T{count}"]), *(f"W{i}" for i in range(count))]
    lines += ["mapping:", "  nodes:"]
    lines.append(f"  - !Storage {{tensors: [{', '.join(outer)}], component: MM}}")
    lines.append("  - !Temporal {rank_variable: m, tile_shape: 8}")
    inner = [f"T{i}" for i in range(1, count)]
    if inner:
        lines.append(f"  - !Storage {{tensors: [{', '.join(inner)}], component: GB}}")
    indent = "  "
    if count > 1:
        lines += ["  - !Sequential", "    nodes:"]
        indent = "      "
    for i in range(count):
        if count > 1:
            lines += ["    - !Nested", "      nodes:"]
        own = [name for name in (f"T{i}", f"W{i}", f"T{i + 1}") if name in outer]
        lines.append(f"{indent}- !Storage {{tensors: [{', '.join(own)}], component: GB}}")
        for variable in ("m", f"n{i}", f"n{i + 1}"):
            lines.append(f"{indent}- !Temporal {{rank_variable: {variable}, tile_shape: 1}}")
        lines.append(f"{indent}- !Compute {{einsum: T{i + 1}, component: MAC}}")
    return ARCHITECTURE + "\n".join(lines) + "\n"


def main() -> None:
    exporter_path, count = sys.argv[1], int(sys.argv[2])
    warnings.simplefilter("ignore")
    import accelforge

    spec = importlib.util.spec_from_file_location("export_problem", exporter_path)
    exporter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(exporter)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.yaml"
        path.write_text(specification(count))
        loaded = accelforge.Spec.from_yaml(path)
    print(json.dumps(exporter.export(loaded)), flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        loaded.evaluate_mapping()
        print(time.perf_counter() - start, flush=True)


main()
