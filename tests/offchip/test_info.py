# SPDX-License-Identifier: BSD-3-Clause
"""The `offchip` command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import offchip
from offchip.devices import describe_devices
from offchip.environment import variables_set
from offchip.info import find_conflicts

KEYS = {"path", "kind", "found_via", "version", "api_version", "devices", "missing", "refused"}


@pytest.fixture
def run_offchip(tmp_path):
    """Run the command away from the tree, with a folder in front of all others if given."""

    def run(*arguments, in_front=None, **changes):
        environment = {k: v for k, v in os.environ.items() if k != "VEO_LIBRARY"}
        environment.update(changes)
        if in_front is not None:
            environment["PYTHONPATH"] = str(in_front)
        return subprocess.run(
            [sys.executable, "-P", "-m", "offchip", *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
        )

    return run


def test_table_names_every_package(run_offchip):
    done = run_offchip("info", VEO_LIBRARY="soft")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert f"offchip {offchip.__version__}" in done.stdout
    assert "soft twin (VEO_LIBRARY: soft)" in done.stdout
    assert "simulates up to 2,560 DPUs" in done.stdout
    assert "devices   0" not in done.stdout
    assert "libveo.so.1" in done.stdout


def test_json_has_everything(run_offchip):
    done = run_offchip("info", "--json", VEO_LIBRARY="soft")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    packages = {package["name"]: package for package in report["packages"]}
    assert set(packages) == {"veo", "dpu", "accl", "accelforge"}
    assert Path(packages["accelforge"]["parts"]["engine"]).is_file()
    assert set(packages["dpu"]["library"]) >= KEYS
    library = packages["veo"]["library"]
    assert set(library) >= KEYS
    assert library["kind"] == "soft"
    assert library["api_version"] >= 16
    assert library["devices"] == [0]
    assert library["missing"] == []
    assert Path(library["path"]).is_file()
    assert report["problems"] == []


def test_variables_that_are_set_are_shown(run_offchip):
    done = run_offchip("info", VEO_LIBRARY="soft", DPU_SOFT_RANKS="7")
    assert done.stdout.index("environment\n") < done.stdout.index("    DPU_SOFT_RANKS=7\n")
    report = json.loads(run_offchip("info", "--json", DPU_SOFT_RANKS="7").stdout)
    assert report["environment"]["DPU_SOFT_RANKS"] == "7"
    assert "VEO_LIBRARY" not in report["environment"]
    assert variables_set({"VEO_SOFT_NODES": "2", "PATH": "/bin", "VEO_OTHER": "1"}) == {
        "VEO_SOFT_NODES": "2"
    }


def test_candidates_that_were_refused_are_shown(run_offchip):
    done = run_offchip("info")
    assert "refused" in done.stdout
    assert "/opt/nec/" in done.stdout or "libveo.so.1 (search)" in done.stdout


def test_library_asked_for_that_cannot_be_used_is_loud(run_offchip):
    done = run_offchip("info", VEO_LIBRARY="/nowhere/libveo.so.1")
    assert done.returncode == 1
    assert "NOT USABLE" in done.stdout
    assert "1 problem" in done.stderr
    assert "/nowhere/libveo.so.1 (VEO_LIBRARY): there is no such file" in done.stderr


def test_accelforge_is_described(run_offchip):
    printed = run_offchip("info").stdout
    assert "predictions of energy, latency and area" in printed
    assert "accelforge/_model" in printed


def test_accelforge_of_another_distribution_is_named(run_offchip, tmp_path):
    folder = tmp_path / "front"
    (folder / "accelforge").mkdir(parents=True)
    (folder / "accelforge" / "__init__.py").touch()
    done = run_offchip("info", in_front=folder)
    assert done.returncode == 1
    assert "accelforge  predictions" in done.stdout
    assert "NOT USABLE: another package has the same import name" in done.stdout
    assert f"{folder}/accelforge/__init__.py, which hides ours" in done.stderr


def test_package_that_hides_ours_is_loud(run_offchip, tmp_path):
    folder = tmp_path / "front"
    (folder / "veo").mkdir(parents=True)
    (folder / "veo" / "__init__.py").write_text("raise SystemExit('must not be imported')")
    done = run_offchip("info", in_front=folder)
    assert done.returncode == 1
    assert f"{folder}/veo/__init__.py, which hides ours" in done.stderr
    report = json.loads(run_offchip("info", "--json", in_front=folder).stdout)
    assert len(report["problems"]) == 1


@pytest.fixture
def make_distribution(tmp_path, monkeypatch):
    """Put another distribution on the path: its records, and the files that they name."""

    def make(name, record, top_level=None):
        folder = tmp_path / "site" / f"{name.replace('-', '_')}-1.0.dist-info"
        folder.mkdir(parents=True)
        for path in record:
            (folder.parent / path).parent.mkdir(parents=True, exist_ok=True)
            (folder.parent / path).touch()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "RECORD").write_text("".join(f"{path},,\n" for path in record))
        if top_level is not None:
            (folder / "top_level.txt").write_text(top_level)
        # Behind our own packages, as site-packages is behind an editable install.
        monkeypatch.setattr(sys, "path", [*sys.path, str(folder.parent)])

    return make


@pytest.mark.parametrize(
    ("record", "top_level"),
    [
        (["veo/__init__.py", "veo/_veo.so"], None),
        (["veo.py"], None),
        (['"veo/a, b.py"'], None),
        ([], "other\nveo\n"),
    ],
    ids=["folder", "module", "quoted", "top level"],
)
def test_other_distribution_with_our_files_is_named(make_distribution, record, top_level):
    make_distribution("py-veo", record, top_level)
    (problem,) = find_conflicts("veo")
    assert "the distribution py-veo also installs the package 'veo'" in problem
    assert "pip uninstall py-veo offchip" in problem


def test_distribution_with_a_similar_name_is_no_conflict(make_distribution):
    make_distribution("veo-tools", ["veo_tools/__init__.py", "bin/veo"], "veo_tools\n")
    assert find_conflicts("veo") == []


def test_package_that_is_not_installed_is_a_problem():
    (problem,) = find_conflicts("no_such_package")
    assert "is not installed" in problem


@pytest.mark.parametrize(
    ("package", "devices", "text"),
    [
        ("veo", [0], "1 Vector Engine (number 0)"),
        ("veo", [1, 3], "2 Vector Engines (number 1, 3)"),
        ("veo", [], "0 Vector Engines"),
        ("dpu", 1, "1 DPU rank"),
        ("dpu", 40, "40 DPU ranks"),
        ("accl", 2, "2 FPGA boards"),
        ("accl", None, "unknown"),
    ],
)
def test_hardware_is_counted(package, devices, text):
    assert describe_devices(package, {"kind": "vendor", "devices": devices}) == text


@pytest.mark.parametrize("package", ["veo", "dpu", "accl"])
def test_soft_twin_is_described_instead_of_counted(package):
    assert "none needed" in describe_devices(package, {"kind": "soft", "devices": 0})


def test_version_and_usage(run_offchip):
    done = run_offchip("--version")
    assert done.stdout.strip() == f"offchip {offchip.__version__}"
    assert run_offchip().returncode == 2
    assert run_offchip("unknown").returncode == 2
