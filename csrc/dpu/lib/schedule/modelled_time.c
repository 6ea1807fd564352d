/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * modelled_time.c: what launches and transfers would take on a server with UPMEM's DIMMs, for hosts
 * that were not written for the simulator.
 *
 * DPU_SOFT_REPORT names a file ("-": stderr; "%p" stands for the process id) that gets a line of
 * comma-separated values for each launch and each transfer when it is over, and totals at the end.
 * docs/dpu.md describes the columns. Without it, a host that has launched something says in one
 * line when it exits that its timers measured the simulator; DPU_SOFT_QUIET keeps that back.
 *
 * Kernels take the cycles of the DPU that took longest, and a launch softLaunchMicroseconds more:
 * the profiles of PrIM's programs in the public repository 852866031/prim-benchmarks-insight have
 * about 0.17 ms more than the cycles of kernels that compute all the time. Transfers take the
 * bandwidths of the profile, which has those that PrIM measured (J. Gomez-Luna et al.,
 * "Benchmarking a New Paradigm", arXiv:2105.03814, section 3.4), in GB/s: serial transfers 0.33 to
 * a DPU and 0.12 from it; parallel ones to and from the 64 DPUs of a rank 6.68 and 4.74,
 * broadcasts 16.88. With fewer DPUs of a rank the bandwidth is interpolated: from that of a serial
 * transfer for one DPU, with the same factor for each doubling. These figures are of one rank;
 * several come one after the other here. WRAM and IRAM have no such bandwidth: words of all DPUs
 * come one after the other. That, and what a call costs besides, is from the 190 times in
 * VIA-Research/uPIMulator (benchmarks/dpu/prim_times.py): 54 to 64 us for each of TRNS's calls,
 * whatever its DPUs; results of BS, HST, MLP, RED, TS and SCAN, 50 to 140 us and 8.8 to 16.6 us
 * more a DPU for 128 to 256 bytes of WRAM; arguments of TS, 37 to 41 us a serial copy.
 *
 * Launches have the energy of their instructions (configuration.c says where it is from); none of
 * transfers is published.
 */
#include "dpu/lib/schedule/modelled_time.h"

#include "common/clock.h"
#include "common/text.h"
#include "dpu/lib/core/lock.h"
#include "dpu/lib/core/path.h"
#include "dpu/lib/core/settings.h"
#include "dpu/lib/core/verbose.h"
#include "dpu/lib/observe/raw_file.h"
#include "dpu/lib/observe/recorder.h"
#include "dpu/lib/ranks/configuration.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/ranks/table.h"
#include "dpu/lib/schedule/moves.h"
#include "dpu/lib/schedule/operation.h"
#include "dpu/lib/schedule/submit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DETAIL_MAX 1500
#define ENDED_MAX (2 * DETAIL_MAX + 80)

/* Launches come first, where there is no move. */
static const char *const event_names[DPULIB_MOVE_COUNT] = {[DPULIB_NO_MOVE] = "launch",
#define MOVE_NAME(name, text) [DPULIB_##name] = text,
                                                           DPULIB_MOVES(MOVE_NAME)
#undef MOVE_NAME
};

/* By enum dpusoft_runtime. */
static const char *const runtime_names[] = {"other", "offchip", "upmem-costs"};

/* How DPUs ended, the worst last. */
enum ending { DONE, FAILED, STOPPED, IN_FAULT };

static const char *const ending_names[] = {"done", "failed", "stopped", "fault"};

struct figures {
    uint64_t count, dpus, bytes, cycles, instructions;
    uint32_t ranks, runtimes; /* as in struct dpulib_launch_figures */
    double seconds, joules;
    bool energy_unknown;
    enum ending ending; /* the worst one */
};

/* Under the lock. */
static struct figures totals[DPULIB_MOVE_COUNT];
static uint64_t launches_cut_short;
static bool has_plain_host; /* something was launched by a host that takes no launch reports */
static const char *destination;
static bool begun;
static int file = -1;
static struct stat file_identity;

/* --- the model --- */

/* MB/s of a move for one DPU and for the 64 of a rank. */
static void bandwidths(const struct dpulib_configuration *configuration, enum dpulib_move move,
                       double *one, double *all)
{
    bool from = move == DPULIB_SERIAL_FROM || move == DPULIB_PARALLEL_FROM;
    *one = *all = from ? configuration->serial_from : configuration->serial_to;
    if (move == DPULIB_PARALLEL_TO)
        *all = configuration->parallel_to;
    if (move == DPULIB_PARALLEL_FROM)
        *all = configuration->parallel_from;
    if (move == DPULIB_BROADCAST)
        *all = configuration->broadcast;
}

