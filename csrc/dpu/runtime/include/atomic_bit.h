/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomic_bit.h: the hardware's bits that are tested and set in one instruction.
 *
 * A bit is a byte of the section .atomic that nothing ever reads: its address is what acquire and
 * release take. 56 of them are free for programs (64 on v1B), the run time uses a few.
 */
#ifndef DPU_RUNTIME_ATOMIC_BIT_H
#define DPU_RUNTIME_ATOMIC_BIT_H

#include <attributes.h>
#include <dpu_instructions.h>
#include <macro_utils.h>
#include <stdint.h>

#define ATOMIC_BIT_GET(name) __CONCAT(__atomic_bit_, name)
#define ATOMIC_BIT_INDEX(name) (&ATOMIC_BIT_GET(name))
#define ATOMIC_BIT_EXTERN(name) extern uint8_t ATOMIC_BIT_GET(name)
#define ATOMIC_BIT_INIT(name) uint8_t __atomic_bit ATOMIC_BIT_GET(name)

#define ATOMIC_BIT_ACQUIRE(name) __dpu_acquire((uintptr_t)ATOMIC_BIT_INDEX(name))
#define ATOMIC_BIT_RELEASE(name) __dpu_release((uintptr_t)ATOMIC_BIT_INDEX(name))

/*
 * Defines a structure of four bytes, as barriers and semaphores are, whose last one is the number
 * of the bit that guards it: the low byte of the bit's address, which C cannot put into data.
 */
#define __DPU_GUARDED_OBJECT(name, count, bit) \
    __asm__(".pushsection .data." __STR( \
        name) ",\"aw\",@progbits\n" \
              ".type " __STR( \
                  name) ", @object\n" \
                        ".globl " __STR( \
                            name) "\n" \
                                  ".p2align 2\n" __STR( \
                                      name) ":\n" \
                                            ".byte 0xff\n" \
                                            ".byte " __STR( \
                                                count) "\n" \
                                                       ".byte " __STR( \
                                                           count) "\n" \
                                                                  ".reloc ., " \
                                                                  "R_RISCV_SET8, " __STR( \
                                                                      bit) "\n" \
                                                                           ".byte 0\n" \
                                                                           ".size " __STR( \
                                                                               name) ", 4\n" \
                                                                                     ".popsectio" \
                                                                                     "n")

#endif
