/* SPDX-License-Identifier: BSD-3-Clause */
/* seqread256.c: sequential reading with pages of 256 bytes. */
#define SEQREAD_CACHE_SIZE 256
#include "seqread.inc"
