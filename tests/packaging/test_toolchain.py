# SPDX-License-Identifier: BSD-3-Clause
"""The build compiles what has changed and nothing else."""

from __future__ import annotations

import os
import shutil
import sys

import pytest


@pytest.fixture
def toolchain_module(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    from buildtools import toolchain

    yield toolchain
    sys.modules.pop("buildtools.toolchain")
    sys.modules.pop("buildtools")


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "offchip").mkdir()
    (tmp_path / "offchip" / "__init__.py").write_text('__version__ = "1.2"\n')
    (tmp_path / "a.h").write_text("int a(void);\n")
    (tmp_path / "a.c").write_text('#include "a.h"\nint a(void) { return 1; }\n')
    (tmp_path / "b.c").write_text("int b(void);\nint b(void) { return 2; }\n")
    return tmp_path


@pytest.fixture
def build(toolchain_module, tree, monkeypatch):
    """Build the tree and say what was made."""
    made = []
    original = toolchain_module.Toolchain.run

    def run(self, command, *, product):
        made.append(product.name)
        original(self, command, product=product)

    monkeypatch.setattr(toolchain_module.Toolchain, "run", run)

    def build_(**options):
        made.clear()
        chain = toolchain_module.Toolchain(tree, **options)
        objects = chain.compile(["a.c", "b.c"], includes=["."])
        chain.link(tree / "ab.so", objects, ["-shared"])
        chain.archive(tree / "ab.a", objects)
        return sorted(made)

    return build_


def later(path):
    """Give a file a time after that of everything built so far."""
    stamp = path.stat().st_mtime + 10
    os.utime(path, (stamp, stamp))


ALL = ["a.c.o", "ab.a", "ab.so", "b.c.o"]


def test_second_build_makes_nothing(build):
    assert build() == ALL
    assert build() == []


@pytest.mark.parametrize("name", ["a.c", "a.h"])
def test_changed_file_makes_what_depends_on_it(build, tree, name):
    build()
    (tree / name).write_text((tree / name).read_text() + "int c(void);\n")
    later(tree / name)
    assert build()[:1] == ["a.c.o"]
    assert "b.c.o" not in build()


def test_other_flags_make_everything_again(build, monkeypatch):
    build()
    monkeypatch.setenv("CFLAGS", "-DOTHER=1")
    assert set(build()) >= {"a.c.o", "b.c.o"}


def test_sanitized_objects_are_kept_apart(build, toolchain_module, tree):
    build()
    assert "a.c.o" in build(sanitize="undefined")
    assert not {"a.c.o", "b.c.o"} & set(build())
    assert toolchain_module.Toolchain(tree, sanitize="a,b").name == "native-a-b"


def test_copied_objects_serve_another_clone(build, toolchain_module, tree):
    build()
    clone = tree / "clone"
    shutil.copytree(tree, clone, ignore=shutil.ignore_patterns("clone"))
    (clone / "b.c").write_text("int b(void);\nint b(void) { return 3; }\n")
    later(clone / "b.c")

    before = (clone / "build/native/a.c.o").stat().st_mtime_ns
    objects = toolchain_module.Toolchain(clone).compile(["a.c", "b.c"], includes=["."])
    assert objects == [str(clone / "build/native" / name) for name in ("a.c.o", "b.c.o")]
    assert (clone / "build/native/a.c.o").stat().st_mtime_ns == before
    assert (clone / "build/native/b.c.o").read_bytes() != (tree / "build/native/b.c.o").read_bytes()


def test_failed_step_is_done_again(build, toolchain_module, tree):
    good = (tree / "b.c").read_text()
    (tree / "b.c").write_text("no C")
    with pytest.raises(toolchain_module.BuildError, match=r"b\.c\.o was not built by"):
        build()
    (tree / "b.c").write_text(good)
    assert "b.c.o" in build()


def test_warning_is_an_error_if_asked_for(build, toolchain_module, tree):
    (tree / "b.c").write_text("int b(void);\nint b(void) { int unused; return 1; }\n")
    build()
    with pytest.raises(toolchain_module.BuildError):
        build(werror=True)


def test_missing_compiler_is_named(toolchain_module, tree, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tree))
    with pytest.raises(toolchain_module.BuildError, match="apt-get install gcc"):
        toolchain_module.Toolchain(tree)
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("AR", "no-such-archiver")
    with pytest.raises(toolchain_module.BuildError, match="cannot run no-such-compiler"):
        toolchain_module.Toolchain(tree).compile(["a.c"], includes=["."])


def test_version_is_read_from_the_package(toolchain_module, tree):
    assert toolchain_module.read_version(tree) == "1.2"
    (tree / "offchip" / "__init__.py").write_text("")
    with pytest.raises(toolchain_module.BuildError, match="no version"):
        toolchain_module.read_version(tree)
