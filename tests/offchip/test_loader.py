# SPDX-License-Identifier: BSD-3-Clause
"""The choice of a library, with small libraries that behave as a vendor's may."""

from __future__ import annotations

import logging
import os
import re
import shutil
from pathlib import Path

import pytest

from buildtools.c_lists import read_list
from offchip.errors import LibraryNotFoundError
from offchip.loader import LibrarySpec, Refused, choose, probe

ENV = "OFFCHIP_TEST_LIBRARY"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    monkeypatch.delenv(ENV, raising=False)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)


@pytest.fixture
def make_library(root, compile_c):
    """Compile a library that has every function of libveo, but for what is changed."""
    vendor_names = [name for (name,) in read_list("csrc/dispatch/veo_symbols.h", "VEO_SYMBOLS")]
    soft_names = [name for (name,) in read_list("include/veo/veosoft.h", "VEOSOFT_SYMBOLS")]
    assert len(vendor_names) > 70

    def make(
        name="vendor.so", *, api=16, devices=1, without=(), soft=False, code="", arch_code=""
    ) -> Path:
        special = {
            "veo_api_version": f"int veo_api_version(void) {{ return {api}; }}",
            "veo_version_string": 'const char *veo_version_string(void) { return "3.0\\"2"; }',
            "veo_get_ve_arch": "int veo_get_ve_arch(int node) "
            f"{{ {arch_code} return node < {devices} ? 3 : -1; }}",
            "veosoft_version": 'const char *veosoft_version(void) { return "offchip 9.9"; }',
            "veosoft_node_count": f"int veosoft_node_count(void) {{ return {devices}; }}",
        }
        lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <unistd.h>", code]
        for function in vendor_names + (soft_names if soft else []):
            if function not in without:
                lines.append(special.get(function, f"long {function}(void) {{ return 0; }}"))
        return compile_c("\n".join(lines), name)

    return make


@pytest.fixture
def make_spec(make_library):
    """Describe a library: a soft twin that is there, and the vendor's where it is said to be."""

    def make(*candidates, soft_path=None) -> LibrarySpec:
        if soft_path is None:
            soft_path = make_library("soft.so", soft=True)
        return LibrarySpec("offchip_test", ENV, str(soft_path), candidates, "veo")

    return make


CRASH = "__attribute__((constructor)) static void start(void) { abort(); }"
EXIT = '__attribute__((constructor)) static void start(void) { puts("licence?"); _exit(3); }'
HANG = "__attribute__((constructor)) static void start(void) { for (;;) pause(); }"


# --- the probe --------------------------------------------------------------------------------


def test_probe_of_a_vendor_library(make_library):
    path = make_library(devices=2)
    result = probe("veo", str(path))
    assert result.ok
    assert not result.soft
    assert (result.api_version, result.version, result.devices) == (16, '3.0"2', 2)
    assert (result.path, result.missing, result.error) == (str(path), (), None)


def test_probe_of_a_twin(make_library):
    result = probe("veo", str(make_library(soft=True, devices=5)))
    assert result.ok
    assert result.soft
    assert (result.version, result.devices) == ("offchip 9.9", 5)


def test_later_api_is_taken(make_library):
    assert probe("veo", str(make_library(api=17))).ok


