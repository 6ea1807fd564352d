# SPDX-License-Identifier: BSD-3-Clause
"""``DPU_CHECK`` finds a planted fault of each kind in C programs, and nothing in those without."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dpu.checks import as_junit, as_sarif, main, read_findings
from dpu.toolchain.link.program import Program
from tests.dpu.toolchain.checked_programs import CLEAN, FAULTS, HEAD, LAUNCH, Check

# Does what UPMEM's run time does, in functions that have its names.
READS_BEYOND_THE_HEAP = """
static void *__attribute__((noinline)) take(size_t size) __asm__("NAME");
static void *take(size_t size)
{
    volatile uint8_t *p = mem_alloc(8);
    total = p[7 + size];
    return mem_alloc(size);
}
int main(void) { if (me() == 0) take(64); return 0; }
"""
WRITES_BEYOND_THE_HEAP = READS_BEYOND_THE_HEAP.replace("total = p[7 + size]", "p[7 + size] = 1")
USES_THE_TABLE_OF_WAITERS = """
extern uint8_t __sys_wq_table[];
static void __attribute__((noinline)) meet(volatile uint8_t *next) __asm__("NAME");
static void meet(volatile uint8_t *next) { *next = me(); }
int main(void) { meet((volatile uint8_t *)WHERE); return 0; }
"""


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(check: Check, name: str) -> None:
    body, (only, *texts) = FAULTS[name]
    done = check(body, f"{only},exit=9")
    assert [text for text in texts if text not in done.stderr] == [], done.stderr
    assert "source.c:" in done.stderr
    assert done.returncode == 9, done.stderr
    converted = list(read_findings(done.stderr.splitlines()))
    assert converted and {finding.check for finding in converted} == {only}
    for finding in converted:
        assert Path(finding.program).name == "program.dpu" and finding.dpu == "0.0.0"
        own = [place for place in finding.places if place.file.endswith("/source.c")]
        assert own and all(place.line > 0 and place.function is not None for place in own)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_correct_program_has_no_findings(check: Check, level: str) -> None:
    done = check(CLEAN, "all,exit=9", launches=2, level=level)
    assert "== checks: nothing found" in done.stderr
    assert done.returncode == 0, done.stderr


# One tasklet reads, after a mutex, what another one writes before it takes the mutex.
HIDDEN = """int main(void) {
  if (me() == 0) { WAIT total = 1; mutex_lock(first); mutex_unlock(first); }
  else { mutex_lock(first); mutex_unlock(first); buffer[1] = total; } return 0; }"""
LATE = "for (volatile int i = 0; i < 1000; i++) ;"


@pytest.mark.parametrize(("wait", "found"), [("", False), (LATE, True)])
def test_a_mutex_orders_by_who_took_it_first(check: Check, wait: str, found: bool) -> None:
    # docs/dpu_checks.md says so.
    done = check(HIDDEN.replace("WAIT", wait), "race,exit=9")
    assert done.returncode == (9 if found else 0), done.stderr


@pytest.mark.parametrize(("level", "found"), [("-O0", True), ("-O2", False)])
def test_an_access_that_the_compiler_removes_is_no_race(
    check: Check, level: str, found: bool
) -> None:
    body = (
        "int main(void) { uint32_t w = 0; if (me()) wanted = 3;\n"
        "  else { w += wanted; wanted = w; } return 0; }"
    )
    done = check(body, "race,exit=9", level=level)
    assert done.returncode == (9 if found else 0), done.stderr


def test_a_program_that_is_not_launched_has_not_been_checked(check: Check) -> None:
    done = check(CLEAN, "all,exit=9", launches=0)
    assert "== checks: no DPU was launched, so nothing was checked\n" in done.stderr
    assert "nothing found" not in done.stderr and done.returncode == 0


@pytest.mark.parametrize(
    ("tasklets", "checks", "told"),
    [(1, "all", ", but with 1 tasklet there are no races: "), (1, "dma", "\n"), (2, "all", "\n")],
)
def test_one_tasklet_is_told_where_races_are_looked_for(
    check: Check, tasklets: int, checks: str, told: str
) -> None:
    done = check("int main(void) { return 0; }", checks, tasklets=tasklets)
    assert "== checks: nothing found" + told in done.stderr


@pytest.mark.parametrize(
    ("body", "name", "report"),
    [
        (READS_BEYOND_THE_HEAP, "mem_alloc_nolock", None),
        (READS_BEYOND_THE_HEAP, "take", "outside of variables: tasklet 0 reads 1 byte"),
        (WRITES_BEYOND_THE_HEAP, "mem_alloc_nolock", "outside of variables: tasklet 0 writes"),
        (USES_THE_TABLE_OF_WAITERS.replace("WHERE", "__sys_wq_table"), "barrier_wait", None),
        (USES_THE_TABLE_OF_WAITERS.replace("WHERE", "__sys_wq_table"), "meet", "race: tasklet"),
        (USES_THE_TABLE_OF_WAITERS.replace("WHERE", "beside"), "barrier_wait", "race: "),
    ],
)
def test_how_the_run_time_works_is_no_finding(
    check: Check, body: str, name: str, report: str | None
) -> None:
    done = check(body.replace("NAME", name), "bounds,race,exit=9")
    assert (report or "== checks: nothing found") in done.stderr
    assert done.returncode == (0 if report is None else 9), done.stderr


READS_AHEAD = """
#include <seqread.h>
int __builtin_dpu_seqread_get(int, unsigned int, void *, const unsigned int);
__mram_noinit uint32_t tail[2];
static void read(seqreader_buffer_t window)
{
    seqreader_t reader;
    uint32_t *item = seqread_init(window, input, &reader);
    for (uint32_t i = 0; i < 64; i++) {
        total += *item;
        item = seqread_get(item, 4, &reader);
    }
    item = seqread_seek(tail + 1, &reader);
    item = seqread_init(window, next, &reader);
    for (uint32_t i = 0; i < 64; i++) {
        total += *item;
        item = (void *)__builtin_dpu_seqread_get((int)item, 4, &reader, SEQREAD_CACHE_SIZE);
    }
}
"""


@pytest.mark.parametrize(
    ("page", "level", "window", "report"),
    [
        (32, "-O0", "seqread_alloc()", None),
        (1024, "-O2", "seqread_alloc()", None),
        (32, "-O2", "(seqreader_buffer_t)(buffer + 56)", "'buffer' + 224"),
    ],
)
def test_reading_ahead_is_no_finding(
    check: Check, page: int, level: str, window: str, report: str | None
) -> None:
    head = f"#define SEQREAD_CACHE_SIZE {page}\n{READS_AHEAD}"
    main = f"int main(void) {{ if (me() == 0) read({window}); return 0; }}"
    done = check(head + main, "dma,exit=9", level=level)
    assert (report or "== checks: nothing found") in done.stderr
    assert done.returncode == (0 if report is None else 9), done.stderr


@pytest.mark.parametrize("name", ["seqread_own", "seqread256"])
def test_a_programs_own_read_beyond_a_variable_is_found(check: Check, name: str) -> None:
    body = (
        f"__dma_aligned uint32_t large[80];\n"
        f"void __attribute__((noinline)) {name}(void) {{ mram_read(next, large, 264); }}\n"
        f"int main(void) {{ if (me() == 0) {name}(); return 0; }}"
    )
    done = check(body, "dma,exit=9")
    assert "DMA beyond a variable: " in done.stderr and "'next' + 0 (MRAM" in done.stderr
    assert done.returncode == 9


def test_findings_of_several_dpus_are_told_once(check: Check) -> None:
    done = check(FAULTS["null pointer"][0], "all,exit=9,ignore=nobody", dpus=3)
    assert done.stderr.count("null pointer: ") == 1
    assert "found, of which" in done.stderr


def test_a_function_can_be_left_out(check: Check) -> None:
    done = check(FAULTS["race"][0], "race,exit=9,ignore=add")
    assert "== checks: nothing found" in done.stderr
    assert done.returncode == 0


def test_findings_can_go_to_a_file(check: Check, tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = check(FAULTS["race"][0], f"race,log={log}")
    assert "race" not in done.stderr
    assert "race: tasklet" in log.read_text()
    assert done.returncode == 0


@pytest.mark.parametrize("body", [FAULTS["race"][0], CLEAN], ids=["race", "clean"])
def test_a_run_that_is_ended_says_what_was_found(
    compile_text: Callable[..., Program], tmp_path: Path, body: str
) -> None:
    compile_text(HEAD + body, tasklets=2, level="-O2")
    words = [str(tmp_path / "program.dpu"), "1", "1"]
    waits = LAUNCH + "\nimport signal\nprint('ready', flush=True)\nsignal.pause()\n"
    with subprocess.Popen(
        [sys.executable, "-P", "-c", waits, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ, DPU_CHECK="race"),
    ) as host:
        assert host.stdout is not None
        while "ready" not in host.stdout.readline():
            assert host.poll() is None
        host.send_signal(signal.SIGTERM)
        said = host.communicate(timeout=60)[1]
    assert host.returncode == -signal.SIGTERM
    wanted = (
        r"^== checks: nothing found$" if body == CLEAN else r"^== [1-9]\d* found, of which \d+ "
    )
    assert re.search(wanted, said, re.MULTILINE), said


@pytest.mark.parametrize(("word", "status"), [("exit=9", 9), ("exit=0", 0)])
def test_a_log_that_cannot_be_written_is_told(
    compile_text: Callable[..., Program], tmp_path: Path, word: str, status: int
) -> None:
    compile_text(HEAD + CLEAN, tasklets=2, level="-O2")
    done = subprocess.run(
        [sys.executable, "-P", "-c", LAUNCH, str(tmp_path / "program.dpu"), "1", "1"],
        capture_output=True,
        text=True,
        env=dict(os.environ, DPU_CHECK=f"race,{word},log=/dev/full"),
        timeout=100,
        check=False,
    )
    assert "DPU_CHECK: /dev/full cannot be written: No space left" in done.stderr
    assert "findings are missing in it" in done.stderr
    assert done.returncode == status


BAD = ["races", "racee,exit=9", "race,exit=9,jsn", "exit=-1", "exit=256", "all,", "log=", "ignore="]


@pytest.mark.parametrize("text", BAD)
def test_a_bad_option_is_an_error(text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", "import dpu; dpu.DpuSet(nr_dpus=1, library='soft').free()"],
        capture_output=True,
        text=True,
        env=dict(os.environ, DPU_CHECK=text),
        timeout=100,
        check=False,
    )
    why = f"DPU_CHECK={text} cannot be used: "
    assert f"no DPU can be allocated, as {why}" in done.stderr
    assert f"DpuError: invalid profile\n{why}" in done.stderr
    assert done.returncode == 1


REPORT = """host: a line of its own
== DPU 0.0.3 /home/me/a program.dpu: race: tasklet 1 reads 4 bytes of 'total' + 0
==    at pc 0xd (add+0x0, HERE/sum.c:7)
==    called at pc 0x11 (main+0x1, HERE/sum.c:8)
==   the other is tasklet 0, which writes it
==    at pc 0xf (add+0x2, /usr/include/sum.h:9)
==
== DPU 0.0.0: deadlock: tasklets sleep, and nobody is left who could resume them: 0
==   tasklet 0 sleeps
==    at pc 0x20 (barrier_wait+0x1, /opt/dpu/runtime/barrier.c:18)
==    called at pc 0x30 (main+0x1, HERE/sum.c:22)
==
== 2 found, of which 0 are repeated or too many to be shown
"""


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "checks.log"
    log.write_text(REPORT.replace("HERE", str(tmp_path)))
    return log


def test_findings_become_sarif(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(report), "--sarif", "-"]) == 1
    [run] = json.loads(capsys.readouterr().out)["runs"]
    race, deadlock = run["results"]
    assert (race["ruleId"], race["level"]) == ("race", "warning")
    assert race["message"]["text"].startswith("race: tasklet 1 reads 4 bytes of 'total'")
    [place] = race["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "sum.c"},
        "region": {"startLine": 7},
    }
    assert place["logicalLocations"] == [{"name": "add", "kind": "function"}]
    caller, other = race["relatedLocations"]
    assert (caller["id"], caller["message"]["text"]) == (0, "called")
    assert other["message"]["text"] == "the other is tasklet 0, which writes it"
    assert other["physicalLocation"]["artifactLocation"]["uri"] == "file:///usr/include/sum.h"
    assert (deadlock["ruleId"], deadlock["level"]) == ("deadlock", "error")
    # A code host shows places in the repository alone.
    assert deadlock["locations"][0]["physicalLocation"]["region"] == {"startLine": 22}
    assert deadlock["relatedLocations"][0]["logicalLocations"][0]["name"] == "barrier_wait"
    assert {result["ruleId"] for result in run["results"]} <= {
        rule["id"] for rule in run["tool"]["driver"]["rules"]
    }


def test_findings_become_junit_and_json(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(report), "--junit", "out.xml", "--json"]) == 1
    race, deadlock = json.loads(capsys.readouterr().out)
    assert (race["dpu"], race["program"]) == ("0.0.3", "/home/me/a program.dpu")
    assert (deadlock["program"], deadlock["places"][0]["pc"]) == ("", 0x20)
    suite = ElementTree.parse("out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("6", "2")
    failures = {case.get("name"): case.findall("failure") for case in suite}
    assert [name for name, found in failures.items() if found] == ["race", "deadlock"]
    assert "the other is tasklet 0, which writes it add /usr/include/sum.h:9" in (
        failures["race"][0].text
    )


def test_a_log_without_findings_is_status_0(tmp_path: Path, capsys) -> None:
    log = tmp_path / "log"
    log.write_text("== checks: nothing found\n")
    assert main([str(log)]) == 0
    assert capsys.readouterr().out == "0 findings\n"
    assert as_sarif([])["runs"][0]["results"] == []
    assert 'failures="0"' in as_junit([])


def test_a_log_that_cannot_be_read_is_status_2(tmp_path: Path, capsys) -> None:
    assert main([str(tmp_path / "lost")]) == 2
    assert "lost" in capsys.readouterr().err
