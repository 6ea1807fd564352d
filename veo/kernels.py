# SPDX-License-Identifier: BSD-3-Clause
"""Functions in C that Python calls as its own: `kernel` and `offload`.

They share a VE process and a context, which are started at the first call. Kernels whose output
goes to Python share one among those with the same streams: what is printed belongs to a process.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec

import numpy as np

from veo._context import VeoCtxt
from veo._memory import OnStack
from veo._proc import VeoProc
from veo._request import VeoRequest
from veo.enums import ArgsIntent
from veo.errors import VeoError
from veo.vebuild import VeBuild

if TYPE_CHECKING:
    from veo.output import Target

__all__ = ["Kernel", "kernel", "offload", "shared_process"]

P = ParamSpec("P")

_lock = threading.RLock()


class _Home:
    """A VE process with a context, started when needed, and again if it has died."""

    def __init__(self, stdout: Target, stderr: Target) -> None:
        self.stdout, self.stderr = stdout, stderr
        self._started: tuple[int, VeoProc, VeoCtxt] | None = None

    def start(self) -> tuple[VeoProc, VeoCtxt]:
        with _lock:
            # A child of fork() has not the process of its parent.
            mine = self._started is not None and self._started[0] == os.getpid()
            if self._started is None or not mine or not _usable(self._started[1]):
                if self._started is not None and mine:
                    self._started[1].close()
                proc = VeoProc(chosen_node(), stdout=self.stdout, stderr=self.stderr)
                self._started = (os.getpid(), proc, proc.open_context())
            return self._started[1:]


def chosen_node() -> int:
    """Return the node that VE_NODE_NUMBER names, 0 by default."""
    text = os.environ.get("VE_NODE_NUMBER") or "0"
    if not text.isascii() or not text.isdigit():
        raise VeoError(f"VE_NODE_NUMBER={text!r} is not allowed: it takes the number of a node")
    return int(text)


def _usable(proc: VeoProc) -> bool:
    return not proc.closed and proc.alive


_default = _Home(None, None)

# Others end with the last kernel or caller that uses them. A home refers to its streams, so that no
# other object can get their numbers while it exists.
_homes: weakref.WeakValueDictionary[tuple[int, int], _Home] = weakref.WeakValueDictionary()


def _home(stdout: Target, stderr: Target) -> _Home:
    if stdout is None and stderr is None:
        return _default
    with _lock:
        key = (id(stdout), id(stderr))
        home = _homes.get(key)
        if home is None:
            home = _homes[key] = _Home(stdout, stderr)
        return home


def shared_process() -> VeoProc:
    """Return the process that kernels run in, to which each `DeviceArray` of theirs belongs.

    It is started on the node that VE_NODE_NUMBER names, 0 by default, and again if it has died.
    Kernels with `stdout` or `stderr` run in others: see `Kernel.process`.
    """
    return _default.start()[0]


class _Library:
    """A function's source and what it is compiled to; the file goes with the last reference."""

    def __init__(self, name: str, source: str, flags: str | None, libs: tuple[str, ...]) -> None:
        self.name, self.source, self.flags, self.libs = name, source, flags, libs
        self._path: str | None = None

    def build(self) -> str:
        if self._path is None:
            folder = tempfile.mkdtemp(prefix="offchip-kernel-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            build = VeBuild(check=True)
            build.set_build_dir(folder)
            build.set_c_src(self.name, self.source, flags=self.flags)
            with contextlib.redirect_stdout(io.StringIO()):  # it names what it compiles
                self._path = build.build_so(libs=list(self.libs), check=True)
        return self._path


class Kernel(Generic[P]):
    """A function in C, called with Python's values; made by `kernel`.

    Parameters
    ----------
    name : str
        Of the function.
    source : str
        In C; it may have more than this function.
    flags : str, optional
        Of the compiler.
    libs : sequence of str
        What is linked, such as ``-lm``.
    stdout, stderr : stream, callable, int or True, optional
        Who gets what it prints, as for `VeoProc`.
    """

    def __init__(
        self,
        name: str,
        source: str,
        flags: str | None,
        libs: tuple[str, ...],
        stdout: Target = None,
        stderr: Target = None,
    ) -> None:
        self.name, self.source, self.flags, self.libs = name, source, flags, libs
        self._library = _Library(name, source, flags, libs)
        self._home = _home(stdout, stderr)
        self._loaded: tuple[VeoProc, Any] | None = None

    @property
    def process(self) -> VeoProc:
        """The process that it runs in: that of each `DeviceArray` among its arguments."""
        return self._home.start()[0]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Call it, and wait for the result."""
        return self.submit(*args, **kwargs).wait_result()

    def submit(self, *args: P.args, **kwargs: P.kwargs) -> VeoRequest:
        """Queue a call.

        Parameters
        ----------
        *args : int, float, numpy.ndarray, DeviceArray, OnStack
            A NumPy array is copied to the VE before the call, and back after it if it is writable.

        Returns
        -------
        VeoRequest
        """
        if kwargs:
            hint = "for a time limit: submit(...).wait_result(timeout=...)"
            raise TypeError(f"{self.name}() takes its arguments by position; {hint}")
        with _lock:
            function, context = self._load()
        request: VeoRequest = function(context, *(_as_argument(value) for value in args))
        return request

    def _printing_to(self, stdout: Target, stderr: Target) -> Kernel[P]:
        other = copy.copy(self)
        other._home = _home(stdout, stderr)
        other._loaded = None
        return other

    def _load(self) -> tuple[Any, VeoCtxt]:
        proc, context = self._home.start()
        if self._loaded is None or self._loaded[0] is not proc:
            library = proc.load_library(self._library.build())
            self._loaded = (proc, library.find_function(self.name))
        return self._loaded[1], context


def _as_argument(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        intent = ArgsIntent.INTENT_INOUT if value.flags.writeable else ArgsIntent.INTENT_IN
        return OnStack(value, inout=intent)
    return value.item() if isinstance(value, np.generic) else value


def kernel(
    source: str,
    *,
    flags: str | None = None,
    libs: tuple[str, ...] = (),
    stdout: Target = None,
    stderr: Target = None,
) -> Callable[[Callable[P, Any]], Kernel[P]]:
    """Make a Python function of one in C.

    The decorated function has the name of the one in C, and its parameters; its body is not used.
    Calls return the result, `submit()` a request.

    Parameters
    ----------
    source : str
        In C. It is compiled at the first call: for a VE by NEC's compiler, else for the host.
    flags : str, optional
        Of the compiler; ``-g`` must be among them, or types of arguments are not known.
    libs : tuple of str
        What is linked, such as ``("-lm",)``.
    stdout, stderr : stream, callable, int or True, optional
        Who gets what it prints, as for `VeoProc`: what has ``write(text)``, a function that takes
        text, the number of a descriptor, True for `sys.stdout` or `sys.stderr` of the moment. Such
        a kernel runs in a VE process of its own, with others that have the same two; a
        `DeviceArray` for it belongs to its `process`.

    Examples
    --------
    >>> @veo.kernel("void scale(double *x, long n, double by) { while (n--) *x++ *= by; }")
    ... def scale(x, n, by): ...
    >>> x = np.arange(4.0)
    >>> scale(x, len(x), 10.0)
    >>> x
    array([ 0., 10., 20., 30.])
    """

    def decorate(function: Callable[P, Any]) -> Kernel[P]:
        made: Kernel[P] = Kernel(function.__name__, source, flags, tuple(libs), stdout, stderr)
        functools.update_wrapper(made, function)
        return made

    return decorate


def offload(
    source: str,
    name: str,
    *args: Any,
    flags: str | None = None,
    stdout: Target = None,
    stderr: Target = None,
) -> Any:
    """Compile a function in C, call it on a Vector Engine, and wait for the result.

    Parameters
    ----------
    source : str
        In C; the same text is compiled once.
    name : str
        Of the function.
    *args
        Its arguments, as `Kernel.submit` takes them.
    flags : str, optional
        Of the compiler.
    stdout, stderr : stream, callable, int or True, optional
        Who gets what it prints, as for `kernel`. The VE process for it ends with the call, unless a
        kernel has the same two.

    Returns
    -------
    int, float or None
        What the function returns.
    """
    function = _offloaded(source, name, flags)
    if stdout is not None or stderr is not None:
        function = function._printing_to(stdout, stderr)
    return function(*args)


@functools.lru_cache(maxsize=64)
def _offloaded(source: str, name: str, flags: str | None) -> Kernel[...]:
    return Kernel(name, source, flags, ())
