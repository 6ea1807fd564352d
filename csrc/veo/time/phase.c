/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/time/phase.h"

#include <string.h>

void ve_phase_start(struct ve_phase *phase, double start)
{
    *phase = (struct ve_phase){.start = start, .slowest = start};
}

struct ve_progress ve_progress(const struct ve_meter *meter)
{
    double own = ve_meter_now(meter) - meter->start - meter->waited;
    return (struct ve_progress){meter->counters.core_cycles + own, meter->counters.bytes};
}

void ve_phase_arrive(struct ve_phase *phase, const struct ve_meter *meter,
                     struct ve_progress *since)
{
    const struct ve_progress now = ve_progress(meter);
    const double time = ve_meter_now(meter);
    phase->slowest = time > phase->slowest ? time : phase->slowest;
    phase->core_cycles += now.core_cycles - since->core_cycles;
    phase->bytes += (double)(now.bytes - since->bytes);
    *since = now;
}

double ve_phase_end(struct ve_phase *phase, const struct ve_time_model *model)
{
    /* Megahertz, and GB/s: bytes per cycle. */
    const double llc = model->llc * 1000 / model->clock;
    const double shared_cores = phase->start + phase->core_cycles / model->cores;
    const double shared_llc = phase->start + phase->bytes / llc;
    double end = phase->slowest;
    end = shared_cores > end ? shared_cores : end;
    end = shared_llc > end ? shared_llc : end;
    ve_phase_start(phase, end);
    return end;
}

double ve_queue_hold(struct ve_queue *queue, double arrived, double duration)
{
    /* The first gap that is long enough: threads of the host do not come in the order of the
     * modelled time. */
    uint32_t at = 0;
    double begin = arrived;
    while (at < queue->count && queue->holds[at].begin < begin + duration) {
        begin = queue->holds[at].end > begin ? queue->holds[at].end : begin;
        at++;
    }

    /* Holds without a gap between them are one. */
    if (at > 0 && queue->holds[at - 1].end == begin) {
        queue->holds[at - 1].end = begin + duration;
        return begin;
    }
    if (queue->count == VE_QUEUE_HOLDS) {
        memmove(&queue->holds[0], &queue->holds[1], --queue->count * sizeof queue->holds[0]);
        at -= at > 0;
    }
    memmove(&queue->holds[at + 1], &queue->holds[at], (queue->count - at) * sizeof queue->holds[0]);
    queue->holds[at].begin = begin;
    queue->holds[at].end = begin + duration;
    queue->count++;
    return begin;
}
