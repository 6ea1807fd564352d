# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of a host by libdpu: sums are those of the reports; omissions are reported."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from dpu.asm import assemble
from dpu.profile import RawProfile, load, program_figures, record, report
from dpu.profile.raw import EventKind

from .programs import ASSEMBLY, BYTES, TASKLETS, TIMES, build, command, run


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("program"))


def profile_of(words: list[str], folder: Path, **options: str) -> tuple[RawProfile, list[str]]:
    file = folder / "profile"
    value = ",".join([f"file={file}", *(f"{key}={text}" for key, text in options.items())])
    done = run(words, DPU_PROFILE=value)
    assert done.returncode == 0, done.stderr
    return load([file]), done.stdout.split()


@pytest.mark.parametrize(("dpus", "launches"), [(1, 1), (3, 2), (70, 1)])
def test_sums_are_those_of_the_reports(
    program: Path, tmp_path: Path, dpus: int, launches: int
) -> None:
    profile, told = profile_of(command(program, dpus, launches), tmp_path, dpus="all")
    numbers = list(map(int, told))
    [figures] = program_figures(profile)
    assert profile.is_complete and profile.dropped == 0
    assert len(profile.launches) == dpus * launches == len(figures.launches) * dpus
    for one, first in zip(figures.launches, range(0, len(numbers), 3), strict=True):
        cycles, instructions, size = numbers[first : first + 3]
        assert (one.cycles, one.instructions, one.bytes) == (cycles, instructions, size)
        assert one.tasklets == TASKLETS and one.transfers == dpus * TASKLETS * TIMES
    assert sum(site.instructions for site in figures.sites) == sum(numbers[1::3])
    joules = 300e-12 * sum(numbers[1::3])
    assert figures.joules == pytest.approx(joules)
    assert f", about {1e3 * joules:.3g} mJ\n" in report(figures)
    assert profile.dpus == {figures.program.number: dpus}
    assert figures.whole.lost_dma + figures.whole.lost_few + figures.whole.lost_stopped == (
        figures.whole.total - figures.whole.instructions
    )


SETS = """
import sys
from dpu import DpuSet
for _ in range(3):
    with DpuSet(nr_dpus=2, binary=sys.argv[1]) as dpus:
        dpus.exec()
        print(dpus.report.instructions)
"""


