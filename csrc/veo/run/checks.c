/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/run/checks.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check_options.h"
#include "veo/checks/shadow.h"
#include "veo/run/checks_gates.h"
#include "veo/run/trace.h"

#define VARIABLE "VEO_CHECK"

enum { TEXT_MAX = 24000, SUMMARY_MAX = 160, TOLD_MAX = 1000, SHOWN_MAX = 100 };

static const struct check_word words[] = VE_CHECK_WORDS;

/* A finding that was told. */
struct told {
    uint64_t pc;
    enum ve_finding_kind kind;
};

static struct check_options options;
static char problem[320];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ve_checks_services services;
static const struct verun_code *code;
static const struct verun_zones *memory_of_host;
static _Atomic bool is_used; /* a core is checked */
static _Atomic uint32_t *host_status;

/* The mutex guards what follows it. */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static struct told told[TOLD_MAX];
static uint32_t told_count;
static _Atomic uint64_t found, repeated;

/* --- telling --- */

static bool is_known(const struct ve_finding *finding)
{
    for (uint32_t i = 0; i < told_count; i++)
        if (told[i].pc == finding->pc && told[i].kind == finding->kind)
            return true;
    if (told_count < TOLD_MAX)
        told[told_count++] = (struct told){finding->pc, finding->kind};
    return false;
}

static bool is_ignored_at(uint64_t pc)
{
    const char *function = code->function(pc);
    for (uint32_t i = 0; function != NULL && i < options.ignored_count; i++)
        if (strcmp(function, options.ignored[i]) == 0)
            return true;
    return false;
}

static bool is_ignored(const struct ve_checks *checks, uint64_t pc)
{
    bool ignored = options.ignored_count != 0 && is_ignored_at(pc);
    for (size_t i = 0; options.ignored_count != 0 && i < ve_checks_depth(checks) && !ignored; i++)
        ignored = is_ignored_at(ve_checks_caller(checks, i));
    return ignored;
}

static void tell(struct ve_checks *checks, const struct ve_finding *finding)
{
    char buffer[TEXT_MAX];
    struct text text = text_new(buffer, sizeof buffer);
    if (is_ignored(checks, finding->pc))
        return;

    pthread_mutex_lock(&guard);
    found++;
    if (is_known(finding) || told_count > SHOWN_MAX) {
        repeated++;
    } else {
        verun_add_finding(&text, code, memory_of_host, checks, finding);
        fprintf(file, "%s\n==\n", buffer);
        fflush(file);
    }
    if (host_status != NULL)
        atomic_store(host_status, (uint32_t)options.exit_status);
    pthread_mutex_unlock(&guard);
}

/* --- options --- */

static enum ve_zone zone(uint64_t address, uint64_t size)
{
    return memory_of_host != NULL ? memory_of_host->find(address, size) : VE_ZONE_UNKNOWN;
}

static void read_options(void)
{
    char why[200];
    const char *wanted = secure_getenv(VARIABLE);
    file = stderr;
    if (!check_options_read(&options, words, sizeof words / sizeof *words, wanted, why,
                            sizeof why)) {
        snprintf(problem, sizeof problem, VARIABLE "=%.80s is not allowed: %s", wanted, why);
        return;
    }
    if (options.log != NULL)
        file = fopen(options.log, "ae");
    if (file == NULL) {
        snprintf(problem, sizeof problem, VARIABLE ": log=%.150s cannot be written: %s",
                 options.log, strerror(errno));
        options.wanted = 0;
    }
    services = (struct ve_checks_services){
        .wanted = options.wanted, .tell = tell, .zone = memory_of_host != NULL ? zone : NULL};
}

bool verun_checks_ready(const struct verun_code *known, struct velink_error *error)
{
    code = known;
    pthread_once(&once, read_options);
    return problem[0] == '\0' || velink_fail(error, "%s", problem);
}

/* --- cores --- */

void verun_checks_attach(struct ve_core *core)
{
    pthread_once(&once, read_options);
    if (options.wanted == 0 || code == NULL)
        return;
    struct ve_checks *checks = ve_checks_attach(core, &services);
    if (checks == NULL) {
        fprintf(stderr, "[VE] WARNING: " VARIABLE ": out of memory: a thread is not checked\n");
        return;
    }
    verun_checks_gates(core);
    atomic_store(&is_used, true);
}

void verun_checks_detach(struct ve_core *core)
{
    ve_checks_detach(core->checks);
}

void verun_checks_enter_program(struct ve_core *core)
{
    enum { ARGUMENTS_MAX = 1 << 20 };
    if (core->checks != NULL)
        ve_checks_enter(core->checks, 0, core->s[VE_S_STACK], ARGUMENTS_MAX, true);
}

void verun_checks_from_host(const struct ve_core *core)
{
    if (core->checks != NULL)
        ve_blocks_define();
}

bool verun_checks_free(uint64_t address, bool *freed)
{
    static const struct ve_block_place by_host;
    *freed = ve_blocks_free(address, &by_host) == VE_BLOCKS_FREED;
    return *freed || ve_blocks_contain(address);
}

void verun_checks_set_zones(const struct verun_zones *zones)
{
    memory_of_host = zones;
}

void verun_checks_set_status(_Atomic uint32_t *status)
{
    host_status = status;
}

/* --- the end --- */

void verun_checks_summarise(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    char text[SUMMARY_MAX];
    if (options.wanted == 0 || atomic_flag_test_and_set(&done))
        return;

    uint64_t all = atomic_load(&found), rest = atomic_load(&repeated);
    int length;
    if (!atomic_load(&is_used))
        length = snprintf(text, sizeof text,
                          "== checks: no Vector Engine code ran, so nothing was checked\n");
    else if (all == 0)
        length = snprintf(text, sizeof text, "== checks: nothing found\n");
    else
        length = snprintf(
            text, sizeof text, "== %llu found, of which %llu %s repeated or too many to be shown\n",
            (unsigned long long)all, (unsigned long long)rest, rest == 1 ? "is" : "are");
    if (write(fileno(file), text, (size_t)length) < 0)
        length = 0; /* nothing can be told of that */
}

void verun_checks_finish(void)
{
    const char *wanted = secure_getenv(VARIABLE);
    if (wanted != NULL && *wanted != '\0' && !atomic_load(&is_used))
        fprintf(stderr,
                "[VE] " VARIABLE "=%s has checked nothing in this process, as it ran no Vector "
                "Engine code: VEBUILD_TARGET=ve compiles kernels for it, see docs/veo_checks.md\n",
                wanted);
}

/* After all functions of atexit(), which may run VE code and write files. */
__attribute__((destructor)) static void end(void)
{
    if (options.wanted == 0 || !atomic_load(&is_used))
        return;
    verun_checks_summarise();
    if (options.log != NULL)
        verun_trace_flush(file, VARIABLE);
    if (atomic_load(&found) != 0 && options.exit_status != 0 && host_status == NULL) {
        fflush(NULL);
        _exit(options.exit_status);
    }
}
