# SPDX-License-Identifier: BSD-3-Clause
"""The names of the package, what importing it costs, and python -m veo."""

from __future__ import annotations

import json
import pickle
import sys

import pytest

import veo
import veo._veo

PY_VEO_NAMES = """
    VeoProc VeoCtxt VeoLibrary VeoFunction VeoRequest VeoMemRequest OnStack VeoArgs VEO_HMEM
    ConvToI64 ConvFromI64 VeBuild VeObj VeCObj VeCppObj VeFtnObj set_proc_init_hook
    del_proc_init_hook get_ve_arch INTENT_IN INTENT_INOUT INTENT_OUT STATE_UNKNOWN STATE_RUNNING
    STATE_SYSCALL STATE_BLOCKED STATE_EXIT COMMAND_OK COMMAND_EXCEPTION COMMAND_ERROR
    COMMAND_UNFINISHED COMPILER FLAGS SUFFIX GLOBAL_SO_FLAGS MK_VEORUN_STATIC np os sys gc atexit
    numbers collections subprocess rmtree logging vebuild _veo
""".split()
README_NAMES = ["VEMemPtr", "VEO_INTENT_IN", "VEO_INTENT_INOUT", "VEO_INTENT_OUT"]


@pytest.mark.parametrize("name", PY_VEO_NAMES + README_NAMES)
def test_has_the_names_of_py_veo(name):
    assert getattr(veo, name) is not None


def test_star_import_gives_every_public_name(run_python):
    names = [name for name in PY_VEO_NAMES + README_NAMES if not name.startswith("_")]
    done = run_python(f"from veo import *\nfor name in {names!r}: globals()[name]")
    assert (done.returncode, done.stderr) == (0, "")


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        veo.nonsense  # noqa: B018


def test_import_does_not_load_numpy_logging_or_a_library(run_python):
    done = run_python(
        "import sys, veo\n"
        "heavy = {'numpy', 'logging', 'subprocess', 'veo.vebuild'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "print('libveo' in open('/proc/self/maps').read())"
    )
    assert done.stdout.split("\n")[:2] == ["[]", "False"], done.stderr


def test_leaked_modules_are_the_real_ones():
    assert veo.os is sys.modules["os"]
    assert veo.np is sys.modules["numpy"]
    assert veo.logging is sys.modules["veo.logging"]


def test_enumerations_have_the_values_of_the_c_api():
    assert (veo.INTENT_IN, veo.INTENT_INOUT, veo.INTENT_OUT) == (0, 1, 2)
    assert [veo.STATE_UNKNOWN, veo.STATE_RUNNING, veo.STATE_SYSCALL] == [0, 1, 2]
    assert [veo.STATE_BLOCKED, veo.STATE_EXIT] == [3, 4]
    assert [veo.COMMAND_OK, veo.COMMAND_EXCEPTION] == [0, 1]
    assert [veo.COMMAND_ERROR, veo.COMMAND_UNFINISHED] == [2, 3]
    assert veo.VEO_INTENT_OUT is veo.INTENT_OUT
    assert pickle.loads(pickle.dumps(veo.INTENT_OUT)) is veo.INTENT_OUT


def test_extension_module_names():
    assert veo._veo._veo_api_version == 16
    assert veo._veo._veo_max_num_args == 256
    assert isinstance(veo._veo._veo_version, str)
    assert veo._veo.VeoProc is veo.VeoProc
    with pytest.raises(AttributeError):
        veo._veo.nonsense  # noqa: B018


def test_errors_are_the_builtins_that_programs_catch():
    assert issubclass(veo.VeoError, RuntimeError)
    for cls, builtin in [
        (veo.VeoKernelException, ArithmeticError),
        (veo.VeoMemoryError, MemoryError),
        (veo.VeoSymbolError, AttributeError),
        (veo.VeoUnfinished, NameError),
        (veo.VeoTimeoutError, TimeoutError),
        (veo.VeoClosedError, ValueError),
    ]:
        assert issubclass(cls, builtin)
        assert issubclass(cls, veo.VeoError)
        again = pickle.loads(pickle.dumps(cls("text", code=3, name="n", function="f")))
        assert (str(again), again.code, again.name, again.function) == ("text", 3, "n", "f")


def test_library_info_of_the_twin():
    info = veo.library_info("soft")
    assert info["kind"] == "soft"
    assert info["path"].endswith("libveo.so.1")
    assert info["api_version"] == 16
    assert info["missing"] == []
    assert info["devices"] == [0]


def test_library_info_of_another_library(null_path):
    info = veo.library_info(null_path)
    assert (info["kind"], info["version"]) == ("path", "null")
    assert info["path"] == null_path


def test_unusable_library_is_refused_with_the_reason(tmp_path):
    path = tmp_path / "libveo.so"
    path.write_text("no library")
    with pytest.raises(ImportError, match="libveo.so"):
        veo.VeoProc(0, library=str(path))


def test_use_library_changes_the_default(run_python, null_path):
    done = run_python(
        "import sys, veo\n"
        "lib = veo.use_library(sys.argv[1])\n"
        "print(veo.VeoProc(0).library is lib, veo.library_info()['version'])",
        null_path,
    )
    assert (done.stdout, done.stderr) == ("True null\n", "")
    with pytest.raises(TypeError):
        veo.use_library(None)


def test_environment_variable_chooses(run_python, null_path):
    program = "import veo; print(veo.library_info()['found_via'], veo.VeoProc(0).library.version)"
    done = run_python(program, env={"VEO_LIBRARY": null_path})
    assert (done.stdout, done.stderr) == ("VEO_LIBRARY null\n", "")


def test_command_prints_json(run_python, null_path):
    done = run_python(
        "import runpy, sys\n"
        "sys.argv[1:] = ['--json']\n"
        "runpy.run_module('veo', run_name='__main__')",
        env={"VEO_LIBRARY": null_path},
    )
    assert done.returncode == 0, done.stderr
    info = json.loads(done.stdout)
    assert set(info) == {
        "path", "kind", "found_via", "version", "api_version", "devices", "missing", "refused",
    }  # fmt: skip


def test_command_prints_text(capsys):
    from veo.__main__ import main

    assert main(["--library", "soft"]) == 0
    assert "kind         soft" in capsys.readouterr().out
    assert main(["--library", "/nowhere/libveo.so.1"]) == 1
    assert "/nowhere/libveo.so.1" in capsys.readouterr().err


def test_library_objects_say_what_they_are():
    library = veo.use_library("soft")
    assert library.is_soft
    assert "soft" in repr(library)
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(library)
    with pytest.raises(TypeError, match="use_library"):
        veo.Library()


def test_ve_arch():
    assert isinstance(veo.get_ve_arch(0), int)
    assert veo.get_ve_arch(-1) <= 0
    with pytest.raises(TypeError, match="integer is required"):
        veo.get_ve_arch("zero")
