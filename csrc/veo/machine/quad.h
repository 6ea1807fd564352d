/* SPDX-License-Identifier: BSD-3-Clause */
/* quad.h: IEEE's binary128: long double on aarch64, __float128 elsewhere. */
#ifndef OFFCHIP_VE_QUAD_H
#define OFFCHIP_VE_QUAD_H

#if defined(__aarch64__)
typedef long double quad;
#else
typedef __float128 quad;
#endif

#endif
