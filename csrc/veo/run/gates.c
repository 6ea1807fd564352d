/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/run/gates.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "veo/run/special.h"

enum { GATE = 8, MISSING_MAX = 4096, INTS = 6, FPS = 8 };

/* A function by its name and types, or one that works on the registers. */
struct row {
    const char *name;
    const char *types; /* result, ':', arguments; "" of a variable */
    verun_special *special;
};

static const struct row rows[] = {
#define C(name, types) {#name, types, NULL},
#define SPECIAL(name, function) {#name, NULL, verun_##function},
#define VARIABLE(name) {#name, "", NULL},
#include "veo/run/libc.def"
#undef C
#undef SPECIAL
#undef VARIABLE
};
enum { ROWS = sizeof rows / sizeof *rows };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t low;
static void *hosts[ROWS]; /* what the names stand for */
/* Calls of them read and write any register, or those of arguments and result. */
enum { ANY_REGISTER, NUMBERS, INTEGERS };
static uint8_t plain[ROWS + MISSING_MAX];
static const char *missing[MISSING_MAX];
static size_t nmissing;

/* Memory that nothing else can be in. */
static void start(void)
{
    void *pages = mmap(NULL, (ROWS + MISSING_MAX) * GATE, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages != MAP_FAILED)
        low = (uint64_t)(uintptr_t)pages;
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].special == NULL && *rows[i].types != '\0')
            plain[i] = strpbrk(rows[i].types, "df") != NULL ? NUMBERS : INTEGERS;
}

static uint64_t start_of_gates(void)
{
    pthread_once(&once, start);
    return low;
}

uint64_t verun_gate_address(const char *name)
{
    uint64_t base = start_of_gates();
    for (size_t i = 0; i < ROWS && base != 0; i++) {
        if (strcmp(rows[i].name, name) != 0)
            continue;
        if (rows[i].special != NULL)
            return base + i * GATE;

        void *host = dlsym(RTLD_DEFAULT, name);
        __atomic_store_n(&hosts[i], host, __ATOMIC_RELEASE);
        if (host == NULL)
            return 0;
        return *rows[i].types == '\0' ? (uint64_t)(uintptr_t)host : base + i * GATE;
    }

    return 0;
}

uint64_t verun_gate_for_missing(const char *name)
{
    uint64_t base = start_of_gates();
    uint64_t address = 0;
    pthread_mutex_lock(&lock);
    char *copy = base != 0 && nmissing < MISSING_MAX ? strdup(name) : NULL;
    if (copy != NULL) {
        missing[nmissing] = copy;
        address = base + (ROWS + nmissing++) * GATE;
    }
    pthread_mutex_unlock(&lock);
    return address;
}

const char *verun_gate_name(uint64_t address)
{
    uint64_t index = (address - low) / GATE;
    if (low == 0 || address < low || index >= ROWS + MISSING_MAX)
        return NULL;
    return index < ROWS ? rows[index].name : missing[index - ROWS];
}

const char *verun_gate_types(uint64_t address)
{
    uint64_t index = (address - low) / GATE;
    return low != 0 && address >= low && index < ROWS ? rows[index].types : NULL;
}

/* --- calls --- */

typedef uint64_t calls_integers(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
typedef uint64_t calls_int(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double,
                           double, double, double, double, double, double, double);
typedef double calls_double(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double,
                            double, double, double, double, double, double, double);
typedef float calls_float(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double,
                          double, double, double, double, double, double, double);

/* Arguments as the host's registers take them: a float is in the lower half of one. */
struct registers {
    uint64_t ints[INTS];
    double fps[FPS];
};

static void sort(const struct ve_core *core, const char *types, struct registers *registers)
{
    unsigned nints = 0;
    unsigned nfps = 0;
    for (unsigned i = 0; types[i] != '\0' && i < 8; i++) {
        uint64_t value = core->s[i];
        if (types[i] == 'f')
            value >>= 32;
        if ((types[i] == 'f' || types[i] == 'd') && nfps < FPS)
            memcpy(&registers->fps[nfps++], &value, sizeof value);
        else if (nints < INTS)
            registers->ints[nints++] = value;
    }
}

#define ARGUMENTS(r) \
    (r).ints[0], (r).ints[1], (r).ints[2], (r).ints[3], (r).ints[4], (r).ints[5], (r).fps[0], \
        (r).fps[1], (r).fps[2], (r).fps[3], (r).fps[4], (r).fps[5], (r).fps[6], (r).fps[7]

union function {
    void *address;
    calls_integers *to_integer;
    calls_int *to_int;
    calls_double *to_double;
    calls_float *to_float;
};

/* All argument registers are set: those that a function does not take do no harm. */
static void call_integers(struct ve_core *core, char type, void *host)
{
    union function function = {host};
    const uint64_t *s = core->s;
    uint64_t result = function.to_integer(s[0], s[1], s[2], s[3], s[4], s[5]);
    core->s[0] = type == 'i'   ? (uint64_t)(int64_t)(int32_t)result
                 : type == 'u' ? (uint32_t)result
                               : result;
}

static void call_numbers(struct ve_core *core, const char *types, void *host)
{
    union function function = {host};
    struct registers r = {{0}, {0}};
    sort(core, types + 2, &r);

    uint64_t result = 0;
    double as_double;
    float as_float;
    uint32_t half;
    switch (types[0]) {
    case 'd':
        as_double = function.to_double(ARGUMENTS(r));
        memcpy(&result, &as_double, sizeof result);
        break;
    case 'f':
        as_float = function.to_float(ARGUMENTS(r));
        memcpy(&half, &as_float, sizeof half);
        result = (uint64_t)half << 32;
        break;
    case 'i': result = (uint64_t)(int64_t)(int32_t)function.to_int(ARGUMENTS(r)); break;
    case 'u': result = (uint32_t)function.to_int(ARGUMENTS(r)); break;
    default: result = function.to_int(ARGUMENTS(r)); break;
    }
    core->s[0] = result;
}

static bool pass(struct ve_core *core, uint64_t address)
{
    size_t index = (size_t)((address - low) / GATE);
    if (index >= ROWS || (address - low) % GATE != 0) {
        const char *name = index >= ROWS ? missing[index - ROWS] : NULL;
        fprintf(stderr, "[VE] ERROR: VE code called %s, which is nowhere\n",
                name != NULL ? name : "an address that is no function");
        ve_raise(core, VE_FAULT_ILSP, address);
        return false;
    }

    if (rows[index].special != NULL)
        return rows[index].special(core);
    void *host = __atomic_load_n(&hosts[index], __ATOMIC_ACQUIRE);
    if (plain[index] == INTEGERS)
        call_integers(core, rows[index].types[0], host);
    else
        call_numbers(core, rows[index].types, host);
    return true;
}

void verun_gates_attach(struct ve_core *core)
{
    core->gate_low = start_of_gates();
    core->gate_high = core->gate_low + (ROWS + MISSING_MAX) * GATE;
    core->gate = pass;
    core->plain_gates = plain;
}