/* By Newton's method: some steps for usual ratios, about a hundred for the largest. */
static double sixth_root(double value)
{
    double root = 1, change = 1;
    for (uint32_t i = 0; i < 200 && change * change > 1e-26 * root * root; i++) {
        change = (value / (root * root * root * root * root) - root) / 6;
        root += change;
    }

    return root;
}

/* Bytes per second. Under the lock. */
static double bandwidth(const struct dpulib_configuration *configuration, enum dpulib_move move,
                        uint32_t dpus)
{
    double result, all;
    bandwidths(configuration, move, &result, &all);
    /* The last one is kept: the root takes longer than a small transfer. */
    static struct {
        double ratio, factor;
    } known[DPULIB_MOVE_COUNT];
    double ratio = all / result;
    if (known[move].ratio != ratio) {
        known[move].factor = sixth_root(ratio);
        known[move].ratio = ratio;
    }
    double factor = known[move].factor;
    result *= 1e6;

    uint32_t low = 1;
    for (; 2 * low <= dpus; low *= 2)
        result *= factor;
    return result * (1 + (factor - 1) * (dpus - low) / low);
}

/* Seconds of a call besides its bytes. */
static double call_cost(const struct dpulib_configuration *configuration, enum dpulib_move move)
{
    uint32_t microseconds = configuration->call_to;
    if (move == DPULIB_SERIAL_TO || move == DPULIB_SERIAL_FROM)
        microseconds = configuration->call_serial;
    if (move == DPULIB_PARALLEL_FROM)
        microseconds = configuration->call_from;
    return 1e-6 * microseconds;
}

static void measure_move(const struct dpulib_operation *operation, struct figures *figures)
{
    const struct dpulib_spec *spec = &operation->spec;
    for (uint32_t i = 0; i < operation->count; i++) {
        const struct dpulib_rank_job *job = &operation->jobs[i];
        uint32_t dpus = job->dpu != NULL ? 1 : job->rank->count;
        if (spec->moved != NULL)
            dpus = dpulib_table_count(spec->moved, job->rank);
        if (dpus == 0)
            continue;
        uint64_t bytes = (uint64_t)spec->bytes * dpus;
        figures->dpus += dpus;
        figures->ranks++;
        figures->bytes += bytes;
        const struct dpulib_configuration *configuration = &job->rank->configuration;
        double rate = spec->by_commands ? 1e6 * configuration->wram
                                        : bandwidth(configuration, spec->move, dpus);
        figures->seconds += (double)bytes / rate;
        if (figures->ranks == 1)
            figures->seconds += call_cost(configuration, spec->move);
    }
}

static enum ending ending_of(dpu_error_t error)
{
    switch (error) {
    case DPU_OK: return DONE;
    case DPU_ERR_DPU_FAULT: return IN_FAULT;
    case DPU_ERR_TIMEOUT: return STOPPED;
    default: return FAILED;
    }
}

/* The rank job that ended worst; the first one if all are done. */
static const struct dpulib_rank_job *worst_job(const struct dpulib_operation *operation)
{
    const struct dpulib_rank_job *worst = &operation->jobs[0];
    for (uint32_t i = 1; i < operation->count; i++)
        if (ending_of(operation->jobs[i].error) > ending_of(worst->error))
            worst = &operation->jobs[i];
    return worst;
}

static uint64_t failures_of(const struct dpulib_operation *operation)
{
    uint64_t failures = 0;
    for (uint32_t i = 0; i < operation->count; i++)
        failures += operation->jobs[i].failures;
    return failures;
}

static void measure_launch(const struct dpulib_operation *operation, struct figures *figures)
{
    const struct dpulib_launch_figures *launch = operation->spec.figures;
    figures->dpus = operation->dpus;
    figures->ranks = operation->count;
    figures->bytes = atomic_load(&launch->dma_bytes);
    figures->cycles = atomic_load(&launch->cycles);
    figures->instructions = atomic_load(&launch->instructions);
    figures->runtimes = atomic_load(&launch->runtimes);

    const struct dpulib_configuration *configuration = &operation->jobs[0].rank->configuration;
    figures->seconds = (double)figures->cycles / (double)dpulib_clock(configuration) +
                       1e-6 * configuration->launch_microseconds;
    figures->joules = dpulib_joules(configuration, figures->instructions);
    figures->energy_unknown = configuration->instruction_picojoules == 0;
}

/* --- writing --- */

