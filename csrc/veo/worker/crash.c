/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/worker/crash.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include "common/futex.h"
#include "common/readable_name.h"
#include "common/text.h"
#include "formats/dwarf_lines.h"
#include "ve_offload.h"
#include "veo/run/checks.h"
#include "veo/run/gates.h"
#include "veo/run/libraries.h"
#include "veo/run/thread.h"
#include "veo/worker/context.h"
#include "veo/worker/invoke.h"
#include "veo/worker/loaded_file.h"

/* Files are read again for each frame with a line. */
enum { SIGNAL_STACK = 128 << 10, FRAMES = 48, FRAMES_WITH_LINES = 8 };

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { CRASH_SIGNALS = sizeof crash_signals / sizeof *crash_signals };

void veow_describe(uint64_t address, char *text, size_t size)
{
    Dl_info info;
    const struct velink_library *library = verun_library_at(address);
    if (library != NULL) {
        const struct velink_named *function = velink_function_at(library, address);
        if (function != NULL)
            snprintf(text, size, "%.120s (%.100s)", function->name, library->path);
        else
            snprintf(text, size, "0x%llx (%.100s)", (unsigned long long)address, library->path);
        return;
    }

    if (dladdr((const void *)(uintptr_t)address, &info) && info.dli_fname != NULL) {
        if (info.dli_sname != NULL)
            snprintf(text, size, "%.120s (%.100s)", info.dli_sname, info.dli_fname);
        else
            snprintf(text, size, "0x%llx (%.100s+0x%llx)", (unsigned long long)address,
                     info.dli_fname,
                     (unsigned long long)(address - (uint64_t)(uintptr_t)info.dli_fbase));
    } else {
        snprintf(text, size, "0x%llx", (unsigned long long)address);
    }
}

struct trace {
    struct text *report;
    uint64_t fault; /* frames above this one are those of the handler */
    bool below;
    int frames;
};

