# SPDX-License-Identifier: BSD-3-Clause
"""The guard of tests/conftest.py finds what is planted."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import threading

import pytest


def test_descriptor_left_open_is_found(no_leaks):
    with pytest.raises(pytest.fail.Exception, match="file descriptor"), no_leaks(0.05):
        number = os.open("/dev/null", os.O_RDONLY)
    os.close(number)


def test_running_child_is_found(no_leaks):
    with pytest.raises(pytest.fail.Exception, match="child process"), no_leaks(0.05):
        child = subprocess.Popen(["sleep", "60"])
    child.kill()
    child.wait()


def test_running_thread_is_found(no_leaks):
    latch = threading.Event()
    thread = threading.Thread(target=latch.wait)
    age = r"thread \d+ \('.+', started 0\.\d\d s ago\)"
    with pytest.raises(pytest.fail.Exception, match=age), no_leaks(0.05):
        thread.start()
    latch.set()
    thread.join()


def test_shared_mapping_is_found(no_leaks):
    number = os.memfd_create("planted")
    os.ftruncate(number, 4096)
    with pytest.raises(pytest.fail.Exception, match="shared mapping"), no_leaks(0.05):
        mapping = mmap.mmap(number, 4096)
    mapping.close()
    os.close(number)


def test_what_goes_away_in_time_is_no_leak(no_leaks):
    latch = threading.Event()
    thread = threading.Thread(target=lambda: latch.wait(0.1))
    with no_leaks(10.0):
        thread.start()


def test_thread_that_one_list_left_out_is_no_leak(no_leaks, monkeypatch):
    latch = threading.Event()
    thread = threading.Thread(target=latch.wait)
    thread.start()
    lists = [[str(os.getpid())]]
    listdir = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: lists.pop() if lists else listdir(path))
    with no_leaks(0.05):
        assert not lists
    latch.set()
    thread.join()


def test_guard_is_active_in_every_test(root, tmp_path):
    text = (root / "tests" / "conftest.py").read_text()
    hurried = text.replace("limit: float = 3.0", "limit: float = 0.05")
    assert hurried != text
    hurried = hurried.replace("Path(__file__).resolve().parent.parent", f"Path({str(root)!r})")
    (tmp_path / "conftest.py").write_text(hurried)
    (tmp_path / "test_planted.py").write_text(
        "import os\n\ndef test_leaks():\n    os.open('/dev/null', os.O_RDONLY)\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-c", "pytest.ini", tmp_path],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "left behind: file descriptor" in done.stdout
