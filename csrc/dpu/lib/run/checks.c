/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/run/checks.h"

#include "dpu/checks/checks.h"
#include "common/check_options.h"
#include "common/text.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/core/settings.h"
#include "dpu/lib/core/verbose.h"
#include "dpu/lib/programs/program.h"
#include "dpu/lib/run/check_layout.h"
#include "dpu/lib/run/check_text.h"
#include "dpu/lib/run/waiting.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 64000
#define TOLD_MAX 1000
#define SUMMARY_MAX 160
#define FINDINGS_TOLD_PER_PROCESS 100

/* At each DPU that is checked. */
struct checked {
    struct dpulib_attachment attachment; /* first */
    struct dpu_checks *checks;
    struct dpu_t *dpu;
    bool is_old; /* another program was loaded */
};

/* The mutex guards what follows it. */
static struct check_options options;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct told {
    uint64_t program; /* hash of its path */
    uint32_t kind, here, other;
} told[TOLD_MAX];
static uint32_t told_count;
static uint64_t found, repeated;
static bool is_loaded; /* a DPU has a program that is to be checked */
static bool is_used;   /* a DPU was checked */
static bool can_race;  /* a program with several tasklets was */
static FILE *file;

/* --- telling --- */

static FILE *output(void)
{
    if (file == NULL && options.log != NULL)
        file = fopen(options.log, "we");
    if (file == NULL && options.log != NULL) {
        dpulib_log(DPULIB_WARNING, "DPU_CHECK: cannot write to %s: %s", options.log,
                   strerror(errno));
        options.log = NULL;
    }
    return file != NULL ? file : stderr;
}

/* True if another DPU has told of the same. */
static bool is_known(const struct told *one)
{
    for (uint32_t i = 0; i < told_count; i++)
        if (told[i].program == one->program && told[i].kind == one->kind &&
            ((told[i].here == one->here && told[i].other == one->other) ||
             (told[i].here == one->other && told[i].other == one->here)))
            return true;
    if (told_count < TOLD_MAX)
        told[told_count++] = *one;
    return false;
}

/* A program may be loaded again and again. */
static uint64_t hash_of(const struct dpu_t *dpu)
{
    const char *path = dpu->program != NULL ? dpu->program->program_path : NULL;
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (; path != NULL && *path != 0; path++)
        hash = (hash ^ (uint8_t)*path) * UINT64_C(0x100000001B3);
    return hash;
}

static void write_text(const struct dpu_t *dpu, const struct told *one, const char *text)
{
    const char *path = dpu->program != NULL ? dpu->program->program_path : NULL;
    pthread_mutex_lock(&guard);
    found++;
    if (is_known(one) || told_count > FINDINGS_TOLD_PER_PROCESS) {
        repeated++;
    } else {
        fprintf(output(), "== DPU %u.%u.%u%s%s: %s\n==\n", dpu->rank->id, dpu->slice, dpu->member,
                path != NULL ? " " : "", path != NULL ? path : "", text);
        fflush(output());
    }
    pthread_mutex_unlock(&guard);
}

static bool is_ignored(const struct dpu_t *dpu, const struct dpu_checks *checks,
                       struct dpu_check_point point)
{
    const struct dpulib_program *program = dpulib_program_of(dpu->program);
    if (program == NULL || options.ignored_count == 0)
        return false;

    uint32_t pc = point.pc, calls = point.calls;
    do {
        const struct dpu_elf_symbol *symbol = dpu_elf_find_code(&program->elf, pc, NULL);
        for (uint32_t i = 0; symbol != NULL && i < options.ignored_count; i++)
            if (strcmp(symbol->name, options.ignored[i]) == 0)
                return true;
    } while (dpu_checks_caller(checks, &calls, &pc));
    return false;
}

