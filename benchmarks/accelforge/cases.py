# SPDX-License-Identifier: BSD-3-Clause
"""Cases of the mapper's benchmark: files that AccelForge reads too, and settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import accelforge

EXAMPLES = Path(accelforge.__file__).parent / "examples"

MATMUL = """
workload:
  rank_sizes: {M: {{M}}, N: {{N}}, K: {{K}}}
  bits_per_value: {All: {{BITS | default(8)}}}
  einsums: ["Z[m, n] = A[m, k] * B[k, n]"]
"""

MATVEC = """
workload:
  rank_sizes: {M: {{M}}, K: {{K}}}
  bits_per_value: {All: {{BITS}}}
  einsums: ["Y[m] = A[m, k] * X[k]"]
"""

CONVOLUTION = """
workload:
  rank_sizes: {P: {{P}}, R: {{R}}, C: {{C}}, M: {{M}}, H: {{P + R - 1}}}
  bits_per_value: {All: 8}
  einsums: ["O[m, p] = I[c, H: p + r] * W[m, c, r]"]
"""

# 4 x 4 units with registers behind a link that each passage is charged for.
ARRAY = """
arch:
  nodes:
  - !Memory
    name: DRAM
    size: inf
    area: 0
    leak_power: 0
    tensors: {keep: All}
    actions:
    - {name: read, energy: 60e-12, throughput: 64e9}
    - {name: write, energy: 60e-12, throughput: 64e9}
  - !Memory
    name: Buffer
    size: 8 * 8192
    area: 0
    leak_power: 0
    tensors: {may_keep: All}
    actions:
    - {name: read, energy: 2e-12, throughput: 256e9}
    - {name: write, energy: 2e-12, throughput: 256e9}
  - !Toll
    name: Link
    direction: up_and_down
    area: 0
    leak_power: 0
    tensors: {keep: All}
    actions: [{name: read, energy: 0.2e-12, throughput: 1e12}]
  - !Container
    name: Units
    spatial:
    - {name: X, fanout: 4, may_reuse: All}
    - {name: Y, fanout: 4, may_reuse: All}
  - !Memory
    name: Registers
    size: 8 * 64
    area: 0
    leak_power: 0
    tensors: {may_keep: All}
    actions:
    - {name: read, energy: 0.1e-12, throughput: inf}
    - {name: write, energy: 0.1e-12, throughput: inf}
  - !Compute
    name: MAC
    area: 0
    leak_power: 0
    actions: [{name: compute, energy: 0.3e-12, throughput: 1e9}]
"""

# A Vector Engine 20B: HBM2 at 1.53 TB/s, 16 MiB of cache, 8 cores with vector registers.
VECTOR = """
arch:
  nodes:
  - !Memory
    name: HBM
    size: 48 * 2**30 * 8
    area: 0
    leak_power: 0
    tensors: {keep: All}
    actions:
    - {name: read, energy: 4e-12, throughput: 1.53e12 * 8}
    - {name: write, energy: 4e-12, throughput: 1.53e12 * 8}
  - !Memory
    name: Cache
    size: 16 * 2**20 * 8
    area: 0
    leak_power: 0
    tensors: {may_keep: All}
    actions:
    - {name: read, energy: 0.5e-12, throughput: 3e12 * 8}
    - {name: write, energy: 0.5e-12, throughput: 3e12 * 8}
  - !Container
    name: Core
    spatial: [{name: cores, fanout: 8}]
  - !Memory
    name: Registers
    size: 64 * 256 * 64
    area: 0
    leak_power: 0
    tensors: {keep: All}
    actions:
    - {name: read, energy: 0, throughput: inf}
    - {name: write, energy: 0, throughput: inf}
  - !Compute
    name: FMA
    area: 0
    leak_power: 0
    actions: [{name: compute, energy: 10e-12, throughput: 1.6e9 * 96}]
