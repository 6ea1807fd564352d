/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * built_ins.h: instructions of the DPU by the names that hand-tuned programs call them by.
 *
 * A name is the instruction and the kinds of its operands (r register, i immediate). Those that
 * RV32 can express are written in C: the translator finds the instruction again. Forms that jump
 * or depend on the flags of the instruction before have no counterpart in C and do not exist here.
 */
#ifndef DPU_RUNTIME_BUILT_INS_H
#define DPU_RUNTIME_BUILT_INS_H

#include <dpu_instructions.h>
#include <stdint.h>

#define __DPU_SET(rc, value) ((rc) = (__typeof__(rc))(uint32_t)(value))
#define __DPU_U(x) ((uint32_t)(x))
#define __DPU_S(x) ((int32_t)(x))

#define __builtin_move_rr(rc, ra) __DPU_SET(rc, ra)
#define __builtin_move_ri(rc, imm) __DPU_SET(rc, imm)
#define __builtin_nop_() __dpu_nop()

#define __builtin_add_rrr(rc, ra, rb) __DPU_SET(rc, __DPU_U(ra) + __DPU_U(rb))
#define __builtin_add_rri(rc, ra, imm) __DPU_SET(rc, __DPU_U(ra) + __DPU_U(imm))
#define __builtin_sub_rrr(rc, ra, rb) __DPU_SET(rc, __DPU_U(ra) - __DPU_U(rb))
#define __builtin_sub_rri(rc, ra, imm) __DPU_SET(rc, __DPU_U(ra) - __DPU_U(imm))
#define __builtin_rsub_rrr(rc, ra, rb) __DPU_SET(rc, __DPU_U(rb) - __DPU_U(ra))
#define __builtin_rsub_rri(rc, ra, imm) __DPU_SET(rc, __DPU_U(imm) - __DPU_U(ra))
#define __builtin_and_rrr(rc, ra, rb) __DPU_SET(rc, __DPU_U(ra) & __DPU_U(rb))
#define __builtin_and_rri(rc, ra, imm) __DPU_SET(rc, __DPU_U(ra) & __DPU_U(imm))
#define __builtin_or_rrr(rc, ra, rb) __DPU_SET(rc, __DPU_U(ra) | __DPU_U(rb))
#define __builtin_or_rri(rc, ra, imm) __DPU_SET(rc, __DPU_U(ra) | __DPU_U(imm))
#define __builtin_xor_rrr(rc, ra, rb) __DPU_SET(rc, __DPU_U(ra) ^ __DPU_U(rb))
#define __builtin_xor_rri(rc, ra, imm) __DPU_SET(rc, __DPU_U(ra) ^ __DPU_U(imm))
#define __builtin_nand_rrr(rc, ra, rb) __DPU_SET(rc, ~(__DPU_U(ra) & __DPU_U(rb)))
#define __builtin_nand_rri(rc, ra, imm) __DPU_SET(rc, ~(__DPU_U(ra) & __DPU_U(imm)))
#define __builtin_nor_rrr(rc, ra, rb) __DPU_SET(rc, ~(__DPU_U(ra) | __DPU_U(rb)))
#define __builtin_nor_rri(rc, ra, imm) __DPU_SET(rc, ~(__DPU_U(ra) | __DPU_U(imm)))
#define __builtin_nxor_rrr(rc, ra, rb) __DPU_SET(rc, ~(__DPU_U(ra) ^ __DPU_U(rb)))
#define __builtin_nxor_rri(rc, ra, imm) __DPU_SET(rc, ~(__DPU_U(ra) ^ __DPU_U(imm)))
#define __builtin_andn_rrr(rc, ra, rb) __DPU_SET(rc, ~__DPU_U(ra) & __DPU_U(rb))
#define __builtin_andn_rri(rc, ra, imm) __DPU_SET(rc, ~__DPU_U(ra) & __DPU_U(imm))
#define __builtin_orn_rrr(rc, ra, rb) __DPU_SET(rc, ~__DPU_U(ra) | __DPU_U(rb))
#define __builtin_orn_rri(rc, ra, imm) __DPU_SET(rc, ~__DPU_U(ra) | __DPU_U(imm))
#define __builtin_lsl_rrr(rc, ra, rb) __DPU_SET(rc, __DPU_U(ra) << (__DPU_U(rb) & 31))
#define __builtin_lsl_rri(rc, ra, imm) __DPU_SET(rc, __DPU_U(ra) << (__DPU_U(imm) & 31))
#define __builtin_lsr_rrr(rc, ra, rb) __DPU_SET(rc, __DPU_U(ra) >> (__DPU_U(rb) & 31))
#define __builtin_lsr_rri(rc, ra, imm) __DPU_SET(rc, __DPU_U(ra) >> (__DPU_U(imm) & 31))
#define __builtin_asr_rrr(rc, ra, rb) __DPU_SET(rc, __DPU_S(ra) >> (__DPU_U(rb) & 31))
#define __builtin_asr_rri(rc, ra, imm) __DPU_SET(rc, __DPU_S(ra) >> (__DPU_U(imm) & 31))
#define __builtin_rol_rrr(rc, ra, rb) __DPU_SET(rc, __dpu_rotate(__DPU_U(ra), __DPU_U(rb)))
#define __builtin_rol_rri(rc, ra, imm) __DPU_SET(rc, __dpu_rotate(__DPU_U(ra), __DPU_U(imm)))
#define __builtin_ror_rrr(rc, ra, rb) __DPU_SET(rc, __dpu_rotate(__DPU_U(ra), 0u - __DPU_U(rb)))
#define __builtin_ror_rri(rc, ra, imm) __DPU_SET(rc, __dpu_rotate(__DPU_U(ra), 0u - __DPU_U(imm)))

