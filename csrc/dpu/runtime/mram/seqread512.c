/* SPDX-License-Identifier: BSD-3-Clause */
/* seqread512.c: sequential reading with pages of 512 bytes. */
#define SEQREAD_CACHE_SIZE 512
#include "seqread.inc"
