/* SPDX-License-Identifier: BSD-3-Clause */
/* translate.c: code that is translated, and its units. */
#include "veo/translate/translate.h"

#include "common/clock.h"
#include "hostcode/background.h"
#include "hostcode/build.h"
#include "veo/machine/executors.h"
#include "veo/machine/run.h"
#include "veo/translate/block.h"
#include "veo/translate/elements.h"
#include "veo/translate/generated_code.h"
#include "veo/translate/plan.h"

#include <stdlib.h>
#include <string.h>

/* Samples of interpreted code in a page before what runs there is translated. */
#define SAMPLES 512
/*
 * A sample counts as many times as it lasted this long, which scalar code takes: vector code has
 * few branches. What waited for its caller in between does not count for more than some samples.
 */
#define SAMPLE_NS 50000
#define SAMPLE_COUNTS_MOST 64
/* Taken branches between samples; and of an engine that translates all. */
#define PERIOD 4096
#define SHORT_PERIOD 64
/* Units of a process, each with an open file: more do not make it faster. */
#define UNITS_MOST 256

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

/* Guarded by the lock of background.h. */
static struct {
    struct unit *units; /* the newest first; none goes away, as cores may have it */
    uint32_t count;
    _Atomic uint64_t ready; /* units that became ready */
    bool hopeless;
    enum ve_engine engine;
    struct ve_translate_totals totals;
} service;

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
    ve_numbers_find(plan);
    ve_generate(out, plan);
    return fclose(out) == 0;
}

/* Of translated code: a unit that runs is valid as long as its core's code is as it was. */
static bool pass_gate(struct ve_core *core, uint64_t address)
{
    uint64_t changes = core->code->changes;
    return ve_enter_gate(core, address) && ve_code_is_current(core->code) &&
           core->code->changes == changes && core->code->seen != 0;
}

static bool take_module(struct unit *unit, struct host_object *object)
{
    const struct ve_module *module = object->symbol;
    if (module->size != sizeof *module) {
        host_object_unload(object);
        return false;
    }

    *module->services = (struct ve_services){ve_executors, ve_raise, ve_arithmetic_exception,
                                             ve_do_elements, pass_gate};
    unit->base = (struct ve_unit){module->run, unit->list};
    return true;
}

/* Without the lock. A compiler that is waited for has the priority of who waits. */
static bool build(struct unit *unit, bool is_waited_for, struct ve_translate_totals *figures)
{
    struct host_compiler compiler;
    struct host_object object;
    struct source source;
    struct host_build_figures made = {0};
    if (!host_compiler_find(&compiler, VE_COMPILER_VARIABLE)) {
        host_background_lock();
        service.hopeless = true;
        host_background_unlock();
        return false;
    }
    if (is_waited_for)
        compiler.nice = 0;

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

/* In a forked child: a unit that waits stays interpreted. */
static void forget(void)
{
    for (struct unit *unit = service.units; unit != NULL; unit = unit->next)
        if (unit->state == QUEUED)
            unit->state = FAILED;
}

/* With the lock: the oldest unit that waits. */
static bool perform_next(void)
{
    struct unit *unit = next_unit();
    if (unit == NULL)
        return false;

    struct ve_translate_totals figures = {0};
    bool is_waited_for = service.engine == VE_ENGINE_TRANSLATED;
    host_background_unlock();
    bool done = build(unit, is_waited_for, &figures);
    host_background_lock();

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
    return true;
}

static const struct host_background_jobs jobs = {perform_next, forget};

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
    struct ve_plan *plan = service.hopeless ? NULL : malloc(sizeof *plan);
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
    if (!host_background_start(&jobs))
        unit->state = FAILED;
    return unit;
}

/* Unless a larger one is there, which knows more of where its jumps go to. */
static void install_at(struct ve_code *code, uint64_t address, const struct unit *unit)
{
    const struct ve_decoded *decoded = ve_code_find(code, address);
    bool has_one = decoded != NULL && decoded->label == code->translated;
    if (!has_one || ((const struct unit *)ve_code_unit(decoded))->count < unit->count)
        ve_code_install(code, address, &unit->base);
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
                install_at(code, unit->list[at].address, unit);
    }
    code->seen = ready;
}

/* How many samples the time since the last one stands for. */
static uint32_t count_samples(struct ve_code *code)
{
    int64_t now = clock_now(), count = code->sampled != 0 ? (now - code->sampled) / SAMPLE_NS : 1;
    code->sampled = now;
    return count < 1 ? 1 : count < SAMPLE_COUNTS_MOST ? (uint32_t)count : SAMPLE_COUNTS_MOST;
}

static void sample(struct ve_code *code, const struct ve_decoded *decoded)
{
    struct ve_page *page = ve_code_page(code, decoded->address);
    bool at_once = service.engine == VE_ENGINE_TRANSLATED;
    bool is_interpreted = decoded->label != code->translated;
    page->is_used = true;
    page->samples += is_interpreted ? count_samples(code) : 0;
    bool wants = is_interpreted && (at_once || page->samples >= SAMPLES);
    if (wants)
        page->samples = 0;
    if ((!wants && code->seen == atomic_load(&service.ready)) || !ve_code_is_current(code))
        return;

    host_background_lock();
    if (wants) {
        struct unit *unit = find_unit(decoded->address, code->changes);
        if (unit == NULL)
            unit = add_unit(ve_core_current, decoded->address);
        while (at_once && unit != NULL && unit->state == QUEUED &&
               host_background_wait(CLOCK_NEVER))
            continue;
    }
    install(code);
    host_background_unlock();
}

void ve_translate_use(enum ve_engine engine)
{
    service.engine = engine;
    ve_code_period = engine == VE_ENGINE_TRANSLATED ? SHORT_PERIOD : PERIOD;
    ve_code_sample = engine != VE_ENGINE_INTERPRETER ? sample : NULL;
}

void ve_translate_get_totals(struct ve_translate_totals *totals)
{
    host_background_lock();
    *totals = service.totals;
    host_background_unlock();
}
