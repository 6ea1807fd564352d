/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/time/meter.h"

#include <pthread.h>
#include <string.h>

#include "kinds.h"

static const struct ve_time_model models[] = {
    {
        .name = "VE10B",
#define TIME(field, ve10b, ve20b, unit, source) .field = ve10b,
#include "veo/time/models.def"
#undef TIME
    },
    {
        .name = "VE20B",
#define TIME(field, ve10b, ve20b, unit, source) .field = ve20b,
#include "veo/time/models.def"
#undef TIME
    },
};

static struct ve_time_kind kinds[VE_OPERATION_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_kinds(void)
{
    for (uint32_t operation = 0; operation < VE_OPERATION_COUNT; operation++)
        kinds[operation] = ve_time_kind(operation);
}

const struct ve_time_model *ve_time_model(const char *name)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

void ve_meter_start(struct ve_meter *meter, const struct ve_time_model *model, double start)
{
    pthread_once(&once, fill_kinds);
    *meter = (struct ve_meter){.model = model, .start = start, .now = start};
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* --- when operands are there --- */

/* Of an instruction: when it may begin, and when its operands have all elements. */
struct ready {
    double first, last;
};

static void wait_scalar(const struct ve_meter *meter, struct ready *ready, unsigned number)
{
    /* Higher numbers are immediates. */
    if (number < 64)
        ready->first = later(ready->first, meter->s[number]);
}

static void wait_vector(const struct ve_meter *meter, const struct ve_core *core,
                        struct ready *ready, unsigned field)
{
    unsigned number = field == VE_VIX ? core->vix : field;
    ready->first = later(ready->first, meter->first[number % VE_VECTORS]);
    ready->last = later(ready->last, meter->last[number % VE_VECTORS]);
}

static struct ready operands_of(const struct ve_meter *meter, const struct ve_core *core,
                                const struct ve_instruction *i, const struct ve_time_kind *kind)
{
    struct ready ready = {meter->now, meter->now};
    unsigned reads = kind->reads;
    if ((reads & VE_TIME_Y_MAY_BE_SCALAR) != 0 && i->cs != 0)
        reads = (reads & ~(unsigned)VE_TIME_VY) | VE_TIME_SY;
    if ((reads & VE_TIME_Z_MAY_BE_SCALAR) != 0 && i->cs2 != 0)
        reads = (reads & ~(unsigned)VE_TIME_VZ) | VE_TIME_SY;

    if ((reads & VE_TIME_SX) != 0)
        wait_scalar(meter, &ready, i->x);
    if ((reads & VE_TIME_SY) != 0)
        wait_scalar(meter, &ready, i->y_source);
    if ((reads & VE_TIME_SZ) != 0)
        wait_scalar(meter, &ready, i->z_source);
    if ((reads & VE_TIME_VX) != 0)
        wait_vector(meter, core, &ready, i->vx);
    if ((reads & VE_TIME_VY) != 0)
        wait_vector(meter, core, &ready, i->vy);
    if ((reads & VE_TIME_VZ) != 0)
        wait_vector(meter, core, &ready, i->vz);
    if ((reads & VE_TIME_VW) != 0)
        wait_vector(meter, core, &ready, i->vw);
    if ((reads & VE_TIME_MY) != 0)
        ready.first = later(ready.first, meter->vm[i->vy % VE_MASKS]);
    if ((reads & VE_TIME_MZ) != 0)
        ready.first = later(ready.first, meter->vm[i->vz % VE_MASKS]);
    if (kind->vector && i->mask != 0)
        ready.first = later(ready.first, meter->vm[i->mask % VE_MASKS]);
    ready.last = later(ready.last, ready.first);
    return ready;
}

/* --- how long it takes --- */

/* Cycles of a vector's pipe, or of the port. */
static double occupancy(const struct ve_meter *meter, const struct ve_core *core,
                        const struct ve_instruction *i, const struct ve_time_kind *kind)
{
    const struct ve_time_model *m = meter->model;
    const double length = core->vl;
    switch (kind->pipe) {
    case VE_TIME_RECURRENCE: return later(m->recurrence * length, 1);
    case VE_TIME_GATHER: return later(m->gather * length, m->shortest);
    case VE_TIME_SCATTER: return later(m->scatter * length, 1);
    case VE_TIME_LOAD:
    case VE_TIME_STORE: {
        int64_t stride = (int64_t)core->sources[i->y_source];
        bool dense = stride <= kind->bytes && stride >= -(int64_t)kind->bytes;
        if (kind->pipe == VE_TIME_LOAD)
            return later(dense ? length * kind->bytes / m->load : m->gather * length, m->shortest);
        return later(dense ? length * kind->bytes / m->store : m->scatter * length, 1);
    }
    default: return later(length / m->lanes, m->shortest);
    }
}

/* The pipe of a group that is free first. */
static double *earliest(double *pipes, double count)
{
    double *found = pipes;
    for (unsigned i = 1; i < (unsigned)count && i < VE_METER_PIPES; i++)
        if (pipes[i] < *found)
            found = &pipes[i];
    return found;
}

static double *pipe_of(struct ve_meter *meter, const struct ve_time_kind *kind)
{
    const struct ve_time_model *m = meter->model;
    switch (kind->pipe) {
    case VE_TIME_FMA:
    case VE_TIME_RECURRENCE: return earliest(meter->fma, m->fma_pipes);
    case VE_TIME_DIVIDE: return earliest(meter->divide, m->divide_pipes);
    case VE_TIME_LOAD:
    case VE_TIME_STORE:
    case VE_TIME_GATHER:
    case VE_TIME_SCATTER: return &meter->port;
    default: return earliest(meter->alu, m->alu_pipes);
    }
}

/* When the first and the last elements of a result are there. */
static struct ready vector_result(struct ve_meter *meter, const struct ve_core *core,
                                  const struct ve_instruction *i, const struct ve_time_kind *kind,
                                  struct ready operands)
{
    const struct ve_time_model *m = meter->model;
    double *pipe = pipe_of(meter, kind);
    double cycles = occupancy(meter, core, i, kind);
    bool moves = kind->pipe >= VE_TIME_LOAD;
    bool loads = kind->pipe == VE_TIME_LOAD || kind->pipe == VE_TIME_GATHER;
    /* Those whose data or addresses are there overtake others. */
    double begin = later(moves ? meter->now : operands.first, *pipe);
    *pipe = begin + cycles;

    double start = later(begin, operands.first);
    double latency = loads ? m->load_latency : m->vector_latency;
    struct ready result = {start + latency, later(start + cycles, operands.last) + latency};
    if (kind->whole)
        result.first = result.last;
    return result;
}

static double scalar_latency(const struct ve_meter *meter, const struct ve_time_kind *kind)
{
    const struct ve_time_model *m = meter->model;
    switch (kind->pipe) {
    case VE_TIME_SCALAR_LOAD: return m->scalar_load_latency;
    case VE_TIME_SCALAR_FLOAT: return m->scalar_float_latency;
    case VE_TIME_SCALAR_DIVIDE: return m->scalar_divide_latency;
    default: return m->scalar_latency;
    }
}

/* --- counters --- */

static void count(struct ve_counters *counters, const struct ve_core *core,
                  const struct ve_time_kind *kind)
{
    counters->instructions++;
    if (!kind->vector) {
        counters->flops += kind->flops;
        return;
    }

    counters->vectors++;
    counters->lengths[core->vl]++;
    counters->elements += core->vl;
    counters->flops += (uint64_t)kind->flops * core->vl;
    counters->fma_elements += kind->fma ? core->vl : 0;
    if (kind->pipe == VE_TIME_LOAD || kind->pipe == VE_TIME_GATHER)
        counters->load_elements += core->vl;
    if (kind->pipe >= VE_TIME_LOAD)
        counters->bytes += (uint64_t)kind->bytes * core->vl;
}

static void write_result(struct ve_meter *meter, const struct ve_core *core,
                         const struct ve_instruction *i, const struct ve_time_kind *kind,
                         struct ready result)
{
    if ((kind->writes & VE_TIME_SX) != 0)
        meter->s[i->x % 64] = result.last;
    if ((kind->writes & VE_TIME_MX) != 0)
        meter->vm[i->vx % VE_MASKS] = result.last;
    if ((kind->writes & VE_TIME_VX) != 0) {
        unsigned number = (i->vx == VE_VIX ? core->vix : i->vx) % VE_VECTORS;
        meter->first[number] = result.first;
        meter->last[number] = result.last;
    }
}

void ve_meter_add(struct ve_meter *meter, const struct ve_core *core,
                  const struct ve_instruction *instruction)
{
    const struct ve_time_kind *kind = &kinds[instruction->operation];
    count(&meter->counters, core, kind);

    struct ready operands = operands_of(meter, core, instruction, kind);
    struct ready result;
    if (kind->vector) {
        double begin = later(operands.first, meter->vector_end);
        result = vector_result(meter, core, instruction, kind, operands);
        if (result.last > meter->vector_end) {
            meter->counters.vector_cycles += result.last - begin;
            meter->vector_end = result.last;
        }
    } else {
        double end = (kind->whole ? operands.last : operands.first) + scalar_latency(meter, kind);
        result = (struct ready){end, end};
    }

    write_result(meter, core, instruction, kind, result);
    meter->end = later(meter->end, result.last);
    meter->now += 1 / meter->model->issue;
}

struct ve_counters ve_meter_read(const struct ve_meter *meter)
{
    struct ve_counters counters = meter->counters;
    counters.cycles = ve_meter_now(meter) - meter->start;
    counters.core_cycles += counters.cycles - meter->waited;
    if (counters.vector_cycles > counters.core_cycles)
        counters.vector_cycles = counters.core_cycles;
    return counters;
}

double ve_meter_now(const struct ve_meter *meter)
{
    return later(meter->now, meter->end);
}

void ve_meter_wait(struct ve_meter *meter, double until)
{
    double now = ve_meter_now(meter);
    if (until <= now)
        return;
    meter->waited += until - now;
    meter->now = until;
}

void ve_counters_add(struct ve_counters *sum, const struct ve_counters *more)
{
    sum->cycles += more->cycles;
    sum->core_cycles += more->core_cycles;
    sum->vector_cycles += more->vector_cycles;
    sum->bytes += more->bytes;
    sum->instructions += more->instructions;
    sum->vectors += more->vectors;
    sum->elements += more->elements;
    sum->load_elements += more->load_elements;
    sum->fma_elements += more->fma_elements;
    sum->flops += more->flops;
    for (unsigned length = 0; length <= VE_VECTOR_LENGTH; length++)
        sum->lengths[length] += more->lengths[length];
}

void ve_meter_take(struct ve_meter *meter, const struct ve_counters *other)
{
    double cycles = meter->counters.cycles;
    ve_counters_add(&meter->counters, other);
    meter->counters.cycles = cycles; /* both passed at the same time */
}
