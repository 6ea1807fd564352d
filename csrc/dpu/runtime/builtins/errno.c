/* SPDX-License-Identifier: BSD-3-Clause */
/* errno.c: the error number. */
#include <errno.h>

int errno;