/* Names the run times of a set of them, with a plus between two. */
static void name_runtimes(uint32_t runtimes, char *text, size_t size)
{
    struct text names = text_new(text, size);
    for (uint32_t i = 0; i < sizeof runtime_names / sizeof *runtime_names; i++)
        if ((runtimes >> i & 1) != 0)
            text_add(&names, "%s%s", *text != 0 ? "+" : "", runtime_names[i]);
}

static void tell_failure(const char *path)
{
    dpulib_log(DPULIB_WARNING, "DPU_SOFT_REPORT: cannot write to %s: %s", path, strerror(errno));
    destination = NULL;
}

static bool open_file(bool anew)
{
    char *path = dpulib_make_path(destination);
    if (path == NULL) {
        tell_failure(destination);
        return false;
    }

    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (anew ? O_TRUNC : 0), 0666);
    if (file < 0 || fstat(file, &file_identity) != 0)
        tell_failure(path);
    free(path);
    return destination != NULL;
}

/* A host may have closed all its files, and the number may be that of another one now. */
static bool is_open(void)
{
    struct stat now;
    return file >= 0 && fstat(file, &now) == 0 && now.st_dev == file_identity.st_dev &&
           now.st_ino == file_identity.st_ino;
}

static void write_text(const char *text, size_t size)
{
    int to = STDERR_FILENO;
    if (strcmp(destination, "-") != 0) {
        if (!is_open() && !open_file(file < 0))
            return;
        to = file;
    }

    ssize_t done = 0;
    while (size != 0 && (done = write(to, text, size)) != 0) {
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            tell_failure(destination);
            return;
        }
        text += done;
        size -= (size_t)done;
    }
}

/* As a field of comma-separated values: where the first of the DPUs that failed ended. */
static void describe_ending(const struct dpulib_operation *operation, char *field, size_t size)
{
    char details[2 * DETAIL_MAX];
    const char *detail = worst_job(operation)->detail;
    size_t used = 0;
    for (; detail != NULL && *detail != 0 && used < sizeof details - 2; detail++) {
        if (*detail == '"')
            details[used++] = '"';
        details[used++] = *detail == '\n' ? ' ' : *detail;
    }

    details[used] = 0;
    uint64_t more = failures_of(operation) - 1;
    if (more != 0)
        snprintf(field, size, "\"%s; %" PRIu64 " more DPU%s failed\"", details, more,
                 more > 1 ? "s" : "");
    else
        snprintf(field, size, "\"%s\"", details);
}

/* OPERATION is NULL for totals. */
static void write_line(const char *prefix, const char *event, const struct figures *figures,
                       uint64_t number, const struct dpulib_operation *operation)
{
    static const char header[] =
        "# offchip libdpu report 4: modelled time in seconds; see DPU_SOFT_REPORT in docs/dpu.md\n"
        "pid,event,number,ranks,dpus,bytes,seconds,cycles,instructions,joules,runtime,status,"
        "ended\n";
    char line[256 + ENDED_MAX], ended[ENDED_MAX] = "", runtimes[40], joules[40] = "";
    if (!begun)
        write_text(header, sizeof header - 1);
    begun = true;
    name_runtimes(figures->runtimes, runtimes, sizeof runtimes);
    if (figures->joules != 0 && !figures->energy_unknown)
        snprintf(joules, sizeof joules, "%.6g", figures->joules);
    if (operation != NULL && figures->ending != DONE)
        describe_ending(operation, ended, sizeof ended);
    int length = snprintf(line, sizeof line,
                          "%ld,%s%s,%" PRIu64 ",%u,%" PRIu64 ",%" PRIu64 ",%.9f,%" PRIu64
                          ",%" PRIu64 ",%s,%s,%s,%s\n",
                          (long)getpid(), prefix, event, number, figures->ranks, figures->dpus,
                          figures->bytes, figures->seconds, figures->cycles, figures->instructions,
                          joules, runtimes, ending_names[figures->ending], ended);
    if (length > 0 && destination != NULL)
        write_text(line, (size_t)length);
}

/* --- collecting --- */

static void add(struct figures *total, const struct figures *figures)
{
    total->count++;
    total->bytes += figures->bytes;
    total->cycles += figures->cycles;
    total->instructions += figures->instructions;
    total->seconds += figures->seconds;
    total->joules += figures->joules;
    total->energy_unknown = total->energy_unknown || figures->energy_unknown;
    total->runtimes |= figures->runtimes;
    total->ending = figures->ending > total->ending ? figures->ending : total->ending;
    total->dpus = figures->dpus > total->dpus ? figures->dpus : total->dpus;
    total->ranks = figures->ranks > total->ranks ? figures->ranks : total->ranks;
}

