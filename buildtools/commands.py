# SPDX-License-Identifier: BSD-3-Clause
"""The setuptools commands that build extension modules and native artefacts."""

from __future__ import annotations

import dataclasses
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import ClassVar

from setuptools import Command, Distribution, Extension
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

from buildtools.artefacts import (
    ARTEFACTS,
    EXTENSION_PACKAGES,
    EXTRA_SOURCES,
    INCLUDES,
    Artefact,
    Kind,
)
from buildtools.toolchain import BuildError, Toolchain, python_includes

__all__ = ["BinaryDistribution", "Build", "BuildExtensions", "BuildNative", "find_extensions"]

ROOT = Path(__file__).resolve().parent.parent

DIRECTIVES = {
    "language_level": 3,
    "binding": True,
    "embedsignature": True,
    "embedsignature.format": "python",
    "annotation_typing": False,
    "auto_pickle": False,
    "autotestdict": False,
}


def find_extensions() -> list[Extension]:
    """List the extension modules: every .pyx of a package is one."""
    extensions = []
    for package in EXTENSION_PACKAGES:
        for path in sorted((ROOT / package).glob("*.pyx")):
            name = f"{package}.{path.stem}"
            sources = [path.relative_to(ROOT).as_posix(), *EXTRA_SOURCES.get(name, [])]
            extensions.append(Extension(name, sources))
    unused = set(EXTRA_SOURCES) - {extension.name for extension in extensions}
    if unused:
        raise BuildError(f"buildtools/artefacts.py names modules that do not exist: {unused}")
    return extensions


def check_platform() -> None:
    """Refuse what the native code was not written for."""
    if not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "AMD64"):
        raise BuildError(
            f"offchip is for x86-64 Linux; this is {platform.machine()} {platform.system()}"
        )


def coverage_objects(toolchain: Toolchain) -> list[str]:
    """Compile what a library or program of a build for coverage has in addition."""
    if not toolchain.coverage:
        return []
    plain = dataclasses.replace(toolchain, coverage=False)
    return plain.compile(["buildtools/coverage_exit.c"], includes=[])


class BinaryDistribution(Distribution):
    """A distribution that is never pure Python."""

    def has_ext_modules(self) -> bool:
        """Say so."""
        return True


class BuildExtensions(build_ext):
    """Builds extension modules with our own flags, and only those that have changed."""

    def run(self) -> None:
        """Translate the .pyx files, then go on as usual."""
        from Cython.Build import cythonize

        check_platform()
        self.toolchain = Toolchain.from_environment(ROOT)
        translated = cythonize(
            [Extension(extension.name, extension.sources) for extension in self.extensions],
            build_dir="build/cython",
            include_path=["."],
            nthreads=os.cpu_count() or 1,
            compiler_directives=DIRECTIVES,
        )
        # The objects that setuptools has prepared stay, with other sources.
        sources = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
        # All modules at once, so that every core has work; then each finds its objects made.
        self._compile([name for extension in self.extensions for name in extension.sources])
        super().run()

    def _compile(self, sources: list[str]) -> list[str]:
        """Compile what Cython has written, and our own C beside it, each file once."""
        names = list(dict.fromkeys(sources))
        generated = [name for name in names if name.startswith("build/")]
        own = [name for name in names if not name.startswith("build/")]
        objects = self.toolchain.compile(
            generated, includes=[*python_includes(), *INCLUDES], own=False, title="Python modules"
        )
        return objects + self.toolchain.compile(own, includes=INCLUDES)

    def build_extension(self, ext: Extension) -> None:
        """Link one module."""
        objects = self._compile(ext.sources) + coverage_objects(self.toolchain)
        product = self.toolchain.object_folder / "modules" / self.get_ext_filename(ext.name)
        self.toolchain.link(product, objects, ["-shared", "-lm"])
        target = Path(self.get_ext_fullpath(ext.name))
        _copy(product, target)


# Files that are copied into packages as they are.
_COPIED = (".c", ".h", ".hpp", ".inc")


