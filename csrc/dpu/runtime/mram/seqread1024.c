/* SPDX-License-Identifier: BSD-3-Clause */
/* seqread1024.c: sequential reading with pages of 1024 bytes. */
#define SEQREAD_CACHE_SIZE 1024
#include "seqread.inc"