static void tell(void *context, const struct dpu_checks *checks, const struct dpu_finding *finding)
{
    char buffer[TEXT_MAX];
    struct text text = text_new(buffer, sizeof buffer);
    const struct checked *checked = context;
    const struct dpu_t *dpu = checked->dpu;
    const struct dpulib_program *program = dpulib_program_of(dpu->program);
    if ((program != NULL && dpulib_is_of_run_time(&program->elf, finding)) ||
        is_ignored(dpu, checks, finding->here) ||
        (finding->has_other && is_ignored(dpu, checks, finding->other)))
        return;

    dpulib_add_finding(&text, dpu, checks, finding);
    const struct told one = {
        .program = hash_of(dpu),
        .kind = (uint32_t)finding->kind,
        .here = finding->here.pc,
        .other = finding->has_other ? finding->other.pc : finding->here.pc,
    };
    write_text(dpu, &one, buffer);
}

/* --- DPUs --- */

static void release(struct dpulib_attachment *attachment)
{
    struct checked *checked = (struct checked *)attachment;
    dpu_checks_destroy(checked->checks);
    free(checked);
}

static struct checked *find(const struct dpu_t *dpu)
{
    struct dpulib_attachment *attachment = dpu->attachments;
    while (attachment != NULL && attachment->release != release)
        attachment = attachment->next;
    return (struct checked *)attachment;
}

static struct checked *make(struct dpu_t *dpu)
{
    struct checked *checked = calloc(1, sizeof *checked);
    if (checked == NULL)
        return NULL;

    checked->checks = dpu_checks_create(dpu->machine, options.wanted, tell, checked);
    if (checked->checks == NULL) {
        free(checked);
        return NULL;
    }

    pthread_mutex_lock(&guard);
    is_loaded = is_used = true;
    pthread_mutex_unlock(&guard);
    checked->dpu = dpu;
    checked->is_old = true;
    checked->attachment = (struct dpulib_attachment){dpu->attachments, release};
    dpu->attachments = &checked->attachment;
    return checked;
}

static void read_layout(struct checked *checked)
{
    struct dpu_check_layout layout;
    struct dpu_check_area *wram = NULL, *mram = NULL;
    const struct dpulib_program *program = dpulib_program_of(checked->dpu->program);
    bool reads = program != NULL && dpulib_check_layout(&program->elf, &layout, &wram, &mram);
    dpu_checks_load(checked->checks, reads ? &layout : NULL);
    pthread_mutex_lock(&guard);
    can_race |= program == NULL || program->elf.nr_tasklets > 1;
    pthread_mutex_unlock(&guard);
    checked->is_old = false;
    free(wram);
    free(mram);
}

void dpulib_checks_begin(struct dpu_t *dpu)
{
    if (options.wanted == 0)
        return;

    struct checked *checked = find(dpu);
    if (checked == NULL)
        checked = make(dpu);
    if (checked == NULL)
        dpulib_log(DPULIB_WARNING, "DPU_CHECK: out of memory: DPU %u.%u.%u is not checked",
                   dpu->rank->id, dpu->slice, dpu->member);
    else if (checked->is_old)
        read_layout(checked);
}

void dpulib_checks_load(struct dpu_t *dpu)
{
    if (options.wanted == 0)
        return;

    pthread_mutex_lock(&guard);
    is_loaded = true;
    pthread_mutex_unlock(&guard);
    struct checked *checked = find(dpu);
    if (checked != NULL)
        checked->is_old = true;
}

bool dpulib_checks_deadlock(const struct dpu_t *dpu)
{
    const struct checked *checked = find(dpu);
    return checked != NULL && dpu_checks_is_stuck(checked->checks);
}

