# SPDX-License-Identifier: BSD-3-Clause
"""``offchip selftest``: what is said of packages that work, fail, crash and hang."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from offchip import checks
from offchip.selftest import PACKAGES, check_package, check_packages, format_verdict

MODULE = """
import os
import signal
import subprocess
import sys
import time

from offchip.checks import Skipped, main


def passes():
    return "seen"


def fails():
    raise ValueError("two\\nlines")


def skips():
    raise Skipped("no compiler")


def crashes():
    print("about to fall", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)  # no sanitizer makes another end of it


def ends():
    os._exit(7)


def talks():
    os.write(1, b'not JSON\\n{"other": 1}\\n')  # as C code does
    return "said"


def prints():
    print("compile fake -> ok")
    return "printed"


def hangs():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open(os.environ["CHILD"], "w") as file:
        file.write(str(child.pid))
    time.sleep(600)


sys.exit(main("fake", {name: globals()[name] for name in os.environ["CHECKS"].split()}))
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return a function that checks a package which has the checks that it names."""
    folder = tmp_path / "fake"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "selftest.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("CHILD", str(tmp_path / "child"))

    def check(names, **options):
        monkeypatch.setenv("CHECKS", names)
        return check_package("fake", **options)

    return check


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_work(package):
    verdict = check_package(package)
    assert verdict.works, verdict
    assert len(verdict.outcomes) >= 3


@pytest.mark.parametrize("package", ["veo", "dpu", "accl"])
def test_library_that_cannot_be_loaded_is_a_verdict(package, monkeypatch, tmp_path):
    broken = tmp_path / "library.so"
    broken.write_bytes(b"no library")
    monkeypatch.setenv(f"{package.upper()}_LIBRARY", str(broken))
    verdict = check_package(package)
    assert not verdict.works
    assert str(broken) in format_verdict(verdict) + str(verdict.outcomes)


def test_outcomes_come_one_by_one(fake):
    seen = []
    verdict = fake("passes skips talks", done=seen.append)
    assert verdict.works
    assert [(item.check, item.state, item.detail) for item in seen] == [
        ("passes", "passed", "seen"),
        ("skips", "skipped", "no compiler"),
        ("talks", "passed", "said"),
    ]
    assert format_verdict(verdict) == "fake works: 2 passed, 1 skipped"


def test_what_checks_print_is_not_among_the_results(fake, tmp_path):
    assert fake("prints passes").works
    command = [sys.executable, "-P", "-m", "fake.selftest"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [item["check"] for item in found] == ["prints", "passes"]
    assert done.stderr == "compile fake -> ok\n"
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["ok", "ok"]


def test_failure_is_a_verdict_and_the_others_are_checked(fake):
    verdict = fake("fails passes")
    assert not verdict.works
    assert verdict.problem is None
    assert [item.state for item in verdict.outcomes] == ["failed", "passed"]
    assert verdict.outcomes[0].detail == "ValueError: two\nlines"
    assert "ValueError: two lines" in checks.format_outcome(verdict.outcomes[0])
    assert format_verdict(verdict) == "fake DOES NOT WORK: 1 of 2 failed"


def test_crash_is_a_verdict(fake):
    verdict = fake("passes crashes passes")
    assert not verdict.works
    assert verdict.problem == "ended by SIGKILL after 'passes': about to fall"


def test_end_without_a_verdict_is_a_problem(fake):
    assert fake("ends").problem == "ended with status 7"
    assert fake("").problem == "it made no checks"


def test_hang_ends_with_all_that_was_started(fake, tmp_path):
    verdict = fake("passes hangs", timeout=3.0)
    assert verdict.problem == "not done within 3 s after 'passes'"
    child = int((tmp_path / "child").read_text())
    end = time.monotonic() + 10
    while time.monotonic() < end and not _is_gone(child):
        time.sleep(0.01)
    assert _is_gone(child)


def _is_gone(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_missing_package_is_a_verdict():
    verdict = check_package("there_is_no_such_package")
    assert not verdict.works
    assert "there_is_no_such_package" in str(verdict.problem)


def test_packages_are_checked_in_the_order_that_was_asked_for(fake, monkeypatch):
    monkeypatch.setenv("CHECKS", "passes")
    begun = []
    verdicts = check_packages(["fake", "fake"], begun=begun.append)
    assert begun == ["fake", "fake"]
    assert all(verdict.works for verdict in verdicts)


def run_command(*arguments):
    return subprocess.run(
        [sys.executable, "-P", "-m", "offchip", "selftest", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_command_prints_lines_and_json():
    done = run_command("accelforge")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("accelforge\n  ok ")
    assert "\naccelforge works: " in done.stdout

    done = run_command("accelforge", "--json")
    (verdict,) = json.loads(done.stdout)
    assert verdict["package"] == "accelforge"
    assert verdict["works"] is True
    assert {item["state"] for item in verdict["outcomes"]} <= {"passed", "skipped"}


def test_command_fails_with_a_package(monkeypatch):
    monkeypatch.setenv("VEO_LIBRARY", "/there/is/no/library.so")
    done = run_command("veo")
    assert done.returncode == 1
    assert "veo DOES NOT WORK" in done.stdout


def test_command_refuses_unknown_packages():
    done = run_command("pyaccl")
    assert done.returncode == 2
    assert "no such package: pyaccl (there are veo, dpu, accl, accelforge)" in done.stderr
