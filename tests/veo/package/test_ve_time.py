# SPDX-License-Identifier: BSD-3-Clause
"""Reports of how long a Vector Engine would take for its code."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import veo
from benchmarks.veo.time_fidelity import mean_error, measure
from veo.report import main, read_report
from veo.ve_clang import clang_command

pytest.importorskip("ziglang", reason="the ziglang wheel compiles for the Vector Engine")
# It is slow when it is first used.
pytestmark = pytest.mark.timeout(600)

KERNELS = """
#include <velintrin.h>
void scale(const double *a, double *b, long n)
{
    for (long i = 0; i < n; i += 256) {
        int vl = n - i < 256 ? n - i : 256;
        __vr x = _vel_vld_vssl(8, a + i, vl);
        _vel_vst_vssl(_vel_vfmadd_vvvvl(x, x, x, vl), 8, b + i, vl);
    }
}
long count(long n) { volatile long x = 0; while (n-- > 0) x++; return x; }
int main(void) { return count(3); }
"""
LENGTH = 1000
LINE = "# offchip veorun report 2: x\n1,call,1,f,VE10B,0.5,0,1,1,1,1,1,1,1,11:1,0.5,88\n"


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("time")
    (folder / "kernels.c").write_text(KERNELS)
    target = folder / "kernels.o"
    command = [*clang_command("C"), "-O1", "-c", str(folder / "kernels.c"), "-o", str(target)]
    subprocess.run(command, check=True)
    return str(target)


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VEO_SOFT_REPORT", str(tmp_path / "report"))
    return tmp_path / "report"


def scale_once(proc, kernels):
    function = proc.load_library(kernels).scale
    function.args_type("void *", "void *", "long")
    function.ret_type("void")
    a, b = (veo.to_device(proc, np.ones(LENGTH)) for _ in range(2))
    function(proc.open_context(), a, b, LENGTH).wait_result()
    assert b.read().tolist() == [2.0] * LENGTH


def test_counters_of_a_call_are_exact(report, make_proc, kernels):
    proc = make_proc()
    scale_once(proc, kernels)
    proc.close()
    call, total = read_report(report)
    assert (call.event, call.number, call.function, call.model) == ("call", 1, "scale", "VE10B")
    assert call.vector_instructions == 3 * 4
    assert call.vector_elements == 3 * LENGTH
    assert call.vector_load_elements == call.fma_elements == LENGTH
    assert call.flops == 2 * LENGTH
    assert call.average_vector_length == 250
    assert call.vector_lengths == {256: 3 * 3, LENGTH % 256: 3}
    scalars = call.instructions - call.vector_instructions
    assert call.operations == scalars + 4 * LENGTH
    assert call.vector_operation_ratio == 100 * 3 * LENGTH / (scalars + 3 * LENGTH)
    assert call.mflops == pytest.approx(2 * LENGTH / call.seconds * 1e-6)
    assert call.seconds == pytest.approx(call.cycles / 1.4e9, abs=1e-9)
    assert call.core_seconds == call.seconds and call.average_cores == 1
    assert call.vector_bytes == 2 * 8 * LENGTH
    assert 0 < call.vector_time_ratio <= 100
    assert (total.event, total.number, total.cycles) == ("total", 1, call.cycles)
    assert "A. V. Length" in str(call) and "250.0" in str(call)


def test_each_of_many_calls_has_a_line(report, make_proc, kernels):
    proc = make_proc()
    count = proc.load_library(kernels).count
    count.args_type("long")
    count.ret_type("long")
    proc.open_context().call_many(count, [1, 5, 2])
    proc.close()
    *calls, total = read_report(report)
    assert [call.number for call in calls] == [1, 2, 3]
    assert calls[0].instructions < calls[2].instructions < calls[1].instructions
    assert calls[0].vector_instructions == 0
    assert calls[0].average_vector_length == calls[0].vector_operation_ratio == 0
    assert total.instructions == sum(call.instructions for call in calls)
    assert total.vector_lengths == {}


def test_models_differ_in_their_clock(report, monkeypatch, make_proc, kernels):
    for model in ("VE10B", "VE20B"):
        monkeypatch.setenv("VEO_SOFT_MODEL", model)
        proc = make_proc()
        scale_once(proc, kernels)
        proc.close()
    slow, _, fast, _ = read_report(report)
    assert (slow.model, fast.model) == ("VE10B", "VE20B")
    assert slow.cycles == fast.cycles
    assert slow.seconds / fast.seconds == pytest.approx(1600 / 1400, rel=1e-3)


def test_program_has_a_report_as_well(report, kernels):
    veorun = Path(veo.__file__).parent / "bin" / "veorun"
    assert subprocess.run([veorun, kernels], check=False).returncode == 3
    assert [call.function for call in read_report(report)] == ["main", ""]


def test_trace_and_report_may_be_asked_for_together(report, monkeypatch, make_proc, kernels):
    monkeypatch.setenv("VEORUN_TRACE", str(report) + ".trace")
    proc = make_proc()
    scale_once(proc, kernels)
    proc.close()
    lines = Path(str(report) + ".trace").read_text().splitlines()
    assert sum(not line.startswith("#") for line in lines) == read_report(report)[0].instructions


def test_name_may_have_the_process_id(tmp_path, monkeypatch, make_proc, kernels):
    monkeypatch.setenv("VEO_SOFT_REPORT", str(tmp_path / "report-%p.csv"))
    proc = make_proc()
    pid = proc.pid
    scale_once(proc, kernels)
    proc.close()
    assert read_report(tmp_path / f"report-{pid}.csv")[0].pid == pid


def test_without_it_nothing_is_written(tmp_path, monkeypatch, make_proc, kernels):
    monkeypatch.chdir(tmp_path)
    scale_once(make_proc(), kernels)
    assert list(tmp_path.iterdir()) == []


def test_report_that_cannot_be_written_is_an_error(monkeypatch, make_proc, kernels):
    monkeypatch.setenv("VEO_SOFT_REPORT", "/nowhere/report")
    with pytest.raises(veo.VeoError, match="VEO_SOFT_REPORT=/nowhere/report cannot be written: No"):
        make_proc().load_library(kernels)


@pytest.mark.parametrize("is_ve_code", [False, True])
def test_worker_tells_that_it_loaded_nothing_to_report(
    report, make_proc, kernels, bare_kernels, capfd, is_ve_code
):
    proc = make_proc()
    proc.load_library(kernels if is_ve_code else bare_kernels)
    proc.close()
    note = f"[VE] VEO_SOFT_REPORT={report} has no calls of this process"
    assert (note in capfd.readouterr().err) == (not is_ve_code)
    assert report.exists() == is_ve_code


@pytest.mark.parametrize("variable", ["VEO_SOFT_REPORT", "VEORUN_TRACE"])
def test_file_that_gets_full_is_told(monkeypatch, kernels, variable):
    monkeypatch.setenv(variable, "/dev/full")
    veorun = Path(veo.__file__).parent / "bin" / "veorun"
    done = subprocess.run([veorun, kernels], check=False, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 3
    assert f"[VE] ERROR: {variable}=/dev/full is not whole: " in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "begins with another line"),
        ("a,b\n", "begins with another line"),
        ("# offchip veorun report 1: x\n", "begins with another line"),
        ("# offchip veorun report 2: x\n1,call\n", ":2 has 2 values, not 17"),
        (LINE.replace("0.5", "\xff"), ":2 has a wrong seconds: '\ufffd'"),
        (LINE.replace("11:1", "11"), ":2 has a wrong vector_lengths: '11'"),
        ("\xff", "begins with another line"),
    ],
)
def test_other_file_is_no_report(tmp_path, text, message):
    (tmp_path / "file").write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=message):
        read_report(tmp_path / "file")


CALLS = """# offchip veorun report 2: x
1,call,1,f,VE10B,0.5,0.25,7,10,4,40,1,1,6,10:4,2,8
1,call,2,g,VE10B,2,0,9,3,0,0,0,0,0,,2,0
1,call,3,f,VE10B,0.5,0.25,7,10,4,36,1,1,6,10:3;6:1,1,8
1,total,3,,VE10B,3,0.5,23,23,8,76,2,2,12,10:7;6:1,5,16
"""


def test_command_adds_up_the_calls_of_each_function(tmp_path, capsys):
    path = tmp_path / "report.csv"
    path.write_text(CALLS)
    assert main([str(path)]) == 0
    told = capsys.readouterr().out
    slow, fast, total = told.split("()")[0], told.split("()")[1], told.partition("\ntotal\n")[2]
    assert slow == "g" and fast.endswith("\nf") and ", 2 calls\n" in told
    assert re.search(r"\(sec\), VE10B +: +1\.0*\n  Core Time \(sec\) +: +3\.0*\n", told)
    assert re.search(r"\(sec\), VE10B +: +1\.0*\n(.*\n){3}.*Inst. Count +: +8\n", told)
    assert re.search(r"A\. V\. Length +: +9\.5\n", total) and "note:" not in told
    assert main(["--json", str(path)]) == 0
    lines = json.loads(capsys.readouterr().out)
    assert [line["event"] for line in lines] == ["call", "call", "call", "total"]
    assert lines[3]["average_vector_length"] == 9.5
    assert lines[0]["average_cores"] == 4 and lines[1]["average_cores"] == 1

    # One function is told once, and code without vectors is told of.
    path.write_text(LINE.replace("1,1,1,1,1,1,11:1", "1,0,0,0,0,1,"))
    with path.open("a") as file:
        file.write("1,total,1,,VE10B,0.5,0,1,1,0,0,0,0,1,,0.5,0\n")
    assert main([str(path)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("f(), call 1\n") and "\ntotal\n" not in told
    assert "no vector instruction was executed" in told

    assert main([str(tmp_path / "nothing")]) == 2
    assert f"VEO_SOFT_REPORT={tmp_path}/nothing and calls" in capsys.readouterr().err


def test_published_times_are_met():
    results = measure()
    assert mean_error(results) < 7
    for loop, cycles in results:
        limit = 0.03 if loop.fitted else 0.2
        assert cycles == pytest.approx(loop.measured, rel=limit), loop.name
