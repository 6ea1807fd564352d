/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for the tests of the Python package. */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ECHO(name, type) \
    type echo_##name(type x) \
    { \
        return x; \
    }
ECHO(char, signed char)
ECHO(uchar, unsigned char)
ECHO(short, short)
ECHO(ushort, unsigned short)
ECHO(int, int)
ECHO(uint, unsigned int)
ECHO(long, long)
ECHO(ulong, unsigned long)
ECHO(float, float)
ECHO(double, double)
ECHO(bool, bool)
ECHO(pointer, void *)

int counter;
double table[4] = {0.5, 1.5, -2.5, 3.5};

void nothing(void)
{
}

int count_up(void)
{
    return ++counter;
}

double mixed(int a, double b, float c, long d, double e, unsigned char f, float g)
{
    return a + 10 * b + 100 * (double)c + 1000 * (double)d + 10000 * e + 100000 * f +
           1000000 * (double)g;
}

/* More of each kind than there are registers. */
double many(double a, int b, double c, int d, double e, int f, double g, int h, double i, int j,
            double k, int l, double m, int n, double o, int p, double q, int r)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
           12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q + 18 * r;
}

double mean(const double *x, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += x[i];
    return n > 0 ? sum / n : NAN;
}

void add_two(double *x, long n)
{
    for (long i = 0; i < n; i++)
        x[i] += 2;
}

void fill(char *memory, size_t size, int byte)
{
    memset(memory, byte, size);
}

/* 1 when all bytes are BYTE. */
int all_are(const unsigned char *memory, size_t size, int byte)
{
    for (size_t i = 0; i < size; i++)
        if (memory[i] != byte)
            return 0;
    return 1;
}

long sum_bytes(const unsigned char *memory, size_t size)
{
    long sum = 0;

    for (size_t i = 0; i < size; i++)
        sum += memory[i];
    return sum;
}

/* Waits until *FLAG is not 0, which another context or write_mem() does. */
int wait_for(volatile int *flag)
{
    while (*flag == 0)
        usleep(100);
    return *flag;
}

void wait_and_fill(volatile int *flag, char *memory, size_t size)
{
    while (*flag == 0)
        usleep(100);
    memset(memory, 'Z', size);
}

int segfault(void)
{
    return *(volatile int *)8;
}

int divide(int a, int b)
{
    return a / b;
}

void abort_kernel(void)
{
    abort();
}

void leave(int status)
{
    exit(status);
}

int say(const char *text)
{
    return (int)write(1, text, strlen(text));
}
