# SPDX-License-Identifier: BSD-3-Clause
"""Libraries: loading, symbols, the dictionaries, unloading."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import veo


@pytest.mark.parametrize("kind", [str, Path, lambda path: path.encode()])
def test_paths_of_any_kind(proc, kernels, kind):
    lib = proc.load_library(kind(kernels))
    assert lib.name == kernels
    assert lib.proc is proc
    assert proc.lib[kernels] is lib
    assert proc.lib[kernels.encode()] is lib
    assert list(proc.lib) == [kernels]


def test_loading_again_makes_a_new_object(proc, kernels):
    first, second = proc.load_library(kernels), proc.load_library(kernels)
    assert first is not second
    assert proc.lib[kernels] is second


def test_names_that_are_no_paths(proc):
    for wrong in (None, 1, ["x"]):
        with pytest.raises(TypeError, match="libname"):
            proc.load_library(wrong)
    with pytest.raises(ValueError, match="NUL byte"):
        proc.load_library("/a\0b")


def test_what_cannot_be_loaded_is_named(proc, tmp_path):
    (tmp_path / "libtext.so").write_text("text")
    for path in ("/nowhere/libx.so", str(tmp_path / "libtext.so"), "/" + "x" * 300):
        with pytest.raises(RuntimeError, match="veo_load_library") as caught:
            proc.load_library(path)
        assert path in str(caught.value)
    assert dict(proc.lib) == {}


def test_name_of_a_file_in_the_current_folder_is_no_path(proc, kernels, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = shutil.copy(kernels, tmp_path / "k.so")
    with pytest.raises(RuntimeError, match="current folder: ") as caught:
        proc.load_library("k.so")
    assert repr(str(whole)) in str(caught.value)
    assert proc.load_library(os.path.abspath("k.so")).find_function("count_up")
    with pytest.raises(RuntimeError) as caught:
        proc.load_library("lost.so")
    assert "current folder" not in str(caught.value)


def test_functions_are_found_by_attribute(lib):
    assert lib.count_up is lib.count_up
    assert lib.func["count_up"] is lib.count_up
    assert lib.func[b"count_up"] is lib.count_up
    assert b"count_up" in lib.func
    assert lib.func.get(b"nothing") is None


def test_find_function_makes_a_new_object(lib):
    first = lib.count_up
    second = lib.find_function(b"count_up")
    assert first is not second
    assert lib.count_up is second
    assert first.addr == second.addr


def test_symbols(lib, proc):
    pointer = lib.get_symbol("table")
    assert isinstance(pointer, veo.VEMemPtr)
    assert pointer.proc is proc
    assert lib.symbol[b"table"] == lib.symbol["table"] == pointer
    assert lib.table is lib.symbol["table"]
    assert lib.get_symbol(b"count_up") == lib.count_up.addr


def test_missing_symbol_is_both_errors(lib):
    for find in (lib.get_symbol, lib.find_function, lambda name: getattr(lib, name)):
        with pytest.raises(RuntimeError, match="veo_get_sym 'no_such_thing' failed") as caught:
            find("no_such_thing")
        assert isinstance(caught.value, AttributeError)
        assert caught.value.name == "no_such_thing"
    assert not hasattr(lib, "no_such_thing")
    assert getattr(lib, "no_such_thing", 5) == 5
    with pytest.raises(AttributeError):
        lib.find_function("x" * 256)


def test_names_of_symbols(lib):
    for wrong in (None, 1, ["x"]):
        with pytest.raises(TypeError):
            lib.get_symbol(wrong)
        with pytest.raises(TypeError):
            lib.find_function(wrong)
    with pytest.raises(ValueError, match="NUL byte"):
        lib.get_symbol("a\0b")


def test_python_protocols_do_not_reach_the_library(lib):
    for name in ("__array__", "__len__", "__deepcopy__"):
        assert not hasattr(lib, name)
    assert lib.name.endswith("libkernels.so")


def test_static_library(proc):
    first, second = proc.static_library(), proc.static_library()
    assert first is not second
    assert first.name == "__static__"
    assert proc.lib["__static__"] is proc.lib[b"__static__"] is second
    assert not hasattr(first, "no_such_thing")
    assert veo.VeoLibrary(proc, b"__static__", 0).name == "__static__"


def test_get_function_searches_all_libraries(proc, lib):
    assert proc.get_function("count_up") is None
    function = lib.count_up
    proc.static_library()
    assert proc.get_function("count_up") is function
    assert proc.get_function(b"count_up") is function
    assert proc.get_function("no_such_thing") is None


def test_libraries_are_made_with_a_process_only(proc):
    for wrong in (None, 1, "proc"):
        with pytest.raises(TypeError, match="VeoProc"):
            veo.VeoLibrary(wrong, "name", 0)
    with pytest.raises(TypeError):
        veo.VeoLibrary(proc, 3, 0)


def test_unloading(proc, lib, ctx, make_proc):
    function = lib.count_up
    function.args_type()
    assert function(ctx).wait_result() == 1
    with pytest.raises(ValueError, match="not a library of"):
        make_proc().unload_library(lib)
    proc.unload_library(lib)
    assert lib.closed
    assert dict(proc.lib) == {}
    with pytest.raises(veo.VeoClosedError, match="unloaded"):
        function(ctx)
    with pytest.raises(veo.VeoClosedError, match="unloaded"):
        lib.find_function("count_up")
    with pytest.raises(veo.VeoClosedError):
        proc.unload_library(lib)
    for wrong in (None, "lib"):
        with pytest.raises(TypeError):
            proc.unload_library(wrong)


def test_unloading_one_that_was_replaced(proc, kernels):
    first, second = proc.load_library(kernels), proc.load_library(kernels)
    proc.unload_library(first)
    assert proc.lib[kernels] is second


def test_functions_without_debug_info(proc, ctx, bare_kernels):
    # The types that are said here are enough.
    mixed = proc.load_library(bare_kernels).mixed
    mixed.args_type("int", "double", "float", "long", "double", "unsigned char", "float")
    mixed.ret_type("double")
    assert mixed(ctx, 1, 0.5, 0.25, 3, 0, 0, 0).wait_result() == 1 + 5 + 25 + 3000


def test_dictionary_of_names():
    from veo.namedict import NameDict

    names = NameDict()
    names[b"a"] = 1
    assert names == {"a": 1}
    assert names.setdefault(b"a", 2) == 1
    assert names.setdefault(b"b") is None
    names.update({b"c": 3}, d=4)
    assert sorted(names) == ["a", "b", "c", "d"]
    assert names.pop(b"c") == 3
    assert names.pop(b"c", None) is None
    with pytest.raises(KeyError):
        names.pop(b"c")
    del names[b"d"]
    assert b"d" not in names
    with pytest.raises(KeyError):
        names[b"d"]


def test_repr(lib, proc, kernels):
    assert repr(lib) == f"<VeoLibrary object {kernels} in node 0, loaded>"
    proc.close()
    assert repr(lib).endswith("closed>")


def test_damaged_code_for_the_vector_engine_is_named(proc, kernels, tmp_path):
    code = bytearray(Path(kernels).read_bytes())
    code[18:20] = (251).to_bytes(2, "little")
    path = tmp_path / "libve.so"
    path.write_bytes(code)
    with pytest.raises(veo.VeoError, match="cannot load the Vector Engine code: R_VE_"):
        proc.load_library(path)
