# SPDX-License-Identifier: BSD-3-Clause
"""Folders of `veo-env` and `dpu-env`: links where projects look, removal, and errors in a shell."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from offchip import sdk_places
from offchip.sdk_places import PLACES, place_hint

MODULES = {"veo-env": "veo.cli.nec_folder", "dpu-env": "dpu.cli.upmem_home"}
# File in each folder that projects look for.
INSIDE = {"veo-env": "veos/include/ve_offload.h", "dpu-env": "cmake/dpu.cmake"}

Run = Callable[..., int]


@pytest.fixture(params=sorted(MODULES))
def command(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def run(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command; the environment and the user's data are in a folder of the test."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    main = importlib.import_module(MODULES[command]).main
    return lambda *words: int(main([str(word) for word in words]))


def everything(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


@pytest.mark.parametrize("folder", [(), ("a folder",)])
def test_a_link_is_made_and_removed_without_a_trace(
    run: Run, command: str, tmp_path: Path, folder: tuple[str, ...]
) -> None:
    named = [tmp_path / name for name in folder]
    (tmp_path / "opt").mkdir()
    before = everything(tmp_path)
    place = tmp_path / "opt/vendor/sdk"
    assert run("--at", place, *named) == 0
    assert place.is_symlink()
    assert (place / INSIDE[command]).is_file()
    made = named[0] if named else tmp_path / "environment/share/offchip"
    assert place.resolve().is_relative_to(made)
    # Again: it is there already.
    assert run("--at", place, *named) == 0

    assert run("--remove", *named) == 0
    # The environment has such a folder anyway.
    environments = [tmp_path / "environment", tmp_path / "environment/share"]
    assert set(everything(tmp_path)) - set(before) - set(environments) == set()


@pytest.fixture
def usual(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The usual places, in a folder of the test."""
    moved = {str(tmp_path) + place: part for place, part in PLACES[command].items()}
    monkeypatch.setitem(sdk_places.PLACES, command, moved)
    return [Path(place) for place in moved]


def test_the_usual_places_are_those_of_the_vendors() -> None:
    assert {command: list(places) for command, places in PLACES.items()} == {
        "veo-env": ["/opt/nec/ve"],
        "dpu-env": ["/usr/share/upmem", "/usr/include/dpu", "/usr/lib/libdpu.so"],
    }


def test_the_usual_places_are_the_default(
    run: Run, command: str, usual: list[Path], tmp_path: Path
) -> None:
    before = everything(tmp_path)
    assert run("--at") == 0
    assert (usual[0] / INSIDE[command]).is_file()
    assert all(place.is_symlink() and place.exists() for place in usual)
    if command == "dpu-env":
        assert [(usual[1] / "dpu.h").is_file(), usual[2].is_file()] == [True, True]
    assert run("--at", usual[0]) == 0

    assert run("--remove") == 0
    environment = [tmp_path / "environment", tmp_path / "environment/share"]
    assert set(everything(tmp_path)) - set(before) - set(environment) == set()


def test_no_place_is_made_if_one_is_taken(
    run: Run, usual: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    usual[-1].parent.mkdir(parents=True)
    usual[-1].write_text("the vendor's")
    assert run("--at") == 1
    assert f"{usual[-1]} is there already" in capsys.readouterr().err
    assert [place for place in usual if os.path.lexists(place)] == usual[-1:]
    assert usual[-1].read_text() == "the vendor's"


def test_another_place_is_made_alone(run: Run, usual: list[Path], tmp_path: Path) -> None:
    assert run("--at", tmp_path / "place") == 0
    assert (tmp_path / "place").is_dir()
    assert not any(os.path.lexists(place) for place in usual)


@pytest.mark.parametrize("there", ["file", "folder", "link", "dangling link"])
def test_what_is_there_already_is_not_replaced(
    run: Run, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], there: str
) -> None:
    place = tmp_path / "place"
    if there == "file":
        place.write_text("the vendor's")
    elif there == "folder":
        place.mkdir()
    else:
        place.symlink_to("/" if there == "link" else "/no such folder")
    before = os.readlink(place) if place.is_symlink() else place.stat().st_ino
    assert run("--at", place) == 1
    said = capsys.readouterr()
    assert said.out == "false\n"
    assert f"{place} is there already, and is not offchip's" in said.err
    assert (os.readlink(place) if place.is_symlink() else place.stat().st_ino) == before


