# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of profiles: pages, pictures, timelines, callgrind's format, advice."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from buildtools.c_lists import read_list
from dpu.profile import ProgramFigures, RawProfile, load, program_figures, report
from dpu.profile.callgrind import callgrind
from dpu.profile.command import main
from dpu.profile.document import document
from dpu.profile.drawing import draw_dpus, draw_roofline, draw_tasklets, draw_timeline
from dpu.profile.figures import LaunchFigures, advise
from dpu.profile.page import _cut, _time, page
from dpu.profile.raw import EventKind, RecordedProgram, Site
from dpu.profile.timeline import timeline
from tests.support.chrome_trace import check_trace

from .programs import LOCKED, TASKLETS, TIMES, build, command, run


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outputs")
    path = folder / "one.dpuprofile"
    run(command(build(folder), 2, 2), DPU_PROFILE=f"file={path}")
    return path


@pytest.fixture(scope="module")
def profile(file: Path) -> RawProfile:
    return load([file])


@pytest.fixture(scope="module")
def figures(profile: RawProfile) -> ProgramFigures:
    return program_figures(profile)[0]


def test_callgrind_sums_are_those_of_its_rows(figures: ProgramFigures) -> None:
    text = callgrind(figures, 7)
    assert text.startswith("# callgrind format\nversion: 1\n")
    summary = re.search(r"^summary: (.*)$", text, re.MULTILINE)
    assert summary is not None
    lines = text.splitlines()
    pairs = zip(["", *lines], lines, strict=False)
    rows = [line.split() for before, line in pairs if line[:2] == "0x" and "calls=" not in before]
    assert all(len(row) == 7 for row in rows)
    sums = [sum(int(row[2 + i]) for row in rows) for i in range(5)]
    assert sums == list(map(int, summary[1].split()))
    assert sums[0] == figures.whole.instructions
    assert "fn=main" in text


def test_a_timeline_has_all_events_in_their_launches(profile: RawProfile) -> None:
    trace = timeline(profile)
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(events) == len(profile.operations) + sum(len(one.events) for one in profile.events)
    launches = [event for event in events if event["name"] == "launch"]
    assert len(launches) == 2 and launches[0]["ts"] < launches[1]["ts"]
    for event in events:
        if event["name"] == "tasklet":
            assert any(
                one["ts"] - 1e-6 <= event["ts"]
                and event["ts"] + event["dur"] <= one["ts"] + one["dur"] + 1e-3
                for one in launches
            )
    reads = [event for event in events if event["name"].startswith("read ")]
    assert len(reads) == 2 * TASKLETS * TIMES
    assert "cut" not in trace["otherData"]


@pytest.mark.parametrize(
    ("symbol", "name"),
    [("__atomic_bit_mutex_mine", "mutex 'mine'"), ("lock", "atomic bit 'lock'"), ("", None)],
)
def test_a_timeline_names_locks(tmp_path: Path, symbol: str, name: str | None) -> None:
    text = LOCKED.replace("FUNCTION", "count")
    if symbol:
        text = text.replace("zero, 9,", f"zero, {symbol},")
        text += f"    .section .atomic\n    .type {symbol}, @object\n    .size {symbol}, 1\n"
        text += f"{symbol}: .byte 0\n"
    path = tmp_path / "locked.dpuprofile"
    done = run(command(build(tmp_path, text)), DPU_PROFILE=f"file={path}")
    assert done.returncode == 0, done.stderr
    events = timeline(load([path]))["traceEvents"]
    rows = {one["args"]["name"] for one in events if one["name"] == "thread_name"}
    waits = {one["name"] for one in events if one["ph"] == "X" and "bit" in one["name"]}
    waits |= {one["name"] for one in events if one["ph"] == "X" and "mutex" in one["name"]}
    assert waits == {name or "atomic bit 9"} and waits < rows


def test_a_timeline_keeps_the_rules_of_its_format(profile: RawProfile) -> None:
    for limit in (200000, 100, 1):
        check_trace(timeline(profile, limit=limit))
    # At any frequency: cycles are no whole nanoseconds.
    for clock in (267_000_000, 349_999_999, 800_000_000):
        programs = {
            number: program._replace(clock_hz=clock) for number, program in profile.programs.items()
        }
        check_trace(timeline(replace(profile, programs=programs)))


