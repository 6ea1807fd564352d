/* SPDX-License-Identifier: BSD-3-Clause */
/* seqread32.c: sequential reading with pages of 32 bytes. */
#define SEQREAD_CACHE_SIZE 32
#include "seqread.inc"
