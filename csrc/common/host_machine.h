/* SPDX-License-Identifier: BSD-3-Clause */
/* host_machine.h: the processor that this is compiled for, in ELF files and in messages. */
#ifndef OFFCHIP_HOST_MACHINE_H
#define OFFCHIP_HOST_MACHINE_H

#include <elf.h>

#if defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#define HOST_MACHINE_NAME "aarch64"
#else
#define HOST_MACHINE EM_X86_64
#define HOST_MACHINE_NAME "x86-64"
#endif

#endif
