# SPDX-License-Identifier: BSD-3-Clause
"""The environment variables that the packages read, in one table.

``docs/reference/environment.md`` is made from it, and ``offchip info`` shows those that are set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["VARIABLES", "Variable", "variables_set"]


class Variable(NamedTuple):
    """An environment variable.

    Parameters
    ----------
    name : str
        Its name.
    package : str
        Import name of the package that reads it; ``offchip`` if several do.
    meaning : str
        Values and what they do, in Markdown. Empty for those of libdpu and accl, of which the page
        takes values, defaults and meanings from the tables that they are read by.
    """

    name: str
    package: str
    meaning: str = ""


#: Sorted by package, in the order in which documentation shows them.
VARIABLES = (
    Variable("VEO_LIBRARY", "veo", "the libveo: `vendor`, `soft`, or a path"),
    Variable("VEO_LIB_DIR", "veo", "a folder that is searched for NEC's libveo first"),
    Variable(
        "VEORUN_BIN",
        "veo",
        "the worker program if none is given. If it names one of NEC's (in `/opt/nec`, or called"
        " `aveorun...`) that does not exist, the twin's own is used, with a line on stderr",
    ),
    Variable("VE_NODE_NUMBER", "veo", "the node that `VeoProc(-1)` selects, as with NEC's library"),
    Variable("_VENODELIST", "veo", "the nodes that a job may use, as with NEC's library"),
    Variable(
        "VE_LD_LIBRARY_PATH",
        "veo",
        "folders, with `:` between them, with libraries that Vector Engine code needs; the worker's"
        " `LD_LIBRARY_PATH`",
    ),
    Variable("VE_OMP_NUM_THREADS", "veo", "passed to the worker as `OMP_NUM_THREADS`"),
    Variable(
        "OMP_SCHEDULE",
        "veo",
        "loops of Vector Engine code with `schedule(runtime)`: `static`, `dynamic`, `guided` or"
        " `auto`, and a comma and a number of iterations",
    ),
    Variable(
        "OMP_MAX_ACTIVE_LEVELS", "veo", "regions of Vector Engine code in each other with threads"
    ),
    Variable("VE_CORE_NUMBER", "veo", "the core that the worker is pinned to"),
    Variable("VEO_DEBUG", "veo", "start the worker under gdb, here or in a window"),
    Variable("VEO_LOG_DEBUG", "veo", "any value: the soft libveo logs more on stderr"),
    Variable("VEO_SOFT_NODES", "veo", "number of simulated nodes"),
    Variable("VEO_SOFT_ARCH", "veo", "architecture that they report"),
    Variable(
        "VEO_SOFT_MEMORY",
        "veo",
        "size of the VE heap, such as `512M` or `4G`; by default the machine's memory, at most"
        " 48 GiB",
    ),
    Variable(
        "VEO_SOFT_SPIN_US",
        "veo",
        "how long a waiting thread spins before it sleeps, in microseconds; at most 100 while"
        " other threads want the core",
    ),
    Variable(
        "VEO_SOFT_TRANSFERS",
        "veo",
        "`unordered`: `read_mem()`, `write_mem()` and `veo_hmemcpy()` do"
        " not wait for requests queued in the main context, for programs that exchange messages"
        " with a kernel running there",
    ),
    Variable(
        "VEO_SOFT_ENGINE",
        "veo",
        "what runs Vector Engine code: `auto` translates what runs often to code of the host,"
        " `interpreter` nothing, `translated` all that runs more than once",
    ),
    Variable(
        "VEO_SOFT_CC",
        "veo",
        "the C compiler of the host that code is translated with, such as `clang`",
    ),
    Variable(
        "VEO_SOFT_REPORT",
        "veo",
        "write a line for each call of Vector Engine code, with the time that a real one would"
        " take; see [time](../veo_time.md)",
    ),
    Variable("VEO_SOFT_MODEL", "veo", "the Vector Engine whose time that is"),
    Variable(
        "OFFCHIP_PY_VEO",
        "veo",
        "the folder of an installed py-veo, which `offchip bench` measures beside this package",
    ),
    Variable("VEO_SOFT_SYSFS", "veo", "what `ve-sysfs` shows programs as `/sys/class/ve`"),
    Variable(
        "VEORUN_TRACE",
        "veo",
        "file that a line is added to for each instruction of Vector Engine code that is executed:"
        " address, text, result",
    ),
    Variable(
        "VEORUN_TRACE_ELEMENTS",
        "veo",
        "how many elements of a vector such a line has, 0 to 256 (default: 4)",
    ),
    Variable(
        "VEO_CHECK",
        "veo",
        "checks of Vector Engine code; see [checks](../veo_checks.md)",
    ),
    Variable(
        "VEBUILD_TARGET",
        "veo",
        "what `VeBuild` compiles for: `ve` or `host` (default: `ve` if the library is NEC's)",
    ),
    Variable(
        "VEORUN_UNDEFINED",
        "veo",
        "with `call`, symbols that Vector Engine code leaves undefined end it when they are used,"
        " instead of being refused when it is loaded",
    ),
    Variable("DPU_LIBRARY", "dpu", "the libdpu: `vendor`, `soft`, or a path"),
    Variable("UPMEM_PROFILE_BASE", "dpu"),
    Variable("UPMEM_PROFILE", "dpu"),
    Variable("UPMEM_VERBOSE", "dpu"),
    Variable(
        "UPMEM_HOME",
        "dpu",
        "UPMEM's SDK, or the tree that `dpu-env` makes: where libdpu, the compiler and"
        " pkg-config's files are",
    ),
    Variable("UPMEM_RUNTIME_LIBRARY_PATH", "dpu", "a folder that is searched for UPMEM's libdpu"),
    Variable("DPU_SOFT_RANKS", "dpu"),
    Variable("DPU_SOFT_THREADS", "dpu"),
    Variable("DPU_SOFT_REPORT", "dpu"),
    Variable("DPU_DEBUG", "dpu"),
    Variable("DPU_SOFT_QUIET", "dpu"),
    Variable("DPU_CHECK", "dpu"),
    Variable("DPU_PROFILE", "dpu"),
    Variable("DPU_SOFT_CC", "dpu"),
    Variable("DPU_SOFT_SERVERS", "dpu"),
    Variable("DPU_SOFT_SERVER_SECONDS", "dpu"),
    Variable("ACCL_LIBRARY", "accl"),
    Variable("ACCL_MEMORY", "accl"),
    Variable("ACCL_JOB", "accl"),
    Variable("ACCL_TRANSPORT", "accl"),
    Variable("ACCL_PROCESS_MEMORY", "accl"),
    Variable("ACCL_MPI_REDUCTIONS", "accl"),
    Variable("ACCL_HOST", "accl"),
    Variable(
        "PMIX_NAMESPACE", "accl", "set by Open MPI's launcher: the name of the job without another"
    ),
    Variable("PMI_RANK", "accl", "set by MPICH's launcher: tells that there is a job"),
    Variable(
        "OFFCHIP_MPI_PYTHON",
        "accl",
        "a Python that has mpi4py and another MPI, which `offchip bench` measures too",
    ),
    Variable(
        "OFFCHIP_ACCELFORGE_PYTHON",
        "accelforge",
        "a Python that has the original AccelForge, which `offchip bench` measures beside this one",
    ),
    Variable(
        "OFFCHIP_TEST_RANK",
        "offchip",
        "set by the [pytest plugin](../testing.md) for the processes of a test on several ranks",
    ),
    Variable(
        "XDG_CACHE_HOME",
        "offchip",
        "the folder with the caches of compiled and translated programs; `~/.cache` by default",
    ),
    Variable(
        "XDG_DATA_HOME",
        "offchip",
        "the folder with the trees that `dpu-env` and `veo-env` make; `~/.local/share` by default",
    ),
    Variable("TMPDIR", "offchip", "where temporary files are put"),
    Variable("CC", "offchip", "the host's C compiler, where one is called"),
    Variable("CXX", "offchip", "the same for C++"),
    Variable("FC", "offchip", "the same for Fortran"),
    Variable(
        "OFFCHIP_TRACE",
        "offchip",
        "a file, in which `%p` is the number of the process: [trace](../trace.md) all packages",
    ),
    Variable("PATH", "offchip", "searched for compilers and UPMEM's tools"),
    Variable("HOME", "offchip", "the user's folder, where the XDG variables name none"),
    Variable("LD_PRELOAD", "offchip", "`ve-sysfs` adds a library to it"),
    Variable("LD_LIBRARY_PATH", "offchip", "searched for the vendors' libraries"),
)


def variables_set(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return those variables of the packages that are set.

    Parameters
    ----------
    environment : mapping of str to str, optional
        Where to look; the process's environment if None.

    Returns
    -------
    dict of str to str
        Names and values. Variables that every program has, such as PATH, are left out.
    """
    values = os.environ if environment is None else environment
    return {
        item.name: values[item.name]
        for item in VARIABLES
        if item.package != "offchip" and item.name in values
    }