"""

# 64 DPUs with a memory of 64 MiB and a scratchpad of 64 KiB each.
RANK = """
arch:
  nodes:
  - !Memory
    name: Host
    size: inf
    area: 0
    leak_power: 0
    tensors: {keep: All}
    actions:
    - {name: read, energy: 0, throughput: 6.68e9 * 8}
    - {name: write, energy: 0, throughput: 4.74e9 * 8}
  - !Memory
    name: MRAM
    spatial: [{name: dpus, fanout: 64, may_reuse: Nothing}]
    size: 64 * 2**20 * 8
    area: 0
    leak_power: 0
    tensors: {keep: All}
    actions:
    - {name: read, energy: 0, throughput: 0.63e9 * 8}
    - {name: write, energy: 0, throughput: 0.63e9 * 8}
  - !Memory
    name: WRAM
    size: 48 * 1024 * 8
    area: 0
    leak_power: 0
    tensors: {may_keep: All}
    actions:
    - {name: read, energy: 0, throughput: inf}
    - {name: write, energy: 0, throughput: inf}
  - !Compute
    name: DPU
    area: 0
    leak_power: 0
    actions: [{name: compute, energy: 0, throughput: 350e6 / 40}]
"""

TEXTS = {
    "vector": VECTOR,
    "rank": RANK,
    "matmul": MATMUL,
    "matvec": MATVEC,
    "convolution": CONVOLUTION,
    "array": ARRAY,
}


@dataclass(frozen=True)
class Case:
    """One call of the mapper.

    Attributes
    ----------
    name : str
        Printed.
    files : tuple of str
        Names of `TEXTS`, or examples.
    variables : dict
        Jinja variables.
    metrics : str
        Names, with ``|`` between.
    settings : dict
        Of ``spec.mapper``.
    peer : bool
        Whether AccelForge finishes in reasonable time.
    quick : bool
        Whether it is measured with ``--quick``.
    """

    name: str
    files: tuple[str, ...]
    variables: dict[str, Any]
    metrics: str = "ENERGY"
    settings: dict[str, Any] = field(default_factory=dict)
    peer: bool = True
    quick: bool = False

    def plain(self, folder: Path) -> dict[str, Any]:
        """Return the case as data, with paths; texts are written to a folder."""
        return {**asdict(self), "files": [str(_path(name, folder)) for name in self.files]}


def _path(name: str, folder: Path) -> Path:
    if name in TEXTS:
        path = folder / f"{name}.yaml"
        path.write_text(TEXTS[name], encoding="utf-8")
        return path
    return EXAMPLES / f"{name}.yaml"


def _chain(arch: str, count: int, size: int, **more: Any) -> Case:
    sizes = {"N_EINSUMS": count, "M": size, "KN": size}
    files = (f"arches/{arch}", "workloads/basic/matmuls")
    plural = "s" if count > 1 else ""
    return Case(f"{arch}, {count} matmul{plural} {size}", files, sizes, **more)


def _gpt(arch: str, model: str, **more: Any) -> Case:
    tokens = {"BATCH_SIZE": 1, "DECODE": False, "N_NEW_TOKENS": 2048, "N_CACHED_TOKENS": 0}
    files = (f"arches/{arch}", f"workloads/transformers/gpt/gpt3_{model}")
    return Case(f"{arch}, GPT-3 {model}", files, tokens, **more)


ONE_LOOP = {"max_fused_loops": 1}
CUBE = {"M": 64, "N": 32, "K": 48}

CASES = (
    _chain("simple", 1, 64, quick=True),
    _chain("simple", 1, 4096),
    _chain("simple", 2, 64),
    _chain("simple", 3, 128, quick=True),
    _chain("simple", 8, 128),
    _chain("snowcat", 3, 128),
    _chain("tpu_v4i", 1, 4096),
    _chain("tpu_v4i", 2, 64, settings=ONE_LOOP),
    _chain("tpu_v4i", 3, 128, settings=ONE_LOOP),
    _gpt("simple", "175B"),
    _gpt("snowcat", "6.7B"),
    _gpt("tpu_v4i", "175B", metrics="ENERGY_DELAY_PRODUCT", settings=ONE_LOOP, peer=False),
    Case(
        "VE20B, dgemm 4096",
        ("vector", "matmul"),
        {"M": 4096, "N": 4096, "K": 4096, "BITS": 64},
        "LATENCY",
    ),
    Case(
        "UPMEM rank, gemv 8192", ("rank", "matvec"), {"M": 8192, "K": 8192, "BITS": 32}, "LATENCY"
    ),
    Case("4x4 array, gemm", ("array", "matmul"), CUBE, "ENERGY_DELAY_PRODUCT"),
    Case(
        "4x4 array, conv1d",
        ("array", "convolution"),
        {"P": 56, "R": 3, "C": 16, "M": 32},
        "ENERGY_DELAY_PRODUCT",
        peer=False,
    ),
)
