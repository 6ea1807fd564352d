/* SPDX-License-Identifier: BSD-3-Clause */
/* attributes.h: where data of a DPU program lives, and short names for compiler attributes. */
#ifndef DPU_RUNTIME_ATTRIBUTES_H
#define DPU_RUNTIME_ATTRIBUTES_H

#define DEPRECATED __attribute__((deprecated))

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define __NO_RETURN _Noreturn
#else
#define __NO_RETURN
#endif

#define __weak __attribute__((weak))
#define __section(name) __attribute__((section(name)))
#define __aligned(bytes) __attribute__((aligned(bytes)))
#define __used __attribute__((used))
#define __noinline __attribute__((noinline))

/* One byte of this section stands for one of the hardware's atomic bits. */
#define __atomic_bit __section(".atomic")
/* Alignment that ldma and sdma ask of a WRAM buffer. */
#define __dma_aligned __aligned(8)
#define __keep __used __section(".data.__sys_keep")
/* Variables of the WRAM that the host reaches by their names. */
#define __host __aligned(8) __used __section(".dpu_host")
/* The first 2 KiB of WRAM, whose addresses fit into any instruction. */
#define __lower_data(name) __used __section(".data.immediate_memory." name)

/* A pointer into MRAM. The hardware reads MRAM by DMA only: see mram.h. The tag is for debuggers;
 * C++ has none. With a cache of MRAM it is a pointer as any other. */
#ifdef __dpu_cache_size__
#define __mram_ptr
#elif defined __cplusplus
#define __mram_ptr __attribute__((address_space(255)))
#else
#define __mram_ptr __attribute__((address_space(255))) __attribute__((btf_type_tag("mram")))
#endif
#define __mram __mram_ptr __section(".mram") __dma_aligned __used
/*
 * Not loaded: it keeps what a former program or the host put there. With this start of its name the
 * compiler has no zeros for the section in an object; the linker makes .mram.noinit of it.
 */
#define __mram_noinit __mram_ptr __section(".bss..mram.noinit") __dma_aligned __used
/* The same, in front of all others, so that the address is the same in several programs. */
#define __mram_keep __mram_ptr __section(".mram.keep") __dma_aligned __used
#define __mram_noinit_keep __mram_ptr __section(".bss..mram.noinit.keep") __dma_aligned __used

#endif
