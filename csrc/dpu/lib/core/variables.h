/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * variables.h: the variables of the environment that libdpu reads. settings.c reads them by this
 * list, and docs/generate.py makes a page of it; so the texts are Markdown.
 */
#ifndef OFFCHIP_DPU_LIB_VARIABLES_H
#define OFFCHIP_DPU_LIB_VARIABLES_H

/* X(name, values, default, meaning) */
#define DPULIB_VARIABLES(X) \
    X(UPMEM_PROFILE_BASE, "`key=value` pairs with commas between them", "none", \
      "[profile keys](profile_keys.md) that precede those of the program") \
    X(UPMEM_PROFILE, "`key=value` pairs with commas between them", "none", \
      "[profile keys](profile_keys.md) that follow them") \
    X(UPMEM_VERBOSE, "`W`, `I` or `D`; for the soft library alone `api:I`", "`W`", \
      "log level of libdpu on stderr") \
    X(DPU_SOFT_RANKS, "1 to 4096", "40", "as the profile key `softNrRanks`") \
    X(DPU_SOFT_THREADS, "0 to 1024", "0: all cores", "as the profile key `softThreads`") \
    X(DPU_SOFT_REPORT, "a file that can be written, or `-` for stderr", "none", \
      "write modelled times when the program ends; see " \
      "[modelled time](../dpu.md#modelled-time-of-c-hosts)") \
    X(DPU_SOFT_QUIET, "0, or another value for yes", "0", \
      "nothing on stderr at exit that names `DPU_SOFT_REPORT`, nor why calls failed") \
    X(DPU_SOFT_CC, "a command; empty: none", "gcc, clang, cc or zig", \
      "the C compiler for [translated programs](../dpu.md#engines), with its arguments") \
    X(DPU_SOFT_SERVERS, "sockets with colons between them", "none", \
      "[servers](../dpu.md#more-than-one-process) that run ranks of the sets; " \
      "`python -m dpu.hosts` sets it") \
    X(DPU_SOFT_SERVER_SECONDS, "2 to 1000000", "30", \
      "how long a server may say nothing while something is expected of it") \
    X(DPU_CHECK, "`all`, or names with commas between them, also `exit=`, `log=`, `ignore=`", \
      "no checks", "checks of DPU programs; see [checks](../dpu_checks.md)") \
    X(DPU_PROFILE, "`file=PATH,dpus=0-63,timeline=20000,limit=256`, or some of these", \
      "no profile", "[profile](../dpu_profile.md#the-environment) the DPUs") \
    X(DPU_DEBUG, "the name of a socket", "no debugger", \
      "set by the [debuggers](../dpu_debug.md): what DPUs connect to when they are launched")

#endif
