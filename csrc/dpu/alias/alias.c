/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alias.c: a library that is libdpu.so under another name.
 *
 * Programs that were linked with UPMEM's SDK ask for the names its releases had, such as
 * libdpu.so.2024.2. The dynamic loader finds a library of that name, which is a *filter* of
 * libdpu.so (DT_FILTER): the loader looks up the functions there, so that there is one libdpu in a
 * process. The names are here too, because linkers look for them in the file that they are given;
 * nothing is behind them. Files of their own and no links, because wheels cannot carry links.
 */
#include "dpu/alias/names.h"

/* The loader does not take a function of a filter as long as libdpu.so has it. */
__attribute__((visibility("hidden"), used)) void dpu_alias_stub(void);
void dpu_alias_stub(void)
{
    __builtin_trap();
}

#define NAME(name) \
    __asm__(".globl " #name "\n\t.type " #name ", @function\n\t.set " #name ", dpu_alias_stub");
DPU_ALIAS_NAMES(NAME)
#undef NAME
