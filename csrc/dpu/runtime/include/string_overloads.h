/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * string_overloads.h: memcpy(), memmove() and memset() by what their pointers lead to.
 *
 * Included by string.h, whose functions they have beside them. Programs that pass a number where a
 * pointer belongs are warned, as they are without overloads.
 */
#ifndef DPU_RUNTIME_STRING_OVERLOADS_H
#define DPU_RUNTIME_STRING_OVERLOADS_H

#include <attributes.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C++" {
#define __DPU_OVERLOAD static inline __attribute__((always_inline, unused))
#else
#define __DPU_OVERLOAD static inline __attribute__((overloadable, always_inline, unused))
#endif
#define __DPU_WARNED \
    __attribute__((diagnose_if(1, "a number is passed where a pointer belongs", "warning")))

__DPU_OVERLOAD __mram_ptr void *memset(__mram_ptr void *area, int value, size_t size)
{
    __memset_mram(area, value, size);
    return area;
}

__DPU_OVERLOAD void *memcpy(void *to, const __mram_ptr void *from, size_t size)
{
    __memcpy_wm(to, from, size);
    return to;
}

__DPU_OVERLOAD __mram_ptr void *memcpy(__mram_ptr void *to, const void *from, size_t size)
{
    __memcpy_mw(to, from, size);
    return to;
}

__DPU_OVERLOAD __mram_ptr void *memcpy(__mram_ptr void *to, const __mram_ptr void *from,
                                       size_t size)
{
    __memcpy_mm(to, from, size);
    return to;
}

__DPU_OVERLOAD __mram_ptr void *memmove(__mram_ptr void *to, const __mram_ptr void *from,
                                        size_t size)
{
    __memmove_mm(to, from, size);
    return to;
}

#ifdef __cplusplus
}
#else
__DPU_OVERLOAD void *memset(__UINTPTR_TYPE__ area, int value, size_t size) __DPU_WARNED
{
    return memset((void *)area, value, size);
}

__DPU_OVERLOAD void *memcpy(void *to, __UINTPTR_TYPE__ from, size_t size) __DPU_WARNED
{
    return memcpy(to, (const void *)from, size);
}

__DPU_OVERLOAD void *memcpy(__UINTPTR_TYPE__ to, const void *from, size_t size) __DPU_WARNED
{
    return memcpy((void *)to, from, size);
}

__DPU_OVERLOAD void *memcpy(__UINTPTR_TYPE__ to, __UINTPTR_TYPE__ from, size_t size) __DPU_WARNED
{
    return memcpy((void *)to, (const void *)from, size);
}
#endif

#endif
