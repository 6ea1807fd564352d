# SPDX-License-Identifier: BSD-3-Clause
"""Importing the package: what it needs, what it says, and what its names are."""

from __future__ import annotations

import subprocess
import sys

import pytest

import accelforge as af
from accelforge.util.conflicts import find_conflicts

# Stands for an environment without the extra.
WITHOUT = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("yaml", "jinja2", "pandas", "pydot", "hwcomponents"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
import accelforge as af
"""


def run(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_version_is_that_of_the_distribution():
    import offchip

    assert af.__version__ == offchip.__version__


def test_nothing_is_imported_that_is_not_needed():
    heavy = ("numpy", "pandas", "yaml", "jinja2", "pydot")
    code = f"import sys, accelforge; print([m for m in {heavy} if m in sys.modules])"
    assert run(code) == "[]\n"


def test_specifications_without_the_extra(spec):
    code = (
        WITHOUT
        + """
spec = af.Spec(
    arch={"nodes": [
        af.arch.Memory(name="M", size=float("inf"), component_class="Dummy"),
        af.arch.Compute(name="C", component_class="Dummy"),
    ]},
    workload={"einsums": ["Z[m] = A[m]"], "rank_sizes": {"M": 4}, "bits_per_value": {"All": 8}},
    mapping={"nodes": [
        {"type": "Storage", "component": "M", "tensors": ["A", "Z"]},
        {"type": "Temporal", "rank_variable": "m", "tile_shape": 1},
        {"type": "Compute", "component": "C", "einsum": "Z"},
    ]},
)
result = spec.evaluate_mapping()
print(result.actions(per_tensor=True)["M", "A", "read"])
assert spec.to_yaml() and spec.mapping.render()
print(result.data["Total<SEP>latency"].iloc[0] == result.latency())
for call in (lambda: result.data.groupby("a"), spec.mapping.render_pydot):
    try:
        call()
    except (AttributeError, ImportError) as error:
        print(error)
"""
    )
    printed = run(code).splitlines()
    assert printed[:2] == ["32.0", "True"]
    assert "needs pandas" in printed[2]
    assert "Install offchip[forge]" in printed[2]
    assert "needs pydot" in printed[3]
    assert "Install offchip[plot]" in printed[3]


@pytest.mark.parametrize(
    ("text", "missing"),
    [("a: 1\n", "Reading YAML needs yaml"), ("a: {% if 1 %}1{% endif %}\n", "needs jinja2")],
)
def test_files_without_the_extra_name_it(write, text, missing):
    code = WITHOUT + (
        "try:\n    af.Spec.from_yaml(sys.argv[1])\nexcept ImportError as error:\n    print(error)\n"
    )
    printed = run(code, write(text))
    assert missing in printed
    assert "offchip[forge]" in printed


def test_another_distribution_is_named(tmp_path):
    (tmp_path / "accelforge-1.0.467.dist-info").mkdir()
    (tmp_path / "accelforge_tools-1.0.dist-info").mkdir()
    assert find_conflicts([str(tmp_path), str(tmp_path / "nowhere")]) == [
        str(tmp_path / "accelforge-1.0.467.dist-info")
    ]
    site = tmp_path / "site-packages"
    (site / "accelforge-1.0.dist-info").mkdir(parents=True)
    code = f"""
import sys, warnings
sys.path.append({str(site)!r})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import accelforge
print(caught[0].message)
"""
    assert "also installs the package 'accelforge'" in run(code)


# Names of AccelForge that programs import, besides those of the top level.
NAMES = {
    "accelforge.frontend.arch": "Action Arch ArchNode ArchNodes Array Branch Comparison Component "
    "Compute Container Fork Hierarchical Leaf Memory Network Spatial TensorHolder "
    "TensorHolderAction Tensors Toll FlattenedArch",
    "accelforge.frontend.workload": "Einsum ImpliedProjection Shape TensorAccess Workload",
    "accelforge.frontend.renames": "EinsumRename Rename RenameList Renames rename_list_factory",
    "accelforge.frontend.mapping.mapping": "Compute Loop Mapping MappingNode Nested Pipeline "
    "Reservation Sequential Spatial Split Storage Temporal TensorHolder TilePattern Toll",
    "accelforge.frontend.mapper": "FFM Mapper Metrics",
    "accelforge.frontend.mapper.metrics": "Metrics",
    "accelforge.frontend.mapper.ffm": "FFM",
    "accelforge.frontend.model": "Model",
    "accelforge.frontend.config": "Config",
    "accelforge.frontend.variables": "Variables",
    "accelforge.frontend.spec": "Spec Specification",
    "accelforge.mapper": "FFM Metrics",
    "accelforge.mapper.FFM": "Mappings Metrics join_pmappings make_pmappings map_workload_to_arch",
    "accelforge.mapper.FFM.main": "map_workload_to_arch",
    "accelforge.model.main": "InvalidMappingError evaluate_mapping",
    "accelforge.problem": "Model ProblemError evaluate evaluate_batch",
    "accelforge.util": "LiteralString delayed get_n_parallel_jobs parallel set_n_parallel_jobs",
    "accelforge.util.exceptions": "EvaluationError",
    "accelforge.exceptions": "EvaluationError",
}


@pytest.mark.parametrize("module", NAMES)
def test_names_of_modules(module):
    imported = __import__(module, fromlist=["_"])
    assert [name for name in NAMES[module].split() if not hasattr(imported, name)] == []


def test_names_of_the_package():
    for name in (
        *("Arch", "Config", "EvaluationError", "LiteralString", "Mapping", "Metrics", "Renames"),
        *("Spec", "Variables", "Workload", "set_n_parallel_jobs", "examples", "arch", "config"),
        *("mapping", "mapper", "plotting", "renames", "spec", "variables", "workload"),
    ):
        assert name in af.__all__
        assert hasattr(af, name)


# --- parallel jobs ------------------------------------------------------------------------------


def test_jobs_are_done_in_order():
    from accelforge.util import delayed, get_n_parallel_jobs, parallel

    jobs = [delayed(pow)(x, 2) for x in range(5)]
    for count in (1, 2, None):
        assert parallel(jobs, n_jobs=count) == [0, 1, 4, 9, 16]
    assert parallel({"a": delayed(int)("3"), "b": delayed(int)("4")}) == {"a": 3, "b": 4}
    assert sorted(parallel(jobs, return_as="generator_unordered", n_jobs=2)) == [0, 1, 4, 9, 16]
    assert delayed(max)(1, key=abs) == (max, (1,), {"key": abs})
    with pytest.raises(ValueError, match="return_as"):
        parallel(jobs, return_as="set")
    before = get_n_parallel_jobs()
    try:
        af.set_n_parallel_jobs(3)
        assert get_n_parallel_jobs() == 3
        with pytest.raises(ValueError, match="at least 1"):
            af.set_n_parallel_jobs(0)
    finally:
        af.set_n_parallel_jobs(before)


def test_a_job_that_fails():
    from accelforge.util import delayed, parallel

    with pytest.raises(ZeroDivisionError):
        parallel([delayed(divmod)(1, 0), delayed(divmod)(1, 1)], n_jobs=2)
