# SPDX-License-Identifier: BSD-3-Clause
"""A loaded libdpu: its function table, where it came from, and the errors it reports.

A library is loaded when the first set is allocated (or `use_library()` or `library_info()` asks),
by the rule of `offchip.loader`, and stays loaded. Several may be: each `DpuSet` belongs to one.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free
from dpu.libdpu cimport (
    DPU_REQUIRED_COUNT,
    dpu_error_t,
    dpu_symbol_names,
    dpu_table,
    dpu_table_open,
    dpu_table_trace,
    dpu_table_untrace,
    dpusoft_table,
)
from offchip.libloader cimport offchip_library
from offchip.native cimport (
    LoadedLibrary,
    discard,
    missing_names,
    new_library,
    new_table,
    text_of,
)
from offchip.tracing cimport taken_trace

import os
import re

from offchip import __version__
from offchip.libraries import Libraries, describe

from dpu.error_codes import ErrorCode, name_of
from dpu.errors import DpuError

__all__ = ["Library", "library_info", "use_library"]

# The table of a Library that was not loaded: no functions.
cdef dpu_table _no_table
cdef dpusoft_table _no_soft


cdef int fail_set(str function, str detail) except -1:
    raise DpuError(
        "invalid action for this dpu set",
        code=ErrorCode.DPU_ERR_INVALID_DPU_SET,
        name="DPU_ERR_INVALID_DPU_SET",
        function=function,
        detail=detail,
    )


cdef class Library(LoadedLibrary):
    """A loaded libdpu. Objects come from `use_library()` and `DpuSet.library`.

    Attributes
    ----------
    path : str
        The file that was loaded.
    kind : {"soft", "vendor", "path"}
        The soft twin, the vendor's library, or another one given by path.
    found_via : str
        How it was found.
    version : str or None
        Its version, if known.
    api_version : int or None
        Version of the twin's extensions; the vendor's API has no number.
    missing : tuple of str
        Functions of the API that it does not have.
    """

    def __cinit__(self):
        self.table = &_no_table
        self.soft = &_no_soft

    cdef int fail(self, dpu_error_t code, str function, str detail="") except -1:
        cdef const char *said
        if not detail and self.soft.dpusoft_last_error_detail is not NULL:
            detail = text_of(self.soft.dpusoft_last_error_detail()).strip()
        said = self.table.dpu_error_to_string(code)
        text = text_of(said) or f"error {<unsigned int>code} of libdpu"
        # Older libraries of the vendor return a constant.
        if self.is_soft:
            free(<void *>said)
        raise DpuError(
            text, code=<unsigned int>code, name=name_of(text), function=function, detail=detail
        )

    cdef int need(self, const void *function, str what) except -1:
        if function is NULL:
            raise DpuError(
                f"{what}: not supported by this libdpu",
                detail=f"{self.path} is not the soft twin (DPU_LIBRARY=soft chooses it)",
            )
        return 0

    def trace(self, bint on):
        """Begin to note calls of functions that take time, or end that; `offchip.trace` uses it.

        Returns whether they are noted now: those of one library at a time.
        """
        cdef dpu_table *table = <dpu_table *>self.table
        if on:
            return bool(dpu_table_trace(table, <dpusoft_table *>self.soft))
        dpu_table_untrace(table, <dpusoft_table *>self.soft)
        return False

    def take_trace(self):
        """Return the calls so far, which are then forgotten, and how many more there were."""
        return taken_trace()

    def serve(self, int fd, uint32_t threads=0):
        """Run DPUs of another process over a connected socket until it closes it.

        `dpu.serve` does so for all connections of a socket. The soft twin alone can.

        Parameters
        ----------
        fd : int
            The socket's file descriptor, which stays open.
        threads : int, optional
            Threads for launches; 0: one per core.
        """
        cdef dpu_error_t status
        self.need(<const void *>self.soft.dpusoft_serve, "serve")
        with nogil:
            status = self.soft.dpusoft_serve(fd, threads)
        if status:
            self.fail(status, "dpusoft_serve")

    @property
    def is_soft(self):
        """True if it simulates DPUs on the host."""
        return self.soft.dpusoft_version is not NULL

    @property
    def devices(self):
        """Number of hardware ranks in this machine."""
        return 0 if self.is_soft else _count_ranks()


def _count_ranks():
    try:
        entries = os.listdir("/sys/class/dpu_rank")
    except OSError:
        return 0
    return sum(name.startswith("dpu_rank") for name in entries)


def _version_of_vendor(path):
    """Derive the version from the file's name: the library has no function for it."""
    found = re.search(r"\.so\.(\d[\d.]*)$", os.path.realpath(path))
    return found[1] if found else None


