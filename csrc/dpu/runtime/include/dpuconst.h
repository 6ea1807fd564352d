/* SPDX-License-Identifier: BSD-3-Clause */
/* dpuconst.h: what the hardware has. */
#ifndef DPU_RUNTIME_DPUCONST_H
#define DPU_RUNTIME_DPUCONST_H

/* Tasklets that run-time tables have room for. */
#ifdef __dpu_tasklets__
#define DPU_NR_THREADS __dpu_tasklets__
#elif defined __dpu_v1B__
#define DPU_NR_THREADS 16
#else
#define DPU_NR_THREADS 24
#endif

#define DPU_WRAM_SIZE __dpu_wram_size__
#define DPU_MRAM_SIZE __dpu_mram_size__
#define DPU_DMA_MAX 2048

#endif
