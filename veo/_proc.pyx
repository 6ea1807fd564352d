# SPDX-License-Identifier: BSD-3-Clause
"""VE processes: their memory, libraries and contexts."""

from libc.stdint cimport uint64_t
from offchip.request cimport timeout_ns
from veo._context cimport VeoCtxt
from veo._library cimport VeoLibrary
from veo._log cimport log_info, log_on
from veo._main_wait cimport limit_wait, main_wait, was_late
from veo._native cimport Library, death_report, get_library
from veo._proc_memory cimport ProcMemory
from veo._process_handle cimport ProcHandle, open_process
from veo.libveo cimport veo_proc_handle

import os
from operator import index

from veo.errors import VeoClosedError
from veo.namedict import NameDict

__all__ = ["VeoProc", "del_proc_init_hook", "get_ve_arch", "set_proc_init_hook"]

STATIC = "__static__"

_init_hooks = []


def set_proc_init_hook(v):
    """Call a function with every process that is created from now on.

    Parameters
    ----------
    v : callable
        Takes the `VeoProc`. The constructor passes on its exceptions, after ending the process.
    """
    _init_hooks.append(v)


def del_proc_init_hook(v):
    """Remove a function that was passed to `set_proc_init_hook()`.

    Raises
    ------
    ValueError
        There is no such function.
    """
    _init_hooks.remove(v)


def get_ve_arch(pid):
    """Return the architecture of a node: 1 or 3, or a value below 1 if there is no such node."""
    cdef Library library = get_library(None)
    cdef int node = _node_number(pid)
    library.need(<const void *>library.table.veo_get_ve_arch, "veo_get_ve_arch")
    return library.table.veo_get_ve_arch(node)


def _place(path):
    """Say what to do if a library was not found that lies in the current folder."""
    if b"/" in path or not os.path.exists(path):
        return ""
    return (
        " (a name without a slash is searched for in folders of libraries only; for the file in "
        f"the current folder: {os.fsdecode(os.path.abspath(path))!r})"
    )


def _node_number(node):
    """Convert a number, or its text, as in an environment variable."""
    if isinstance(node, float):
        # py-veo truncates fractions.
        return int(node)
    if isinstance(node, str):
        try:
            return int(node)
        except ValueError:
            raise TypeError(f"an integer is required, not {node!r}") from None
    try:
        return index(node)
    except TypeError:
        raise TypeError(f"an integer is required, not {type(node).__name__}") from None


