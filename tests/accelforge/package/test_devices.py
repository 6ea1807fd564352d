# SPDX-License-Identifier: BSD-3-Clause
"""Devices have the numbers that are published, and predict what was published about them.

docs/accelforge.md has the same figures in a table.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import accelforge as af
from accelforge import devices
from accelforge.frontend.mapping import Compute, Spatial, Storage, Temporal, Toll

VALUE = 64


def evaluate(
    architecture: af.Arch,
    einsum: str | dict[str, Any],
    sizes: dict[str, int],
    nodes: Sequence[Any],
    bits: int = VALUE,
) -> Any:
    spec = af.Spec(
        arch=architecture,
        workload=af.Workload(einsums=[einsum], rank_sizes=sizes, bits_per_value={"All": bits}),
        mapping=af.Mapping(nodes=list(nodes)),
    )
    return spec.evaluate_mapping()


def loop(variable: str, tile: int = 1) -> Temporal:
    return Temporal(rank_variable=variable, tile_shape=tile)


def spread(variable: str, component: str, name: str, tile: int = 1) -> Spatial:
    return Spatial(rank_variable=variable, tile_shape=tile, component=component, name=name)


def hold(component: str, *tensors: str) -> Storage:
    return Storage(component=component, tensors=list(tensors))


# --- the Vector Engine ----------------------------------------------------------------------------


def dgemm(model: str, size: int = 1920, bits: int = 64) -> Any:
    cores = 10 if model == "20A" else 8
    return evaluate(
        devices.vector_engine(model, bits=bits),
        "C[m, n] = A[m, k] * B[k, n]",
        {"M": size, "N": size, "K": size},
        [
            hold("HBM", "A", "B", "C"),
            loop("m", 240),
            loop("n", 480),
            hold("LastLevelCache", "A", "B", "C"),
            spread("m", "Core", "cores", 240 // cores),
            # 24 x 480 values of C do not leave the registers while a row of B passes.
            loop("m", 24 if cores == 10 else 30),
            Toll(component="LoadStore", tensors=["A", "B", "C"]),
            hold("VectorRegisters", "C"),
            loop("k", 1),
            hold("VectorRegisters", "A", "B"),
            loop("m", 1),
            loop("n", 1),
            Compute(component="FMA", einsum="C"),
        ],
        bits,
    )


@pytest.mark.parametrize(
    ("model", "published"),
    [
        *(("10A", 2.45e12), ("10B", 2.15e12), ("10C", 2.15e12), ("10AE", 2.433e12)),
        *(("10BE", 2.163e12), ("10CE", 2.15e12), ("20A", 3.07e12), ("20B", 2.46e12)),
    ],
)
def test_dgemm_on_vector_engine_reaches_its_published_peak(model: str, published: float) -> None:
    result = dgemm(model)
    assert 2 * 1920**3 / result.latency() == pytest.approx(published, rel=0.005)


def test_packed_arithmetic_doubles_the_rate_of_the_vector_engine() -> None:
    assert dgemm("10A", bits=32).latency() == pytest.approx(dgemm("10A").latency() / 2)


def triad(model: str) -> float:
    """Return bytes per second of z = x + a * y."""
    size = 8 * 2**20
    result = evaluate(
        devices.vector_engine(model),
        "Z[i] = X[i] * Y[i]",
        {"I": size},
        [
            hold("HBM", "X", "Y", "Z"),
            spread("i", "Core", "cores", size // 8),
            Toll(component="LoadStore", tensors=["X", "Y", "Z"]),
            loop("i", 256),
            hold("VectorRegisters", "X", "Y", "Z"),
            loop("i", 1),
            Compute(component="FMA", einsum="Z"),
        ],
    )
    return float(3 * 8 * size / result.latency())


def test_triad_on_vector_engine_takes_the_bandwidth_of_its_memory() -> None:
    assert triad("10B") == pytest.approx(1.22e12, rel=0.001)
    assert triad("20B") == pytest.approx(1.53e12, rel=0.001)


def transfer_rate(architecture: af.Arch, source: str, target: str, size: int) -> float:
    """Return bytes per second of a copy; one of the tensors is HostA."""
    result = evaluate(
        architecture,
        {"einsum": f"{target}[i] = {source}[i]", "is_copy_operation": True},
        {"I": size // 8},
        [
            hold("HostMemory", "HostA"),
            hold("HBM", "A"),
            loop("i"),
            Compute(component="FMA", einsum=target),
        ],
    )
    return float(size / result.latency())


def test_copies_to_vector_engine_have_the_rates_of_veo_udma() -> None:
    engine = devices.vector_engine("10B")
    assert transfer_rate(engine, "HostA", "A", 2**30) == pytest.approx(8612e6, rel=0.01)
    assert transfer_rate(engine, "A", "HostA", 2**30) == pytest.approx(10407e6, rel=0.01)
    # And a transfer of a value takes the published time to start one.
    assert 8 / transfer_rate(engine, "A", "HostA", 8) == pytest.approx(12.9e-6, rel=0.01)


# --- UPMEM ----------------------------------------------------------------------------------------


def stream(tasklets: int, *, block: int, instructions: float, bits: int = 64) -> Any:
    """Evaluate a loop over a block of each tasklet, whose result stays in WRAM."""
    values = 64 * block * 8 // bits
    return evaluate(
        devices.upmem_rank(dpus=1, tasklets=tasklets, block=block, instructions=instructions),
        "Z[t] = A[t, i]",
        {"T": tasklets, "I": values},
        [
            hold("MRAM", "A", "Z"),
            spread("t", "Tasklet", "tasklets"),
            hold("WRAM", "Z"),
            loop("i", block * 8 // bits),
            hold("WRAM", "A"),
            loop("i", 1),
            Compute(component="Pipeline", einsum="Z"),
        ],
        bits,
    )


@pytest.mark.parametrize(
    ("block", "published", "within"), [(2048, 628.23e6, 0.01), (8, 72.58e6, 0.01)]
)
def test_mram_has_the_bandwidth_that_prim_measured(
    block: int, published: float, within: float
) -> None:
    result = stream(16, block=block, instructions=1e-9)
    assert 16 * 64 * block / result.latency() == pytest.approx(published, rel=within)


@pytest.mark.parametrize(
    ("instructions", "published"),
    [(6, 58.56e6), (7, 50.16e6)],  # additions of 32 and 64 bits
)
@pytest.mark.parametrize("tasklets", [1, 4, 11, 16])
def test_dpu_has_the_throughput_that_prim_measured(
    instructions: int, published: float, tasklets: int
) -> None:
    result = stream(tasklets, block=1024, instructions=instructions)
    rate = result.n_computes() / result.latency()
    assert rate == pytest.approx(published * min(1, tasklets / 11), rel=0.01)


@pytest.mark.parametrize(
    ("instructions", "size", "published"), [(2, 16, 2818.98e6), (5, 24, 1682.46e6)]
)
def test_wram_has_the_bandwidth_of_stream(instructions: int, size: int, published: float) -> None:
    result = stream(16, block=1024, instructions=instructions)
    # The transfers are not part of STREAM.
    seconds = result.latency(per_component=True)["Pipeline"]
    assert size * result.n_computes() / seconds == pytest.approx(published, rel=0.01)


def offloaded_gemv(architecture: af.Arch, mapping: Path, dpus: int, rows: int, columns: int) -> Any:
    """Evaluate Z = A x with its copies, which are Einsums of their own."""
    copy = {"is_copy_operation": True}
    return af.Spec(
        arch=architecture,
        workload=af.Workload(
            einsums=[
                {"einsum": "A[d, m, k] = HostA[d, m, k]", **copy},
                {"einsum": "x[d, k] = Hostx[k]", **copy},
                "Z[d, m] = A[d, m, k] * x[d, k]",
                {"einsum": "HostZ[d, m] = Z[d, m]", **copy},
            ],
            rank_sizes={"D": dpus, "M": rows, "K": columns},
            bits_per_value={"All": 32},
        ),
        mapping=af.Mapping.from_yaml(mapping),
    ).evaluate_mapping()


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    """Write the mapping of `offloaded_gemv`: a branch for each Einsum."""
    branches = []
    for einsum, variables in (("A", "mk"), ("x", "k"), ("Z", "mk"), ("HostZ", "m")):
        lines = ["- !Spatial {rank_variable: d, tile_shape: 1, name: DPUs, component: MRAM}"]
        if einsum == "Z":
            lines += ["- !Temporal {rank_variable: m, tile_shape: 16}"]
            lines += [
                "- !Spatial {rank_variable: m, tile_shape: 1, name: tasklets, component: Tasklet}"
            ]
            lines += ["- !Storage {component: WRAM, tensors: [Z]}"]
            lines += ["- !Temporal {rank_variable: k, tile_shape: 64}"]
            lines += ["- !Storage {component: WRAM, tensors: [A, x]}"]
        lines += [f"- !Temporal {{rank_variable: {v}, tile_shape: 1}}" for v in variables]
        lines += [f"- !Compute {{einsum: {einsum}, component: Pipeline}}"]
        branches += ["    - !Nested", "      nodes:", *("      " + line for line in lines)]
    head = """