def test_the_roof_of_transfers_is_that_of_banks(tmp_path: Path) -> None:
    path, host = tmp_path / "banks.dpuprofile", command(build(tmp_path), 2, 1)
    for keys, clocks in ("softDramBanks=1", 3 * 16), ("softDramBanks=2,softDramMHz=600", 2 * 32):
        run(host, DPU_PROFILE=f"file={path}", UPMEM_PROFILE=keys)
        factor = 350 / (600 if "600" in keys else 1200)
        cycles = 24 + (2 * 16 + 16 + 256 * 14 + (16 if clocks == 3 * 16 else 0)) * factor
        assert program_figures(load([path]))[0].limit == pytest.approx(2048 / cycles)


def test_each_dma_engine_has_a_row_and_its_share(tmp_path: Path) -> None:
    path = tmp_path / "engines.dpuprofile"
    chip = "softDmaEngines=3,softDmaSetup=500"
    run(command(build(tmp_path), 2, 1), DPU_PROFILE=f"file={path}", UPMEM_PROFILE=chip)
    profile = load([path])
    # In transfers of 2 KiB: 500 cycles and twice 521, on each of three engines.
    assert program_figures(profile)[0].limit == pytest.approx(3 * 2048 / (500 + 2 * 521))
    trace = timeline(profile)
    check_trace(trace)
    names = {one["args"]["name"] for one in trace["traceEvents"] if one["name"] == "thread_name"}
    assert {name for name in names if name.startswith("DMA")} == {
        "DMA engine",
        "DMA engine 2",
        "DMA engine 3",
    }
    assert profile.events
    launches = {(one.dpu, one.operation): one for one in profile.launches}
    for each in profile.events:
        one = launches[each.dpu, each.operation]
        busy = sum(e.end - e.begin for e in each.events if e.kind == EventKind.ENGINE)
        assert one.dma_busy == busy // 3


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("a thread without a name", {"tid": 77}),
        ("a process without a name", {"pid": 77}),
        ("an event that ends after what it is in", {"dur": 1e9}),
        ("an event that ends before it begins", {"dur": -1.0}),
        ("no name", {"name": ""}),
    ],
)
def test_what_breaks_the_rules_is_found(
    profile: RawProfile, name: str, changes: dict[str, Any]
) -> None:
    trace = timeline(profile)
    inner = next(one for one in trace["traceEvents"] if one["name"].startswith("read "))
    inner.update(changes)
    with pytest.raises(AssertionError):
        check_trace(trace)


def test_a_timeline_that_is_cut_says_so(profile: RawProfile) -> None:
    trace = timeline(profile, limit=10)
    assert sum(event["ph"] == "X" for event in trace["traceEvents"]) == 10
    assert "events were left out" in trace["otherData"]["cut"]


def test_pictures_are_xml(profile: RawProfile, figures: ProgramFigures) -> None:
    for picture in (
        draw_roofline(figures),
        draw_tasklets(figures),
        draw_dpus(figures),
        draw_timeline(figures, profile.events[0]),
    ):
        assert xml.etree.ElementTree.fromstring(picture).tag.endswith("svg")


def test_dpus_are_compared(figures: ProgramFigures) -> None:
    [one, two] = figures.dpus
    assert [one.number, two.number] == [0, 1] and one.cycles == two.cycles
    assert one.cycles + two.cycles == figures.whole.total
    slow = replace(one, number=5, cycles=10 * one.cycles)
    whole = replace(figures.whole, cycles=slow.cycles, mean_cycles=4.0 * one.cycles)
    changed = replace(figures, dpus=[slow, one], whole=whole)
    assert "Unbalanced DPUs: DPU 5 takes 2.5 times as long as the mean" in advise(changed)
    text = report(changed, lines=1)
    assert re.search(rf"^ +{slow.cycles} +2\.50 .* DPU 5$", text, re.M)
    assert f"... and 1 more, DPU 0 in {one.cycles}\n" in text


def test_the_page_needs_nothing_else(profile: RawProfile, figures: ProgramFigures) -> None:
    text = page(profile, [figures])
    assert text.count("<svg") == 4 and advise(figures).split(":")[0] in text
    assert not re.search(r"""(src|href)\s*=|url\(|@import|<script""", text)


def test_the_page_says_what_was_run_and_is_for_all_screens(
    profile: RawProfile, figures: ProgramFigures
) -> None:
    text = page(profile, [figures], command="./host 'a b'", when="2026-01-02 03:04")
    assert "<code>./host &#x27;a b&#x27;</code>, 2026-01-02 03:04" in text
    assert 'name="viewport" content="width=device-width' in text
    assert "prefers-color-scheme: dark" in text
    # Tables and pictures that are wider than the screen move, not the page.
    assert text.count('<div class="wide">') == text.count("<table") + text.count("<svg")
    assert f"<h2>{Path(figures.program.path).name}</h2>" in text
    assert f"({figures.whole.cycles:,} cycles at 350 MHz)" in text
    assert f"launch 1 of {len(figures.launches)}</text>" in text