/* " at kernel.c:42" for a code address, if debug info says so. */
static void add_line(struct text *r, uint64_t address)
{
    Dl_info info;
    struct veow_file file;
    struct dwarf_line line;
    const struct link_map *map = veow_file_of(address, &info);
    if (map == NULL || !veow_file_map(map, &file))
        return;

    if (dwarf_find_line(file.image, file.size, address - map->l_addr, &line))
        text_add(r, " at %s:%u", line.file, line.line);
    veow_file_unmap(&file);
}

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *frame, void *argument)
{
    struct trace *trace = argument;
    Dl_info info;
    int before = 0;
    uint64_t pc = (uint64_t)_Unwind_GetIPInfo(frame, &before);
    if (!trace->below && pc != trace->fault)
        return _URC_NO_REASON;

    trace->below = true;
    /* The caller of that code is the worker itself. */
    if (pc > (uint64_t)(uintptr_t)veow_invoke && pc <= (uint64_t)(uintptr_t)veow_invoke_end)
        return _URC_END_OF_STACK;

    bool named = dladdr((const void *)(uintptr_t)(before ? pc : pc - 1), &info) != 0;
    uint64_t base = named ? (uint64_t)(uintptr_t)info.dli_fbase : 0;
    text_add(trace->report, "\n    #%d 0x%llx", trace->frames, (unsigned long long)pc);
    if (named && info.dli_sname != NULL)
        text_add(trace->report, " %s+0x%llx", info.dli_sname,
                 (unsigned long long)(pc - (uint64_t)(uintptr_t)info.dli_saddr));
    if (named && info.dli_fname != NULL)
        text_add(trace->report, " (%s+0x%llx)", info.dli_fname, (unsigned long long)(pc - base));
    if (named && trace->frames < FRAMES_WITH_LINES)
        add_line(trace->report, before ? pc : pc - 1);
    return ++trace->frames < FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* --- VE code --- */

enum { SAVED_FRAME = 0, SAVED_RETURN = 8 };

static void add_ve_frame(struct text *r, int number, uint64_t address, bool returned)
{
    text_add(r, "\n    #%d VE 0x%llx", number, (unsigned long long)address);
    verun_add_place(r, address, returned);
}

/* True if the link register says where the running function returns to: not once that has called.
 */
static bool is_link_of_caller(const struct ve_core *core, uint64_t address)
{
    uint64_t link = core->s[VE_S_LINK];
    const struct velink_library *library = verun_library_at(link);
    return library != NULL &&
           velink_function_at(library, link - 1) != velink_function_at(library, address);
}

/* Callers are found by the frames, which begin with the caller's and the place to return to. */
static void add_ve_frames(struct text *r, const struct ve_core *core)
{
    uint64_t frame = core->s[VE_S_FRAME];
    uint64_t address = core->fault.kind != VE_FAULT_NONE ? core->fault.ic : ve_core_address(core);
    uint64_t shown = 0;
    int n = 0;
    add_ve_frame(r, n++, address, false);
    if (is_link_of_caller(core, address)) {
        shown = core->s[VE_S_LINK];
        add_ve_frame(r, n++, shown, true);
    }

    while (n < FRAMES && frame != 0 && frame % 8 == 0) {
        const uint64_t *words = (const uint64_t *)(uintptr_t)frame;
        uint64_t back = words[SAVED_RETURN / 8];
        if (verun_library_at(back) == NULL || words[SAVED_FRAME / 8] <= frame)
            return;
        if (back != shown)
            add_ve_frame(r, n++, back, true);
        frame = words[SAVED_FRAME / 8];
    }
}

static const char *signal_name(int number)
{
    switch (number) {
    case SIGSEGV: return "SIGSEGV, invalid memory access";
    case SIGBUS: return "SIGBUS, bus error";
    case SIGFPE: return "SIGFPE, arithmetic error";
    case SIGILL: return "SIGILL, illegal instruction";
    case SIGABRT: return "SIGABRT, abort() was called";
    default: return "signal";
    }
}

/*
 * Tells the host. The requests that the crash ends come first: once the process counts as dead,
 * those without an answer have failed because of another one's crash.
 */
static void publish(int number)
{
    struct veow_context *culprit = veow_current;
    for (struct veow_context *c = veow_contexts(); c != NULL; c = c->next)
        /* A thread that a kernel made has no context: then any running one may be the cause. */
        if (c->slot != NULL && (c == culprit || culprit == NULL))
            veow_finish(c, VEO_COMMAND_EXCEPTION, (uint64_t)number);

    atomic_store(&veow_header->crashed, (uint32_t)number);
    for (struct veow_context *c = veow_contexts(); c != NULL; c = c->next) {
        atomic_fetch_add(&c->wire->done_doorbell, 1);
        futex_wake_all(&c->wire->done_doorbell);
    }
}

/* Flushes what kernels printed before, unless a thread is in the middle of printing. */
static void flush_output(void)
{
    if (ftrylockfile(stdout) == 0) {
        fflush(stdout);
        funlockfile(stdout);
    }
}

static void show(void)
{
    static atomic_flag shown = ATOMIC_FLAG_INIT;
    const char *report = veow_header->death;
    if (!veow_header->quiet && !atomic_flag_test_and_set(&shown)) {
        ssize_t ignored = write(STDERR_FILENO, report, strnlen(report, sizeof veow_header->death));
        ignored = write(STDERR_FILENO, "\n", 1);
        (void)ignored;
    }
}

/* Where a fault in the middle of a report goes on. */
static _Thread_local sigjmp_buf next_step;
/* A step of it that may itself fault, as the stack or the memory of libraries is damaged. */
#define STEP(action) \
    do { \
        if (sigsetjmp(next_step, 0) == 0) { \
            action; \
        } \
    } while (0)

/* The exit code of a process whose report is not shown in time. */
static volatile sig_atomic_t late_code;

VEOW_NO_ASAN static void on_late(int number)
{
    (void)number;
    show();
    _exit(late_code);
}

/* A report that gets stuck, as at a lock that the crashed thread holds, is shown as far as it is.
 */
static void limit_time(int code)
{
    sigset_t alarms;
    late_code = code;
    signal(SIGALRM, on_late);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(1);
}

/* The kernel TARGET, or what runs if there is none. */
static void add_place(struct text *report, uint64_t target)
{
    /* A program that runs alone has no worker's process behind it. */
    bool alone = veow_header->worker_pid == 0;
    char where[256] = "";
    if (target)
        veow_describe(target, where, sizeof where);
    text_add(report, "%s%s",
             target  ? "kernel "
             : alone ? "the program"
                     : "a thread that a kernel made",
             where);
}

static void describe_crash(struct text *report, int number, uint64_t target, const siginfo_t *info)
{
    const void *address = info->si_addr;
    text_add(report, "[VE] ERROR: signal %d (%s) in ", number, signal_name(number));
    add_place(report, target);
    if (info->si_code == SI_KERNEL) /* x86-64 does not say which address it is */
        text_add(report, ", at a misaligned address, or one with the tag of veo_alloc_hmem(), "
                         "which veo_get_hmem_addr() removes");
    else if (number != SIGABRT)
        text_add(report, ", at address %p", address);
    const char *missing = verun_gate_name((uint64_t)(uintptr_t)address);
    if (missing != NULL && ve_core_current != NULL)
        text_add(report, " (%.100s, which is nowhere)", missing);
}

/* The first one to end the process does so; the others wait for it. */
VEOW_NO_ASAN static void end_once(void)
{
    static atomic_flag ending = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&ending))
        for (;;)
            pause();
}

