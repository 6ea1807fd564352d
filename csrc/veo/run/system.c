/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls, as programs make that bring their own C library. Numbers up to 312 are those of
 * Linux on x86-64, as are the structures, so that other hosts serve none but exit(). Calls that
 * would take memory or threads from this process are not served.
 */
#include "veo/run/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "veo/run/special.h"

enum { VE_EXIT = 60, VE_EXIT_GROUP = 231 };

static bool is_served(uint64_t number)
{
#if defined(__x86_64__)
    static const uint16_t served[] = {
        SYS_read,
        SYS_write,
        SYS_open,
        SYS_close,
        SYS_stat,
        SYS_fstat,
        SYS_lstat,
        SYS_poll,
        SYS_lseek,
        SYS_mmap,
        SYS_mprotect,
        SYS_munmap,
        SYS_ioctl,
        SYS_pread64,
        SYS_pwrite64,
        SYS_readv,
        SYS_writev,
        SYS_access,
        SYS_pipe,
        SYS_sched_yield,
        SYS_madvise,
        SYS_dup,
        SYS_dup2,
        SYS_nanosleep,
        SYS_getpid,
        SYS_uname,
        SYS_fcntl,
        SYS_fsync,
        SYS_ftruncate,
        SYS_getcwd,
        SYS_chdir,
        SYS_rename,
        SYS_mkdir,
        SYS_rmdir,
        SYS_unlink,
        SYS_readlink,
        SYS_gettimeofday,
        SYS_getrusage,
        SYS_times,
        SYS_getuid,
        SYS_getgid,
        SYS_geteuid,
        SYS_getegid,
        SYS_getppid,
        SYS_gettid,
        SYS_time,
        SYS_clock_gettime,
        SYS_clock_getres,
        SYS_clock_nanosleep,
        SYS_openat,
        SYS_newfstatat,
        SYS_getdents64,
        SYS_kill,
        SYS_tgkill,
        SYS_futex,
    };
    for (size_t i = 0; i < sizeof served / sizeof *served; i++)
        if (served[i] == number)
            return true;
#else
    (void)number;
#endif
    return false;
}

/* The result of a call, or -errno. */
static long call(uint64_t number, const uint64_t a[6])
{
    if (number == VE_EXIT || number == VE_EXIT_GROUP)
        exit((int)a[0]);
    if (!is_served(number))
        return -ENOSYS;
    long result = syscall((long)number, a[0], a[1], a[2], a[3], a[4], a[5]);
    return result == -1 ? -errno : result;
}

bool verun_system_call(struct ve_core *core, uint64_t number)
{
    uint64_t parameters;
    uint64_t a[7];
    memcpy(&parameters, (const void *)(uintptr_t)(core->s[VE_S_THREAD] + 24), sizeof parameters);
    memcpy(a, (const void *)(uintptr_t)parameters, sizeof a);
    core->s[0] = (uint64_t)(int64_t)call(number, a + 1);
    return true;
}

/* syscall() of the C library. */
bool verun_syscall(struct ve_core *core)
{
    long result = call(core->s[0], core->s + 1);
    if (result < 0 && result > -4096)
        errno = (int)-result;
    core->s[0] = (uint64_t)(int64_t)(result < 0 && result > -4096 ? -1 : result);
    return true;
}
