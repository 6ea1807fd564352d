/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles of the wrong kind, freed handles, and resources that a process cannot get. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cases.h"
#include "veosoft.h"

#define CHECK_FAILS(call, wanted, number, text) \
    do { \
        errno = 0; \
        CHECK((call) == (wanted)); \
        CHECK_EQUAL(errno, number); \
        if (!strstr(veosoft_error(), text)) \
            fprintf(stderr, "said: %s\n", veosoft_error()); \
        CHECK(strstr(veosoft_error(), text) != NULL); \
    } while (0)

CASE(argument_lists_that_were_freed)
{
    struct fixture f = set_up();
    uint64_t echo = symbol(&f, "echo");
    struct veo_args *args = veo_args_alloc();
    char buffer[8] = {0};
    CHECK_EQUAL(veo_args_set_stack(args, VEO_INTENT_IN, 3, buffer, sizeof buffer), 0);
    veo_args_free(args);
    CHECK_FAILS(veo_args_set_i64(args, 0, 1), -1, EINVAL, "freed");
    CHECK_FAILS(veo_args_set_stack(args, VEO_INTENT_IN, 0, buffer, 8), -1, EINVAL, "freed");
    CHECK_FAILS(veo_call_async(f.ctx, echo, args), VEO_REQUEST_ID_INVALID, EINVAL, "freed");
    veo_args_free(args);
    CHECK(strstr(veosoft_error(), "freed") != NULL);
    veo_args_clear(args);
    /* A new one is as good as new. */
    struct veo_args *first = veo_args_alloc();
    struct veo_args *second = veo_args_alloc();
    CHECK(first && second && first != second);
    CHECK_EQUAL(wait_ok(f.ctx, veo_call_async(f.ctx, symbol(&f, "count"), first)), 0);
    veo_args_set_u64(first, 0, 7);
    CHECK_EQUAL(wait_ok(f.ctx, veo_call_async(f.ctx, echo, first)), 7);
    veo_args_free(first);
    veo_args_free(second);
    tear_down(&f);
}

CASE(handles_of_another_kind)
{
    struct fixture f = set_up();
    uint64_t echo = symbol(&f, "echo");
    uint64_t result;
    struct veo_args *as_args = (struct veo_args *)(void *)f.ctx;
    struct veo_thr_ctxt *as_context = (struct veo_thr_ctxt *)(void *)f.args;
    struct veo_proc_handle *as_process = (struct veo_proc_handle *)(void *)f.ctx;
    CHECK_FAILS(veo_args_set_i64(as_args, 0, 1), -1, EINVAL, "is a context");
    CHECK_FAILS(veo_args_set_i64((struct veo_args *)(void *)f.proc, 0, 1), -1, EINVAL,
                "is a process");
    CHECK_FAILS(veo_args_set_i64(NULL, 0, 1), -1, EINVAL, "NULL");
    CHECK_FAILS(veo_call_async(f.ctx, echo, as_args), VEO_REQUEST_ID_INVALID, EINVAL,
                "is a context");
    veo_args_free(as_args);
    CHECK_FAILS(veo_call_async(as_context, echo, NULL), VEO_REQUEST_ID_INVALID, EINVAL,
                "not a context");
    CHECK_EQUAL(veo_call_wait_result(as_context, 0, &result), -1);
    CHECK_EQUAL(veo_context_close(as_context), -1);
    CHECK_EQUAL(veo_get_context_state(as_context), VEO_STATE_EXIT);
    CHECK_FAILS(veo_proc_destroy(as_process), -1, EINVAL, "not a VE process");
    CHECK_FAILS(veo_get_sym(as_process, f.library, "echo"), 0, EINVAL, "not a VE process");
    CHECK_EQUAL(veo_proc_identifier(as_process), -1);
    veo_args_set_u64(f.args, 0, 5);
    CHECK_EQUAL(wait_ok(f.ctx, veo_call_async(f.ctx, echo, f.args)), 5);
    tear_down(&f);
}

CASE(what_works_leaves_the_text_of_the_last_failure)
{
    struct fixture f = set_up();
    uint64_t address, value = 7;
    CHECK_FAILS(veo_call_async(f.ctx, 0, NULL), VEO_REQUEST_ID_INVALID, EINVAL, "address 0");
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    CHECK(other != NULL);
    veo_args_set_u64(f.args, 0, 5);
    CHECK_EQUAL(wait_ok(other, veo_call_async(other, symbol(&f, "echo"), f.args)), 5);
    CHECK_EQUAL(veo_alloc_mem(f.proc, &address, sizeof value), 0);
    CHECK_EQUAL(veo_write_mem(f.proc, address, &value, sizeof value), 0);
    CHECK_EQUAL(veo_read_mem(f.proc, &value, address, sizeof value), 0);
    CHECK_EQUAL(veo_free_mem(f.proc, address), 0);
    CHECK_EQUAL(veo_context_close(other), 0);
    CHECK(strstr(veosoft_error(), "address 0") != NULL);
    tear_down(&f);
}

static void limit_to(int resource, rlim_t value)
{
    struct rlimit limit = {.rlim_cur = value, .rlim_max = RLIM_INFINITY};
    getrlimit((__rlimit_resource_t)resource, &limit);
    limit.rlim_cur = value;
    CHECK_EQUAL(setrlimit((__rlimit_resource_t)resource, &limit), 0);
}

CASE(too_few_descriptors_are_named)
{
    struct fixture f = set_up();
    tear_down(&f);
    for (rlim_t n = 3; n < 24; n++) {
        limit_to(RLIMIT_NOFILE, n);
        struct veo_proc_handle *proc = veo_proc_create(0);
        if (!proc)
            CHECK(strstr(veosoft_error(), "ulimit -n") || strstr(veosoft_error(), "open files"));
        else
            CHECK_EQUAL(veo_proc_destroy(proc), 0);
    }
    limit_to(RLIMIT_NOFILE, 256);
    f = set_up();
    tear_down(&f);
}

CASE(a_limit_of_file_sizes_is_named)
{
    limit_to(RLIMIT_FSIZE, 0);
    CHECK_FAILS(veo_proc_create(0), NULL, EFBIG, "ulimit -f");
    /* Less memory than there could be will do. */
    limit_to(RLIMIT_FSIZE, (rlim_t)2 << 30);
    struct fixture f = set_up();
    tear_down(&f);
}

CASE(a_refused_memory_file_is_named)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    CHECK_EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0), 0);
    CHECK_FAILS(veo_proc_create(0), NULL, EPERM, "memfd_create");
}

CASE(memory_files_cannot_be_cut_off)
{
    struct fixture f = set_up();
    int files = 0;
    for (int fd = 0; fd < 256; fd++) {
        char link[64];
        char path[64] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, path, sizeof path - 1) > 0 && strstr(path, "offchip-veo")) {
            files++;
            CHECK_FAILS(ftruncate(fd, 0), -1, EPERM, "");
            CHECK_FAILS(ftruncate(fd, INT64_C(1) << 40), -1, EPERM, "");
        }
    }
    CHECK_EQUAL(files, 2);
    tear_down(&f);
}