static uint64_t interrupted_at(const void *context)
{
    const ucontext_t *uc = context;
#if defined(__aarch64__)
    return uc->uc_mcontext.pc;
#else
    return (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
#endif
}

VEOW_NO_ASAN static void on_crash(int number, siginfo_t *info, void *context)
{
    static _Thread_local bool here;
    struct veow_context *ctx = veow_current;
    if (ctx != NULL && ctx->guarded)
        siglongjmp(ctx->guard, number);
    if (here)
        siglongjmp(next_step, number);
    end_once();
    here = true;

    /* The host is told first: what follows may fault or get stuck. */
    uint64_t target = ctx != NULL ? atomic_load(&ctx->target) : 0;
    STEP(publish(number));
    atomic_store(&veow_header->crashed, (uint32_t)number); /* also if that step faulted */
    limit_time(number);

    struct text report = text_new(veow_header->death, sizeof veow_header->death);
    struct trace trace = {.report = &report, .fault = interrupted_at(context)};
    STEP(describe_crash(&report, number, target, info));
    if (ve_core_current != NULL)
        STEP(add_ve_frames(&report, ve_core_current));
    else
        STEP(_Unwind_Backtrace(add_frame, &trace));
    STEP(readable_names(veow_header->death, sizeof veow_header->death));
    STEP(flush_output());
    STEP(show());
    STEP(verun_checks_summarise());
    _exit(number);
}

VEOW_NO_ASAN void veow_die(const char *reason)
{
    end_once();
    struct text report = text_new(veow_header->death, sizeof veow_header->death);
    text_add(&report, "[VE] ERROR: %s", reason);
    publish(SIGABRT);
    limit_time(1);
    flush_output();
    show();
    _exit(1);
}

VEOW_NO_ASAN void veow_ve_exception(const struct ve_core *core)
{
    const struct veow_context *ctx = veow_current;
    const struct ve_fault *fault = &core->fault;
    int number = ve_fault_signal(fault->kind);
    end_once();
    publish(number != 0 ? number : SIGABRT);
    limit_time(number != 0 ? number : 1);

    struct text report = text_new(veow_header->death, sizeof veow_header->death);
    text_add(&report, "[VE] ERROR: %s (%s) in ", ve_fault_name(fault->kind),
             ve_fault_text(fault->kind));
    add_place(&report, ctx != NULL ? atomic_load(&ctx->target) : 0);
    if (fault->address != 0)
        text_add(&report, ", at address 0x%llx", (unsigned long long)fault->address);
    STEP(add_ve_frames(&report, core));
    STEP(readable_names(veow_header->death, sizeof veow_header->death));
    flush_output();
    show();
    verun_checks_summarise();
    _exit(number != 0 ? number : 1);
}

void *veow_signal_stack_new(void)
{
    void *stack = mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return NULL;
    stack_t description = {.ss_sp = stack, .ss_size = SIGNAL_STACK};
    sigaltstack(&description, NULL);
    return stack;
}

void veow_signal_stack_free(void *stack)
{
    if (stack == NULL)
        return;
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    munmap(stack, SIGNAL_STACK);
}

void veow_crash_setup(void)
{
    verun_set_stop(veow_ve_exception);
    struct sigaction action = {.sa_sigaction = on_crash,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CRASH_SIGNALS; i++)
        sigaction(crash_signals[i], &action, NULL);
}