__DPU_INLINE uint32_t __dpu_rotate(uint32_t value, uint32_t left)
{
    left &= 31;
    return left == 0 ? value : value << left | value >> (32 - left);
}

/* rb plus, or minus, ra shifted by IMM. */
#define __builtin_lsl_add_rrri(rc, rb, ra, imm) \
    __DPU_SET(rc, __DPU_U(rb) + (__DPU_U(ra) << ((imm) & 31)))
#define __builtin_lsl_sub_rrri(rc, rb, ra, imm) \
    __DPU_SET(rc, __DPU_U(rb) - (__DPU_U(ra) << ((imm) & 31)))
#define __builtin_lsr_add_rrri(rc, rb, ra, imm) \
    __DPU_SET(rc, __DPU_U(rb) + (__DPU_U(ra) >> ((imm) & 31)))
#define __builtin_rol_add_rrri(rc, rb, ra, imm) \
    __DPU_SET(rc, __DPU_U(rb) + __dpu_rotate(__DPU_U(ra), imm))

/* Counts of bits; of 0 too. */
__DPU_INLINE uint32_t __dpu_clz(uint32_t value)
{
    return value == 0 ? 32 : (uint32_t)__builtin_clz(value);
}

#define __builtin_cao_rr(rc, ra) __DPU_SET(rc, __builtin_popcount(__DPU_U(ra)))
#define __builtin_clz_rr(rc, ra) __DPU_SET(rc, __dpu_clz(__DPU_U(ra)))
#define __builtin_clo_rr(rc, ra) __DPU_SET(rc, __dpu_clz(~__DPU_U(ra)))
#define __builtin_cls_rr(rc, ra) \
    __DPU_SET(rc, __dpu_clz(__DPU_U(ra) ^ __DPU_U(__DPU_S(ra) >> 31)) - 1)
#define __builtin_extsb_rr(rc, ra) __DPU_SET(rc, (int8_t)__DPU_U(ra))
#define __builtin_extsh_rr(rc, ra) __DPU_SET(rc, (int16_t)__DPU_U(ra))
#define __builtin_extub_rr(rc, ra) __DPU_SET(rc, (uint8_t)__DPU_U(ra))
#define __builtin_extuh_rr(rc, ra) __DPU_SET(rc, (uint16_t)__DPU_U(ra))
#define __builtin_cmpb4_rrr(rc, ra, rb) __DPU_SET(rc, __dpu_cmpb4(__DPU_U(ra), __DPU_U(rb)))

/* Products of bytes: s signed, u unsigned; h bits 15:8, l bits 7:0. */
#define __builtin_mul_sh_sh_rrr(rc, ra, rb) \
    __DPU_SET(rc, (int8_t)(__DPU_U(ra) >> 8) * (int8_t)(__DPU_U(rb) >> 8))
#define __builtin_mul_sh_sl_rrr(rc, ra, rb) \
    __DPU_SET(rc, (int8_t)(__DPU_U(ra) >> 8) * (int8_t)(__DPU_U(rb)))
#define __builtin_mul_sh_uh_rrr(rc, ra, rb) \
    __DPU_SET(rc, (int8_t)(__DPU_U(ra) >> 8) * (uint8_t)(__DPU_U(rb) >> 8))
#define __builtin_mul_sh_ul_rrr(rc, ra, rb) \
    __DPU_SET(rc, (int8_t)(__DPU_U(ra) >> 8) * (uint8_t)(__DPU_U(rb)))