def test_output_of_the_library_does_not_spoil_the_answer(make_library):
    path = make_library(
        code='__attribute__((constructor)) static void start(void) { puts("[VH] hello {"); }',
        arch_code='puts("looking"); fflush(stdout);',
    )
    assert probe("veo", str(path)).ok


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"code": CRASH}, r"probe crashed in it \(SIGABRT\)"),
        ({"code": EXIT}, r"it ended the probe \(status 3"),
        ({"arch_code": "raise(SIGTRAP);", "code": "#include <signal.h>"}, r"SIGTRAP"),
        ({"without": ["veo_hmemcpy"]}, r"lacks 1 function: veo_hmemcpy"),
        (
            {"without": ["veo_hmemcpy", "veo_alloc_mem"]},
            r"lacks 2 functions: veo_alloc_mem, \.\.\.",
        ),
        ({"api": 15}, r"version 15, and 16 or later is needed"),
        ({"code": "extern int nobody(void); int refers(void) { return nobody(); }"}, r"nobody"),
    ],
    ids=["crash", "exit", "crash later", "one missing", "two missing", "old", "does not load"],
)
def test_broken_library_is_refused_with_the_reason(make_library, make_spec, changes, reason):
    path = make_library(**changes)
    result = probe("veo", str(path))
    assert not result.ok
    assert re.search(reason, result.error)
    choice = choose(make_spec(str(path)))
    assert choice.kind == "soft"
    assert [(item.path, item.reason) for item in choice.refused] == [(str(path), result.error)]


def test_library_that_hangs_is_given_up(make_library):
    result = probe("veo", str(make_library(code=HANG)), limit=0.3)
    assert not result.ok
    assert "the probe timed out after 0.3 s" in result.error


def test_file_that_is_no_library(tmp_path):
    path = tmp_path / "text.so"
    path.write_text("text")
    result = probe("veo", str(path))
    assert not result.ok
    assert "does not load" in result.error


def test_probe_that_is_not_there(monkeypatch):
    monkeypatch.setattr("offchip.loader.PROBE_PATH", "/nowhere/offchip-probe")
    result = probe("veo", "/nowhere/x.so")
    assert not result.ok
    assert "cannot run the probe /nowhere/offchip-probe" in result.error


# --- the rule ---------------------------------------------------------------------------------


def test_vendor_with_a_device_wins(make_library, make_spec):
    path = make_library(devices=1)
    choice = choose(make_spec("/nowhere/libveo.so.1", str(path)))
    assert (choice.path, choice.kind, choice.devices) == (str(path), "vendor", 1)
    assert (choice.version, choice.api_version) == ('3.0"2', 16)
    assert choice.refused == (
        Refused("/nowhere/libveo.so.1", "vendor's place", "there is no such file"),
    )


def test_vendor_without_a_device_leaves_it_to_the_twin(make_library, make_spec):
    path = make_library(devices=0)
    spec = make_spec(str(path))
    choice = choose(spec)
    assert (choice.path, choice.kind) == (spec.soft_path, "soft")
    assert "no Vector Engine device" in choice.refused[0].reason


def test_candidates_may_be_functions_and_names(make_library, make_spec, monkeypatch):
    path = make_library("libtest-vendor.so.1")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(path.parent))
    spec = make_spec("libno-such-thing.so.1", lambda: ["libtest-vendor.so.1"])
    choice = choose(spec)
    assert (choice.path, choice.kind, choice.found_via) == (str(path), "vendor", "LD_LIBRARY_PATH")
    assert choice.refused[0][:2] == ("libno-such-thing.so.1", "search")


def test_candidate_is_looked_at_once(make_library, make_spec, tmp_path):
    path = make_library(devices=0)
    link = tmp_path / "link.so"
    link.symlink_to(path)
    assert len(choose(make_spec(str(path), str(link), str(path))).refused) == 1


@pytest.mark.parametrize("copied", [False, True])
def test_twin_found_in_the_vendor_s_place_is_not_the_vendor_s(make_spec, tmp_path, copied):
    spec = make_spec()
    path = spec.soft_path
    if copied:
        path = shutil.copy(path, tmp_path / "copy.so")
    choice = choose(spec._replace(vendor_candidates=(str(path),)))
    assert choice.path == spec.soft_path
    assert "soft twin, not the vendor's" in choice.refused[0].reason


@pytest.mark.parametrize("by_environment", [False, True])
@pytest.mark.parametrize("word", ["soft", "vendor"])
def test_word_forces_the_kind(make_library, make_spec, monkeypatch, word, by_environment):
    spec = make_spec(str(make_library()))
    if by_environment:
        monkeypatch.setenv(ENV, word)
    choice = choose(spec, None if by_environment else word)
    assert choice.kind == word
    assert choice.found_via.startswith(f"{ENV if by_environment else 'argument'}: {word}")