def test_rows_that_do_not_matter_are_counted() -> None:
    sites = [("f", 900), ("g", 96), ("h", 3), ("i", 1)]
    assert _cut(sites, 1000) == ({"f", "g"}, "2 more, of less than 0.5 % each: 0.4 % together")
    assert _cut(sites[:2], 996) == ({"f", "g"}, "")
    assert _cut([], 0) == (set(), "")


@pytest.mark.parametrize(
    ("cycles", "text"),
    [(0, "0 ns"), (1, "2.86 ns"), (3500, "10 us"), (3_500_000, "10 ms"), (700_000_000, "2 s")],
)
def test_times_have_units(cycles: int, text: str) -> None:
    assert _time(cycles, 350_000_000) == text


def test_legends_have_all_colours(profile: RawProfile, figures: ProgramFigures) -> None:
    launch = profile.events[0]
    read = next(one for one in launch.events if one.kind == EventKind.READ)
    events = [*launch.events, read._replace(kind=EventKind.WRITE)]
    for picture in (
        draw_tasklets(figures),
        draw_dpus(figures),
        draw_timeline(figures, launch._replace(events=events), most=10**6),
    ):
        boxes = re.findall(r'<rect x=.* height="([\d.]+)" fill="([^"]+)"', picture)
        legend = {colour for height, colour in boxes if height == "10.00"}
        assert {colour for height, colour in boxes if height != "10.00"} <= legend


def test_names_in_a_page_are_escaped(profile: RawProfile, figures: ProgramFigures) -> None:
    program = figures.program._replace(path="<b>&.dpu")
    changed = program_figures(
        RawProfile(
            programs={program.number: program}, launches=profile.launches, sites=profile.sites
        )
    )
    assert "<b>" not in page(profile, changed) and "&lt;b&gt;&amp;.dpu" in page(profile, changed)