class BuildNative(Command):
    """Builds the libraries, executables and headers that packages have beside their modules."""

    description = "build native artefacts"
    user_options: ClassVar = [
        ("build-lib=", None, "folder for the products"),
        ("inplace", "i", "in the tree"),
    ]
    boolean_options: ClassVar = ["inplace"]
    editable_mode = False

    def initialize_options(self) -> None:
        """Set options to what they are when not given."""
        self.build_lib: str | None = None
        self.inplace = False

    def finalize_options(self) -> None:
        """Take what was not given from the build command."""
        self.set_undefined_options("build", ("build_lib", "build_lib"))

    @property
    def _target(self) -> Path:
        assert self.build_lib is not None
        return ROOT if self.inplace or self.editable_mode else Path(self.build_lib)

    def run(self) -> None:
        """Build everything that has changed."""
        check_platform()
        toolchain = Toolchain.from_environment(ROOT)
        for artefact in ARTEFACTS:
            absent = artefact.missing(ROOT)
            if absent:
                raise BuildError(f"{artefact.path} cannot be built without {', '.join(absent)}")
            self._make(toolchain, artefact)

    def _make(self, toolchain: Toolchain, artefact: Artefact) -> None:
        sources = artefact.find_sources(ROOT)
        target = self._target / artefact.path
        if artefact.kind is Kind.HEADERS:
            for name in sources:
                _copy(ROOT / name, target / Path(name).name)
            self._remove_others(target)
            return
        made = toolchain.object_folder / "products"
        if artefact.kind is Kind.STATIC:
            # Users link it with their own compiler, which knows of no sanitizer.
            toolchain = dataclasses.replace(toolchain, sanitize="", coverage=False)
        if "-nostdlib" in artefact.link_flags:
            toolchain = dataclasses.replace(toolchain, coverage=False)
        objects = toolchain.compile(sources, includes=INCLUDES, title=artefact.path)
        objects += coverage_objects(toolchain)
        products = toolchain.object_folder / "products"
        product = products / artefact.path
        if artefact.kind is Kind.STATIC:
            toolchain.archive(product, objects)
        elif artefact.kind is Kind.SHARED:
            flags = ["-shared", *artefact.link_flags]
            # The sanitizers' functions may be left to the program that loads the library.
            flags += [] if toolchain.sanitize else ["-Wl,--no-undefined"]
            if artefact.libraries:
                flags += ["-Wl,--no-as-needed", *(str(made / n) for n in artefact.libraries)]
            toolchain.link(product, objects, flags)
        else:
            toolchain.link(product, objects, ["-pie", *artefact.link_flags])
        _copy(product, target, executable=artefact.kind is Kind.EXECUTABLE)

    def _remove_others(self, folder: Path) -> None:
        """Remove copies of what is no longer in the tree; the DPU's run time is a whole folder."""
        wanted = {self._target / name for name in self._products()}
        for file in folder.iterdir():
            if file.suffix in _COPIED and file.is_file() and file not in wanted:
                file.unlink()

    def _products(self) -> list[str]:
        names = []
        for artefact in ARTEFACTS:
            if artefact.kind is Kind.HEADERS:
                sources = artefact.find_sources(ROOT)
                names += [f"{artefact.path}/{Path(name).name}" for name in sources]
            else:
                names.append(artefact.path)
        return names

    def get_source_files(self) -> list[str]:
        """List what the products are made from, for the sdist."""
        return [name for artefact in ARTEFACTS for name in artefact.find_sources(ROOT)]

    def get_outputs(self) -> list[str]:
        """List the products."""
        return [f"{self.build_lib}/{name}" for name in self._products()]

    def get_output_mapping(self) -> dict[str, str]:
        """Say which file of the tree stands for which product, for editable installs."""
        return {f"{self.build_lib}/{name}": name for name in self._products()}


class Build(build):
    """The build command, with native artefacts."""

    sub_commands: ClassVar = [("build_native", None), *build.sub_commands]


def _copy(source: Path, target: Path, *, executable: bool = False) -> None:
    """Copy by way of a new file, so that a process that has the old one mapped keeps it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() and target.stat().st_mtime_ns >= source.stat().st_mtime_ns:
        same = target.stat().st_size == source.stat().st_size
        if same and target.read_bytes() == source.read_bytes():
            return
    fresh = target.with_name(f".{target.name}.new")
    shutil.copyfile(source, fresh)
    fresh.chmod(0o755 if executable else 0o644)
    os.replace(fresh, target)
