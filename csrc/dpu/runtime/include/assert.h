/* SPDX-License-Identifier: BSD-3-Clause */
/* assert.h: a condition that must hold, or fault 3. */
#include <dpufault.h>

#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __assert_failed())
#endif

#if !defined(static_assert) && !defined(__cplusplus)
#define static_assert _Static_assert
#endif

#ifndef DPU_RUNTIME_ASSERT_H
#define DPU_RUNTIME_ASSERT_H

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((noreturn)) void __assert_failed(void);
#ifdef __cplusplus
}
#endif

#endif
