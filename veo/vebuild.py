# SPDX-License-Identifier: BSD-3-Clause
"""Building kernels from source at run time.

A :class:`VeBuild` holds sources by label and makes a shared library of them for
:meth:`VeoProc.load_library`, or a worker executable with the kernels linked in for
``VeoProc(nodeid, veorun_bin)``. :mod:`veo.compilers` chooses the compilers.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar, Literal, overload

from veo.compilers import (
    COMPILER,
    FLAGS,
    GLOBAL_SO_FLAGS,
    MK_VEORUN_STATIC,
    SUFFIX,
    ObjectFile,
    Toolchain,
    VeoBuildError,
    run_compiler,
    select_toolchain,
)
from veo.ve_clang import find_libraries, write_library
from veo.ve_libcxx import libcxx_objects

__all__ = [
    "COMPILER",
    "FLAGS",
    "GLOBAL_SO_FLAGS",
    "MK_VEORUN_STATIC",
    "SUFFIX",
    "VeBuild",
    "VeCObj",
    "VeCppObj",
    "VeFtnObj",
    "VeObj",
    "VeoBuildError",
]


class VeObj:
    """One source and how it is compiled; use the subclass of its language.

    Parameters
    ----------
    content : str
        Source text.
    flags : str, optional
        Compiler flags; ``FLAGS`` of the language unless given.
    compiler : str, optional
        Compiler command; ``COMPILER`` of the language unless given.
    target : {"auto", "ve", "host"}
        See :func:`veo.compilers.select_toolchain`.
    """

    _type: ClassVar[str]

    def __init__(
        self,
        content: str,
        flags: str | None = None,
        compiler: str | None = None,
        *,
        target: str = "auto",
    ) -> None:
        if not hasattr(self, "_type"):
            raise TypeError("VeObj has no language: use VeCObj, VeCppObj or VeFtnObj")
        self._src = content
        self._flags = flags
        self._compiler = compiler
        self._target = target

    def build(
        self, oname: str, dir: str | os.PathLike[str] | None = None, verbose: bool = False
    ) -> bool:
        """Compile to ``<dir>/<oname>.o``.

        Returns
        -------
        bool
            Whether it succeeded. The compiler's messages are printed on stderr.

        Raises
        ------
        VeoBuildError
            The compiler is not installed.
        """
        try:
            self._compile(select_toolchain(self._target), oname, Path(dir or "."), verbose)
        except VeoBuildError as error:
            if not error.command:
                raise
            print(error, file=sys.stderr, flush=True)
            return False
        return True

    def _compile(
        self, toolchain: Toolchain, oname: str, directory: Path, verbose: bool
    ) -> ObjectFile:
        source = oname + SUFFIX[self._type]
        flags = toolchain.compile_flags(self._type, self._flags)
        command = [*toolchain.compiler(self._type, self._compiler), *flags]
        (directory / source).write_text(self._src)
        # Run in the directory because NEC's compilers write listings to the current one.
        search = toolchain.search_flag("-I", "include")
        run_compiler(
            [*command, *search, "-c", source, "-o", oname + ".o"], cwd=directory, verbose=verbose
        )
        listing = directory / (oname + ".L")
        if verbose and listing.is_file():
            print(listing.read_text(errors="replace"), flush=True)
        return ObjectFile(directory / (oname + ".o"), self._type, tuple(flags))

    def clean(self, oname: str | os.PathLike[str]) -> None:
        """Remove the source, object and listing called ``oname``, if they exist."""
        for suffix in (SUFFIX[self._type], ".o", ".L"):
            Path(os.fspath(oname) + suffix).unlink(missing_ok=True)

    def get_compiler(self) -> str:
        """Return the requested compiler command."""
        return self._compiler or COMPILER[self._type]

    def set_compiler(self, compiler: str | None) -> None:
        """Set the compiler command."""
        self._compiler = compiler

    def set_flags(self, flags: str | None) -> None:
        """Set the compiler flags."""
        self._flags = flags

    def get_type(self) -> str:
        """Return the language: "C", "C++" or "F"."""
        return self._type


class VeCObj(VeObj):
    """A C source."""

    _type = "C"


class VeCppObj(VeObj):
    """A C++ source; kernels need ``extern "C"`` to be found by their plain names."""

    _type = "C++"


class VeFtnObj(VeObj):
    """A Fortran source; kernels are found by their names in lower case with a "_" appended."""

    _type = "F"


class VeBuild:
    """Sources that become a kernel library.

    Parameters
    ----------
    target : {"auto", "ve", "host"}
        What to build for. ``"auto"`` is ``$VEBUILD_TARGET``, else what the VEO library in use
        can load: VE code for NEC's, host code for the soft twin, which runs VE code too. Without
        NEC's compilers ``"ve"`` is the clang of the ziglang wheel, for C and for C++ without
        exceptions, and a library is an archive that the worker links.
    check : bool
        Whether a failure raises :class:`VeoBuildError`. Otherwise, as in py-veo, the compiler's
        messages are printed (on stderr) and the build methods return None. A missing
        compiler always raises.

    Examples
    --------
    >>> build = VeBuild()
    >>> build.set_build_dir("_build")
    >>> build.set_c_src("twice", "long twice(long x) { return 2 * x; }")
    >>> path = build.build_so()
    compile twice -> ok
    """

    def __init__(self, *, target: str = "auto", check: bool = False) -> None:
        if target not in ("auto", "ve", "host"):
            raise ValueError(f"target must be 'auto', 've' or 'host', not {target!r}")
        self._target = target
        self._check = check
        self._toolchain: Toolchain | None = None
        self._obj: dict[str, VeObj] = {}
        self._blddir = ""
        self._made_dir: Path | None = None
        self._built: list[str] = []

    @property
    def toolchain(self) -> Toolchain:
        """The toolchain, chosen on first use."""
        if self._toolchain is None:
            self._toolchain = select_toolchain(self._target)
        return self._toolchain

    def set_c_src(
        self, label: str, content: str, flags: str | None = None, compiler: str | None = None
    ) -> None:
        """Add a C source, or replace the source of this label."""
        self._set(label, VeCObj(content, flags, compiler, target=self._target))

    def set_cpp_src(
        self, label: str, content: str, flags: str | None = None, compiler: str | None = None
    ) -> None:
        """Add a C++ source, or replace the source of this label."""
        self._set(label, VeCppObj(content, flags, compiler, target=self._target))

    def set_ftn_src(
        self, label: str, content: str, flags: str | None = None, compiler: str | None = None
    ) -> None:
        """Add a free-form Fortran source, or replace the source of this label."""
        self._set(label, VeFtnObj(content, flags, compiler, target=self._target))

    def set_build_dir(self, dirname: str | os.PathLike[str]) -> None:
        """Set the directory of all files; a build makes it, with its parents."""
        name = os.fspath(dirname)
        self._blddir = name if name.endswith("/") or not name else name + "/"

    @overload
    def build_so(
        self,
        label: str | None = None,
        flags: str | None = None,
        libs: Iterable[str] = (),
        linker: str | None = None,
        verbose: bool = False,
        *,
        check: Literal[True],
    ) -> str: ...
    @overload
    def build_so(
        self,
        label: str | None = None,
        flags: str | None = None,
        libs: Iterable[str] = (),
        linker: str | None = None,
        verbose: bool = False,
        *,
        check: bool | None = None,
    ) -> str | None: ...
    def build_so(
        self,
        label: str | None = None,
        flags: str | None = None,
        libs: Iterable[str] = (),
        linker: str | None = None,
        verbose: bool = False,
        *,
        check: bool | None = None,
    ) -> str | None:
        """Build ``<build dir>/<label>.so``.

        Parameters
        ----------
        label : str, optional
            Name of the library; the label of the first source unless given.
        flags : str, optional
            Flags of the link instead of ``GLOBAL_SO_FLAGS``.
        libs : iterable of str
            Libraries, as ``"-lm"`` or as paths.
        linker : str, optional
            Command to link with; the C++ compiler where there is C++, else the Fortran compiler
            where there is Fortran, else the C compiler.
        verbose : bool
            Print commands and messages.
        check : bool, optional
            Instead of the constructor's ``check``.

        Returns
        -------
        str or None
            Path of the library; None after a failure that is not raised. Without
            :meth:`set_build_dir` it is a bare file name, as in py-veo, and
            :meth:`VeoProc.load_library` needs ``os.path.abspath()`` of it.

        Raises
        ------
        ValueError
            There are no sources.
        OSError
            The build directory cannot be made or written.
        VeoBuildError
            A compiler is missing, or, with ``check``, a build failed.
        """

        def link(out: str, objects: list[ObjectFile]) -> None:
            self._link_so(out, objects, list(libs), flags, linker, verbose)

        return self._build(label, ".so", link, verbose, check)

    @overload
    def build_veorun(
        self,
        label: str | None = None,
        flags: str | None = None,
        libs: Iterable[str] = (),
        verbose: bool = False,
        *,
        check: Literal[True],
    ) -> str: ...
    @overload
    def build_veorun(
        self,
        label: str | None = None,
        flags: str | None = None,
        libs: Iterable[str] = (),
        verbose: bool = False,
        *,
        check: bool | None = None,
    ) -> str | None: ...
    def build_veorun(
        self,
        label: str | None = None,
        flags: str | None = None,
        libs: Iterable[str] = (),
        verbose: bool = False,
        *,
        check: bool | None = None,
    ) -> str | None:
        """Build ``<build dir>/<label>.veorun``: a worker with the kernels linked in.

        By NEC's ``mk_veorun_static``, or by :mod:`veo.static_worker` without NEC's SDK.
        Parameters as for :meth:`build_so`; ``flags`` are C compiler flags.
        """

        def link(out: str, objects: list[ObjectFile]) -> None:
            self._link_veorun(out, objects, list(libs), flags, verbose)

        return self._build(label, ".veorun", link, verbose, check)

    def clean(self) -> None:
        """Remove sources, objects and listings; keep libraries and workers."""
        for label, obj in self._obj.items():
            obj.clean(self._blddir + label)

    def clear(self) -> None:
        """Clean, then forget the sources and the build directory."""
        self.clean()
        self._obj = {}
        self._blddir = ""

    def realclean(self) -> None:
        """Remove everything that was built, including libraries, and the build directory.

        A directory that existed before is removed only if it is empty.
        """
        self.clean()
        for name in self._built:
            Path(name).unlink(missing_ok=True)
        self._built = []
        if self._made_dir is not None:
            shutil.rmtree(self._made_dir, ignore_errors=True)
            self._made_dir = None
        elif self._blddir:
            path = Path(self._blddir)
            if path.is_dir() and not any(path.iterdir()) and path.resolve() != Path.cwd():
                path.rmdir()

    def _set(self, label: str, obj: VeObj) -> None:
        if not label or "/" in label or "\0" in label:
            raise ValueError(f"a label is a file name without directory, not {label!r}")
        self._obj[label] = obj

    def _build(
        self,
        label: str | None,
        suffix: str,
        link: Callable[[str, list[ObjectFile]], None],
        verbose: bool,
        check: bool | None,
    ) -> str | None:
        if not self._obj:
            raise ValueError("no sources: call set_c_src(), set_cpp_src() or set_ftn_src() first")
        out = self._blddir + (label or next(iter(self._obj))) + suffix
        self._make_build_dir()
        try:
            link(out, self._compile_all(verbose))
        except VeoBuildError as error:
            if (self._check if check is None else check) or not error.command:
                raise
            print(error, file=sys.stderr, flush=True)
            return None
        if out not in self._built:
            self._built.append(out)
        return out

    def _compile_all(self, verbose: bool) -> list[ObjectFile]:
        objects = []
        for label, obj in self._obj.items():
            try:
                objects.append(
                    obj._compile(self.toolchain, label, Path(self._blddir or "."), verbose)
                )
            except VeoBuildError:
                print(f"compile {label} -> failed", flush=True)
                raise
            print(f"compile {label} -> ok", flush=True)
        return objects

    def _link_language(self) -> str:
        languages = {obj.get_type() for obj in self._obj.values()}
        return next(language for language in ("C++", "F", "C") if language in languages)

    def _link_so(
        self,
        out: str,
        objects: list[ObjectFile],
        libs: list[str],
        flags: str | None,
        linker: str | None,
        verbose: bool,
    ) -> None:
        language = self._link_language()
        if self.toolchain.by_clang:
            inputs: list[str | Path] = [*(o.path for o in objects), *find_libraries(libs)]
            write_library(out, [*inputs, *libcxx_objects(inputs)])
            return
        run_compiler(
            [
                *self.toolchain.compiler(language, linker),
                *self.toolchain.link_flags(flags, objects),
                "-o",
                out,
                *(o.path for o in objects),
                *self.toolchain.search_flag("-L", "lib"),
                *libs,
                *self.toolchain.runtime_libraries(language, {o.language for o in objects}),
            ],
            verbose=verbose,
        )

    def _link_veorun(
        self,
        out: str,
        objects: list[ObjectFile],
        libs: list[str],
        flags: str | None,
        verbose: bool,
    ) -> None:
        paths = [os.fspath(o.path) for o in objects]
        if self.toolchain.target == "ve" and not self.toolchain.by_clang:
            if not os.access(MK_VEORUN_STATIC, os.X_OK):
                raise VeoBuildError(
                    f"{MK_VEORUN_STATIC} not found: install NEC's VEO development packages"
                )
            env = dict(os.environ, CFLAGS=flags) if flags else None
            run_compiler([MK_VEORUN_STATIC, out, *paths, *libs], env=env, verbose=verbose)
            return
        # Imported here, as "python -m veo.static_worker" must not find its module already loaded.
        from veo.static_worker import build_static_worker

        build_static_worker(
            out,
            [*paths, *libs],
            compiler=self.toolchain.compiler("C"),
            flags=self.toolchain.link_flags(flags or "", objects),
            verbose=verbose,
        )

    def _make_build_dir(self) -> None:
        if not self._blddir:
            return
        path = Path(self._blddir)
        if not path.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir()
            self._made_dir = path.resolve()
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise OSError(f"build directory {self._blddir!r} is not readable and writable")
