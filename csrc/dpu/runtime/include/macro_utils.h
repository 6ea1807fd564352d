/* SPDX-License-Identifier: BSD-3-Clause */
/* macro_utils.h: joining and quoting of what macros expand to. */
#ifndef DPU_RUNTIME_MACRO_UTILS_H
#define DPU_RUNTIME_MACRO_UTILS_H

#define __STR(x) __STR_AGAIN(x)
#define __STR_AGAIN(x) #x

#undef __CONCAT /* the C library of a host has a weaker one */
#define __CONCAT(x, y) __CONCAT_AGAIN(x, y)
#define __CONCAT_AGAIN(x, y) x##y

#define __REPEAT_1(x) x
#define __REPEAT_2(x) x x

#endif
