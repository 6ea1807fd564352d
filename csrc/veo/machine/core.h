/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * core.h: a core of the Vector Engine: its registers, and running code on it.
 *
 * VE memory is the memory of the process: addresses are those of the host, and a bad one is the
 * process's SIGSEGV; ve_core_address() then says which instruction it was. A core belongs to one
 * thread at a time; different cores may run at the same time.
 */
#ifndef OFFCHIP_VE_CORE_H
#define OFFCHIP_VE_CORE_H

#include "veo/isa/instruction.h"

#include <stdbool.h>
#include <stdint.h>

#define VE_VECTORS 64
#define VE_VECTOR_LENGTH 256
#define VE_MASKS 16
#define VE_MASK_WORDS 4

/* Registers with a meaning in the calling convention. */
enum { VE_S_LIMIT = 8, VE_S_FRAME, VE_S_LINK, VE_S_STACK, VE_S_CALLEE, VE_S_THREAD = 14 };

/* Bits of the PSW: the flags of exceptions, which of them stop the program, the rounding mode. */
enum {
    VE_PSW_INEXACT = 1,
    VE_PSW_INVALID = 2,
    VE_PSW_FIXED_OVERFLOW = 4,
    VE_PSW_UNDERFLOW = 8,
    VE_PSW_OVERFLOW = 16,
    VE_PSW_DIVIDE = 32,
    VE_PSW_FLAGS = 63,
    VE_PSW_ENABLE_SHIFT = 6,
    VE_PSW_ENABLES = VE_PSW_FLAGS << VE_PSW_ENABLE_SHIFT,
    VE_PSW_ROUNDING_SHIFT = 12,
    VE_PSW_ROUNDING = 3 << VE_PSW_ROUNDING_SHIFT,
    VE_PSW_PROGRAM_MODE = VE_PSW_ENABLES | VE_PSW_ROUNDING
};

/* Rounding modes in the PSW. */
enum { VE_IRM_ZERO, VE_IRM_UP, VE_IRM_DOWN, VE_IRM_NEAREST };

/* Why a program stopped; the names are those of the VE. */
enum ve_fault_kind {
#define FAULT(name, text, signal) VE_FAULT_##name,
#include "veo/machine/faults.def"
#undef FAULT
    VE_FAULT_COUNT
};

struct ve_fault {
    enum ve_fault_kind kind;
    uint64_t ic;      /* address of the instruction */
    uint64_t address; /* of the data, where the exception has one */
    uint64_t word;    /* the instruction */
};

struct ve_core;
struct ve_code;
struct ve_decoded;

/* Executor of an instruction. It raises an exception by ve_raise() and leaves its results alone. */
typedef void ve_execute(struct ve_core *core, const struct ve_instruction *instruction);

struct ve_core {
    /* The scalar registers, and the values of immediates behind them: VE_SOURCE_... is an index. */
    union {
        uint64_t s[64];
        uint64_t sources[VE_SOURCE_COUNT];
    };
    uint64_t psw; /* read and written by ve_core_psw() and ve_core_set_psw() alone */
    uint32_t vl;  /* 0 to 256 */
    uint32_t vix; /* 0 to 63 */

    uint64_t ic;   /* address of the next instruction when no code runs, and in gates */
    uint64_t next; /* an executor of a branch or a call writes where the program goes on */
    struct ve_fault fault;
    bool stopped; /* by an exception, or by a gate */

    /* An instruction fetch in [gate_low, gate_high) is a call of the host. */
    uint64_t gate_low, gate_high;
    /*
     * Does what the gate at ADDRESS is for. True: the program goes on at s[10]. False: it stops,
     * with the exception raised by ve_raise() or, without one, because it is to end.
     */
    bool (*gate)(struct ve_core *core, uint64_t address);
    /*
     * By (address - gate_low) / 8: not 0 for gates that read s0 to s7, write s0 alone, and always
     * go on. NULL: none is known to.
     */
    const uint8_t *plain_gates;
    /*
     * monc with a number other than that of growing the stack. False as in gate; the result that
     * the program finds in s0 is for it to write.
     */
    bool (*monitor_call)(struct ve_core *core, uint64_t number);
    void *owner;
    uint64_t stack_low; /* the stack cannot grow below it; 0 without a limit */

    uint64_t *communication; /* the communication registers, which threads share; NULL without */
    uint32_t communication_count;

    /* Called after each instruction, with its address, if it is not NULL; code runs slowly then. */
    void (*observe)(struct ve_core *core, const struct ve_instruction *instruction,
                    uint64_t address);
    /* Called before each instruction while there is an observer too, if it is not NULL. */
    void (*check)(struct ve_core *core, const struct ve_instruction *instruction, uint64_t address);
    void *checks; /* what that works with */

    /* Private to csrc/veo/machine. */
    struct ve_code *code;             /* what has been decoded */
    const struct ve_decoded *current; /* the instruction that runs; NULL while one is fetched */
    uint64_t fetched;                 /* its address then */
    uint32_t depth;                   /* calls of ve_core_run() that are under way */

    _Alignas(64) uint64_t vm[VE_MASKS][VE_MASK_WORDS];     /* element i: bit 63 - i % 64 of
                                                              word i / 64; vm[0] is all ones */
    _Alignas(64) uint64_t v[VE_VECTORS][VE_VECTOR_LENGTH]; /* packed: the upper half is the
                                                                    even element's */
};

/* The core that runs on this thread, NULL while none does. */
extern _Thread_local struct ve_core *ve_core_current;

/* All registers 0, rounding to nearest, no exception enabled. NULL without memory. */
struct ve_core *ve_core_create(void);
void ve_core_destroy(struct ve_core *core);

/* Where calls return to that end ve_core_run(). No code can be there. */
#define VE_HALT_ADDRESS UINT64_C(0xFFFFFFFFFFFFF000)

/*
 * Runs code from ENTRY until it returns (s[10] is set to VE_HALT_ADDRESS, and put back at the end).
 * False: it stopped, and core->fault says why; kind is VE_FAULT_NONE if a gate ended it. Gates may
 * run code on the same core. What the program's registers were is what its callee leaves.
 */
bool ve_core_run(struct ve_core *core, uint64_t entry);

/* Executes one instruction at core->ic; what it returns is as for ve_core_run(). A gate counts as
 * one instruction. *halted: the program returned to VE_HALT_ADDRESS. */
bool ve_core_step(struct ve_core *core, bool *halted);

/* Address of the instruction that runs, for handlers of signals and for gates. */
uint64_t ve_core_address(const struct ve_core *core);

/*
 * The PSW, with the flags that running code has raised. Writing it sets the host's rounding mode
 * too while code runs, and what is enabled takes effect with the next instruction.
 */
uint64_t ve_core_psw(struct ve_core *core);
void ve_core_set_psw(struct ve_core *core, uint64_t psw);

/*
 * Says that code changed or went away (a library was unloaded): all cores decode anew what they
 * run next. fencei does the same for its core.
 */
void ve_code_changed(void);

/* Stops the program by an exception; from an executor, a gate or a monitor call. */
void ve_raise(struct ve_core *core, enum ve_fault_kind kind, uint64_t address);

/* Sets flags of the PSW (VE_PSW_INVALID, ...) and raises what of them is enabled. */
void ve_arithmetic_exception(struct ve_core *core, uint32_t flags);

/* "DIVE", and "division by zero"; the host's signal that a kernel of the VE sends, 0 for none. */
const char *ve_fault_name(enum ve_fault_kind kind);
const char *ve_fault_text(enum ve_fault_kind kind);
int ve_fault_signal(enum ve_fault_kind kind);

#endif
