/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vector_shared.h: executors that are the same for all processors, one ve_<operation> each, and
 * their places in a table of executors.
 */
#ifndef OFFCHIP_VE_VECTOR_SHARED_H
#define OFFCHIP_VE_VECTOR_SHARED_H

#include "veo/machine/core.h"

/* X(operation, executor) */
#define VE_VECTOR_SHARED_LIST(X) \
    X(VLD, vld) \
    X(VLDU, vldu) \
    X(VLDL_SX, vldl_sx) \
    X(VLDL_ZX, vldl_zx) \
    X(VST, vst) \
    X(VSTU, vstu) \
    X(VSTL, vstl) \
    X(VLD2D, vld2d) \
    X(VLDU2D, vldu2d) \
    X(VLDL2D_SX, vldl2d_sx) \
    X(VLDL2D_ZX, vldl2d_zx) \
    X(VST2D, vst2d) \
    X(VSTU2D, vstu2d) \
    X(VSTL2D, vstl2d) \
    X(VGT, vgt) \
    X(VGTU, vgtu) \
    X(VGTL_SX, vgtl_sx) \
    X(VGTL_ZX, vgtl_zx) \
    X(VSC, vsc) \
    X(VSCU, vscu) \
    X(VSCL, vscl) \
    X(PFCHV, pfchv) \
    X(VBRD, vbrd) \
    X(VBRDL, vbrdl) \
    X(VBRDU, vbrdu) \
    X(PVBRD, pvbrd) \
    X(VSEQ, vseq) \
    X(PVSEQ_UP, pvseq_up) \
    X(PVSEQ, pvseq) \
    X(VMRG, vmrg) \
    X(VMRG_W, vmrg_w) \
    X(VSHF, vshf) \
    X(VMV, vmv) \
    X(VCP, vcp) \
    X(VEX, vex) \
    X(VSLD, vsld) \
    X(VSFA, vsfa) \
    X(ANDM, andm) \
    X(ORM, orm) \
    X(XORM, xorm) \
    X(EQVM, eqvm) \
    X(NNDM, nndm) \
    X(NEGM, negm) \
    X(VFMK_L, vfmk_l) \
    X(VFMK_W, vfmk_w) \
    X(PVFMK_W_UP, pvfmk_w_up) \
    X(VFMK_D, vfmk_d) \
    X(PVFMK_S_UP, pvfmk_s_up) \
    X(PVFMK_S_LO, pvfmk_s_lo) \
    X(PCVM, pcvm) \
    X(LZVM, lzvm) \
    X(TOVM, tovm) \
    X(VSUM_L, vsum_l) \
    X(VSUM_W_SX, vsum_w_sx) \
    X(VSUM_W_ZX, vsum_w_zx) \
    X(VRAND, vrand) \
    X(VROR, vror) \
    X(VRXOR, vrxor) \
    X(VFSUM_D, vfsum_d) \
    X(VFSUM_S, vfsum_s) \
    X(VRMAXS_L_FST, vrmaxs_l_fst) \
    X(VRMAXS_L_LST, vrmaxs_l_lst) \
    X(VRMINS_L_FST, vrmins_l_fst) \
    X(VRMINS_L_LST, vrmins_l_lst) \
    X(VRMAXS_W_FST_SX, vrmaxs_w_fst_sx) \
    X(VRMAXS_W_LST_SX, vrmaxs_w_lst_sx) \
    X(VRMINS_W_FST_SX, vrmins_w_fst_sx) \
    X(VRMINS_W_LST_SX, vrmins_w_lst_sx) \
    X(VRMAXS_W_FST_ZX, vrmaxs_w_fst_zx) \
    X(VRMAXS_W_LST_ZX, vrmaxs_w_lst_zx) \
    X(VRMINS_W_FST_ZX, vrmins_w_fst_zx) \
    X(VRMINS_W_LST_ZX, vrmins_w_lst_zx) \
    X(VFRMAX_D_FST, vfrmax_d_fst) \
    X(VFRMAX_D_LST, vfrmax_d_lst) \
    X(VFRMIN_D_FST, vfrmin_d_fst) \
    X(VFRMIN_D_LST, vfrmin_d_lst) \
    X(VFRMAX_S_FST, vfrmax_s_fst) \
    X(VFRMAX_S_LST, vfrmax_s_lst) \
    X(VFRMIN_S_FST, vfrmin_s_fst) \
    X(VFRMIN_S_LST, vfrmin_s_lst) \
    X(VFIA_D, vfia_d) \
    X(VFIA_S, vfia_s) \
    X(VFIS_D, vfis_d) \
    X(VFIS_S, vfis_s) \
    X(VFIM_D, vfim_d) \
    X(VFIM_S, vfim_s) \
    X(VFIAM_D, vfiam_d) \
    X(VFIAM_S, vfiam_s) \
    X(VFISM_D, vfism_d) \
    X(VFISM_S, vfism_s) \
    X(VFIMA_D, vfima_d) \
    X(VFIMA_S, vfima_s) \
    X(VFIMS_D, vfims_d) \
    X(VFIMS_S, vfims_s) \
    X(VDIVU_L, vdivu_l) \
    X(VDIVU_W, vdivu_w) \
    X(VDIVS_L, vdivs_l) \
    X(VDIVS_W_SX, vdivs_w_sx) \
    X(VDIVS_W_ZX, vdivs_w_zx) \
    X(VSRD, vsld) \
    X(PVSEQ_LO, vseq)

#define VE_VECTOR_DECLARE(operation, executor) \
    void ve_##executor(struct ve_core *core, const struct ve_instruction *in);
VE_VECTOR_SHARED_LIST(VE_VECTOR_DECLARE)

#define VE_VECTOR_ENTRY(operation, executor) [VE_OP_##operation] = ve_##executor,

#endif
