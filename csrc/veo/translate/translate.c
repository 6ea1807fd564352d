/* SPDX-License-Identifier: BSD-3-Clause */
/* translate.c: which code is translated, and the thread that does it. */
#include "veo/translate/translate.h"

#include "common/clock.h"
#include "hostcode/build.h"
#include "hostcode/unseen_process.h"
#include "veo/machine/executors.h"
#include "veo/translate/block.h"
#include "veo/translate/elements.h"
#include "veo/translate/generated_code.h"
#include "veo/translate/plan.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Samples of interpreted code in a page before what runs there is translated. */
#define SAMPLES 512
/* Taken branches between samples; and of an engine that translates all. */
#define PERIOD 4096
#define SHORT_PERIOD 64
/* Units of a process, each with an open file: more do not make it faster. */
#define UNITS_MOST 256
#define STACK_SIZE ((size_t)1 << 20)
/* Time that exit() waits for a thread that is about to end. */
#define EXIT_LIMIT (2 * CLOCK_SECOND)

enum state { QUEUED, READY, FAILED };

struct unit {
    struct ve_unit base;
    struct ve_plan *plan; /* NULL once it has been translated */
    struct ve_decoded *list;
    bool *entry;
    uint32_t count;
    uint64_t start;
    uint64_t changes; /* of all code, when it was last seen to be as it was translated */
    enum state state;
    uint64_t number; /* of those that are ready; from 1 on */
    struct unit *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_once_t once;
    struct unit *units; /* the newest first; none goes away, as cores may have it */
    uint32_t count;
    _Atomic uint64_t ready; /* units that became ready */
    bool works, stopped, hopeless;
    enum ve_engine engine;
    struct ve_translate_totals totals;
} service = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* In a forked child, whose parent had the thread: what it had not finished stays interpreted. */
static void start_anew(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&service.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&service.lock, NULL);
    for (struct unit *unit = service.units; unit != NULL; unit = unit->next)
        if (unit->state == QUEUED)
            unit->state = FAILED;
    service.works = false;
    host_unseen_forget();
    host_build_forget();
}

static void set_up(void)
{
    start_anew();
    pthread_atfork(NULL, NULL, start_anew);
}

/* With the lock. False after the deadline. */
static bool wait_until(int64_t deadline)
{
    const struct timespec until = {
        .tv_sec = (time_t)(deadline / CLOCK_SECOND),
        .tv_nsec = (long)(deadline % CLOCK_SECOND),
    };
    return pthread_cond_timedwait(&service.changed, &service.lock, &until) != ETIMEDOUT;
}

/* Nothing is compiled for a process that ends. */
__attribute__((destructor)) static void stop(void)
{
    pthread_once(&service.once, set_up);
    pthread_mutex_lock(&service.lock);
    service.stopped = true;
    bool works = service.works;
    pthread_mutex_unlock(&service.lock);
    if (!works)
        return;

    host_unseen_stop();
    int64_t deadline = clock_deadline(EXIT_LIMIT);
    pthread_mutex_lock(&service.lock);
    while (service.works && wait_until(deadline))
        continue;
    pthread_mutex_unlock(&service.lock);
    host_build_clean_up();
}

/* --- the thread --- */

/* The C of a unit, and its size. */
struct source {
    char *text;
    size_t size;
};

static void write_source(FILE *out, void *argument)
{
    const struct source *source = argument;
    fwrite(source->text, 1, source->size, out);
}

static bool make_source(struct ve_plan *plan, struct source *source)
{
    *source = (struct source){0};
    FILE *out = open_memstream(&source->text, &source->size);
    if (out == NULL)
        return false;
    ve_blocks_find(plan);
    ve_generate(out, plan);
    return fclose(out) == 0;
}

static bool take_module(struct unit *unit, struct host_object *object)
{
    const struct ve_module *module = object->symbol;
    if (module->size != sizeof *module) {
        host_object_unload(object);
        return false;
    }

    *module->services =
        (struct ve_services){ve_executors, ve_raise, ve_arithmetic_exception, ve_do_elements};
    unit->base = (struct ve_unit){module->run, unit->list};
    return true;
}