def test_the_command_writes_files(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("html", "callgrind", "trace", "roofline", "tasklets", "balance", "picture")
    options = [word for name in names for word in (f"--{name}", str(tmp_path / name))]
    assert main([*options, str(file)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[: len(names)] == [f"wrote {tmp_path / name}" for name in names]
    assert told[len(names)].startswith("program ") and "launches (" not in "\n".join(told)
    assert all((tmp_path / name).stat().st_size for name in names)


def figures_of(site: dict[str, int], **changes: Any) -> ProgramFigures:
    """Return figures of sixteen tasklets that are all alike."""
    launch = {
        **{"number": 0, "dpus": 1, "cycles": 1000, "mean_cycles": 1000.0, "total": 1000},
        **{"instructions": 500, "transfers": 10, "bytes": 80, "busy": 100},
        **{"lost_dma": 0, "lost_stopped": 0, "lost_few": 500, "tasklets": 16},
        **{"faults": 0, "stops": 0, **changes},
    }
    whole = LaunchFigures(**launch)
    program = RecordedProgram(1, "a.dpu", b"", 350_000_000, {})
    row = {"instructions": 10, "issue": 110, "spin": 0, "dma": 0, "sleep": 0, "pc": 0, **site}
    profile = RawProfile(
        programs={1: program}, sites={1: [Site(**row, thread=thread) for thread in range(16)]}
    )
    [found] = program_figures(profile)
    return replace(found, launches=[whole], dpus=[], whole=whole)


@pytest.mark.parametrize(
    ("site", "launch", "text"),
    [
        ({}, {"instructions": 0}, "Nothing was executed"),
        # Bounds of a part of a program say nothing about the whole.
        ({"spin": 100}, {"faults": 1}, "Ended by a fault: 1 of 1 runs of DPUs did not complete"),
        ({"spin": 100}, {"stops": 1}, "Ended by a limit or an interrupt: 1 of 1 runs"),
        ({}, {"dpus": 4, "mean_cycles": 250.0}, "Unbalanced DPUs: the slowest one takes 4.0"),
        ({"spin": 100}, {}, "Bound by locks: tasklets spend 91 %"),
        ({"spin": 33}, {"lost_stopped": 290}, "Bound by locks: tasklets spend 30 %"),
        # Most of the time most tasklets have ended: their locks are not what takes so long.
        ({"spin": 33}, {"lost_stopped": 500, "lost_few": 0}, "Tasklets end early: in 50 %"),
        ({"spin": 33}, {"lost_stopped": 400, "busy": 960}, "DMA-bound"),
        ({}, {"busy": 960}, "DMA-bound: the engine is busy in 96 % of cycles; transfers average 8"),
        ({}, {"busy": 960, "bytes": 10240}, "reuse in WRAM"),
        ({}, {"instructions": 950, "busy": 790}, "Compute-bound: 0.95 instructions"),
        ({}, {"instructions": 950, "busy": 900}, "Compute-bound and DMA-bound: 0.95 instructions"),
        ({}, {"instructions": 950, "busy": 900}, "instructions alone gain at most 10 % of the"),
        ({}, {"instructions": 850, "busy": 970}, "less to transfer alone gains at most 15 %: use"),
        ({}, {"instructions": 790, "busy": 970}, "DMA-bound: the engine is busy in 97 %"),
        ({}, {"tasklets": 4}, "Too few tasklets: 50 % of cycles"),
        ({}, {"lost_few": 0, "lost_dma": 500}, "Bound by the latency of DMA: in 50 %"),
        ({"sleep": 50}, {"lost_few": 0, "lost_stopped": 500}, "Tasklets wait for each other: 31 %"),
        ({}, {"lost_few": 0, "lost_stopped": 500}, "Tasklets end early: in 50 %"),
    ],
)
def test_advice_follows_from_the_figures(
    site: dict[str, int], launch: dict[str, Any], text: str
) -> None:
    assert text in advise(figures_of(site, **launch))


def test_all_outputs_say_where_a_fault_ended_a_launch(tmp_path: Path) -> None:
    profile = tmp_path / "fault.dpuprofile"
    program = build(
        tmp_path, LOCKED.replace("FUNCTION", "count").replace("    stop\n", "    fault 3\n")
    )
    assert run(command(program, 2), DPU_PROFILE=f"file={profile}").returncode != 0
    raw = load([profile])
    [figures] = program_figures(raw)
    where = r"tasklet \d+ at pc 0x\w+ \(main.*fault instruction with number 3"
    assert re.search(
        rf"Ended by a fault: 2 of 2 runs .*\(DPU \d in launch 1: .*{where}", advise(figures)
    )
    assert re.search(r"^ +1 +2 .* fault$", report(figures), re.M) and "locks" not in report(figures)
    [shown] = document(raw, [figures])["programs"]
    assert [one["status"] for one in shown["launches"]] == ["fault"] and shown["whole"][
        "faults"
    ] == 2
    assert len(shown["endings"]) == 2 and re.search(where, shown["endings"][0]["text"])
    events = [one for one in timeline(raw)["traceEvents"] if one["name"] == "launch (fault)"]
    assert len(events) == 1 and re.search(where, events[0]["args"]["ended"])
    assert "<td>fault</td>" in page(raw, [figures]) and "Ended by a fault" in page(raw, [figures])
    assert re.search(r"^desc: Ended by a fault", callgrind(figures), re.M)


@pytest.mark.parametrize(
    ("function", "texts"),
    [
        ("mem_alloc", ("the lock of the allocator in mem_alloc, most for main (", "less often")),
        ("count", ("trying to take an atomic bit, most at count (", "give each tasklet data")),
    ],
)
def test_advice_on_a_lock_depends_on_whose_it_is(
    tmp_path: Path, function: str, texts: tuple[str, str]
) -> None:
    profile = tmp_path / "locked.dpuprofile"
    program = build(tmp_path, LOCKED.replace("FUNCTION", function))
    assert run(command(program), DPU_PROFILE=f"file={profile}").returncode == 0
    [figures] = program_figures(load([profile]))
    advice = advise(figures)
    assert advice.startswith("Bound by locks: tasklets spend ")
    assert [text for text in texts if text not in advice] == [], advice


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["functions"], "launch"),
        # As public projects call it.
        (["functions", "-A", "-o", "trace.json"], "launch"),
        (["functions", "-a", "-f", "main", "--external-function", "./lib.so:f"], "launch"),
        (["functions", "-d", "dpu_launch"], "launch"),
        (["memory-transfer"], "MB/s"),
        (["dpu-statistics", "-d", "0"], "functions (cycles of all tasklets):"),
    ],
)
def test_dpu_profiling(file: Path, tmp_path: Path, words: list[str], text: str) -> None:
    words = [str(tmp_path / word) if word == "trace.json" else word for word in words]
    done = run([str(Path(sys.executable).parent / "dpu-profiling"), *words, str(file)])
    assert done.returncode == 0 and text in done.stdout, done.stderr
    assert ("not timed here, as perf does it: main, ./lib.so:f" in done.stderr) == ("-f" in words)


