/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/observe/recorder.h"

#include "common/clock.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/core/path.h"
#include "dpu/lib/core/settings.h"
#include "dpu/lib/core/verbose.h"
#include "dpu/lib/observe/merged.h"
#include "dpu/lib/observe/options.h"
#include "dpu/lib/observe/raw_file.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The largest number of DPUs of a rank: what the numbers of DPUs are counted in. */
#define RANK_SIZE (DPU_MAX_NR_CIS * DPU_MAX_NR_DPUS_PER_CI)
#define EXIT_LIMIT (CLOCK_SECOND / 5)

/* At each DPU that is profiled. */
struct recording {
    struct dpulib_attachment attachment; /* first */
    struct list_node node;
    struct dpu_profile *profile;
    struct dpulib_merged *program; /* NULL: not known yet */
    uint32_t dpu, rows;            /* its number; of tasklets */
    uint64_t number;               /* of the launch */
    bool runs;
};

/* The mutex guards what follows. It is taken after the library's lock, if both are. */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct dpulib_observe_options options;
static struct dpulib_raw_file file = {.file = -1};
static struct list recordings;
static int64_t began;
static bool is_child;
static _Atomic bool records;
static _Atomic uint64_t launches;

bool dpulib_records(void)
{
    return atomic_load_explicit(&records, memory_order_relaxed);
}

uint64_t dpulib_record_number(void)
{
    return dpulib_records() ? atomic_fetch_add(&launches, 1) + 1 : 0;
}

/* --- the file --- */

/* A child has a file of its own. */
static char *path_of(void)
{
    char *path = dpulib_make_path(options.file), *longer = NULL;
    if (path == NULL || !is_child || strstr(options.file, "%p") != NULL)
        return path;
    if (asprintf(&longer, "%s.%ld", path, (long)getpid()) < 0)
        longer = NULL;
    free(path);
    return longer;
}

static void tell_failure(void)
{
    dpulib_log(DPULIB_WARNING, "DPU_PROFILE: cannot write to %s: %s", options.file,
               strerror(errno));
    atomic_store(&records, false);
}

static bool open_file(void)
{
    if (file.file >= 0)
        return true;
    if (!dpulib_records())
        return false;

    char *path = path_of();
    bool opens = path != NULL && dpulib_raw_open(&file, path, (uint64_t)options.limit << 20);
    free(path);
    if (!opens)
        tell_failure();
    return opens;
}

static void write_record(enum dpulib_raw_kind kind, const struct dpulib_raw_part *parts,
                         size_t count)
{
    if (open_file() && !dpulib_raw_write(&file, kind, parts, count))
        tell_failure();
}

/* --- DPUs --- */

static void release(struct dpulib_attachment *attachment)
{
    struct recording *recording = (struct recording *)attachment;
    pthread_mutex_lock(&guard);
    if (recording->program != NULL)
        dpulib_merged_take(recording->program, recording->profile, recording->dpu);
    list_remove(&recordings, &recording->node);
    if (list_is_empty(&recordings) && open_file())
        dpulib_merged_write(&file);
    pthread_mutex_unlock(&guard);

    dpu_profile_destroy(recording->profile);
    free(recording);
}

/* Numbers count the DPUs of a rank that there are. */
static uint32_t number_of(const struct dpu_t *dpu)
{
    uint32_t number = dpu->rank->id * RANK_SIZE;
    for (const struct dpu_t *other = dpu->rank->dpus; other < dpu; other++)
        number += other->enabled;
    return number;
}

static struct recording *find_recording(const struct dpu_t *dpu)
{
    struct dpulib_attachment *attachment = dpu->attachments;
    while (attachment != NULL && attachment->release != release)
        attachment = attachment->next;
    return (struct recording *)attachment;
}

static struct recording *make_recording(struct dpu_t *dpu)
{
    uint32_t number = number_of(dpu);
    if (number < options.first || number > options.last)
        return NULL;

    struct recording *recording = calloc(1, sizeof *recording);
    if (recording == NULL)
        return NULL;
    uint32_t events = number == options.first ? options.events : 0;
    recording->profile = dpu_profile_create(dpu->machine, events);
    if (recording->profile == NULL) {
        free(recording);
        return NULL;
    }

    const uint32_t tasklets = dpu_machine_thread_count(dpu->machine);
    recording->rows = tasklets > DPU_MACHINE_THREADS ? tasklets : DPU_MACHINE_THREADS;
    recording->dpu = number;
    recording->attachment.release = release;
    recording->attachment.next = dpu->attachments;
    dpu->attachments = &recording->attachment;
    pthread_mutex_lock(&guard);
    list_append(&recordings, &recording->node);
    pthread_mutex_unlock(&guard);
    return recording;
}

/* The program that a DPU has, with a reference; NULL for one that a caller made. */
static struct dpulib_program *take_program(const struct dpu_t *dpu)
{
    dpulib_lock();
    struct dpulib_program *program = dpulib_program_of(dpu->program);
    if (program != NULL)
        dpu_take_program_ref(&program->public);
    dpulib_unlock();
    return program;
}

static void add_functions(struct dpu_profile *profile, const struct dpu_elf *elf)
{
    dpu_profile_forget_functions(profile);
    for (size_t i = 0; i < elf->ncode; i++)
        if (elf->code[i]->kind == DPU_ELF_FUNCTION)
            dpu_profile_add_function(profile, (elf->code[i]->value - DPU_ELF_IRAM_BASE) / 8);
}

