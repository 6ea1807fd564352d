# SPDX-License-Identifier: BSD-3-Clause
"""A loaded library with the interface of accl.h: its functions, its origin, its errors.

A library is loaded when the first `accl` is made (or `use_library()` or `library_info()` asks), by
the rule of `offchip.loader`, and stays loaded. Several may be: each `accl` belongs to one.
"""

from libc.stdint cimport uint32_t
from accl.libaccl cimport (
    ACCL_ABI_VERSION,
    ACCL_CLOSED,
    ACCL_FORKED,
    ACCL_INVALID,
    ACCL_NO_MEMORY,
    ACCL_NOT_FOUND,
    ACCL_NOT_READY,
    ACCL_UNSUPPORTED,
    accl_table,
    accl_table_open,
    accl_table_trace,
    accl_table_untrace,
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

from accl import errors
from accl.constants import ErrorCode, error_names

__all__ = ["Library", "library_info", "use_library"]

# The table of a Library that was not loaded: no functions.
cdef accl_table _no_table

_BY_STATUS = {
    ACCL_INVALID: errors.ACCLArgumentError,
    ACCL_NOT_FOUND: errors.ACCLArgumentError,
    ACCL_NO_MEMORY: errors.ACCLMemoryError,
    ACCL_NOT_READY: errors.ACCLNotConfiguredError,
    ACCL_CLOSED: errors.ACCLClosedError,
    ACCL_FORKED: errors.ACCLClosedError,
    ACCL_UNSUPPORTED: errors.ACCLUnsupportedError,
}
_TIMEOUTS = int(ErrorCode.RECEIVE_TIMEOUT_ERROR | ErrorCode.DEQUEUE_BUFFER_TIMEOUT_ERROR)
# Name that the soft engine gives the rank that is the cause.
_PEER = re.compile(r"\brank (\d+) \(of communicator 0\)")
_PEERS = int(ErrorCode.PEER_LOST_ERROR | ErrorCode.PEER_GAVE_UP_ERROR)


cdef class Library(LoadedLibrary):
    """A loaded library. Objects come from `use_library()` and `accl.library`.

    Attributes
    ----------
    path : str
        The file that was loaded.
    kind : {"soft", "vendor", "path"}
        The soft engine, the bridge to the vendor's driver, or another library given by path.
    found_via : str
        How it was found.
    version : str
        Its version.
    api_version : int
        Version of the interface.
    missing : tuple of str
        Functions of the interface that it does not have.
    """

    def __cinit__(self):
        self.table = &_no_table

    cdef int fail(self, int status, str function) except -1:
        text = text_of(self.table.accl_error_message())
        text = text or text_of(self.table.accl_status_text(status))
        kind = _BY_STATUS.get(status, errors.ACCLError)
        raise kind(f"{function}: {text}", code=status, function=function)

    cdef object call_error(self, uint32_t retcode, str operation, str text, int rank):
        kind = errors.ACCLError
        if retcode & <uint32_t>_PEERS:
            kind = errors.ACCLPeerError
        elif retcode & <uint32_t>_TIMEOUTS:
            kind = errors.ACCLReceiveTimeoutError

        names = ", ".join(error_names(retcode))
        error = kind(
            f"{operation}: {names}: {text}" if text else f"{operation}: {names}",
            retcode=retcode,
            code=retcode,
            name=names,
        )
        if kind is errors.ACCLPeerError:
            peer = _PEER.search(text)
            error.peer = int(peer[1]) if peer else None
            error.rank = rank if rank >= 0 else None
        return error

    def trace(self, bint on):
        """Begin to note calls of functions that take time, or end that; `offchip.trace` uses it.

        Returns whether they are noted now: those of one library at a time.
        """
        cdef accl_table *table = <accl_table *>self.table
        if on:
            return bool(accl_table_trace(table))
        accl_table_untrace(table)
        return False

    def take_trace(self):
        """Return the calls so far, which are then forgotten, and how many more there were."""
        return taken_trace()

    @property
    def is_soft(self):
        """True if it is the soft engine, not the vendor's driver."""
        return self.table.accl_version is not NULL and _is_soft(self)

    @property
    def devices(self):
        """Number of FPGA boards with a driver in this machine."""
        return 0 if self.is_soft else _count_boards()


cdef bint _is_soft(Library library):
    return text_of(library.table.accl_version()).startswith("offchip ")


def _count_boards():
    try:
        entries = os.listdir("/sys/bus/pci/drivers/xocl")
    except OSError:
        return 0
    return sum(name.count(":") == 2 for name in entries)


def _load(choice):
    """Load the library that the loader chose."""
    cdef offchip_library *lib = NULL
    cdef accl_table *table = NULL
    cdef Library library
    cdef int absent
    path = os.fsencode(choice.path)
    try:
        lib = new_library()
        table = <accl_table *>new_table(sizeof(accl_table))
        absent = accl_table_open(path, table, lib)
        if absent < 0:
            raise errors.ACCLError(f"{choice.path} cannot be loaded: {text_of(lib.error)}")
        if absent > 0:
            missing = missing_names(lib)
            raise errors.ACCLError(
                f"{choice.path} does not have the interface of accl.h: it lacks "
                f"{', '.join(missing)}"
            )
        if table.accl_abi_version() != ACCL_ABI_VERSION:
            raise errors.ACCLError(
                f"{choice.path} has version {table.accl_abi_version()} of the interface, and "
                f"{ACCL_ABI_VERSION} is required"
            )
        library = Library.__new__(Library)
        library.table = table
        library.note(choice, lib)
        library.version = __version__ if _is_soft(library) else text_of(table.accl_version())
        library.api_version = table.accl_abi_version()
    except BaseException:
        discard(lib, table, NULL)
        raise

    return library


cdef Library get_library(object which):
    return _loaded.get(which)


def _spec():
    """Return where this library may be."""
    from offchip.loader import LibrarySpec

    folder = os.path.dirname(os.path.abspath(__file__))
    return LibrarySpec(
        package="accl",
        env_var="ACCL_LIBRARY",
        soft_path=os.path.join(folder, "lib", "libaccl.so"),
        vendor_candidates=(
            os.path.join(folder, "lib", "libaccl_driver.so"),
            "libaccl_driver.so",
        ),
        probe="accl",
    )


def use_library(library):
    """Choose the library of `accl` objects created from now on.

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
    """Describe which library is used and why.

    Parameters
    ----------
    library : str, path or Library, optional
        As for `use_library()`; by default the default library.

    Returns
    -------
    dict
        path, kind, found_via, version, api_version, devices (number of FPGA boards), missing
        (functions it lacks) and refused (the candidates before it: path, found_via, reason).
    """
    return describe(get_library(library))


_loaded = Libraries(Library, _spec, _load)