#define __builtin_mul_sl_sh_rrr(rc, ra, rb) \
    __DPU_SET(rc, (int8_t)(__DPU_U(ra)) * (int8_t)(__DPU_U(rb) >> 8))
#define __builtin_mul_sl_sl_rrr(rc, ra, rb) \
    __DPU_SET(rc, (int8_t)(__DPU_U(ra)) * (int8_t)(__DPU_U(rb)))
#define __builtin_mul_sl_uh_rrr(rc, ra, rb) \
    __DPU_SET(rc, (int8_t)(__DPU_U(ra)) * (uint8_t)(__DPU_U(rb) >> 8))
#define __builtin_mul_sl_ul_rrr(rc, ra, rb) \
    __DPU_SET(rc, (int8_t)(__DPU_U(ra)) * (uint8_t)(__DPU_U(rb)))
#define __builtin_mul_uh_uh_rrr(rc, ra, rb) \
    __DPU_SET(rc, (uint8_t)(__DPU_U(ra) >> 8) * (uint8_t)(__DPU_U(rb) >> 8))
#define __builtin_mul_uh_ul_rrr(rc, ra, rb) \
    __DPU_SET(rc, (uint8_t)(__DPU_U(ra) >> 8) * (uint8_t)(__DPU_U(rb)))
#define __builtin_mul_ul_uh_rrr(rc, ra, rb) \
    __DPU_SET(rc, (uint8_t)(__DPU_U(ra)) * (uint8_t)(__DPU_U(rb) >> 8))
#define __builtin_mul_ul_ul_rrr(rc, ra, rb) \
    __DPU_SET(rc, (uint8_t)(__DPU_U(ra)) * (uint8_t)(__DPU_U(rb)))

/* Memory. */
#define __builtin_lbs_rri(rc, ra, off) \
    __DPU_SET(rc, *(const volatile int8_t *)(__DPU_U(ra) + __DPU_U(off)))
#define __builtin_lbu_rri(rc, ra, off) \
    __DPU_SET(rc, *(const volatile uint8_t *)(__DPU_U(ra) + __DPU_U(off)))
#define __builtin_lhs_rri(rc, ra, off) \
    __DPU_SET(rc, *(const volatile int16_t *)(__DPU_U(ra) + __DPU_U(off)))
#define __builtin_lhu_rri(rc, ra, off) \
    __DPU_SET(rc, *(const volatile uint16_t *)(__DPU_U(ra) + __DPU_U(off)))
#define __builtin_lw_rri(rc, ra, off) \
    __DPU_SET(rc, *(const volatile uint32_t *)(__DPU_U(ra) + __DPU_U(off)))
#define __builtin_sb_rir(ra, off, rb) \
    (*(volatile uint8_t *)(__DPU_U(ra) + __DPU_U(off)) = (uint8_t)(rb))
#define __builtin_sh_rir(ra, off, rb) \
    (*(volatile uint16_t *)(__DPU_U(ra) + __DPU_U(off)) = (uint16_t)(rb))
#define __builtin_sw_rir(ra, off, rb) \
    (*(volatile uint32_t *)(__DPU_U(ra) + __DPU_U(off)) = (uint32_t)(rb))
/* IMM is the number of 8 bytes, less one; bits 31:24 of the WRAM address are added to it. */
#define __builtin_ldma_rri(ra, rb, imm) \
    __asm__ volatile(".insn s 0x0b, 0, %0, %2(%1)" : : "r"(rb), "r"(ra), "i"(imm) : "memory")
#define __builtin_sdma_rri(ra, rb, imm) \
    __asm__ volatile(".insn s 0x0b, 1, %0, %2(%1)" : : "r"(rb), "r"(ra), "i"(imm) : "memory")

/* Tasklets, with the one condition and target that each of them is used with: wait until done. */
#define __builtin_acquire_rici(ra, imm, cc, pc) __dpu_acquire(__DPU_U(ra) + __DPU_U(imm))
#define __builtin_release_rici(ra, imm, cc, pc) __dpu_release(__DPU_U(ra) + __DPU_U(imm))
#define __builtin_resume_rici(ra, imm, cc, pc) __dpu_resume(__DPU_U(ra) + __DPU_U(imm))
#define __builtin_stop_ci(cc, pc) __dpu_stop()
#define __builtin_fault_i(imm) __dpu_fault(imm)
#define __builtin_time_r(rc) __DPU_SET(rc, __dpu_time())
#define __builtin_time_cfg_rr(rc, rb) __DPU_SET(rc, __dpu_time_cfg(__DPU_U(rb)))

#endif