static void record(const struct dpulib_operation *operation, const struct figures *figures)
{
    bool is_known = dpulib_is_launch(operation) || operation->spec.move != DPULIB_NO_MOVE;
    dpulib_record_operation(&(struct dpulib_record){
        .number = dpulib_is_launch(operation) ? operation->spec.figures->number : 0,
        .begin = operation->begin,
        .seconds = figures->seconds,
        .bytes = figures->bytes,
        .cycles = figures->cycles,
        .instructions = figures->instructions,
        .dpus = operation->dpus,
        .what = is_known ? (uint32_t)operation->spec.move : DPULIB_RAW_OTHER,
    });
}

void dpulib_time_note(const struct dpulib_operation *operation)
{
    struct figures figures = {0};
    enum dpulib_move move = operation->spec.move;
    if (dpulib_is_launch(operation))
        measure_launch(operation, &figures);
    else if (move != DPULIB_NO_MOVE)
        measure_move(operation, &figures);
    if (dpulib_records())
        record(operation, &figures);
    if (figures.dpus == 0)
        return;

    figures.ending = ending_of(worst_job(operation)->error);
    add(&totals[move], &figures);
    launches_cut_short += dpulib_is_launch(operation) && figures.ending != DONE;
    if (dpulib_is_launch(operation))
        has_plain_host = has_plain_host || !operation->jobs[0].rank->keeps_warnings;
    if (destination != NULL)
        write_line("", event_names[move], &figures, totals[move].count, operation);
}

static void write_totals(void)
{
    struct figures all = {0};
    for (int i = 0; i < DPULIB_MOVE_COUNT && destination != NULL; i++) {
        if (totals[i].count == 0)
            continue;
        write_line("total_", event_names[i], &totals[i], totals[i].count, NULL);
        uint64_t count = all.count, bytes = all.bytes;
        add(&all, &totals[i]);
        /* Those of launches pass between MRAM and WRAM, not between host and DPUs. */
        if (i == DPULIB_NO_MOVE)
            all.bytes = bytes;
        all.count = count + totals[i].count;
    }

    if (all.count != 0 && destination != NULL)
        write_line("total", "", &all, all.count, NULL);
}

static void write_note(void)
{
    char runtimes[40];
    name_runtimes(totals[DPULIB_NO_MOVE].runtimes, runtimes, sizeof runtimes);
    double transfers = 0;
    for (int i = DPULIB_NO_MOVE + 1; i < DPULIB_MOVE_COUNT; i++)
        transfers += totals[i].seconds;
    char cut_short[120] = "";
    if (launches_cut_short != 0)
        snprintf(cut_short, sizeof cut_short,
                 " (%" PRIu64 " of %" PRIu64 " ended by a fault or were stopped, and took less)",
                 launches_cut_short, totals[DPULIB_NO_MOVE].count);
    fprintf(stderr,
            "libdpu: the DPUs of this program were simulated, and its timers measured the "
            "simulator. Modelled time: launches %.3f ms%s, transfers %.3f ms (run time: %s). "
            "DPU_SOFT_REPORT=- (or a file) tells each of them, DPU_SOFT_QUIET=1 omits this line.\n",
            1e3 * totals[DPULIB_NO_MOVE].seconds, cut_short, 1e3 * transfers, runtimes);
}

/* The child goes on in its parent's file, unless the name has a process id. */
static void reset(void)
{
    memset(totals, 0, sizeof totals);
    launches_cut_short = 0;
    has_plain_host = false;
    if (file >= 0 && destination != NULL && strstr(destination, "%p") != NULL) {
        close(file);
        file = -1;
        begun = false;
    }
}

__attribute__((constructor)) static void set_up(void)
{
    destination = dpulib_setting(DPULIB_DPU_SOFT_REPORT);
    if (destination != NULL && strcmp(destination, "-") != 0)
        dpulib_check_writable(DPULIB_DPU_SOFT_REPORT, destination);
    dpulib_on_fork(reset);
}

#define EXIT_LIMIT (CLOCK_SECOND / 5)

/* Not forever: a thread that holds the lock may never come back. */
__attribute__((destructor)) static void tell_at_exit(void)
{
    if (!dpulib_lock_soon(EXIT_LIMIT))
        return;
    if (destination != NULL)
        write_totals();
    else if (has_plain_host && !dpulib_is_quiet())
        write_note();
    dpulib_unlock();
}
