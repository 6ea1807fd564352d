/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * omp.h: OpenMP's functions for Vector Engine code, as far as the worker has them. Directives are
 * left out by the compile path, so that code runs on one thread.
 */
#ifndef VE_CODE_OMP_H
#define VE_CODE_OMP_H

#ifdef __cplusplus
extern "C" {
#endif

int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_num_procs(void);
int omp_get_thread_limit(void);
int omp_in_parallel(void);
int omp_get_level(void);
int omp_get_dynamic(void);
int omp_get_nested(void);
void omp_set_num_threads(int count);
void omp_set_dynamic(int on);
void omp_set_nested(int on);
double omp_get_wtime(void); /* seconds */
double omp_get_wtick(void);

#ifdef __cplusplus
}
#endif

#endif