def test_dpu_profiling_shows_the_functions_that_are_chosen(file: Path) -> None:
    program = str(Path(sys.executable).parent / "dpu-profiling")
    all_rows = run([program, "functions", str(file)]).stdout.splitlines()
    rows = run([program, "functions", "-d", "dpu_launch", str(file)]).stdout.splitlines()
    assert len(all_rows) > 2 == len(rows) and rows[1].endswith("  launch")


def test_mistakes_of_dpu_profiling() -> None:
    program = str(Path(sys.executable).parent / "dpu-profiling")
    done = run([program, "dpu-sections"])
    assert done.returncode == 2 and "there is no 'dpu-sections'; there are functions" in done.stderr
    done = run([program, "functions", "-d", "no_such_call", "x.dpuprofile"])
    assert (
        done.returncode == 2 and "no calls of 'no_such_call' are recorded; those of" in done.stderr
    )
    assert "usage: dpu-profiling" in run([program, "--help"]).stdout


def test_json_has_the_figures_of_the_text(file: Path, figures: ProgramFigures) -> None:
    done = run([sys.executable, "-P", "-m", "dpu.profile", "--json", str(file)])
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["version"], found["complete"], found["dropped"]) == (1, True, 0)
    (one,) = found["programs"]
    assert one["advice"] == advise(figures)
    assert one["whole"]["instructions"] == figures.whole.instructions
    assert [launch["cycles"] for launch in one["launches"]] == [x.cycles for x in figures.launches]
    assert [dpu["dpu"] for dpu in one["dpus"]] == [x.number for x in figures.dpus]
    for rows in ("functions", "lines", "tasklets"):
        assert sum(row["instructions"] for row in one[rows]) == figures.whole.instructions
    main_row = next(row for row in one["functions"] if row["function"] == "main")
    assert main_row["inclusive"] >= main_row["cycles"] > 0


def test_every_key_of_json_is_documented(file: Path) -> None:
    text = Path(__file__).parents[3].joinpath("docs/dpu_profile.md").read_text()
    section = text.split("## Figures for programs")[1].split("\n## ")[0]
    done = run([sys.executable, "-P", "-m", "dpu.profile", "--json", str(file)])

    def keys(value: Any) -> set[str]:
        if isinstance(value, list):
            return set().union(*map(keys, value))
        return set(value).union(*map(keys, value.values())) if isinstance(value, dict) else set()

    found = json.loads(done.stdout)
    options = set().union(*(program.pop("options") for program in found["programs"]))
    assert {key for key in keys(found) if f"`{key}`" not in section} == set()
    assert "`options`" in section
    assert options == {"softInstructionPicojoules"} | {
        key for key, *_ in read_list("csrc/dpu/machine/options.h", "DPU_MACHINE_NUMBERS")
    }


def test_a_profile_may_have_any_name(file: Path, tmp_path: Path) -> None:
    # Its name is what DPU_PROFILE said, or what libdpu gives by default.
    renamed = tmp_path / "dpu-1.profile"
    renamed.write_bytes(file.read_bytes())
    done = run([sys.executable, "-P", "-m", "dpu.profile", "--json", str(renamed)])
    same = run([sys.executable, "-P", "-m", "dpu.profile", "--json", str(file)])
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["programs"] == json.loads(same.stdout)["programs"] != []
    # A file that is not a profile is a host.
    renamed.write_bytes(b"#!/bin/sh\necho of a host\n")
    renamed.chmod(0o755)
    done = run([sys.executable, "-P", "-m", "dpu.profile", str(renamed)])
    assert "of a host" in done.stdout


def test_json_stands_alone_on_standard_output() -> None:
    words = ["-m", "dpu.profile", "--json", "--", sys.executable, "-c", "print('of the host')"]
    done = run([sys.executable, "-P", *words])
    assert json.loads(done.stdout)["programs"] == []
    assert done.stderr == "of the host\n"


@pytest.mark.parametrize("option", ["--text", "--annotate"])
def test_json_excludes_text(file: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["--json", option, str(file)])
    assert raised.value.code == 2
    assert "--json is in place of" in capsys.readouterr().err
