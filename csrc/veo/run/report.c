/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/run/report_core.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "veo/run/trace.h"

#define HEADER \
    "# offchip veorun report 2: modelled time of Vector Engine code; see VEO_SOFT_REPORT in " \
    "docs/veo_time.md\n" \
    "pid,event,number,function,model,seconds,vector_seconds,cycles,instructions," \
    "vector_instructions,vector_elements,vector_load_elements,fma_elements,flops,vector_lengths," \
    "core_seconds,vector_bytes\n"

static FILE *file;
static const struct ve_time_model *model;
static char problem[320];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ve_counters total;
static uint64_t calls;
static _Thread_local struct verun_core_time *mine; /* NULL: no report is asked for */

/* --- the file --- */

static void write_line(const char *event, uint64_t number, const char *function,
                       const struct ve_counters *c)
{
    const double cycle = 1e-6 / model->clock;
    fprintf(file,
            "%ld,%s,%" PRIu64 ",%s,%s,%.12f,%.12f,%.0f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
            ",%" PRIu64 ",%" PRIu64 ",",
            (long)getpid(), event, number, function, model->name, c->cycles * cycle,
            c->vector_cycles * cycle, c->cycles, c->instructions, c->vectors, c->elements,
            c->load_elements, c->fma_elements, c->flops);

    /* "11:651;256:28" */
    const char *between = "";
    for (unsigned length = 0; length <= VE_VECTOR_LENGTH; length++)
        if (c->lengths[length] != 0) {
            fprintf(file, "%s%u:%" PRIu64, between, length, c->lengths[length]);
            between = ";";
        }
    fprintf(file, ",%.12f,%" PRIu64 "\n", c->core_cycles * cycle, c->bytes);
}

/* At the end of a thread, also of a call that exit() or pthread_exit() has left. */
static void settle_all(void)
{
    if (mine != NULL && mine->function != NULL) {
        verun_report_end();
    } else if (mine != NULL) {
        mine->is_claimed = false;
        verun_report_settle();
    }
}

/* In the thread that ends the process. */
static void write_total(void)
{
    settle_all();
    pthread_mutex_lock(&lock);
    write_line("total", calls, "", &total);
    verun_trace_flush(file, "VEO_SOFT_REPORT");
    pthread_mutex_unlock(&lock);
}

/* "%p" stands for the process id. */
static FILE *open_named(const char *name)
{
    char path[4096];
    const char *mark = strstr(name, "%p");
    if (strcmp(name, "-") == 0)
        return stderr;
    if (mark == NULL)
        snprintf(path, sizeof path, "%s", name);
    else
        snprintf(path, sizeof path, "%.*s%ld%s", (int)(mark - name), name, (long)getpid(),
                 mark + 2);
    return fopen(path, "ae");
}

static void open_report(void)
{
    const char *name = secure_getenv("VEO_SOFT_REPORT");
    const char *wanted = secure_getenv("VEO_SOFT_MODEL");
    model = ve_time_model(wanted != NULL && *wanted != '\0' ? wanted : "VE10B");
    if (name == NULL || *name == '\0')
        return;
    if (model == NULL) {
        snprintf(problem, sizeof problem,
                 "VEO_SOFT_MODEL=%.100s is not allowed: it takes VE10B or "
                 "VE20B",
                 wanted);
        return;
    }

    file = open_named(name);
    if (file == NULL) {
        snprintf(problem, sizeof problem, "VEO_SOFT_REPORT=%.200s cannot be written: %s", name,
                 strerror(errno));
        return;
    }
    setvbuf(file, NULL, _IOLBF, BUFSIZ);
    fputs(HEADER, file);
    atexit(write_total);
}

bool verun_report_ready(struct velink_error *error)
{
    pthread_once(&once, open_report);
    if (problem[0] != '\0')
        velink_fail(error, "%s", problem);
    return problem[0] == '\0';
}

void verun_report_finish(void)
{
    const char *name = secure_getenv("VEO_SOFT_REPORT");
    if (name != NULL && *name != '\0' && model == NULL)
        fprintf(stderr,
                "[VE] VEO_SOFT_REPORT=%s has no calls of this process, as it loaded no Vector "
                "Engine code: VEBUILD_TARGET=ve compiles kernels for it, see docs/veo_time.md\n",
                name);
}

/* --- cores --- */

static void add(struct ve_core *core, const struct ve_instruction *instruction, uint64_t address)
{
    ve_meter_add(&mine->meter, core, instruction);
    if (mine->observe != NULL)
        mine->observe(core, instruction, address);
}

void verun_report_attach(struct ve_core *core)
{
    pthread_once(&once, open_report);
    mine = file != NULL ? calloc(1, sizeof *mine) : NULL;
    if (mine == NULL)
        return;
    ve_meter_start(&mine->meter, model, 0);
    mine->observe = core->observe;
    core->observe = add;
}

void verun_report_detach(void)
{
    settle_all(); /* what pthread_exit() has ended */
    free(mine);
    mine = NULL;
}

struct verun_core_time *verun_core_time(void)
{
    return mine;
}

void verun_report_add(const struct ve_counters *counters)
{
    pthread_mutex_lock(&lock);
    ve_counters_add(&total, counters);
    pthread_mutex_unlock(&lock);
}

bool verun_report_is_made(void)
{
    return mine != NULL;
}

void verun_report_begin(const char *function)
{
    if (mine == NULL)
        return;
    mine->is_claimed = true;
    mine->function = function;
    ve_meter_start(&mine->meter, model, 0);
}

void verun_report_end(void)
{
    if (mine == NULL)
        return;

    const struct ve_counters counters = ve_meter_read(&mine->meter);
    const char *function = mine->function;
    mine->is_claimed = false;
    mine->function = NULL;
    ve_meter_start(&mine->meter, model, 0);
    pthread_mutex_lock(&lock);
    ve_counters_add(&total, &counters);
    write_line("call", ++calls, function, &counters);
    pthread_mutex_unlock(&lock);
}

void verun_report_settle(void)
{
    if (mine == NULL || mine->is_claimed)
        return;

    const struct ve_counters counters = ve_meter_read(&mine->meter);
    verun_report_add(&counters);
    ve_meter_start(&mine->meter, model, 0);
}