/* Without the lock. */
static bool build(struct unit *unit, struct ve_translate_totals *figures)
{
    struct host_compiler compiler;
    struct host_object object;
    struct source source;
    struct host_build_figures made = {0};
    if (!host_compiler_find(&compiler, VE_COMPILER_VARIABLE)) {
        pthread_mutex_lock(&service.lock);
        service.hopeless = true;
        pthread_mutex_unlock(&service.lock);
        return false;
    }

    bool done = make_source(unit->plan, &source);
    if (done) {
        struct host_build what = {
            .compiler = &compiler,
            .write = write_source,
            .argument = &source,
            .symbol = "ve_module",
        };
        struct sha256 hash;
        sha256_begin(&hash);
        sha256_add(&hash, source.text, source.size);
        sha256_add(&hash, compiler.stamp, strlen(compiler.stamp));
        sha256_end(&hash, what.key);
        done = host_build_find(&what, &object);
        figures->loaded = done;
        if (!done) {
            done = host_build_make(&what, &object, &made);
            figures->compiled = done;
        }
        figures->compile_ns = made.compile_ns;
        figures->source_bytes = made.source_bytes;
    }

    free(source.text);
    return done && take_module(unit, &object);
}

/* With the lock: the oldest unit that waits. */
static struct unit *next_unit(void)
{
    struct unit *found = NULL;
    for (struct unit *unit = service.units; unit != NULL; unit = unit->next)
        if (unit->state == QUEUED)
            found = unit;
    return found;
}

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&service.lock);
    for (struct unit *unit; !service.stopped && (unit = next_unit()) != NULL;) {
        struct ve_translate_totals figures = {0};
        pthread_mutex_unlock(&service.lock);
        bool done = build(unit, &figures);
        pthread_mutex_lock(&service.lock);

        service.totals.compiled += figures.compiled;
        service.totals.loaded += figures.loaded;
        service.totals.failed += !done;
        service.totals.compile_ns += figures.compile_ns;
        service.totals.source_bytes += figures.source_bytes;
        free(unit->plan);
        unit->plan = NULL;
        unit->state = done ? READY : FAILED;
        if (done)
            unit->number = atomic_fetch_add(&service.ready, 1) + 1;
        pthread_cond_broadcast(&service.changed);
    }

    service.works = false;
    pthread_cond_broadcast(&service.changed);
    pthread_mutex_unlock(&service.lock);
    return NULL;
}

