/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuse.h: sequences that compilers emit for every function, which the run loop does as one.
 * Private to csrc/veo/machine.
 */
#ifndef OFFCHIP_VE_FUSE_H
#define OFFCHIP_VE_FUSE_H

#include "code.h"

enum ve_fusion {
    VE_FUSED_NONE,
    VE_FUSED_ENTER,   /* st s9; st s10, 8; or s9, s11; lea s11, -frame; brge.l s11, s8 */
    VE_FUSED_LEAVE,   /* or s11, s9; ld s10, 8; ld s9; b.l s10 */
    VE_FUSED_ADDRESS, /* lea x, low; and x, x, (32)0; lea.sl y, high(, x) */
};

/* Words from the first of VE_FUSED_ENTER to where its branch goes to: 4, and 72 bytes. */
#define VE_ENTER_REACH 13

/*
 * Tells which sequence begins at an instruction that has been decoded. The others of it, which are
 * in the same page, are decoded too; each keeps its label, as code may jump into the middle.
 */
enum ve_fusion ve_fuse(struct ve_decoded *decoded);

#endif