static void identify(struct recording *recording, const struct dpu_t *dpu)
{
    struct dpulib_program *program = take_program(dpu);
    if (program == NULL)
        return;

    pthread_mutex_lock(&guard);
    if (open_file())
        recording->program = dpulib_merged_find(&file, program, dpu);
    pthread_mutex_unlock(&guard);
    add_functions(recording->profile, &program->elf);
    dpu_free_program(&program->public);
}

/* --- launches --- */

void dpulib_record_begin(struct dpu_t *dpu, uint64_t number)
{
    if (!dpulib_records())
        return;
    struct recording *recording = find_recording(dpu);
    if (recording == NULL)
        recording = make_recording(dpu);
    if (recording == NULL)
        return;

    if (recording->program == NULL)
        identify(recording, dpu);
    pthread_mutex_lock(&guard);
    recording->runs = true;
    pthread_mutex_unlock(&guard);
    recording->number = number;
}

static void write_launch(const struct recording *recording)
{
    const struct dpulib_merged *program = recording->program;
    struct dpulib_raw_launch launch = {
        .operation = recording->number,
        .dpu = recording->dpu,
        .program = program != NULL ? dpulib_merged_number(program) : 0,
    };
    if (!dpu_profile_get_launch(recording->profile, &launch.launch))
        return;

    const size_t size = offsetof(struct dpulib_raw_launch, launch.tasklets) +
                        recording->rows * sizeof *launch.launch.tasklets;
    write_record(DPULIB_RAW_LAUNCH, &(struct dpulib_raw_part){&launch, size}, 1);

    uint32_t count;
    uint64_t dropped;
    const struct dpu_profile_event *events =
        dpu_profile_events(recording->profile, &count, &dropped);
    if (count == 0)
        return;
    const struct dpulib_raw_events head = {launch.operation, launch.dpu, launch.program, count,
                                           dropped};
    const struct dpulib_raw_part parts[] = {{&head, sizeof head}, {events, count * sizeof *events}};
    write_record(DPULIB_RAW_EVENTS, parts, 2);
}

void dpulib_record_end(struct dpu_t *dpu)
{
    struct recording *recording = find_recording(dpu);
    if (recording == NULL)
        return;

    pthread_mutex_lock(&guard);
    write_launch(recording);
    recording->runs = false;
    pthread_mutex_unlock(&guard);
}

void dpulib_record_ending(struct dpu_t *dpu, const char *text)
{
    const struct recording *recording = find_recording(dpu);
    if (recording == NULL)
        return;

    size_t size = strlen(text);
    const struct dpulib_raw_ending head = {recording->number, recording->dpu, (uint32_t)size};
    const struct dpulib_raw_part parts[] = {{&head, sizeof head}, {text, size}};
    pthread_mutex_lock(&guard);
    write_record(DPULIB_RAW_ENDING, parts, 2);
    pthread_mutex_unlock(&guard);
}

void dpulib_record_load(struct dpu_t *dpu)
{
    struct recording *recording = find_recording(dpu);
    if (recording == NULL || recording->program == NULL)
        return;

    pthread_mutex_lock(&guard);
    dpulib_merged_take(recording->program, recording->profile, recording->dpu);
    recording->program = NULL;
    pthread_mutex_unlock(&guard);
}

/* --- operations --- */

void dpulib_record_operation(const struct dpulib_record *record)
{
    if (!dpulib_records() || record->begin < began)
        return;

    const struct dpulib_raw_operation raw = {
        .number = record->number,
        .begin = (uint64_t)(record->begin - began),
        .end = (uint64_t)(clock_now() - began),
        .modelled = (uint64_t)(record->seconds * 1e9),
        .bytes = record->bytes,
        .cycles = record->cycles,
        .instructions = record->instructions,
        .dpus = (uint32_t)record->dpus,
        .what = record->what,
    };
    pthread_mutex_lock(&guard);
    write_record(DPULIB_RAW_OPERATION, &(struct dpulib_raw_part){&raw, sizeof raw}, 1);
    pthread_mutex_unlock(&guard);
}

/* --- the process --- */

/* DPUs belong to the parent. Its file must not be written to by two. */
static void reset(void)
{
    pthread_mutex_init(&guard, NULL);
    dpulib_raw_close(&file);
    recordings = (struct list){0};
    dpulib_merged_reset();
    atomic_store(&launches, 0);
    is_child = true;
}

__attribute__((constructor)) static void set_up(void)
{
    char problem[200];
    const char *wanted = dpulib_setting(DPULIB_DPU_PROFILE);
    if (!dpulib_observe_read(&options, wanted, problem, sizeof problem))
        dpulib_refuse_setting(DPULIB_DPU_PROFILE, problem);
    else if (options.profiles)
        dpulib_check_writable(DPULIB_DPU_PROFILE, options.file);
    began = clock_now();
    atomic_store(&records, options.profiles && options.file != NULL);
    dpulib_on_fork(reset);
}

static void write_rest(void)
{
    for (struct list_node *node = recordings.first; node != NULL; node = node->next) {
        struct recording *recording = LIST_ENTRY(node, struct recording, node);
        if (!recording->runs && recording->program != NULL)
            dpulib_merged_take(recording->program, recording->profile, recording->dpu);
    }

    const struct dpulib_raw_end end = {file.dropped};
    dpulib_merged_write(&file);
    write_record(DPULIB_RAW_END, &(struct dpulib_raw_part){&end, sizeof end}, 1);
    dpulib_raw_close(&file);
    atomic_store(&records, false);
}

/* Not forever: a thread that holds the mutex may never come back. */
__attribute__((destructor)) static void finish(void)
{
    struct timespec until;
    if (file.file < 0)
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (pthread_mutex_timedlock(&guard, &until) != 0)
        return;

    write_rest();
    pthread_mutex_unlock(&guard);
}