def test_sets_that_follow_each_other_are_added_up(program: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-c", SETS, str(program)]
    profile, told = profile_of(words, tmp_path, dpus="all")
    [figures] = program_figures(profile)
    assert sum(site.instructions for site in figures.sites) == sum(map(int, told)) > 0


def test_cycles_are_those_without_a_profile(program: Path, tmp_path: Path) -> None:
    words = command(program, 2)
    _, told = profile_of(words, tmp_path)
    assert run(words).stdout.split() == told


# Each of 24 tasklets computes; the last one goes on alone.
ALONE = """
    .globl NR_TASKLETS
    .set NR_TASKLETS, 24
    .text
    .globl main
main:
    move r0, 500
    jneq id, 23, again
    move r0, 3000
again:
    lw r1, id4, 1024
    add r1, r1, r0
    sw id4, 1024, r1
    add r0, r0, -1, nz, again
    stop
    .section .data.__sys_host
    .globl counter
    .type counter, @object
    .size counter, 4
counter: .word 0
"""


@pytest.mark.parametrize("tasklets", [25, 33, 64])
def test_more_tasklets_than_upmems_chip_has_are_profiled(tmp_path: Path, tasklets: int) -> None:
    source, program = tmp_path / "many.S", tmp_path / "many.dpu"
    source.write_text(ASSEMBLY.replace(f"NR_TASKLETS, {TASKLETS}", f"NR_TASKLETS, {tasklets}"))
    sizes = f"softTasklets={tasklets}"
    assemble(str(source), str(program), sizes=sizes, stack_size=256)
    words = command(program, launches=2)
    plain = run(words, UPMEM_PROFILE=sizes)
    file = tmp_path / "profile"
    seen = run(words, UPMEM_PROFILE=sizes, DPU_PROFILE=f"file={file}")
    assert seen.stdout == plain.stdout != "", seen.stderr
    profile = load([file])
    [figures] = program_figures(profile)
    for launch in profile.launches:
        rows = launch.tasklets
        assert len(rows) == tasklets and all(row.end > 0 for row in rows)
        assert sum(row.instructions for row in rows) == launch.instructions
        assert launch.lost_dma + launch.lost_few + launch.lost_stopped == (
            launch.cycles - launch.instructions
        )
    assert figures.whole.tasklets == len(figures.tasklets) == tasklets
    counts = [cost.instructions for cost in figures.tasklets.values()]
    assert sum(counts) == figures.whole.instructions and min(counts) > 0
    assert max(one.thread for events in profile.events for one in events.events) == tasklets - 1
    assert report(figures).count(f"{tasklets} tasklets") >= 1


@pytest.mark.parametrize(
    "pipeline",
    [
        "softPipelineWidth=2",
        "softPipelineWidth=3",
        "softPipelineWidth=8",
        "softPipelineForwarding=3,softPipelineHazard=2",
    ],
)
@pytest.mark.parametrize("text", [ASSEMBLY, ALONE])
def test_another_pipeline_is_profiled_as_it_runs(tmp_path: Path, text: str, pipeline: str) -> None:
    words = command(build(tmp_path, text))
    found = set()
    for engine in "turns", "drift", "translated":
        chip = f"{pipeline},softPipelineCycles=7,softEngine={engine}"
        plain = run(words, UPMEM_PROFILE=chip)
        file = tmp_path / f"{engine}.profile"
        seen = run(words, UPMEM_PROFILE=chip, DPU_PROFILE=f"file={file}")
        assert seen.stdout == plain.stdout != "", seen.stderr
        [launch] = load([file]).launches
        [figures] = program_figures(load([file]))
        cycles = sum(site.issue for site in figures.sites)
        found.add((plain.stdout, launch.cycles, launch.instructions, cycles))
        assert plain.stdout.split()[:2] == [str(launch.cycles), str(launch.instructions)]
        assert sum(site.instructions for site in figures.sites) == launch.instructions
        assert figures.joules is None and "mJ" not in report(figures)
    assert len(found) == 1


def test_one_dpu_can_be_chosen(program: Path, tmp_path: Path) -> None:
    profile, _ = profile_of(command(program, 4), tmp_path, dpus="2")
    assert [one.dpu for one in profile.launches] == [2]
    assert [one.dpu for one in profile.events] == [2]


def test_events_of_the_first_dpu(program: Path, tmp_path: Path) -> None:
    profile, _ = profile_of(command(program, 2), tmp_path)
    [one] = profile.events
    kinds = [EventKind(event.kind) for event in one.events]
    assert one.dropped == 0 and one.dpu == 0
    assert kinds.count(EventKind.READ) == kinds.count(EventKind.HELD) == TASKLETS * TIMES
    assert kinds.count(EventKind.RUN) == TASKLETS
    assert {event.value for event in one.events if event.kind == EventKind.READ} == {BYTES}


def test_a_short_timeline_says_what_is_missing(program: Path, tmp_path: Path) -> None:
    profile, _ = profile_of(command(program), tmp_path, timeline="10")
    assert len(profile.events[0].events) == 10 and profile.events[0].dropped > 0
    profile, _ = profile_of(command(program), tmp_path, timeline="0")
    assert profile.events == []


def test_the_limit_of_the_file(program: Path, tmp_path: Path) -> None:
    profile, _ = profile_of(command(program, 1, 2), tmp_path, limit="0")
    assert profile.dropped > 0 and profile.launches == [] and profile.is_complete


def test_operations_of_the_host(program: Path, tmp_path: Path) -> None:
    profile, _ = profile_of(command(program, 2, 2), tmp_path)
    launches = [one for one in profile.operations if one.number]
    assert [one.number for one in launches] == [1, 2]
    assert {one.operation for one in profile.launches} == {1, 2}
    assert all(one.modelled > 0 and one.end >= one.begin for one in launches)
    assert sum(one.bytes == 8 for one in profile.operations) == 2


@pytest.mark.parametrize(
    ("words", "left_out"), [(["--text"], 2), (["--json"], 2), (["--text", "--dpus", "all"], 0)]
)
def test_launches_on_other_dpus_are_told(
    program: Path, words: list[str], left_out: int, tmp_path: Path
) -> None:
    host = (
        "import sys\nfrom dpu import DpuSet\nb = sys.argv[1]\n"
        "with DpuSet(64, binary=b) as first, DpuSet(1, binary=b) as second:\n"
        "    first.exec()\n    second.exec()\n    second.exec()\n"
    )
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "dpu.profile", "--html", str(page), *words, "--"]
    done = run([*command, sys.executable, "-W", "ignore", "-c", host, str(program)])
    assert done.returncode == 0, done.stderr
    told = "aunches that ran on none of the profiled DPUs"
    assert (f"{told}: {left_out}." in page.read_text()) == (left_out > 0)
    if "--json" in words:
        assert json.loads(done.stdout)["left_out"] == left_out
    else:
        text = f"{told}, and are not in the report: {left_out} (--dpus all)"
        assert (text in done.stdout) == (left_out > 0)


