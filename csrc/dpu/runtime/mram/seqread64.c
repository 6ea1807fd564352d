/* SPDX-License-Identifier: BSD-3-Clause */
/* seqread64.c: sequential reading with pages of 64 bytes. */
#define SEQREAD_CACHE_SIZE 64
#include "seqread.inc"
