/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/schedule/oldest.h"

#include "common/clock.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/core/settings.h"
#include "dpu/lib/core/silence.h"
#include "dpu/lib/core/verbose.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/schedule/perform.h"
#include "dpu/lib/schedule/operation.h"

#include <stdio.h>

static const char *name_of(const struct dpulib_operation *operation)
{
    if (dpulib_is_launch(operation))
        return "a launch";
    if (operation->spec.callback.function != NULL)
        return "a callback";
    return operation->spec.move != DPULIB_NO_MOVE ? "a transfer" : "an operation";
}

static const struct dpulib_rank_job *first_job(const struct dpu_rank_t *rank)
{
    if (rank == NULL || dpulib_is_held(rank) || rank->queue.first == NULL)
        return NULL;
    return LIST_ENTRY(rank->queue.first, struct dpulib_rank_job, node);
}

static void describe(const struct dpulib_rank_job *job, char *text, size_t size)
{
    const struct dpulib_operation *operation = job->operation;
    const struct dpu_rank_t *rank = job->rank;
    char since[64] = "", behind[64] = "";
    if (operation->begin != 0)
        snprintf(since, sizeof since, ", submitted %.1f s ago",
                 (double)(clock_now() - operation->begin) / CLOCK_SECOND);
    if (rank->jobs > 1)
        snprintf(behind, sizeof behind, "; %u more behind it", rank->jobs - 1);

    snprintf(text, size, "rank %u has %s of %u DPU%s%s%s", rank->id, name_of(operation),
             operation->dpus, operation->dpus == 1 ? "" : "s", since, behind);
}

bool dpulib_oldest_describe(const struct dpu_set_t *set, char *text, size_t size)
{
    *text = 0;
    for (uint32_t i = 0; i < dpulib_set_ranks(set); i++) {
        const struct dpu_rank_t *rank = dpulib_set_rank(set, i);
        const struct dpulib_rank_job *job = first_job(rank);
        if (job != NULL) {
            describe(job, text, size);
            return true;
        }
        if (rank != NULL && rank->detached != 0) {
            snprintf(text, size, "rank %u has a callback that has not returned", rank->id);
            return true;
        }
    }

    return false;
}

void dpulib_tell_of_silence(struct dpulib_silence *silence, const struct dpu_set_t *set)
{
    static bool told;
    char text[DPULIB_OLDEST_TEXT];
    if (told)
        return;
    int64_t now = clock_now();
    if (silence->until == 0)
        silence->until = now + DPU_SILENCE_NS;
    if (now < silence->until || dpulib_is_quiet() ||
        !dpulib_oldest_describe(set, text, sizeof text))
        return;

    told = true;
    dpulib_log(DPULIB_WARNING,
               "a call has waited %d s: %s. softMaxCycles=N in UPMEM_PROFILE ends launches after "
               "N cycles (this is told once)",
               (int)(DPU_SILENCE_NS / CLOCK_SECOND), text);
}

bool dpulib_wait_told(struct dpulib_silence *silence, const struct dpu_set_t *set, int64_t deadline)
{
    if (deadline != CLOCK_NEVER)
        return dpulib_wait(deadline);

    dpulib_tell_of_silence(silence, set);
    dpulib_wait(silence->until > clock_now() ? silence->until : CLOCK_NEVER);
    return true;
}