/* With the lock. Signals are for the program's own threads. */
static bool start_thread(void)
{
    sigset_t all, old;
    pthread_t thread;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool started = pthread_create(&thread, &attributes, work, NULL) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

/* --- cores --- */

/* With the lock: the unit that was made of a start. */
static struct unit *find_unit(uint64_t start, uint64_t changes)
{
    struct unit *unit = service.units;
    while (unit != NULL && (unit->start != start || unit->changes != changes))
        unit = unit->next;
    return unit;
}

static bool is_made_of(const struct unit *unit, const struct ve_plan *plan)
{
    bool same = unit->count == plan->count;
    for (uint32_t at = 0; same && at < plan->count; at++)
        same = unit->list[at].address == plan->list[at].address &&
               unit->list[at].instruction.word == plan->list[at].instruction.word &&
               unit->entry[at] == plan->entry[at];
    return same;
}

/* With the lock: one that was made of the same instructions, before other code changed. */
static struct unit *revive_unit(const struct ve_plan *plan, uint64_t start, uint64_t changes)
{
    struct unit *unit = service.units;
    while (unit != NULL && (unit->start != start || !is_made_of(unit, plan)))
        unit = unit->next;
    if (unit == NULL)
        return NULL;

    unit->changes = changes;
    if (unit->state == READY)
        unit->number = atomic_fetch_add(&service.ready, 1) + 1;
    return unit;
}

static void free_unit(struct unit *unit)
{
    free(unit->list);
    free(unit->entry);
    free(unit);
}

/* NULL without memory. */
static struct unit *make_unit(struct ve_plan *plan, uint64_t start, uint64_t changes)
{
    struct unit *unit = calloc(1, sizeof *unit);
    if (unit == NULL)
        return NULL;

    *unit = (struct unit){.plan = plan, .count = plan->count, .start = start, .changes = changes};
    unit->list = aligned_alloc(_Alignof(struct ve_decoded), plan->count * sizeof *unit->list);
    unit->entry = malloc(plan->count * sizeof *unit->entry);
    if (unit->list == NULL || unit->entry == NULL) {
        free_unit(unit);
        return NULL;
    }

    memcpy(unit->list, plan->list, plan->count * sizeof *unit->list);
    memcpy(unit->entry, plan->entry, plan->count * sizeof *unit->entry);
    return unit;
}

/* With the lock. NULL if nothing is translated there. */
static struct unit *add_unit(const struct ve_core *core, uint64_t start)
{
    struct ve_plan *plan = service.stopped || service.hopeless ? NULL : malloc(sizeof *plan);
    if (plan == NULL)
        return NULL;

    ve_plan_make(plan, core, start);
    uint64_t changes = core->code->changes;
    struct unit *unit = plan->count > 0 ? revive_unit(plan, start, changes) : NULL;
    bool is_new = unit == NULL && plan->count > 0 && service.count < UNITS_MOST;
    if (is_new)
        unit = make_unit(plan, start, changes);
    if (!is_new || unit == NULL) {
        free(plan);
        return unit;
    }

    unit->next = service.units;
    service.units = unit;
    service.count++;
    if (!service.works)
        service.works = start_thread();
    if (!service.works)
        unit->state = FAILED;
    return unit;
}

/* With the lock: what is ready and was not yet. */
static void install(struct ve_code *code)
{
    uint64_t ready = atomic_load(&service.ready);
    for (const struct unit *unit = service.units; unit != NULL; unit = unit->next) {
        if (unit->state != READY || unit->number <= code->seen || unit->changes != code->changes)
            continue;
        for (uint32_t at = 0; at < unit->count && ve_code_is_current(code); at++)
            if (unit->entry[at])
                ve_code_install(code, unit->list[at].address, &unit->base);
    }
    code->seen = ready;
}

static void sample(struct ve_code *code, const struct ve_decoded *decoded)
{
    struct ve_page *page = ve_code_page(code, decoded->address);
    bool at_once = service.engine == VE_ENGINE_TRANSLATED;
    bool is_interpreted = decoded->label != code->translated;
    page->is_used = true;
    page->samples += is_interpreted;
    bool wants = is_interpreted && (at_once || page->samples >= SAMPLES);
    if (wants)
        page->samples = 0;
    if ((!wants && code->seen == atomic_load(&service.ready)) || !ve_code_is_current(code))
        return;

    pthread_mutex_lock(&service.lock);
    if (wants) {
        struct unit *unit = find_unit(decoded->address, code->changes);
        if (unit == NULL)
            unit = add_unit(ve_core_current, decoded->address);
        while (at_once && unit != NULL && unit->state == QUEUED && service.works)
            pthread_cond_wait(&service.changed, &service.lock);
    }
    install(code);
    pthread_mutex_unlock(&service.lock);
}

void ve_translate_use(enum ve_engine engine)
{
    pthread_once(&service.once, set_up);
    service.engine = engine;
    ve_code_period = engine == VE_ENGINE_TRANSLATED ? SHORT_PERIOD : PERIOD;
    ve_code_sample = engine != VE_ENGINE_INTERPRETER ? sample : NULL;
}

void ve_translate_get_totals(struct ve_translate_totals *totals)
{
    pthread_once(&service.once, set_up);
    pthread_mutex_lock(&service.lock);
    *totals = service.totals;
    pthread_mutex_unlock(&service.lock);
}
