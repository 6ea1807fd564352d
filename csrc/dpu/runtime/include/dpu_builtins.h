/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpu_builtins.h: what the vendor's compiler knows without any header.
 *
 * The driver includes it before every source, so that it takes no name of programs' and includes
 * nothing. Names with __builtin_dpu_ that are not here stay undefined, and linking says so.
 */
#ifndef DPU_RUNTIME_DPU_BUILTINS_H
#define DPU_RUNTIME_DPU_BUILTINS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Without lines of its own: its instructions are of the line that calls it. */
#define __DPU_INLINE static inline __attribute__((always_inline, nodebug, unused))

/* The tasklet's id. Not volatile: it never changes, so that the compiler may keep it. */
__DPU_INLINE __UINT32_TYPE__ __dpu_me(void)
{
    __UINT32_TYPE__ id;
    __asm__(".insn r 0x0b, 6, 0, %0, x0, x0" : "=r"(id));
    return id;
}

/*
 * DMA of BYTES / 8 units, modulo 256: sizes below 8 transfer 2048 bytes. A size that the compiler
 * knows goes into the instruction; any other goes into bits 31:24 of the WRAM address, where the
 * hardware adds it to the 255 of the instruction. Bits of the size never reach the address itself.
 */
#define __DPU_DMA(function, wram, mram, bytes) \
    do { \
        if (__builtin_constant_p(bytes)) { \
            __asm__ volatile(".insn s 0x0b, " #function ", %0, %2(%1)" \
                             : \
                             : "r"(mram), "r"(wram), \
                               "i"(__builtin_constant_p(bytes) ? (((bytes) >> 3) - 1) & 255 : 0) \
                             : "memory"); \
        } else { \
            __asm__ volatile(".insn s 0x0b, " #function ", %0, 255(%1)" \
                             : \
                             : "r"(mram), "r"(__DPU_SIZED(wram, bytes)) \
                             : "memory"); \
        } \
    } while (0)
/* Where it is known that no bit is lost, one shift does for two. */
#define __DPU_SIZED(wram, bytes) \
    (__builtin_constant_p(((bytes) & 7) == 0) && ((bytes) & 7) == 0 \
         ? (__UINTPTR_TYPE__)(wram) + ((__UINTPTR_TYPE__)(bytes) << 21) \
         : (__UINTPTR_TYPE__)(wram) + (__dpu_units(bytes) << 24))

/* The compiler does not see through it: it would make one shift and a mask of the two. */
__DPU_INLINE __UINTPTR_TYPE__ __dpu_units(__UINTPTR_TYPE__ bytes)
{
    __UINTPTR_TYPE__ units = bytes >> 3;
    __asm__("" : "+r"(units));
    return units;
}

#define __builtin_dpu_tid() __dpu_me()
/* The WRAM address comes first, in both. */
#define __builtin_dpu_ldma(wram, mram, bytes) __DPU_DMA_CALL(0, wram, mram, bytes)
#define __builtin_dpu_sdma(wram, mram, bytes) __DPU_DMA_CALL(1, wram, mram, bytes)
#define __DPU_DMA_CALL(function, wram, mram, bytes) \
    ({ \
        const void *__dpu_wram = (const void *)(wram); \
        __UINTPTR_TYPE__ __dpu_mram = (__UINTPTR_TYPE__)(mram); \
        __DPU_DMA(function, __dpu_wram, __dpu_mram, bytes); \
    })

/* No macro with arguments: programs declare it themselves. */
#define __builtin_dpu_seqread_get __dpu_seqread_get
int __dpu_seqread_get(int pointer, unsigned int bytes, void *reader, unsigned int page);

#ifdef __cplusplus
}
#endif

#endif
