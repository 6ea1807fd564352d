# SPDX-License-Identifier: BSD-3-Clause
"""A loaded libveo: its function table, where it came from, and the errors it reports.

A library is loaded when the first process is made (or `use_library()` or `library_info()` asks),
by the rule of `offchip.loader`, and stays loaded. Several may be: each `VeoProc` belongs to one.
"""

from veo.libveo cimport (
    VEO_API_VERSION,
    veo_proc_handle,
    veo_table,
    veo_table_open,
    veo_table_trace,
    veo_table_untrace,
    veosoft_table,
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
import sys

from offchip.libraries import Libraries, describe

from veo.errors import VeoError

__all__ = ["Library", "library_info", "use_library"]

# The table of a Library that was not loaded: no functions.
cdef veo_table _no_table
cdef veosoft_table _no_soft


cdef str death_report(const veosoft_table *soft, veo_proc_handle *proc):
    if soft.veosoft_death_report is NULL or proc is NULL:
        return ""
    return text_of(soft.veosoft_death_report(proc)).strip()


cdef str without_trace(str report):
    line, _, trace = report.partition("\n")
    return f"{line} (VeoProc.death_report has the trace)" if trace else line


cdef str explain(const veosoft_table *soft, veo_proc_handle *proc):
    cdef str error = ""
    cdef str report = without_trace(death_report(soft, proc))
    if soft.veosoft_error is not NULL:
        error = text_of(soft.veosoft_error()).strip()
    return f"{error}\n{report}" if error and report else error or report


cdef class Library(LoadedLibrary):
    """A loaded libveo. Objects come from `use_library()` and `VeoProc.library`.

    Attributes
    ----------
    path : str
        The file that was loaded.
    kind : {"soft", "vendor", "path"}
        The soft twin, the vendor's library, or another one given by path.
    found_via : str
        How it was found.
    version : str
        The version that it reports.
    api_version : int
        The version of the VEO API.
    missing : tuple of str
        Functions of the API that it does not have.
    """

    def __cinit__(self):
        self.table = &_no_table
        self.soft = &_no_soft

    cdef int fail(self, str what, str function, veo_proc_handle *proc=NULL, int code=-1,
                  object cls=VeoError) except -1:
        text = explain(self.soft, proc)
        raise cls(f"{what}: {text}" if text else what, code=code, function=function)

    cdef int need(self, const void *function, str name) except -1:
        if function is NULL:
            raise VeoError(f"{self.path} (version {self.version}) has no {name}()", function=name)
        return 0

    def trace(self, bint on):
        """Begin to note calls of functions that take time, or end that; `offchip.trace` uses it.

        Returns whether they are noted now: those of one library at a time.
        """
        cdef veo_table *table = <veo_table *>self.table
        if on:
            return bool(veo_table_trace(table, <veosoft_table *>self.soft))
        veo_table_untrace(table, <veosoft_table *>self.soft)
        return False

    def take_trace(self):
        """Return the calls so far, which are then forgotten, and how many more there were."""
        return taken_trace()

    @property
    def is_soft(self):
        """True if it runs kernels in a host process."""
        return self.soft.veosoft_version is not NULL

    @property
    def devices(self):
        """Numbers of the usable nodes; VeoError if a setting of the soft twin is not allowed."""
        cdef int count
        if self.soft.veosoft_node_count is not NULL:
            count = self.soft.veosoft_node_count()
            if count < 0:
                self.fail("the nodes cannot be counted", "veosoft_node_count")
            return list(range(count))
        try:
            entries = os.listdir("/sys/class/ve")
        except OSError:
            return []
        return sorted(int(name[2:]) for name in entries if name[:2] == "ve" and name[2:].isdigit())


def _load(choice):
    """Load the library that the loader chose."""
    cdef offchip_library *lib = NULL
    cdef veo_table *table = NULL
    cdef veosoft_table *soft = NULL
    cdef Library library
    cdef int absent
    path = os.fsencode(choice.path)
    try:
        lib = new_library()
        table = <veo_table *>new_table(sizeof(veo_table))
        soft = <veosoft_table *>new_table(sizeof(veosoft_table))
        absent = veo_table_open(path, table, soft, lib)
        if absent < 0:
            raise VeoError(f"{choice.path} cannot be loaded: {text_of(lib.error)}")
        missing = missing_names(lib)
        lacking = _REQUIRED.intersection(missing)
        if lacking:
            raise VeoError(
                f"{choice.path} is not a libveo of API version {VEO_API_VERSION}: it has no "
                + ", ".join(sorted(lacking))
            )
        if table.veo_api_version() < VEO_API_VERSION:
            raise VeoError(
                f"{choice.path} has version {table.veo_api_version()} of the VEO API, and "
                f"{VEO_API_VERSION} is required"
            )
        library = Library.__new__(Library)
        library.table = table
        library.soft = soft
        library.note(choice, lib)
        library.version = text_of(
            soft.veosoft_version() if soft.veosoft_version is not NULL
            else table.veo_version_string()
        )
        library.api_version = table.veo_api_version()
    except BaseException:
        discard(lib, table, soft)
        raise
    # The exception reports what went wrong; nothing is printed on stderr.
    if soft.veosoft_set_quiet is not NULL:
        soft.veosoft_set_quiet(1)
    return library


# Functions that are called without checking that the library has them.
_REQUIRED = frozenset("""
    veo_api_version veo_version_string veo_proc_create veo_proc_create_static veo_proc_destroy
    veo_load_library veo_get_sym veo_context_open veo_context_close veo_args_alloc veo_args_clear
    veo_args_free veo_args_set_i64 veo_args_set_u64 veo_args_set_i32 veo_args_set_u32
    veo_args_set_double veo_args_set_float veo_args_set_stack veo_call_async
    veo_call_peek_result veo_call_wait_result veo_alloc_mem veo_free_mem veo_read_mem
    veo_write_mem veo_async_read_mem veo_async_write_mem
""".split())


cdef Library get_library(object which):
    return _loaded.get(which)


def _spec():
    """Return where this library may be."""
    from offchip.loader import LibrarySpec

    folder = os.path.dirname(os.path.abspath(__file__))
    return LibrarySpec(
        package="veo",
        env_var="VEO_LIBRARY",
        soft_path=os.path.join(folder, "lib", "libveo.so.1"),
        vendor_candidates=(
            "/opt/nec/ve/veos/lib64/libveo.so.1",
            _in_library_folder,
            "libveo.so.1",
            _beside_py_veo,
        ),
        probe="veo",
    )


def _in_library_folder():
    """List the file in VEO_LIB_DIR, the variable that py-veo's build reads."""
    folder = os.environ.get("VEO_LIB_DIR")
    return [os.path.join(folder, "libveo.so.1")] if folder else []


def _beside_py_veo():
    """List the copies of libveo that py-veo's wheel puts beside its modules."""
    found = []
    for folder in sys.path:
        # Never run code from the current folder, however it is spelled, unless asked to.
        if not os.path.isabs(folder):
            continue
        libs = os.path.join(folder, "py_veo.libs")
        try:
            names = sorted(os.listdir(libs))
        except OSError:
            continue
        found += [
            os.path.join(libs, name)
            for name in names if name.startswith("libveo") and ".so" in name
        ]
    return found


def use_library(library):
    """Choose the library of processes created from now on.

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
    """Describe which libveo is used and why.

    Parameters
    ----------
    library : str, path or Library, optional
        As for `use_library()`; by default the default library.

    Returns
    -------
    dict
        path, kind, found_via, version, api_version, devices (numbers of the nodes), missing
        (functions it lacks) and refused (the candidates before it: path, found_via, reason).
    """
    return describe(get_library(library))


_loaded = Libraries(Library, _spec, _load)
