# SPDX-License-Identifier: BSD-3-Clause
"""Random specifications with mappings, evaluated by AccelForge.

It is run by its path with a Python that has AccelForge, and writes one JSON object per line, as
accelforge/export_problem.py does::

    /path/to/python tests/accelforge/package/random_specs.py SEED COUNT [copies] > cases.jsonl

With ``copies``, chains begin with a copy Einsum. Releases of AccelForge differ in these; the engine
does as the newest (1c1929c28) does.
"""

from __future__ import annotations

import importlib.util
import json
import random
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
LATENCIES = [
    "max(a.n_calls / a.throughput for a in actions)",
    "sum(2 * a.n_calls / a.throughput for a in actions) + 3",
    "min(a.n_calls for a in actions) / 7",
]


def flow(value: Any) -> str:
    """Write YAML in flow style; strings are not quoted, so that they are expressions."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return str(value)


class Generator:
    """Makes one specification."""

    def __init__(self, seed: int, copies: bool = False) -> None:
        self.r = random.Random(seed)
        self.copies = copies

    def chance(self, p: float) -> bool:
        return self.r.random() < p

    # -- workload ------------------------------------------------------------------------------

    def workload(self) -> None:
        r = self.r
        kind = r.choice(["matmul", "matmul", "matvec", "conv", "chain", "chain", "wide"])
        kind = "chain" if self.copies else kind
        sizes = [1, 2, 3, 4, 5, 6, 8, 12, 16]
        self.bounds: dict[str, int] = {}
        self.einsums: list[tuple[str, str, list[str], list[str]]] = []
        shapes: dict[str, int] = {}
        if kind == "chain":
            count = r.choice([2, 2, 3, 4])
            self.bounds = {"m": r.choice(sizes)} | {
                f"n{i}": r.choice(sizes) for i in range(count + 1)
            }
            if self.copies:
                text = "T0[m, n0] = I[m, n0]"
                self.einsums.append(("T0", text, ["I", "T0"], ["m", "n0"]))
            for i in range(count):
                extra = ""
                inputs = [f"T{i}", f"W{i}"]
                if i >= 2 and self.chance(0.4):  # a tensor that outlives an Einsum
                    extra = f" * T{i - 1}[m, n{i - 1}]"
                    inputs.append(f"T{i - 1}")
                text = f"T{i + 1}[m, n{i + 1}] = T{i}[m, n{i}] * W{i}[n{i}, n{i + 1}]{extra}"
                variables = ["m", f"n{i}", f"n{i + 1}"] + ([f"n{i - 1}"] if extra else [])
                self.einsums.append((f"T{i + 1}", text, [*inputs, f"T{i + 1}"], variables))
            shapes = {name.upper(): bound for name, bound in self.bounds.items()}
        elif kind == "conv":
            p, q, s = r.choice(sizes), r.choice([1, 2, 3]), r.choice([1, 1, 2])
            c = r.choice(sizes[:6])
            self.bounds = {"p": p, "r": q, "c": c}
            index = f"{s}*p + r" if s > 1 else "p + r"
            text = f"O[p] = I[c, H: {index}] * W[c, r]"
            self.einsums = [("O", text, ["I", "W", "O"], ["p", "r", "c"])]
            shapes = {"P": p, "R": q, "C": c, "H": s * (p - 1) + q}
        else:
            texts = {
                "matmul": ("Z[m, n] = A[m, k] * B[k, n]", "mnk"),
                "matvec": ("Z[m] = A[m, k] * B[k]", "mk"),
                "wide": ("Z[b, m, n] = A[b, m, k] * B[k, n]", "bmnk"),
            }
            text, variables = texts[kind]
            self.bounds = {v: r.choice(sizes) for v in variables}
            self.einsums = [("Z", text, ["A", "B", "Z"], list(variables))]
            shapes = {name.upper(): bound for name, bound in self.bounds.items()}
        self.shapes = shapes

    def workload_text(self) -> str:
        r = self.r
        lines = ["workload:", f"  rank_sizes: {flow(self.shapes)}"]
        lines.append(f"  bits_per_value: {{All: {r.choice([1, 4, 8])}}}")
        if self.chance(0.3):
            lines.append(f"  n_instances: {r.choice([2, 3])}")
        lines.append("  einsums:")
        for _, text, _, _ in self.einsums:
            copy = ", is_copy_operation: True" if text.endswith("= I[m, n0]") else ""
            lines.append(f'  - {{einsum: "{text}"{copy}}}')
        return "\n".join(lines)

    # -- architecture --------------------------------------------------------------------------

    def action(self, name: str) -> dict[str, Any]:
        r = self.r
        fields: dict[str, Any] = {"name": name, "energy": r.choice([0, 1, 2.5, 7])}
        fields["throughput"] = r.choice(["inf", 1, 3, 10])
        if self.chance(0.3) and name != "compute":
            fields["bits_per_action"] = r.choice([2, 8, 24])
        return fields

    def common(self) -> dict[str, Any]:
        r = self.r
        fields: dict[str, Any] = {"leak_power": r.choice([0, 0.5, 2]), "area": r.choice([0, 1])}
        if self.chance(0.2):
            fields["actions_scale"] = r.choice([2, 0.5])
        if self.chance(0.2):
            fields["n_parallel_instances"] = 2
        if self.chance(0.2):
            fields["energy_scale"] = 3
        if self.chance(0.25):
            fields["total_latency"] = r.choice(LATENCIES)
        return fields

    def spatial(self) -> list[dict[str, Any]]:
        r = self.r
        found = []
        for name in r.sample(["X", "Y"], r.choice([1, 1, 2])):
            fields: dict[str, Any] = {"name": name, "fanout": r.choice([2, 4, 8, 16])}
            if self.chance(0.4):
                fields["may_reuse"] = r.choice(["Nothing", "Inputs", "Outputs"])
            if self.chance(0.2):
                fields["usage_scale"] = 0.5
            if self.chance(0.2):
                fields["power_gateable"] = True
            found.append(fields)
        return found

    def architecture(self) -> None:
        r = self.r
        # (tag, name, fields); the first memory holds everything.
        self.nodes: list[tuple[str, str, dict[str, Any]]] = []
        depth = r.choice([1, 2, 2, 3])
        for i in range(depth):
            name = f"M{i}"
            fields: dict[str, Any] = {"size": "inf" if i == 0 else r.choice(["inf", 4096, 300, 40])}
            fields |= self.common()
            fields["actions"] = [self.action("read"), self.action("write")]
            if self.chance(0.25):
                fields["bits_per_value"] = {"All": r.choice([2, 16])}
            if self.chance(0.2):
                fields["skip_initial_output_write"] = False
            if i > 0 and self.chance(0.25):
                fields["spatial"] = self.spatial()
            self.nodes.append(("Memory", name, fields))
            if self.chance(0.3):
                by_tensor = {"Outputs": "up", "~Outputs": "down"}
                direction = r.choice(["up", "down", "up_and_down", by_tensor])
                toll = {"direction": direction, **self.common(), "actions": [self.action("read")]}
                self.nodes.append(("Toll", f"N{i}", toll))
            if self.chance(0.4):
                self.nodes.append(("Container", f"C{i}", {"spatial": self.spatial()}))
        mac = {**self.common(), "actions": [self.action("compute")]}
        if self.chance(0.2):
            mac["skip_initial_output_write"] = False
        if self.chance(0.15):
            mac["spatial"] = self.spatial()
        self.nodes.append(("Compute", "MAC", mac))

    def fork(self) -> list[str]:
        """A side branch that no mapping uses; it leaks."""
        actions = [self.action("read"), self.action("write")]
        memory = {"name": "F0", "size": "inf", "leak_power": 2, "area": 1, "actions": actions}
        if self.chance(0.5):
            memory["spatial"] = self.spatial()
        compute = {"name": "ALU", "leak_power": 3, "area": 1, "actions": [self.action("compute")]}
        return [
            "  - !Fork",
            f"    forked_power_gateable: {self.chance(0.5)}",
            f"    non_forked_power_gateable: {self.chance(0.5)}",
            "    nodes:",
            f"    - !Memory {flow(memory)}",
            f"    - !Compute {flow(compute)}",
        ]

    def architecture_text(self) -> str:
        lines = ["arch:", "  nodes:"]
        fork = self.r.randrange(len(self.nodes)) if self.chance(0.2) else None
        for i, (tag, name, fields) in enumerate(self.nodes):
            lines.append(f"  - !{tag} {flow({'name': name, **fields})}")
            if i == fork and tag != "Compute":
                lines += self.fork()
        return "\n".join(lines)

    # -- mapping -------------------------------------------------------------------------------

    def tile_below(self, extent: int) -> int:
        r = self.r
        if extent <= 1:
            return 1
        if self.chance(0.75):
            return r.choice([d for d in range(1, extent) if extent % d == 0])
        return r.randint(1, extent)

    def loop(self, extents: dict[str, int], variable: str) -> str:
        tile = self.tile_below(extents[variable])
        extents[variable] = tile
        return f"!Temporal {{rank_variable: {variable}, tile_shape: {tile}}}"

    def spatial_loops(self, index: int, extents: dict[str, int]) -> list[str]:
        """Loops over the fan-out of node INDEX."""
        _, name, fields = self.nodes[index]
        found = []
        for dimension in fields.get("spatial", []):
            for _ in range(self.r.choice([0, 1, 1, 2])):
                variable = self.r.choice(list(extents))
                extent = extents[variable]
                room = [t for t in range(1, extent + 1) if -(-extent // t) <= dimension["fanout"]]
                if not room:
                    continue
                tile = self.r.choice(room)
                extents[variable] = tile
                found.append(
                    f"!Spatial {{rank_variable: {variable}, tile_shape: {tile}, "
                    f"component: {name}, name: {dimension['name']}}}"
                )
        return found

    def storage(self, index: int, tensors: list[str]) -> list[str]:
        tag, name, _ = self.nodes[index]
        tensors = self.r.sample(tensors, len(tensors))
        if not tensors:
            return []
        kind = "Toll" if tag == "Toll" else "Storage"
        if self.chance(0.3) and len(tensors) > 1:
            cut = self.r.randint(1, len(tensors) - 1)
            return [
                f"!{kind} {{tensors: [{', '.join(part)}], component: {name}}}"
                for part in (tensors[:cut], tensors[cut:])
            ]
        return [f"!{kind} {{tensors: [{', '.join(tensors)}], component: {name}}}"]

    def swapped(self, nodes: list[str]) -> list[str]:
        """Swap some neighbours: orders that the hierarchy of memories does not suggest."""
        for _ in range(self.r.choice([0, 0, 0, 1, 2, 5])):
            i = self.r.randrange(max(1, len(nodes) - 2))
            if i + 2 >= len(nodes):
                continue
            a, b = nodes[i : i + 2]
            variables = [re.search(r"rank_variable: (\w+)", node) for node in (a, b)]
            same = variables[0] and variables[1] and variables[0][1] == variables[1][1]
            if not same:
                nodes[i : i + 2] = [b, a]
        return nodes

    def body(self, einsum: int, extents: dict[str, int], start: int, held: set[str]) -> list[str]:
        """The part of the mapping that belongs to one Einsum."""
        r = self.r
        name, _, tensors, variables = self.einsums[einsum]
        mine = {v: extents[v] for v in variables}
        nodes: list[str] = []
        for index in range(start, len(self.nodes)):
            tag = self.nodes[index][0]
            nodes += self.spatial_loops(index, mine)
            if tag in ("Memory", "Toll"):
                chosen = [t for t in tensors if index == 0 or self.chance(0.7)]
                if index == 0:
                    chosen = [t for t in chosen if t not in held]
                nodes += self.storage(index, chosen)
                if tag == "Memory":
                    for _ in range(r.choice([0, 1, 2, 3])):
                        nodes.append(self.loop(mine, r.choice(variables)))
        # The spatial loops of the compute are already there; single values last.
        rest = [v for v in variables if mine[v] > 1]
        r.shuffle(rest)
        for variable in rest:
            nodes.append(f"!Temporal {{rank_variable: {variable}, tile_shape: 1}}")
        nodes.append(f"!Compute {{einsum: {name}, component: MAC}}")
        return self.swapped(nodes)

    def mapping_text(self) -> str:
        if len(self.einsums) == 1:
            lines = [f"  - {node}" for node in self.body(0, dict(self.bounds), 0, set())]
            return "\n".join(["mapping:", "  nodes:", *lines])
        return self.fused_text()

    def fused_text(self) -> str:
        r = self.r
        extents = dict(self.bounds)
        every = sorted({t for e in self.einsums for t in e[2]})
        ends = (self.einsums[0][2][0], self.einsums[-1][0])
        inner = [t for t in every if t.startswith("T") and t not in ends]
        memories = [i for i, node in enumerate(self.nodes) if node[0] == "Memory"]
        low = r.choice(memories)
        fused = [t for t in inner if low > 0 and self.chance(0.7)]
        persistent = [t for t in every if t not in fused and self.chance(0.1)]
        outer = [t for t in every if t not in fused and t not in persistent]
        head = self.storage(0, outer)
        if persistent:
            name = self.nodes[r.choice(memories)][1]
            names = ", ".join(persistent)
            head.append(f"!Storage {{tensors: [{names}], component: {name}, persistent: True}}")
        # The middle ones of a long chain may be fused below more loops than the others.
        deep = [t for t in fused if t in ("T2", "T3") and self.chance(0.5)]
        for _ in range(r.choice([0, 1, 1, 2])):
            head.append(self.loop(extents, "m"))
        head += self.storage(low, [t for t in fused if t not in deep])
        lines = ["mapping:", "  nodes:", *(f"  - {node}" for node in head)]
        lines += ["  - !Sequential", "    nodes:"]
        held = (low if fused else 0, set(fused))
        if not deep:
            lines += self.branches(range(len(self.einsums)), extents, *held, "    ")
            return "\n".join(lines)

        # Einsum i makes T<i + 1>: those from the first to the last that use a deep tensor.
        users = [i for i, e in enumerate(self.einsums) if set(e[2]) & set(deep)]
        group = range(users[0], users[-1] + 1)
        lines += self.branches(range(users[0]), extents, *held, "    ")
        inside = dict(extents)
        head = [self.loop(inside, "m"), *self.storage(low, deep)]
        lines += ["    - !Nested", "      nodes:", *(f"      - {node}" for node in head)]
        lines += ["      - !Sequential", "        nodes:"]
        lines += self.branches(group, inside, *held, "        ")
        rest = range(users[-1] + 1, len(self.einsums))
        lines += self.branches(rest, extents, *held, "    ")
        return "\n".join(lines)

    def branches(
        self, einsums: range, extents: dict[str, int], low: int, fused: set[str], indent: str
    ) -> list[str]:
        """Write a branch per Einsum."""
        lines = []
        for i in einsums:
            lines += [f"{indent}- !Nested", f"{indent}  nodes:"]
            body = self.fused_body(i, dict(extents), low, fused)
            lines += [f"{indent}  - {node}" for node in body]
        return lines

    def fused_body(
        self, einsum: int, extents: dict[str, int], low: int, fused: set[str]
    ) -> list[str]:
        r = self.r
        name, _, tensors, variables = self.einsums[einsum]
        mine = {v: extents[v] for v in variables}
        nodes: list[str] = []
        for index in range(1, len(self.nodes)):
            tag = self.nodes[index][0]
            if index > low or not fused:
                nodes += self.spatial_loops(index, mine)
            if tag in ("Memory", "Toll"):
                chosen = [t for t in tensors if self.chance(0.6)]
                chosen = [t for t in chosen if t not in fused or index > low]
                nodes += self.storage(index, chosen)
                if tag == "Memory":
                    for _ in range(r.choice([0, 1, 2])):
                        nodes.append(self.loop(mine, r.choice(variables)))
        rest = [v for v in variables if mine[v] > 1]
        r.shuffle(rest)
        nodes += [f"!Temporal {{rank_variable: {v}, tile_shape: 1}}" for v in rest]
        nodes.append(f"!Compute {{einsum: {name}, component: MAC}}")
        return self.swapped(nodes)

    def text(self) -> str:
        self.workload()
        self.architecture()
        parts = [self.architecture_text(), self.workload_text(), self.mapping_text()]
        return "\n".join(parts) + "\n"


def load_exporter() -> Any:
    spec = importlib.util.spec_from_file_location(
        "export_problem", ROOT / "accelforge" / "export_problem.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    first, count = map(int, sys.argv[1:3])
    copies = "copies" in sys.argv[3:]
    warnings.simplefilter("ignore")
    import accelforge

    exporter = load_exporter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec.yaml"
        for seed in range(first, first + count):
            text = Generator(seed, copies).text()
            path.write_text(text)
            try:
                case = exporter.export(accelforge.Spec.from_yaml(path))
            except Exception as error:
                case = {"refused": f"{type(error).__name__}: {error}"[:2000]}
            print(json.dumps({"seed": seed, "yaml": text, **case}), flush=True)


if __name__ == "__main__":
    main()
