/* SPDX-License-Identifier: BSD-3-Clause */
/* stdout_default.c: the buffer of a program that does not choose one with STDOUT_BUFFER_INIT. */
#include <stdio.h>

STDOUT_BUFFER_INIT(1 << 20);
