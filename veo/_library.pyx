# SPDX-License-Identifier: BSD-3-Clause
"""Libraries that are loaded into a VE process."""

from libc.stdint cimport uint64_t
from veo._convert cimport to_bits
from veo._function cimport LibraryOwner, VeoFunction
from veo._main_wait cimport limit_wait, main_wait, was_late
from veo._process_handle cimport ProcessOwner, ProcHandle
from veo._native cimport death_report, explain
from veo.libveo cimport VEO_SYMNAME_LEN_MAX, veo_proc_handle

import os

from veo.errors import VeoClosedError, VeoError, VeoSymbolError
from veo.memptr import VEMemPtr
from veo.namedict import NameDict

__all__ = ["VeoLibrary"]


cdef str _name(object name):
    if isinstance(name, bytes):
        return os.fsdecode(name)
    if not isinstance(name, str):
        raise TypeError(f"a name is a str or bytes, not {type(name).__name__}")
    return str(name)


cdef class VeoLibrary(LibraryOwner):
    """A library in a VE process; its functions are attributes.

    ``lib.kernel`` is the function ``kernel``, looked up on first use, with the types
    that were set on it since. Libraries come from `VeoProc.load_library()`.

    Parameters
    ----------
    proc : VeoProc
        The process.
    name : str or bytes
        Path or name.
    handle : int
        The number that libveo returned; 0 for the functions linked into the worker.

    Attributes
    ----------
    proc : VeoProc
        The process.
    name : str
        Its path or name; ``"__static__"`` for the functions linked into the worker.
    func : dict
        Functions found so far, by name, as str or bytes.
    symbol : dict
        Addresses found so far, by name, as str or bytes.
    """

    def __init__(self, proc, name, handle):
        if not isinstance(proc, ProcessOwner) or (<ProcessOwner>proc).handle is None:
            raise TypeError(f"a VeoProc is required, not {type(proc).__name__}")
        if self.proc is not None:
            raise TypeError("this VeoLibrary is already initialised")
        self.name = _name(name)
        to_bits(c"p", handle, &self.library_handle)
        self.func = NameDict()
        self.symbol = NameDict()
        self.proc = proc

    def __reduce_ex__(self, protocol):
        raise TypeError("a VeoLibrary cannot be pickled: load it again from its name")

    cdef uint64_t _lookup(self, object name, object timeout) except 0:
        cdef ProcHandle proc
        cdef veo_proc_handle *handle
        cdef uint64_t address
        cdef const char *text
        cdef main_wait wait
        cdef bint late
        if self.proc is None:
            raise VeoClosedError("the VeoLibrary was not initialised")
        if self.unloaded:
            raise VeoClosedError(f"the library {self.name} was unloaded")
        encoded = os.fsencode(name)
        if b"\0" in encoded:
            raise ValueError(f"the name of a symbol contains a NUL byte: {name!r}")
        if len(encoded) > VEO_SYMNAME_LEN_MAX:
            raise VeoSymbolError(
                f"veo_get_sym '{name}' failed: names have at most {VEO_SYMNAME_LEN_MAX} characters",
                name=name, function="veo_get_sym",
            )
        proc = (<ProcessOwner>self.proc).handle
        text = encoded
        handle = proc.enter()
        try:
            wait = proc.begin(timeout, "veo_get_sym")
            while True:
                with nogil:
                    limit_wait(proc.soft, &wait)
                    address = proc.table.veo_get_sym(handle, self.library_handle, text)
                    late = was_late(proc.soft, &wait, address == 0)
                if not late:
                    break
                proc.go_on(&wait, "veo_get_sym")
            if address == 0:
                why = explain(proc.soft, handle)
                # A dead process cannot tell whether the library has the symbol.
                raise (VeoError if death_report(proc.soft, handle) else VeoSymbolError)(
                    f"veo_get_sym '{name}' failed in {self.name}{': ' if why else ''}{why}",
                    name=name, function="veo_get_sym",
                )
        finally:
            proc.leave()
        return address

    def get_symbol(self, name, *, timeout=None):
        """Find the address of a function or a variable.

        Parameters
        ----------
        name : str or bytes
            Name of the symbol.
        timeout : float, optional
            As for `VeoProc.alloc_mem()`.

        Returns
        -------
        VEMemPtr

        Raises
        ------
        VeoSymbolError
            There is no such symbol. It is a RuntimeError and an AttributeError.
        """
        text = _name(name)
        pointer = VEMemPtr(self.proc, self._lookup(text, timeout))
        self.symbol[text] = pointer
        return pointer

    def find_function(self, name, *, timeout=None):
        """Find a function.

        Each call makes a new object, which ``lib.name`` returns from then on.

        Parameters
        ----------
        name : str or bytes
            Name of the function.
        timeout : float, optional
            As for `VeoProc.alloc_mem()`.

        Returns
        -------
        VeoFunction

        Raises
        ------
        VeoSymbolError
            There is no such symbol. It is a RuntimeError and an AttributeError.
        """
        text = _name(name)
        function = VeoFunction(self, self._lookup(text, timeout), text)
        self.func[text] = function
        return function

    def __getattr__(self, str name):
        if self.func is None or (name.startswith("__") and name.endswith("__")):
            # Python itself looks up such names; find_function() accepts any.
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = self.func.get(name)
        if found is None:
            found = self.symbol.get(name)
        if found is None:
            found = self.find_function(name)
        return found

    @property
    def closed(self):
        """True if the library was unloaded, or its process closed."""
        return self.proc is None or self.unloaded or self.proc.closed

    def __repr__(self):
        if self.proc is None:
            return "<VeoLibrary object, not initialised>"
        state = "unloaded" if self.unloaded else "closed" if self.closed else "loaded"
        return f"<VeoLibrary object {self.name} in node {self.proc.nodeid}, {state}>"