def test_a_host_that_is_killed(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "profile"
    done = run(command(program, 1, 1, "kill"), DPU_PROFILE=f"file={file}")
    assert done.returncode == -9
    profile = load([file])
    assert len(profile.launches) == 1 and not profile.is_complete
    assert "busy.dpu" in report(program_figures(profile)[0])


def test_a_child_has_a_file_of_its_own(program: Path, tmp_path: Path) -> None:
    host = (
        "import os, sys\nfrom dpu import DpuSet\n"
        "def go():\n    with DpuSet(1, binary=sys.argv[1]) as s: s.exec()\n"
        "go()\npid = os.fork()\ngo()\n"
        "sys.exit(os.waitpid(pid, 0)[1] if pid else 0)"
    )
    words = [sys.executable, "-W", "ignore", "-c", host, str(program)]
    status, files = record(words, {}, tmp_path)
    assert status == 0 and len(files) == 2
    merged = load(files)
    assert len(merged.programs) == 1 and len(merged.launches) == 3
    assert len({one.operation for one in merged.launches}) == 3
    profile_of(words, tmp_path)
    assert len(list(tmp_path.glob("profile*"))) == 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("dpus=x", "DPU_PROFILE=dpus=x cannot be used: dpus=x, but dpus must be a number"),
        ("nothing", "DPU_PROFILE=nothing cannot be used: 'nothing' is not key=value"),
    ],
)
def test_mistakes_are_errors(program: Path, value: str, text: str) -> None:
    done = run(command(program), DPU_PROFILE=value)
    assert done.returncode != 0 and f"no DPU can be allocated, as {text}" in done.stderr
    assert done.stdout == ""


def test_the_command(program: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "dpu.profile", "--keep", str(tmp_path), "--instructions", "3"]
    done = run([*words, "--", *command(program, 2, 2, "fail")])
    assert done.returncode == 3, done.stderr
    assert "functions (cycles of all tasklets):" in done.stdout
    assert "acquire zero, 9, nz" in done.stdout

    files = [str(path) for path in tmp_path.glob("*.dpuprofile")]
    again = run([*words[:3], "--annotate", *files])
    assert again.returncode == 0 and "no source lines (compile with -g)" in again.stdout


def test_mistakes_of_the_command(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "dpu.profile"]
    assert "a host, or a profile, is needed" in run(words).stderr
    done = run([*words, str(tmp_path / "absent.dpuprofile")])
    assert done.returncode == 2 and "No such file" in done.stderr
    (tmp_path / "wrong.dpuprofile").write_bytes(b"text")
    done = run([*words, str(tmp_path / "wrong.dpuprofile")])
    assert done.returncode == 2 and "this is not a profile of libdpu" in done.stderr
    done = run([*words, "--", str(tmp_path / "absent")])
    assert done.returncode == 2 and "No such file" in done.stderr
    done = run([*words, "--", sys.executable, "-c", "pass"])
    assert done.returncode == 0 and "no launch was profiled" in done.stdout
    done = run([*words, "--keep", "/dev/null", "--", sys.executable, "-c", "pass"])
    assert done.returncode == 2 and "/dev/null is not a folder: name one" in done.stderr