def test_argument_wins_over_the_environment(make_library, make_spec, monkeypatch):
    monkeypatch.setenv(ENV, "/nowhere/x.so")
    assert choose(make_spec(str(make_library())), "soft").kind == "soft"


def test_empty_variable_is_no_choice(make_spec, monkeypatch):
    monkeypatch.setenv(ENV, "")
    assert choose(make_spec()).found_via == "comes with the package"


@pytest.mark.parametrize("as_path", [str, Path])
def test_explicit_path_needs_no_device(make_library, make_spec, as_path):
    path = make_library(devices=0)
    choice = choose(make_spec(), as_path(path))
    assert (choice.path, choice.kind, choice.devices) == (str(path), "path", 0)


def test_explicit_path_to_a_twin(make_library, make_spec):
    path = make_library("other.so", soft=True)
    choice = choose(make_spec(), path)
    assert (choice.path, choice.kind, choice.version) == (str(path), "soft", "offchip 9.9")


def test_relative_path_and_bare_name(make_library, make_spec, monkeypatch):
    path = make_library("libnamed.so.1")
    spec = make_spec()
    monkeypatch.chdir(path.parent)
    assert choose(spec, "./libnamed.so.1").path == str(path)
    assert choose(spec, Path("libnamed.so.1")).path == str(path)
    with pytest.raises(LibraryNotFoundError, match=r"a path has a slash: \./libnamed\.so\.1"):
        choose(spec, "libnamed.so.1")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(path.parent))
    assert choose(spec, "libnamed.so.1").path == str(path)


@pytest.mark.parametrize("by_environment", [False, True])
def test_explicit_choice_that_fails_raises(make_library, make_spec, monkeypatch, by_environment):
    path = make_library(without=["veo_hmemcpy"])
    if by_environment:
        monkeypatch.setenv(ENV, str(path))
    with pytest.raises(LibraryNotFoundError) as caught:
        choose(make_spec(), None if by_environment else str(path))
    text = str(caught.value)
    assert isinstance(caught.value, ImportError)
    assert caught.value.name == "offchip_test"
    assert f"requested by {ENV if by_environment else 'argument'}" in text
    assert f"{path} (" in text
    assert "lacks 1 function: veo_hmemcpy" in text
    assert f"Set {ENV}" in text


def test_vendor_asked_for_lists_every_candidate(make_library, make_spec):
    path = make_library(devices=0)
    with pytest.raises(LibraryNotFoundError) as caught:
        choose(make_spec("/nowhere/a.so", "libno-such-thing.so", str(path)), "vendor")
    text = str(caught.value)
    for part in ("/nowhere/a.so", "libno-such-thing.so", str(path), "no Vector Engine device"):
        assert part in text


def test_no_library_at_all(make_spec):
    with pytest.raises(LibraryNotFoundError, match="is the package built"):
        choose(make_spec(soft_path="/nowhere/soft.so"))


def test_absent_file_costs_no_process(make_spec, monkeypatch):
    monkeypatch.setattr("offchip.loader.PROBE_PATH", "/nowhere/offchip-probe")
    choice = choose(make_spec("/nowhere/a.so"))
    assert [item.reason for item in choice.refused] == ["there is no such file"]


def test_choice_is_logged(make_library, make_spec, caplog):
    path = make_library(devices=0)
    with caplog.at_level(logging.INFO, "offchip_test"):
        choice = choose(make_spec(str(path)))
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert "uses the soft library" in record.getMessage()
    assert choice.path in record.getMessage()
    assert f"not {path}: no Vector Engine device" in record.getMessage()


def test_probe_that_comes_with_the_package_is_executable():
    from offchip.loader import PROBE_PATH

    assert os.access(PROBE_PATH, os.X_OK)