cdef class VeoProc(ProcMemory):
    """A process on a VE node.

    It is also a context manager, which closes it: immediately after an exception, otherwise after
    queued requests have been executed.

    Parameters
    ----------
    nodeid : int or str
        Number of the node, or its text; -1 for that in VE_NODE_NUMBER, or else 0.
    veorun_bin : str, bytes or path, optional
        Worker binary with kernels linked into it.
    library : str, path or Library, optional
        As for `use_library()`; by default the default library.
    stdout, stderr : stream, callable, int or True, optional
        Who gets what kernels print there: what has ``write(text)``, a function that takes text,
        the number of a descriptor, True for `sys.stdout` or `sys.stderr` of the moment. By default
        it goes to the descriptors 1 and 2 of this process. NEC's library has only that.

    Raises
    ------
    VeoError
        The process could not be started. It is a RuntimeError.

    Attributes
    ----------
    nodeid : int
        Number of the node.
    context : list of VeoCtxt
        Contexts from `open_context()`.
    lib : dict
        Loaded libraries by name, as str or bytes.
    """

    cdef object __weakref__
    cdef readonly int nodeid
    cdef readonly object context
    cdef readonly object lib

    def __init__(self, nodeid, veorun_bin=None, *, library=None, stdout=None, stderr=None):
        cdef Library chosen
        cdef int node
        cdef bytes veorun = None
        if self.handle is not None:
            raise TypeError("this VeoProc is already initialised")
        node = _node_number(nodeid)
        if veorun_bin is not None:
            veorun = os.fsencode(veorun_bin)
            if b"\0" in veorun:
                raise ValueError("the path contains a NUL byte")
        chosen = get_library(library)
        self.nodeid = node
        self.context = []
        self.lib = NameDict()
        output = None
        if stdout is not None or stderr is not None:
            from veo.output import Output

            output = Output(stdout, stderr)
        self.handle = open_process(chosen, node, veorun, output)
        if log_on():
            log_info(f"proc created nodeid={node}")
        for hook in list(_init_hooks):
            hook(self)

    def __reduce_ex__(self, protocol):
        raise TypeError(
            "a VeoProc cannot be pickled: only this process can talk to its worker"
        )

    # --- about the process -------------------------------------------------------------------

    @property
    def library(self):
        """The `Library` that runs the process."""
        return self.handle.library if self.handle is not None else None

    @property
    def tid(self):
        """Always 0: what py-veo shows since VE threads have no number on the host."""
        return 0

    @property
    def pid(self):
        """Process id of the worker, None if the library does not report it."""
        cdef ProcHandle proc = self.handle
        if proc is None or not proc.is_open() or proc.soft.veosoft_worker_pid is NULL:
            return None
        return proc.soft.veosoft_worker_pid(proc.handle)

    @property
    def heap_used(self):
        """Bytes of VE memory in use, None if the library does not report it."""
        cdef ProcHandle proc = self.handle
        if proc is None or not proc.is_open() or proc.soft.veosoft_heap_used is NULL:
            return None
        return proc.soft.veosoft_heap_used(proc.handle)

    @property
    def closed(self):
        """True if the process was closed, or belongs to the parent of this one."""
        return self.handle is None or not self.handle.is_open()

    @property
    def alive(self):
        """True if the process runs: it was neither closed nor ended by a kernel or a signal.

        NEC's library does not report this; then a process counts as alive until it is closed.
        """
        return not self.closed and not self.death_report

    @property
    def death_report(self):
        """How the process died, with a trace of the kernel that crashed; "" if it did not.

        The report is lost when the process is closed.
        """
        cdef ProcHandle proc = self.handle
        cdef veo_proc_handle *handle
        if self.closed or proc.closing:
            return ""
        handle = proc.enter()
        try:
            return death_report(proc.soft, handle)
        finally:
            proc.leave()

    @property
    def _proc_handle(self):
        """The C handle as an integer, 0 when closed."""
        return <size_t>self.handle.handle if self.handle is not None else 0

    def close(self, timeout=None):
        """Execute what is queued, keep the results, and end the process. May be called again.

        Parameters
        ----------
        timeout : float, optional
            Timeout in seconds for queued requests; those that are not done by then are abandoned,
            and raise VeoClosedError. None waits without limit, or 1.5 s if a wait for one of them
            has timed out before.
        """
        cdef int rc
        if self.handle is None or not self.handle.is_open():
            return
        rc = self.handle.close(timeout_ns(timeout))
        if log_on():
            log_info(f"proc destroyed nodeid={self.nodeid}")
        if rc != 0:
            self.handle.library.fail("veo_proc_destroy failed", "veo_proc_destroy", NULL, rc)

    def proc_destroy(self):
        """Close it, as `close()` does."""
        self.close()

    def __enter__(self):
        self.get().enter()
        self.handle.leave()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close(None if exc_type is None else 0)

    def __repr__(self):
        if self.handle is None:
            return "<VeoProc object, not initialised>"
        state = "closed" if self.closed else "open" if self.alive else "dead"
        return (
            f"<VeoProc object at {<size_t><void *>self:#x} of node {self.nodeid} "
            f"({self.handle.library.kind}), {state}>"
        )

    def proc_identifier(self):
        """Return the number of the process that tagged addresses have."""
        cdef ProcHandle proc = self.get()
        cdef veo_proc_handle *handle = proc.enter()
        cdef int number
        try:
            proc.library.need(<const void *>proc.table.veo_proc_identifier, "veo_proc_identifier")
            number = proc.table.veo_proc_identifier(handle)
            if number < 0:
                proc.library.fail(
                    "veo_proc_identifier failed", "veo_proc_identifier", handle, number
                )
        finally:
            proc.leave()
        return number

    # --- libraries ---------------------------------------------------------------------------

    def load_library(self, libname, *, timeout=None):
        """Load a shared library into the process, after the requests queued in the main context.

        Parameters
        ----------
        libname : str, bytes or path
            Absolute path, or a name that the VE's dynamic loader searches for if it has no slash.
        timeout : float, optional
            As for `read_mem()`. If its own code, which runs while it is loaded, takes longer, the
            same call waits for it again.

        Returns
        -------
        VeoLibrary
            A new object each time; `lib` has the last one of each name.

        Raises
        ------
        VeoError
            It cannot be loaded. It is a RuntimeError.
        VeoTimeoutError
            The wait timed out; it says for which request. It is a TimeoutError.
        """
        cdef ProcHandle proc = self.get()
        cdef main_wait wait
        cdef bint late
        cdef veo_proc_handle *handle
        cdef uint64_t number
        cdef const char *path
        try:
            encoded = os.fsencode(libname)
        except TypeError:
            raise TypeError(
                f"libname must be a str, bytes or path, not {type(libname).__name__}"
            ) from None
        if b"\0" in encoded:
            raise ValueError("the path contains a NUL byte")
        path = encoded
        handle = proc.enter()
        try:
            wait = proc.begin(timeout, "veo_load_library")
            while True:
                with nogil:
                    limit_wait(proc.soft, &wait)
                    number = proc.table.veo_load_library(handle, path)
                    late = was_late(proc.soft, &wait, number == 0)
                if not late:
                    break
                proc.go_on(&wait, "veo_load_library")
            if number == 0:
                proc.library.fail(
                    f"veo_load_library '{os.fsdecode(encoded)}' failed{_place(encoded)}",
                    "veo_load_library", handle,
                )
        finally:
            proc.leave()
        library = VeoLibrary(self, encoded, number)
        self.lib[library.name] = library
        return library

    def static_library(self):
        """Return the functions that are linked into the worker binary as a `VeoLibrary`."""
        self.get()
        library = VeoLibrary(self, STATIC, 0)
        self.lib[STATIC] = library
        return library

    def unload_library(self, lib, *, timeout=None):
        """Unload a library, after the requests queued in the main context.

        Its functions can no longer be called.

        Parameters
        ----------
        lib : VeoLibrary
            From `load_library()`.
        timeout : float, optional
            As for `read_mem()`.

        Raises
        ------
        VeoError
            It could not be unloaded. It is a RuntimeError.
        VeoTimeoutError
            The wait timed out; it says for which request. It is a TimeoutError.
        """
        cdef ProcHandle proc = self.get()
        cdef main_wait wait
        cdef bint late
        cdef veo_proc_handle *handle
        cdef VeoLibrary library
        cdef int rc
        if not isinstance(lib, VeoLibrary):
            raise TypeError(f"a VeoLibrary is required, not {type(lib).__name__}")
        library = lib
        if library.proc is not self:
            raise ValueError(f"{lib!r} is not a library of {self!r}")
        if library.unloaded:
            raise VeoClosedError(f"the library {library.name} was unloaded")
        handle = proc.enter()
        try:
            proc.library.need(<const void *>proc.table.veo_unload_library, "veo_unload_library")
            wait = proc.begin(timeout, "veo_unload_library")
            while True:
                with nogil:
                    limit_wait(proc.soft, &wait)
                    rc = proc.table.veo_unload_library(handle, library.library_handle)
                    late = was_late(proc.soft, &wait, rc != 0)
                if not late:
                    break
                proc.go_on(&wait, "veo_unload_library")
            if rc != 0:
                proc.library.fail(
                    f"veo_unload_library '{library.name}' failed", "veo_unload_library", handle, rc,
                )
        finally:
            proc.leave()
        library.unloaded = True
        if self.lib.get(library.name) is library:
            del self.lib[library.name]

    def get_function(self, name):
        """Return a function that was already found in one of the libraries, or None.

        Parameters
        ----------
        name : str or bytes
            Name of the function.
        """
        for library in list(self.lib.values()):
            function = library.func.get(name)
            if function is not None:
                return function
        return None

    # --- contexts ----------------------------------------------------------------------------

    def open_context(self, *, timeout=None):
        """Open a context; the first is the main one.

        Parameters
        ----------
        timeout : float, optional
            As for `alloc_mem()`.

        Returns
        -------
        VeoCtxt

        Raises
        ------
        VeoError
            It could not be opened. It is a RuntimeError.
        """
        self.get()
        ctx = VeoCtxt(self, timeout=timeout)
        self.context.append(ctx)
        return ctx

    def close_context(self, ctx, timeout=None):
        """Close a context that `open_context()` returned.

        Parameters
        ----------
        ctx : VeoCtxt
            The context.
        timeout : float, optional
            As for `VeoCtxt.close()`.

        Raises
        ------
        ValueError
            It is not one of this process, or was closed by this function before.
        """
        if not isinstance(ctx, VeoCtxt):
            raise TypeError(f"a VeoCtxt is required, not {type(ctx).__name__}")
        self.get()
        # Contexts compare by identity.
        if ctx not in self.context:
            raise ValueError(f"{ctx!r} is not in the list of contexts of {self!r}")
        ctx.close(timeout)
        if ctx in self.context:
            self.context.remove(ctx)
