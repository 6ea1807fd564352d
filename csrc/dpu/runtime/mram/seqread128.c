/* SPDX-License-Identifier: BSD-3-Clause */
/* seqread128.c: sequential reading with pages of 128 bytes. */
#define SEQREAD_CACHE_SIZE 128
#include "seqread.inc"
