/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times launches of several DPUs next to those of one, and says what DPUs take of the host's
 * memory.
 *
 * dpu_scaling LOOP EMPTY ROUNDS: two programs, of which the first counts its launches in `done`.
 * Prints lines of a name and a value a round:
 *   launch:N, one:N      nanoseconds for N DPUs, and in turns for the first of them
 *   cpu:N, cpu-one:N     processor time of the same
 *   empty:N              nanoseconds for a program that ends at once
 *   memory:N             MiB that N DPUs take, idle
 *   server, server-memory  nanoseconds to allocate, load, launch and free 2560 DPUs; MiB at most
 */
#include "dpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FULL_SERVER 2560

static double clock_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static double status_mib(const char *key)
{
    char line[256];
    double kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            kib = strtod(line + strlen(key), NULL);
    if (file != NULL)
        fclose(file);
    return kib / 1024;
}

static struct dpu_set_t allocate(uint32_t count, const char *program)
{
    struct dpu_set_t set;
    DPU_ASSERT(dpu_alloc(count, NULL, &set));
    if (program != NULL)
        DPU_ASSERT(dpu_load(set, program, NULL));
    return set;
}

struct times {
    double wall, cpu;
};

static struct times launch(struct dpu_set_t set)
{
    struct times start = {clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_PROCESS_CPUTIME_ID)};
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    return (struct times){clock_ns(CLOCK_MONOTONIC) - start.wall,
                          clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start.cpu};
}

static void check_count(struct dpu_set_t set, uint32_t expected)
{
    struct dpu_set_t dpu;
    uint32_t index, count;
    DPU_FOREACH(set, dpu, index)
    {
        DPU_ASSERT(dpu_copy_from(dpu, "done", 0, &count, sizeof count));
        if (count != expected + (index == 0 ? expected : 0)) {
            fprintf(stderr, "dpu_scaling: DPU %u was launched %u times\n", index, count);
            exit(1);
        }
    }
}

static void print_line(const char *name, uint32_t count, const double *values, uint32_t rounds)
{
    printf("%s:%u", name, count);
    for (uint32_t i = 0; i < rounds; i++)
        printf(" %.1f", values[i]);
    printf("\n");
}

static void measure_launches(const char *program, uint32_t count, uint32_t rounds)
{
    double *values = calloc((size_t)4 * rounds, sizeof *values);
    struct dpu_set_t set = allocate(count, program), one = dpu_set_dpu_iterator_from(&set).next;
    if (values == NULL)
        exit(1);
    launch(set);
    launch(one);
    for (uint32_t i = 0; i < rounds; i++) {
        struct times all = launch(set), single = launch(one);
        values[i] = all.wall;
        values[rounds + i] = single.wall;
        values[2 * rounds + i] = all.cpu;
        values[3 * rounds + i] = single.cpu;
    }
    check_count(set, rounds + 1);
    static const char *const names[] = {"launch", "one", "cpu", "cpu-one"};
    for (int k = 0; k < 4; k++)
        print_line(names[k], count, values + (size_t)k * rounds, rounds);
    DPU_ASSERT(dpu_free(set));
    free(values);
}

static void measure_empty(const char *program, uint32_t count, uint32_t rounds)
{
    double *values = calloc(rounds, sizeof *values);
    struct dpu_set_t set = allocate(count, program);
    if (values == NULL)
        exit(1);
    launch(set);
    for (uint32_t i = 0; i < rounds; i++)
        values[i] = launch(set).wall;
    print_line("empty", count, values, rounds);
    DPU_ASSERT(dpu_free(set));
    free(values);
}

static void idle_memory(uint32_t count)
{
    double before = status_mib("VmRSS:");
    allocate(count, NULL);
    printf("memory:%u %.1f\n", count, status_mib("VmRSS:") - before);
}

static void full_server(const char *program)
{
    double before = status_mib("VmRSS:"), start = clock_ns(CLOCK_MONOTONIC);
    struct dpu_set_t set = allocate(FULL_SERVER, program);
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_ASSERT(dpu_free(set));
    printf("server %.1f\n", clock_ns(CLOCK_MONOTONIC) - start);
    printf("server-memory %.1f\n", status_mib("VmHWM:") - before);
}

/* Memory is measured in processes that have done nothing else. */
static pid_t begin_child(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child > 0) {
        int status;
        if (waitpid(child, &status, 0) != child || status != 0)
            exit(1);
    }
    return child;
}

int main(int argc, char **argv)
{
    static const uint32_t counts[] = {1, 2, 4, 8, 16, 32, 64};
    if (argc != 4)
        return 2;
    const uint32_t rounds = (uint32_t)strtoul(argv[3], NULL, 0);
    if (begin_child() == 0) {
        idle_memory(64);
        return 0;
    }
    if (begin_child() == 0) {
        idle_memory(FULL_SERVER);
        return 0;
    }
    for (uint32_t i = 0; i < rounds; i++)
        if (begin_child() == 0) {
            full_server(argv[2]);
            return 0;
        }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        measure_launches(argv[1], counts[i], rounds);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i += 6)
        measure_empty(argv[2], counts[i], 20 * rounds);
    measure_empty(argv[2], FULL_SERVER, rounds);
    return 0;
}
