/* SPDX-License-Identifier: BSD-3-Clause */
/* carried_text.h: texts of files, which the library has in it as they are. */
#ifndef OFFCHIP_CARRIED_TEXT_H
#define OFFCHIP_CARRIED_TEXT_H

/* Of a file that the assembler finds, with a 0 behind it. */
#define TEXT_OF(name, path) \
    __asm__(".pushsection .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.popsection\n"); \
    extern const char name[] __attribute__((visibility("hidden")))

#endif
