/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generated_code.h: what the C of translated code is made of.
 *
 * The worker has the text of this file and of the headers and .inc files of the machine in it, and
 * writes them before what generate.c writes. So what an instruction does is said once, for the
 * interpreter and for translated code. Scalar registers are variables s0 to s63 there, and `list`
 * has the instructions.
 */
#ifndef OFFCHIP_VE_GENERATED_CODE_H
#define OFFCHIP_VE_GENERATED_CODE_H

#include "veo/machine/code.h"
#include "veo/machine/scalar.h"
#include "veo/translate/strips.h"

/* Functions of the machine that translated code calls. */
struct ve_services {
    ve_execute *const *executors;
    void (*raise)(struct ve_core *core, enum ve_fault_kind kind, uint64_t address);
    void (*arithmetic_exception)(struct ve_core *core, uint32_t flags);
    /* Does vector instructions by their executors, from an element on. */
    void (*do_elements)(struct ve_core *core, const struct ve_decoded *list,
                        const struct ve_element_step *steps, uint64_t count, uint64_t from);
    /* Calls the host. False if translated code ends there: the core stopped, or code changed. */
    bool (*gate)(struct ve_core *core, uint64_t address);
};

/* Symbol `ve_module` of a generated shared object. */
struct ve_module {
    uint64_t size; /* of this structure */
    uint64_t (*run)(struct ve_core *core, const struct ve_decoded *list, uint64_t target);
    struct ve_services *services; /* to be written before the first run */
};

#ifdef VE_GENERATED
static struct ve_services services;
#define ve_raise services.raise
#define ve_arithmetic_exception services.arithmetic_exception

#undef X
#undef Y
#undef Z
#define X (*x_)
#define Y y_
#define Z z_
#define ve_address(core, i) (y_ + z_ + (uint64_t)(int64_t)(i)->displacement)
#define ve_base_address(core, i) (z_ + (uint64_t)(int64_t)(i)->displacement)
#define STOP return false
/* Cores with an exception enabled are interpreted: that it happened is enough. */
#undef CHECK_OVERFLOW
#define CHECK_OVERFLOW(condition) *overflow_ |= (condition)
#define ve_holds_integer holds_known_integer
#define ve_holds_float holds_known_float

/* One comparison, or two, where the condition is known: compilers do not make them of a set. */
static inline __attribute__((always_inline)) bool holds_known_integer(unsigned condition, int64_t a,
                                                                      int64_t b)
{
    switch (condition & 7) {
    case VE_NEVER: return false;
    case VE_GREATER: return a > b;
    case VE_LESS: return a < b;
    case VE_GREATER | VE_LESS: return a != b;
    case VE_EQUAL: return a == b;
    case VE_EQUAL | VE_GREATER: return a >= b;
    case VE_EQUAL | VE_LESS: return a <= b;
    default: return true;
    }
}

/* Comparisons that raise the flag of a NaN, as those of the set do. */
static inline __attribute__((always_inline)) bool holds_known_float(unsigned condition, double a,
                                                                    double b)
{
    bool is_opposite = (condition & VE_UNORDERED) != 0, holds;
    switch ((is_opposite ? ~condition : condition) & 7) {
    case VE_NEVER: holds = false; break;
    case VE_GREATER: holds = a > b; break;
    case VE_LESS: holds = a < b; break;
    case VE_GREATER | VE_LESS: holds = a < b || a > b; break;
    case VE_EQUAL: holds = a <= b && a >= b; break;
    case VE_EQUAL | VE_GREATER: holds = a >= b; break;
    case VE_EQUAL | VE_LESS: holds = a <= b; break;
    default: holds = a <= b || a > b; break;
    }
    return holds != is_opposite;
}

/* Faults look for the instruction there: the compiler moves no access over it. */
#define AT(decoded) \
    do { \
        *(const struct ve_decoded *volatile *)&core->current = (decoded); \
        __asm__ volatile("" : : : "memory"); \
    } while (0)
#define HERE AT(at)
#define SCALAR(operation, ...) \
    static inline __attribute__((always_inline)) bool do_##operation( \
        struct ve_core *core, const struct ve_decoded *at, uint64_t *x_, uint64_t y_, uint64_t z_, \
        const struct ve_instruction *i, bool *overflow_) \
    { \
        __VA_ARGS__ \
        return true; \
    }
#include "veo/machine/scalar_float.inc"
#include "veo/machine/scalar_integer.inc"
#define MEMORY(operation, ...) SCALAR(operation, HERE; __VA_ARGS__)
#include "veo/machine/scalar_memory.inc"

#define DO(operation, index, x, y, z, condition_, displacement_) \
    { \
        const struct ve_instruction i = {.condition = (condition_), \
                                         .displacement = (displacement_)}; \
        if (!do_##operation(core, list + (index), &(x), y, z, &i, &overflow)) \
            goto stop; \
    }
/* The flags that an operation raises are wanted even if its result is not. */
#define KEEP(x) __asm__ volatile("" : : "g"(x))
#if defined(__x86_64__)
#define KEEP_NUMBER(x) __asm__ volatile("" : : "x"(x))
#else
#define KEEP_NUMBER(x) __asm__ volatile("" : : "w"(x))
#endif
/* Writes a register by its number; one that is a float, and the lower half of which has its own. */
#define SET_HALVES(upper, lower, value) \
    do { \
        const uint64_t halves_ = (value); \
        (upper) = ve_upper_float(halves_); \
        (lower) = (uint32_t)halves_; \
    } while (0)
#define SET(r, value) SET_##r(value)
/* Executor of an instruction, which finds its registers in the core. */
#define CALL(operation, index) \
    AT(list + (index)); \
    services.executors[VE_OP_##operation](core, &list[index].instruction); \
    if (RARELY(core->stopped)) \
    goto stop
/* Where a call goes on that is a plain one of the host; else nothing. */
#define CALL_HOST(next) \
    if (IS_GATE(target) && core->plain_gates != NULL && \
        core->plain_gates[(target - core->gate_low) / 8] != 0) { \
        core->s[0] = s0, core->s[1] = s1, core->s[2] = s2, core->s[3] = s3; \
        core->s[4] = s4, core->s[5] = s5, core->s[6] = s6, core->s[7] = s7; \
        bool goes_on = services.gate(core, target); \
        SET(0, core->s[0]); \
        if (goes_on) \
            goto next; \
        target = s10; \
        goto leave; \
    }
#define IS_GATE(address) RARELY((address) - core->gate_low < core->gate_high - core->gate_low)
#define GO(to) \
    do { \
        target = (to); \
        goto dispatch; \
    } while (0)
/* A distance in words; one of other bytes is none of those that there are. */
#define WORDS(bytes) ((bytes) >> 3 | (bytes) << 61)
#define LEAVE(to) \
    do { \
        target = (to); \
        goto leave; \
    } while (0)
#define IS_NAN_D(x) RARELY(ve_double(x) != ve_double(x))
#define IS_NAN_S(x) RARELY(ve_upper_float(x) != ve_upper_float(x))
#endif

#endif
