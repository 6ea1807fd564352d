/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for the C API tests. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t pattern = 0xdeadbeefc0ffee00;
int64_t table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static uint64_t counter;
static _Atomic int gate;
static _Atomic uint64_t waiting_at_gate;

uint64_t count(void);
uint64_t count(void)
{
    return counter++;
}

uint64_t echo(uint64_t value);
uint64_t echo(uint64_t value)
{
    return value;
}

ssize_t print(int fd, const char *text);
ssize_t print(int fd, const char *text)
{
    return write(fd, text, strlen(text));
}

int8_t minus_byte(int8_t value);
int8_t minus_byte(int8_t value)
{
    return (int8_t)-value;
}

uint16_t same_short(uint16_t value);
uint16_t same_short(uint16_t value)
{
    return value;
}

double ten_doubles(double a, double b, double c, double d, double e, double f, double g, double h,
                   double i, double j);
double ten_doubles(double a, double b, double c, double d, double e, double f, double g, double h,
                   double i, double j)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

double mixed(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f, float g, double h,
             int64_t i, float j, double k, uint64_t l);
double mixed(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f, float g, double h,
             int64_t i, float j, double k, uint64_t l)
{
    return a + 2.0 * b + 3.0 * c + 4.0 * d + 5.0 * e + 6.0 * f + 7.0 * g + 8.0 * h +
           9.0 * (double)i + 10.0 * j + 11.0 * k + 12.0 * (double)l;
}

float half_of(float value);
float half_of(float value)
{
    return value / 2;
}

/* in: read, inout: doubled, out: filled; says whether out was zero before. */
int stack_buffers(const int64_t *in, int64_t *inout, int64_t *out, int64_t n);
int stack_buffers(const int64_t *in, int64_t *inout, int64_t *out, int64_t n)
{
    int zero = 1;
    for (int64_t i = 0; i < n; i++) {
        zero = zero && out[i] == 0;
        out[i] = in[i] + 1;
        inout[i] *= 2;
    }
    return zero;
}

uint64_t sum_bytes(const uint8_t *bytes, uint64_t n);
uint64_t sum_bytes(const uint8_t *bytes, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += bytes[i];
    return sum;
}

uint64_t get_memory(uint64_t size);
uint64_t get_memory(uint64_t size)
{
    void *memory = malloc(size);
    memset(memory, 0x5a, size);
    return (uint64_t)(uintptr_t)memory;
}

void wait_at_gate(void);
void wait_at_gate(void)
{
    atomic_fetch_add(&waiting_at_gate, 1);
    while (!atomic_load(&gate))
        usleep(200);
    atomic_fetch_sub(&waiting_at_gate, 1);
    atomic_store(&gate, 0);
}

uint64_t number_at_gate(void);
uint64_t number_at_gate(void)
{
    return atomic_load(&waiting_at_gate);
}

void open_gate(void);
void open_gate(void)
{
    atomic_store(&gate, 1);
}

void nap(uint64_t microseconds);
void nap(uint64_t microseconds)
{
    usleep((useconds_t)microseconds);
}

void say(const char *text);
void say(const char *text)
{
    printf("kernel: %s\n", text);
}

int crash_segv(volatile int *nowhere);
int crash_segv(volatile int *nowhere)
{
    return *nowhere;
}

int crash_fpe(volatile int a, volatile int b);
int crash_fpe(volatile int a, volatile int b)
{
    return a / b;
}

void crash_ill(void);
void crash_ill(void)
{
    __asm__ volatile("ud2");
}

void crash_bus(void);
void crash_bus(void)
{
    raise(SIGBUS);
}

void crash_abort(void);
void crash_abort(void)
{
    abort();
}

long overflow_stack(long depth);
long overflow_stack(long depth)
{
    volatile char frame[4096];
    frame[0] = (char)depth;
    return depth < 0 ? 0 : frame[0] + overflow_stack(depth + 1);
}

void leave(int status);
void leave(int status)
{
    exit(status);
}

void end_thread(void);
void end_thread(void)
{
    pthread_exit(NULL);
}

void *crash_there(void *nothing);
void *crash_there(void *nothing)
{
    (void)nothing;
    crash_ill();
    return NULL;
}

void crash_in_thread(void);
void crash_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, crash_there, NULL);
    pthread_join(thread, NULL);
}

extern int veo_prev_req_result(int offs, uint64_t *result);

uint64_t previous(int offs);
uint64_t previous(int offs)
{
    uint64_t result;
    return veo_prev_req_result(offs, &result) == 0 ? result : UINT64_MAX;
}

extern int veo_is_ve_addr(const void *addr);
extern void *veo_get_hmem_addr(void *addr);

uint64_t read_tagged(void *address);
uint64_t read_tagged(void *address)
{
    return veo_is_ve_addr(address) ? *(uint64_t *)veo_get_hmem_addr(address) : 0;
}

int64_t variadic_sum(int n, ...);
int64_t variadic_sum(int n, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, n);
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += __builtin_va_arg(list, int64_t);
    __builtin_va_end(list);
    return sum;
}

long double long_one(long double value);
long double long_one(long double value)
{
    return value + 1;
}

const char *variable(const char *name);
const char *variable(const char *name)
{
    static char text[256];
    const char *value = getenv(name);
    snprintf(text, sizeof text, "%s", value ? value : "");
    return text;
}

/* Writes over what lies around MEMORY, then ends as ENDING says. */
void scribble(char *memory, long before, long after, int byte, int ending);
void scribble(char *memory, long before, long after, int byte, int ending)
{
    memset(memory - before, byte, (size_t)(before + after));
    if (ending == 1)
        _exit(3);
    if (ending == 2)
        raise(SIGKILL);
}

uint8_t large[3 << 20];

uint64_t get_aligned(uint64_t alignment, uint64_t size);
uint64_t get_aligned(uint64_t alignment, uint64_t size)
{
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, size) != 0)
        return 0;
    memset(memory, 0x5a, size);
    return (uint64_t)(uintptr_t)memory;
}

/* Spoils what it would return to, so that nothing can be made of its stack. */
void crash_without_a_stack(void);
void crash_without_a_stack(void)
{
    __asm__ volatile("xor %%esp, %%esp\n\txor %%ebp, %%ebp\n\tpush %%rax" ::: "memory");
}

/* As a server that takes messages: until a word is written. */
int serve(const volatile int *word);
int serve(const volatile int *word)
{
    while (*word == 0)
        usleep(100);
    return *word;
}
