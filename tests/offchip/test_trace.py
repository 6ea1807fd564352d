# SPDX-License-Identifier: BSD-3-Clause
"""One timeline of all packages: what is in it, by package, rank and process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from dpu import DpuSet
from offchip import libraries
from offchip.trace import merge, trace
from tests.support.chrome_trace import check_trace, slices_of
from veo import VeoProc

USE = """
import sys
from veo import VeoProc
from dpu import DpuSet
from accl import accl
with VeoProc(0) as proc:
    memory = proc.alloc_mem(4096)
    proc.write_mem(memory, bytes(4096), 4096)
with DpuSet(nr_dpus=1):
    pass
with accl(1, 0) as rank:
    rank.barrier()
"""


def names_of(found: dict[str, Any]) -> dict[str, list[str]]:
    """Return the calls of each process of a trace, by its name without the number."""
    processes = {
        event["pid"]: event["args"]["name"]
        for event in found["traceEvents"]
        if event["name"] == "process_name"
    }
    names: dict[str, list[str]] = {}
    for (process, _), events in slices_of(found).items():
        name = processes[process].partition("process")[0].rstrip(" (,")
        names.setdefault(name, []).extend(event["name"] for event in events)
    return names


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    check_trace(found)
    return found


def test_a_part_of_a_program(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with VeoProc(0) as proc:
        memory = proc.alloc_mem(64)
        with trace(path), DpuSet(nr_dpus=1):
            proc.write_mem(memory, bytes(64), 64)
            assert not path.exists()
        proc.write_mem(memory, bytes(64), 64)
    found = read(path)
    names = names_of(found)
    assert names["veo"].count("veo_write_mem") == 1
    assert names["dpu"][0] == "dpu_alloc" and names["dpu"][-1] == "dpu_free"
    [write] = [one for one in found["traceEvents"] if one["name"] == "veo_write_mem"]
    assert write["args"] == {"bytes": 64} and write["tid"] == os.getpid()


def test_the_default_library_is_traced_of_several(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    program = f"""
import subprocess, sys
import veo
from offchip import libraries
from offchip.trace import trace
subprocess.run([sys.executable, "-P", "-c",
    "import shutil, sys, veo; shutil.copy(veo.library_info()['path'], sys.argv[1])",
    {str(tmp_path / "other.so")!r}], check=True)
veo.library_info({str(tmp_path / "other.so")!r})
veo.library_info()
assert len(libraries.loaded) == 2
with trace({str(path)!r}), veo.VeoProc(0):
    pass
"""
    done = run("-c", program)
    assert done.returncode == 0, done.stderr
    assert "veo_proc_create" in names_of(read(path))["veo"]


def test_one_at_a_time_and_closing_twice(tmp_path: Path) -> None:
    before = list(libraries.on_load)
    one = trace(tmp_path / "%p.json")
    with pytest.raises(RuntimeError, match=f"traced already, to .*/{os.getpid()}.json"):
        trace(tmp_path / "other.json")
    one.close()
    one.close()
    assert libraries.on_load == before
    assert [path.name for path in tmp_path.iterdir()] == [f"{os.getpid()}.json"]
    with trace(tmp_path / "again.json"):
        pass


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), trace(tmp_path / "absent" / "trace.json"):
        pass
    with trace(tmp_path / "trace.json"):
        pass


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        # As -P, for their processes too: the package that is installed, not that of the folder.
        env={**os.environ, "PYTHONSAFEPATH": "1", **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_the_environment(tmp_path: Path) -> None:
    done = run("-c", USE, OFFCHIP_TRACE=str(tmp_path / "run-%p.json"))
    assert done.returncode == 0, done.stderr
    [path] = tmp_path.iterdir()
    names = names_of(read(path))
    # The only rank of the process is that of all its rows.
    assert sorted(names) == ["accl (rank 0", "dpu (rank 0", "veo (rank 0"]
    assert "accl BARRIER" in names["accl (rank 0"]
    assert {"veo_proc_create", "veo_write_mem"} <= set(names["veo (rank 0"])

    done = run("-c", USE, OFFCHIP_TRACE=str(tmp_path / "absent" / "run.json"))
    assert done.returncode == 0 and "OFFCHIP_TRACE: cannot write" in done.stderr


def test_nothing_is_imported_without_it() -> None:
    done = run("-c", f"{USE}\nassert 'offchip.trace' not in sys.modules", OFFCHIP_TRACE="")
    assert done.returncode == 0, done.stderr


def test_a_command_with_several_processes(tmp_path: Path) -> None:
    path = tmp_path / "whole.json"
    program = (
        "import subprocess, sys\n"
        "for _ in range(2): subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)\n"
        "sys.exit(3)"
    )
    done = run("-m", "offchip.trace", "-o", str(path), "--", sys.executable, "-c", program, USE)
    assert done.returncode == 3 and "calls of 2 process(es)" in done.stderr, done.stderr
    found = read(path)
    assert names_of(found)["accl (rank 0"].count("accl BARRIER") == 2
    assert len({process for process, _ in slices_of(found)}) == 6


def test_mistakes(tmp_path: Path) -> None:
    done = run(
        "-m", "offchip.trace", "-o", str(tmp_path / "a.json"), "--", str(tmp_path / "absent")
    )
    assert done.returncode == 2 and "No such file" in done.stderr
    assert "usage: python -m offchip.trace" in run("-m", "offchip.trace").stderr
    for text in ("", "[]", '{"traceEvents": [1], "otherData": {}}', '{"traceEvents": []}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ValueError, match="bad.json is not a trace"):
            merge([tmp_path / "bad.json"], tmp_path / "whole.json")


def test_only_a_timeline_is_replaced(tmp_path: Path) -> None:
    host = tmp_path / "host"
    host.write_text(f"#!{sys.executable}\nprint(1)\n")
    host.chmod(0o755)
    before = host.read_bytes()
    # The name of the file is forgotten, or is that of the program.
    for words in (["-o", str(host), "--", str(host)], ["-o", str(host), str(host), "3"]):
        done = run("-m", "offchip.trace", *words)
        assert done.returncode == 2 and "there is a file that is no timeline" in done.stderr
        assert done.stdout == ""
        assert host.read_bytes() == before
    with pytest.raises(FileExistsError, match="no timeline"), trace(host):
        pass
    assert host.read_bytes() == before
    for name in ("empty.json", "again.json"):
        (tmp_path / "empty.json").touch()
        for _ in range(2):
            with trace(tmp_path / name):
                pass
        assert (tmp_path / name).read_bytes().startswith(b'{"traceEvents": [')
    done = run("-c", USE, OFFCHIP_TRACE="/")
    assert done.returncode == 0 and "OFFCHIP_TRACE: cannot write /" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    with trace(tmp_path / "pipe"):
        pass
    reader.join()
    assert got[0].startswith(b'{"traceEvents"')
    assert (tmp_path / "pipe").is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_link_stays_and_its_file_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "file").touch()
    with trace(tmp_path / "link"):
        pass
    assert (tmp_path / "link").is_symlink()
    assert json.loads((tmp_path / "file").read_text())["traceEvents"] is not None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


def test_a_command_without_calls_is_said(tmp_path: Path) -> None:
    done = run("-m", "offchip.trace", "-o", str(tmp_path / "a.json"), "--", "sh", "-c", "exit 3")
    assert done.returncode == 3
    assert "no process of the command imported veo, dpu or accl" in done.stderr
    assert list(tmp_path.iterdir()) == []
