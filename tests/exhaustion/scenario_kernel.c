/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of sweep_veo.c. */
#include <stdint.h>

int64_t scenario(int64_t a, int32_t b, double c, char *buffer);
int64_t scenario(int64_t a, int32_t b, double c, char *buffer)
{
    buffer[0] = (char)(buffer[0] + 1);
    return a + b + (int64_t)c;
}
