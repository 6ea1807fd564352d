# SPDX-License-Identifier: BSD-3-Clause
"""Reports of ``offchip-probe`` about libraries, real ones and stubs."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import offchip.loader

Compile = Callable[..., Path]


def start(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [offchip.loader.PROBE_PATH, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def probe(package: str, path: str | Path) -> Any:
    done = start(package, path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def names_of(root: Path, package: str) -> list[str]:
    text = (root / f"csrc/dispatch/{package}_symbols.h").read_text()
    return re.findall(rf"X\(({package}\w+)\)", text)


def stub(names: list[str], **results: str) -> str:
    """Write functions that all return 0, but for the texts and numbers of some."""
    lines = []
    for name in names:
        result = results.get(name, "0")
        kind = "const char *" if result.startswith('"') else "int "
        lines.append(f"{kind}{name}(void); {kind}{name}(void) {{ return {result}; }}")
    return "\n".join(lines)


@pytest.mark.parametrize("package", ["veo", "dpu", "accl"])
def test_soft_library_is_usable(package: str) -> None:
    module = __import__(package)
    name = {"veo": "libveo.so.1", "dpu": "libdpu.so", "accl": "libaccl.so"}[package]
    path = Path(module.__file__ or "").resolve().parent / "lib" / name
    found = probe(package, path)
    assert found["ok"] and found["soft"] and found["error"] is None
    assert Path(found["path"]) == path
    assert found["missing"] == []


@pytest.mark.parametrize("package", ["veo", "dpu", "accl"])
def test_file_that_is_no_library_does_not_load(package: str, tmp_path: Path) -> None:
    path = tmp_path / "text.so"
    path.write_text("no library")
    found = probe(package, path)
    assert not found["ok"]
    assert found["error"].startswith("it does not load: ")


@pytest.mark.parametrize("package", ["veo", "dpu", "accl"])
def test_name_without_folder_is_not_searched_for(package: str) -> None:
    found = probe(package, f"lib{package}.so")
    assert "a path with a slash is needed" in found["error"]


def test_accl_library_of_another_version_is_refused(root: Path, compile_c: Compile) -> None:
    names = names_of(root, "accl")
    found = probe("accl", compile_c(stub(names, accl_abi_version="7"), flags=["-w"]))
    assert not found["ok"]
    assert found["api_version"] == 7
    assert found["error"] == "its interface has version 7, and 1 is needed"


def test_accl_library_that_lacks_functions_is_refused(root: Path, compile_c: Compile) -> None:
    names = names_of(root, "accl")
    found = probe("accl", compile_c(stub(names[:-2], accl_abi_version="1"), flags=["-w"]))
    assert found["missing"] == names[-2:]
    assert found["error"] == f"it lacks 2 functions: {names[-2]}, ..."


def test_accl_library_of_hardware_without_a_board(root: Path, compile_c: Compile) -> None:
    version = r'"driver \"1\" \\ \x01 \xe9"'
    text = stub(names_of(root, "accl"), accl_abi_version="1", accl_version=version)
    found = probe("accl", compile_c(text, flags=["-w"]))
    assert found["ok"] and not found["soft"]
    # Whatever bytes a library's text has, the answer is JSON.
    assert found["version"] == 'driver "1" \\ \x01 \xe9'
    if found["devices"] == 0:
        assert found["error"].startswith("no FPGA board")


def test_veo_library_that_is_too_old_is_refused(root: Path, compile_c: Compile) -> None:
    names = [name for name in names_of(root, "veo") if not name.startswith("veosoft")]
    found = probe("veo", compile_c(stub(names, veo_api_version="2"), flags=["-w"]))
    assert not found["ok"]
    assert "has version 2" in found["error"]


def test_veo_library_without_a_device_says_so(root: Path, compile_c: Compile) -> None:
    names = [name for name in names_of(root, "veo") if not name.startswith("veosoft")]
    text = stub(names, veo_api_version="16", veo_version_string='"3.0"')
    found = probe("veo", compile_c(text, flags=["-w"]))
    assert found["ok"] and found["devices"] == 0
    assert found["error"].startswith("no Vector Engine device")


def test_output_of_a_library_does_not_spoil_the_answer(root: Path, compile_c: Compile) -> None:
    noise = "#include <stdio.h>\n__attribute__((constructor)) static void hello(void)"
    noise += '{ puts("{hello}"); fflush(stdout); }\n'
    noise += '__attribute__((destructor)) static void bye(void) { puts("bye"); fflush(stdout); }\n'
    text = noise + stub(names_of(root, "accl"), accl_abi_version="1", accl_version='"offchip 0"')
    assert probe("accl", compile_c(text, flags=["-w"]))["soft"]


@pytest.mark.parametrize("words", [(), ("veo",), ("fpga", "/lib.so"), ("veo", "/a", "/b")])
def test_wrong_arguments_show_the_usage(words: tuple[str, ...]) -> None:
    done = start(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "usage: offchip-probe" in done.stderr


def test_closed_output_is_a_failure() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {offchip.loader.PROBE_PATH} accl /nowhere/l.so >&-"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