def _load(choice):
    """Load the library that the loader chose."""
    cdef offchip_library *lib = NULL
    cdef dpu_table *table = NULL
    cdef dpusoft_table *soft = NULL
    cdef Library library
    cdef size_t i
    cdef int absent
    path = os.fsencode(choice.path)
    try:
        lib = new_library()
        table = <dpu_table *>new_table(sizeof(dpu_table))
        soft = <dpusoft_table *>new_table(sizeof(dpusoft_table))
        absent = dpu_table_open(path, table, soft, lib)
        if absent < 0:
            raise DpuError(f"{choice.path} cannot be loaded: {text_of(lib.error)}")
        missing = missing_names(lib)
        required = {text_of(dpu_symbol_names[i]) for i in range(DPU_REQUIRED_COUNT)}
        lacking = sorted(required.intersection(missing))
        if lacking:
            raise DpuError(f"{choice.path} is not a libdpu: it has no {', '.join(lacking)}")
        library = Library.__new__(Library)
        library.table = table
        library.soft = soft
        library.note(choice, lib)
        if soft.dpusoft_version is not NULL:
            library.version = __version__
            library.api_version = soft.dpusoft_version()
            # Exceptions have the reasons.
            if soft.dpusoft_tell_reasons is not NULL:
                soft.dpusoft_tell_reasons(False)
        else:
            library.version = choice.version or _version_of_vendor(library.path)
    except BaseException:
        discard(lib, table, soft)
        raise
    return library


cdef Library get_library(object which):
    return _loaded.get(which)


def _spec():
    """Return where this library may be."""
    from offchip.loader import LibrarySpec

    folder = os.path.dirname(os.path.abspath(__file__))
    return LibrarySpec(
        package="dpu",
        env_var="DPU_LIBRARY",
        soft_path=os.path.join(folder, "lib", "libdpu.so"),
        vendor_candidates=(_in_vendor_folders, "libdpu.so"),
        probe="dpu",
    )


def _in_vendor_folders():
    """List the files in the folders that the vendor's variables name."""
    folders = []
    if os.environ.get("UPMEM_RUNTIME_LIBRARY_PATH"):
        folders.append(os.environ["UPMEM_RUNTIME_LIBRARY_PATH"])
    if os.environ.get("UPMEM_HOME"):
        folders.append(os.path.join(os.environ["UPMEM_HOME"], "lib"))
    return [os.path.join(folder, "libdpu.so") for folder in folders]


def use_library(library):
    """Choose the library of sets allocated from now on.

    Parameters
    ----------
    library : str, path or Library
        ``"vendor"``, ``"soft"``, a path, a name for the dynamic loader's search, or a loaded
        library.

    Returns
    -------
    Library

    Raises
    ------
    LibraryNotFoundError
        It cannot be used; the message says why.
    """
    return _loaded.use(library)


def library_info(library=None):
    """Describe which libdpu is used and why.

    Parameters
    ----------
    library : str, path or Library, optional
        As for `use_library()`; by default the default library.

    Returns
    -------
    dict
        path, kind, found_via, version, api_version, devices (number of hardware ranks), missing
        (functions it lacks) and refused (the candidates before it: path, found_via, reason).
    """
    return describe(get_library(library))


_loaded = Libraries(Library, _spec, _load)
