/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alias.c: a library that has nothing but a name and libdpu.so as what it needs.
 *
 * Programs that were linked with UPMEM's SDK ask for the names its releases had, such as
 * libdpu.so.2024.2. The dynamic loader finds a library of that name, loads libdpu.so for it, and
 * takes the functions from there. Files of their own and no links, because wheels cannot carry
 * links.
 */

/* ISO C asks for one declaration at least. */
struct dpu_alias;