def test_what_is_not_ours_stays_after_removal(run: Run, tmp_path: Path) -> None:
    place, folder = tmp_path / "made/place", tmp_path / "folder"
    assert run("--at", place, folder) == 0
    (folder / "notes").write_text("of the user")
    (tmp_path / "made/other").write_text("of the user")
    place.unlink()
    place.symlink_to("/elsewhere")
    assert run("--remove", folder) == 0
    assert [path.name for path in everything(folder)] == ["notes"]
    assert os.readlink(place) == "/elsewhere"
    assert (tmp_path / "made/other").is_file()


def test_removal_of_nothing_succeeds(run: Run, tmp_path: Path) -> None:
    assert run("--remove") == 0
    assert run("--remove", tmp_path / "lost") == 0
    assert everything(tmp_path) == []


def in_a_shell(command: str, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Evaluate what the command prints, and say the status."""
    line = f'eval "$({sys.executable} -P -m {MODULES[command]} {" ".join(words)})"; echo $?'
    return subprocess.run(
        ["/bin/sh", "-c", line],
        env={**os.environ, **changes},
        capture_output=True,
        text=True,
        timeout=100,
    )


def test_a_shell_learns_of_a_folder_that_cannot_be_written(command: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    home = {"HOME": str(tmp_path / "file"), "XDG_DATA_HOME": ""}
    done = in_a_shell(command, **home)
    assert done.stdout == "1\n"
    assert f"{command}: error: " in done.stderr
    assert f"name a folder that you can write to ({command} FOLDER)" in done.stderr
    assert in_a_shell(command, str(tmp_path / "other"), **home).stdout == "0\n"


def test_a_shell_learns_of_wrong_options(command: str) -> None:
    done = in_a_shell(command, "--nonsense")
    assert done.stdout == "1\n"
    assert "unrecognized arguments: --nonsense" in done.stderr


def test_prebuilt_hosts_find_the_library(command: str, tmp_path: Path) -> None:
    module = importlib.import_module(MODULES[command])
    write = module.write_folder if command == "veo-env" else module.write_home
    text = write(tmp_path / "folder")
    library = "libveo.so.1" if command == "veo-env" else "libdpu.so.2023.1"
    done = subprocess.run(
        ["/bin/sh", "-euc", f"{text}\necho $LD_LIBRARY_PATH"],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (Path(done.stdout.strip()) / library).is_file()


@pytest.mark.parametrize("words", [["-I", "{place}/include"], ["-L{place}/lib64", "a.c"]])
def test_compilers_name_the_command_for_a_place_that_is_missing(
    command: str, usual: list[Path], words: list[str]
) -> None:
    assert place_hint(["a.c"], command) == ""
    for place in usual:
        named = [word.format(place=place) for word in words]
        hint = place_hint(named, command)
        assert str(place) in hint
        assert f"{command} --at" in hint
        place.mkdir(parents=True)
        assert place_hint(named, command) == ""


def test_errors_of_the_compilers_end_with_it(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("#include <no_such_header.h>\n")
    for command, words in (
        ("veo-env", ["-m", "veo.cli.nec_compiler", "C", "-c"]),
        ("dpu-env", ["-m", "dpu.toolchain.command", "-c"]),
    ):
        place = next(iter(PLACES[command]))
        if os.path.exists(place):
            continue
        done = subprocess.run(
            [sys.executable, "-P", *words, f"-I{place}/include", "a.c"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.returncode != 0
        assert "no_such_header.h" in done.stderr
        assert f"{place} does not exist: 'sudo " in done.stderr