nodes:
- !Storage {component: HostMemory, tensors: [HostA, Hostx, HostZ]}
- !Storage {component: MRAM, tensors: [A, x, Z]}
- !Sequential
    nodes:
"""
    path = tmp_path / "mapping.yaml"
    path.write_text(head + "\n".join(branches))
    return path


def test_copies_to_dpus_and_kernels_take_turns(mapping: Path) -> None:
    rank = devices.upmem_rank(instructions=8, block=256)
    result = offloaded_gemv(rank, mapping, 64, 256, 1024)
    phases = result.latency(per_einsum=True)
    matrix = 64 * 256 * 1024 * 4
    assert phases["A"] == pytest.approx(matrix / 6.68e9)
    assert phases["x"] == pytest.approx(64 * 1024 * 4 / 16.88e9)  # all get the same
    assert phases["Z"] == pytest.approx(256 * 1024 * 8 / 350e6)
    assert phases["HostZ"] == pytest.approx(64 * 256 * 4 / 4.74e9)
    assert result.latency() == pytest.approx(sum(phases.values()))


def test_instructions_have_the_energy_that_launches_report(mapping: Path) -> None:
    rank = devices.upmem_rank(instructions=8, block=256)
    energy = offloaded_gemv(rank, mapping, 64, 256, 1024).energy()
    assert energy == pytest.approx(300e-12 * 8 * 64 * 256 * 1024)


def test_server_has_forty_ranks(mapping: Path) -> None:
    server = devices.upmem_server(instructions=8, block=256)
    result = offloaded_gemv(server, mapping, 2560, 16, 1024)
    phases = result.latency(per_einsum=True)
    assert phases["A"] == pytest.approx(2560 * 16 * 1024 * 4 / 6.68e9)
    assert phases["Z"] == pytest.approx(16 * 1024 * 8 / 350e6)


def test_copies_to_few_dpus_are_slower(mapping: Path) -> None:
    one = devices.upmem_rank(dpus=1, instructions=8, block=256)
    phases = offloaded_gemv(one, mapping, 1, 256, 1024).latency(per_einsum=True)
    assert phases["A"] == pytest.approx(256 * 1024 * 4 / 0.33e9, rel=1e-3)
    assert phases["HostZ"] == pytest.approx(256 * 4 / 0.12e9, rel=1e-3)


def test_instructions_can_differ_by_einsum(mapping: Path) -> None:
    rank = devices.upmem_rank(instructions="8 if 'x' in All else 99", block=256)
    result = offloaded_gemv(rank, mapping, 64, 256, 1024)
    assert result.latency(per_einsum=True)["Z"] == pytest.approx(256 * 1024 * 8 / 350e6)


def test_energy_of_a_dpu_is_that_of_its_share_of_the_chip() -> None:
    result = stream(16, block=1024, instructions=6)
    # 1.2 W for 8 DPUs at 500 MHz; ours run at 350 MHz.
    assert result.energy() / result.latency() == pytest.approx(1.2 / 8 * 350 / 500, rel=0.01)


# --- FPGAs ----------------------------------------------------------------------------------------


def exchange(model: str, ranks: int, latency: float = 0.0) -> Any:
    """Evaluate a step in which every rank receives 8 MiB from another one."""
    return evaluate(
        devices.fpga(model, ranks=ranks, latency=latency),
        {"einsum": "T[r, i] = S[r, i]", "is_copy_operation": True},
        {"R": ranks, "I": 2**20},
        [
            hold("Network", "S"),
            hold("HBM", "T"),
            spread("r", "HBM", "ranks"),
            loop("i"),
            Compute(component="DSP", einsum="T"),
        ],
    )


@pytest.mark.parametrize("ranks", [2, 8])
def test_links_of_fpgas_carry_a_hundred_gigabits_with_frames(ranks: int) -> None:
    seconds = exchange("U55C", ranks).latency()
    assert 8 * 8 * 2**20 / seconds == pytest.approx(100e9 * 1460 / 1538)
    late = exchange("U55C", ranks, latency=5e-6).latency()
    assert late == pytest.approx(seconds + 5e-6)


@pytest.mark.parametrize(("model", "gigabytes"), [("U280", 8), ("U55C", 16)])
def test_fpga_has_the_memory_that_is_published(model: str, gigabytes: int) -> None:
    spec = af.Spec(
        arch=devices.fpga(model),
        workload=af.Workload(
            einsums=["Z[i] = A[i]"], rank_sizes={"I": 1}, bits_per_value={"All": 8}
        ),
    ).calculate_component_costs()
    assert spec.arch["HBM"].size == gigabytes * 8 * 2**30
    assert spec.arch["HBM"].actions["read"].throughput == 8 * 32 * 14.375e9


# --- all ------------------------------------------------------------------------------------------


def test_wrong_models_and_sizes_say_what_there_is() -> None:
    with pytest.raises(ValueError, match="model is one of 10A, .*20B, not '30A'"):
        devices.vector_engine("30A")
    with pytest.raises(ValueError, match="bits is one of 8, 16, 32, not 64"):
        devices.fpga(bits=64)
    with pytest.raises(ValueError, match="1 to 24 tasklets, not 25"):
        devices.upmem_rank(tasklets=25)
    with pytest.raises(ValueError, match="8 to 2048 bytes, a multiple of 8, not 12"):
        devices.upmem_rank(block=12)


@pytest.mark.parametrize("name", ["vector_engine", "upmem", "fpga"])
def test_files_of_devices_can_be_read_by_themselves(name: str) -> None:
    assert af.Arch.from_yaml(devices.FILES[name], top_key="arch").get_nodes_of_type(af.arch.Compute)


def test_host_has_what_was_measured() -> None:
    figures = devices.HostFigures(8e9, 32768, 2**20, 2e11, 1e11, 1e11, 5e10, 1e10, 5e9, 1.5e11, 32)
    result = evaluate(
        devices.host(figures),
        "Z[i] = A[i]",
        {"I": 4096},
        [hold("MainMemory", "A", "Z"), loop("i", 1), Compute(component="FMA", einsum="Z")],
    )
    latency = result.latency(per_component=True)
    assert latency["FMA"] == pytest.approx(4096 / 8e9)
    assert latency["MainMemory"] == pytest.approx(8 * 4096 / 1e10 + 8 * 4096 / 5e9)


def test_host_is_calibrated_once() -> None:
    figures = devices.calibrate()
    assert devices.calibrate() is figures
    assert figures.fma > 1e8
    assert 4096 <= figures.l1_size < figures.l2_size
    # Nearer memories are faster; the factor is for hosts on which others run.
    assert figures.l1_read > 0.7 * figures.memory_read
    assert min(figures) > 0


def test_devices_are_imported_without_the_packages_they_are_for() -> None:
    code = "import sys, accelforge.devices; print({'veo', 'dpu', 'accl'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
