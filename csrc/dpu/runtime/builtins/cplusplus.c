/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that compiled C++ calls, by the names of the Itanium C++ ABI: operators new and delete
 * on the heap of mem_alloc(), static variables of functions, calls of functions without a body.
 *
 * A program may define any of the operators itself.
 */
#include <alloc.h>
#include <atomic_bit.h>
#include <defs.h>
#include <stddef.h>
#include <stdint.h>

/* operator new(unsigned int) and new[], the same with alignment, and the nothrow ones. */
__weak void *_Znwj(size_t size)
{
    return mem_alloc(size);
}

__weak void *_Znaj(size_t size)
{
    return _Znwj(size);
}

__weak void *_ZnwjSt11align_val_t(size_t size, size_t alignment)
{
    uintptr_t start = (uintptr_t)mem_alloc(size + alignment);
    return (void *)((start + alignment - 1) & ~(alignment - 1));
}

__weak void *_ZnajSt11align_val_t(size_t size, size_t alignment)
{
    return _ZnwjSt11align_val_t(size, alignment);
}

__weak void *_ZnwjRKSt9nothrow_t(size_t size, const void *nothrow)
{
    (void)nothrow;
    return _Znwj(size);
}

__weak void *_ZnajRKSt9nothrow_t(size_t size, const void *nothrow)
{
    (void)nothrow;
    return _Znwj(size);
}

/* std::nothrow */
const char _ZSt7nothrow = 0;

/* operator delete and delete[]: the heap takes nothing back but all of it, by mem_reset(). */
__weak void _ZdlPv(void *memory)
{
    (void)memory;
}

__weak void _ZdaPv(void *memory)
{
    (void)memory;
}

__weak void _ZdlPvj(void *memory, size_t size)
{
    (void)memory, (void)size;
}

__weak void _ZdaPvj(void *memory, size_t size)
{
    (void)memory, (void)size;
}

__weak void _ZdlPvSt11align_val_t(void *memory, size_t alignment)
{
    (void)memory, (void)alignment;
}

__weak void _ZdaPvSt11align_val_t(void *memory, size_t alignment)
{
    (void)memory, (void)alignment;
}

__weak void _ZdlPvjSt11align_val_t(void *memory, size_t size, size_t alignment)
{
    (void)memory, (void)size, (void)alignment;
}

__weak void _ZdaPvjSt11align_val_t(void *memory, size_t size, size_t alignment)
{
    (void)memory, (void)size, (void)alignment;
}

/*
 * Fault 4, as halt(): a pure virtual function was called, or one that is deleted, or where libc++
 * would throw an exception: std::__1::__libcpp_verbose_abort(const char *, ...).
 */
void __cxa_pure_virtual(void)
{
    halt();
}

void __cxa_deleted_virtual(void)
{
    halt();
}

void _ZNSt3__122__libcpp_verbose_abortEPKcz(const char *format, ...)
{
    (void)format;
    halt();
}

/*
 * A static variable of a function is made by the tasklet that comes first; others wait for it. The
 * first byte of its guard says that it is ready, which compiled code looks at, the second that a
 * tasklet is making it.
 */
ATOMIC_BIT_INIT(static_variables);

int __cxa_guard_acquire(volatile uint8_t *guard)
{
    for (;;) {
        ATOMIC_BIT_ACQUIRE(static_variables);
        uint8_t ready = guard[0], busy = guard[1];
        if (!ready && !busy)
            guard[1] = 1;
        ATOMIC_BIT_RELEASE(static_variables);
        if (ready || !busy)
            return !ready;
    }
}

void __cxa_guard_release(volatile uint8_t *guard)
{
    guard[1] = 0;
    guard[0] = 1;
}
