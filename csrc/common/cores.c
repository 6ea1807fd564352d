/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/cores.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned affinity_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    /* More processors than a fixed set holds. */
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;

    ssize_t n = read(fd, text, size - 1);
    close(fd);
    if (n <= 0)
        return false;

    text[n] = 0;
    return true;
}

/* Quota over period of the process' own cgroup (version 2, then 1); 0 if there is none. */
static double quota_cores(void)
{
    char text[4096];
    long long quota = 0;
    long long period = 0;
    if (read_text("/proc/self/cgroup", text, sizeof text)) {
        char *line = strstr(text, "0::/");
        if (line != NULL) {
            char path[512];
            line += 3;
            line[strcspn(line, "\n")] = 0;
            snprintf(path, sizeof path, "/sys/fs/cgroup%.400s/cpu.max", line);
            char value[64];
            if (read_text(path, value, sizeof value) &&
                sscanf(value, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0)
                return (double)quota / (double)period;
        }
    }

    if (read_text("/sys/fs/cgroup/cpu.max", text, sizeof text) &&
        sscanf(text, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0)
        return (double)quota / (double)period;
    if (read_text("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", text, sizeof text) &&
        sscanf(text, "%lld", &quota) == 1 && quota > 0 &&
        read_text("/sys/fs/cgroup/cpu/cpu.cfs_period_us", text, sizeof text) &&
        sscanf(text, "%lld", &period) == 1 && period > 0)
        return (double)quota / (double)period;

    return 0;
}

static unsigned cut_by_quota(unsigned cores)
{
    double quota = quota_cores();
    if (quota > 0 && quota < cores)
        cores = quota < 1 ? 1 : (unsigned)quota;
    return cores;
}

unsigned usable_cores(void)
{
    return cut_by_quota(affinity_cores());
}

void cores_add(cpu_set_t *set, pid_t pid)
{
    cpu_set_t more;
    if (sched_getaffinity(pid, sizeof more, &more) == 0)
        CPU_OR(set, set, &more);
}

unsigned cores_count(const cpu_set_t *set)
{
    int count = CPU_COUNT(set);
    return cut_by_quota(count > 0 ? (unsigned)count : affinity_cores());
}