/* Those that sleep at barriers, semaphores and handshakes forever. */
void dpulib_checks_end(struct dpu_t *dpu, enum dpu_run_status status)
{
    char buffer[TEXT_MAX];
    const struct checked *checked = find(dpu);
    if (checked == NULL || status != DPU_RUN_DONE || (options.wanted & DPU_CHECK_DEADLOCK) == 0)
        return;
    uint64_t sleepers = dpulib_sleepers(dpu);
    if (sleepers == 0)
        return;

    struct text text = text_new(buffer, sizeof buffer);
    text_add(&text, "deadlock: tasklets sleep, and nobody is left who could resume them: ");
    dpulib_add_sleepers(&text, dpu);
    for (uint64_t bits = sleepers; bits != 0; bits &= bits - 1) {
        struct dpu_check_point point =
            dpu_checks_where(checked->checks, (uint32_t)__builtin_ctzll(bits));
        text_add(&text, "\n==   tasklet %u sleeps", point.thread);
        dpulib_add_calls(&text, dpu, checked->checks, point);
    }

    struct dpu_check_point first =
        dpu_checks_where(checked->checks, (uint32_t)__builtin_ctzll(sleepers));
    const struct told one = {hash_of(dpu), DPU_FINDING_DEADLOCK, first.pc, UINT32_MAX};
    write_text(dpu, &one, buffer);
}

/* --- the process --- */

/* Findings until the fork are told by the parent. */
static void reset(void)
{
    pthread_mutex_init(&guard, NULL);
    is_loaded = is_used = can_race = false;
    found = repeated = 0;
}

static int summarise(char *text, size_t size)
{
    if (!is_used)
        return snprintf(text, size, "== checks: no DPU was launched, so nothing was checked\n");
    if (found == 0 && !can_race && (options.wanted & DPU_CHECK_RACE) != 0)
        return snprintf(text, size,
                        "== checks: nothing found, but with 1 tasklet there are no races: compile "
                        "with -DNR_TASKLETS=16, say\n");
    if (found == 0)
        return snprintf(text, size, "== checks: nothing found\n");
    return snprintf(
        text, size, "== %llu found, of which %llu %s repeated or too many to be shown\n",
        (unsigned long long)found, (unsigned long long)repeated, repeated == 1 ? "is" : "are");
}

/* A run that takes too long is ended by a signal, and its user wants to know what was found. */
static void tell_at_signal(int number)
{
    char text[SUMMARY_MAX];
    int length = is_loaded ? summarise(text, sizeof text) : 0;
    int to = file != NULL ? fileno(file) : options.log == NULL ? STDERR_FILENO : -1;
    if (length > 0 && to >= 0 && write(to, text, (size_t)length) < 0)
        length = 0; /* Nothing can be told of that. */
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGXCPU};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        struct sigaction ours = {.sa_handler = tell_at_signal, .sa_flags = SA_NODEFER};
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &ours, NULL);
    }
}

__attribute__((constructor)) static void set_up(void)
{
    static const struct check_word words[] = DPU_CHECK_WORDS;
    char problem[200];
    const char *wanted = dpulib_setting(DPULIB_DPU_CHECK);
    if (!check_options_read(&options, words, sizeof words / sizeof *words, wanted, problem,
                            sizeof problem))
        dpulib_refuse_setting(DPULIB_DPU_CHECK, problem);
    else if (options.log != NULL)
        dpulib_check_writable(DPULIB_DPU_CHECK, options.log);
    if (options.wanted != 0)
        watch_signals();
    dpulib_on_fork(reset);
}

__attribute__((destructor)) static void finish(void)
{
    if (!is_loaded)
        return;
    char text[SUMMARY_MAX];
    summarise(text, sizeof text);
    FILE *to = output();
    fputs(text, to);

    /* A file that is full lacks findings, perhaps earlier ones. */
    bool is_cut = (fflush(to) != 0 || ferror(to)) && to == file;
    if (is_cut)
        dpulib_log(DPULIB_ERROR, "DPU_CHECK: %s cannot be written: %s; findings are missing in it",
                   options.log, strerror(errno));
    if ((found != 0 || is_cut) && options.exit_status != 0) {
        fflush(NULL);
        _exit(options.exit_status);
    }
}
