/* SPDX-License-Identifier: BSD-3-Clause */
/* Several processes, libraries, static symbols, and what is not there. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "veosoft.h"

CASE(processes_on_several_nodes)
{
    struct veo_proc_handle *procs[4];
    setenv("VEO_SOFT_NODES", "2", 1);
    for (int i = 0; i < 4; i++) {
        procs[i] = veo_proc_create(i % 2);
        CHECK(procs[i] != NULL);
        CHECK_EQUAL(veo_proc_identifier(procs[i]), i);
    }
    CHECK(veo_proc_create(2) == NULL);
    CHECK_EQUAL(errno, ENODEV);
    CHECK_EQUAL(veo_get_ve_arch(1), 1);
    CHECK_EQUAL(veo_get_ve_arch(2), -1);
    CHECK_EQUAL(veo_get_ve_arch(-1), 0);
    /* Each has memory of its own. */
    for (int i = 0; i < 4; i++) {
        uint64_t library = veo_load_library(procs[i], kernels_path());
        uint64_t count = veo_get_sym(procs[i], library, "count");
        uint64_t result;
        for (int k = 0; k <= i; k++)
            CHECK_EQUAL(veo_call_sync(procs[i], count, NULL, &result), 0);
        CHECK_EQUAL(result, i);
    }
    CHECK_EQUAL(veo_proc_destroy(procs[1]), 0);
    procs[1] = veo_proc_create(1);
    CHECK_EQUAL(veo_proc_identifier(procs[1]), 1);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(veo_proc_destroy(procs[i]), 0);
}

/* Has a kernel write to a descriptor of its own process. */
static void print(struct veo_proc_handle *proc, int fd, const char *text)
{
    uint64_t library = veo_load_library(proc, kernels_path());
    uint64_t result;
    struct veo_args *args = veo_args_alloc();
    CHECK_EQUAL(veo_args_set_i32(args, 0, fd), 0);
    CHECK_EQUAL(
        veo_args_set_stack(args, VEO_INTENT_IN, 1, (char *)(uintptr_t)text, strlen(text) + 1), 0);
    CHECK_EQUAL(veo_call_sync(proc, veo_get_sym(proc, library, "print"), args, &result), 0);
    CHECK_EQUAL(result, strlen(text));
    veo_args_free(args);
}

CASE(processes_print_where_the_thread_said)
{
    int ends[2];
    char got[32];
    CHECK_EQUAL(pipe(ends), 0);
    int out = fcntl(ends[1], F_DUPFD_CLOEXEC, 16);
    CHECK(out >= 16);

    veosoft_set_quiet(1);
    CHECK_EQUAL(veosoft_set_output(5, -1), -1);
    CHECK_EQUAL(errno, EINVAL);
    CHECK(strstr(veosoft_error(), "descriptors up to 5") != NULL);
    CHECK_EQUAL(veosoft_set_output(-1, 0), -1);

    /* Standard output, then standard error; both are the process' own. */
    for (int fd = 1; fd <= 2; fd++) {
        CHECK_EQUAL(veosoft_set_output(fd == 1 ? out : -1, fd == 2 ? out : -1), 0);
        struct veo_proc_handle *proc = veo_proc_create(0);
        CHECK(proc != NULL);
        CHECK_EQUAL(veosoft_set_output(-1, -1), 0);
        print(proc, fd, "here");
        CHECK_EQUAL(read(ends[0], got, sizeof got), 4);
        CHECK(memcmp(got, "here", 4) == 0);
        CHECK_EQUAL(veo_proc_destroy(proc), 0);
    }

    close(out);
    close(ends[0]);
    close(ends[1]);
}

CASE(node_numbers_from_the_environment)
{
    setenv("VEO_SOFT_NODES", "4", 1);
    setenv("VE_NODE_NUMBER", "3", 1);
    struct veo_proc_handle *proc = veo_proc_create(-1);
    void *tagged;
    CHECK_EQUAL(veo_alloc_hmem(proc, &tagged, 1), 0);
    CHECK_EQUAL(veo_get_venum_from_hmem(tagged), 3);
    CHECK_EQUAL(veo_proc_destroy(proc), 0);
    setenv("_VENODELIST", "2 3", 1);
    for (int i = -1; i < 2; i++) {
        proc = veo_proc_create(i);
        CHECK_EQUAL(veo_alloc_hmem(proc, &tagged, 1), 0);
        CHECK_EQUAL(veo_get_venum_from_hmem(tagged), i == 0 ? 2 : 3);
        CHECK_EQUAL(veo_proc_destroy(proc), 0);
    }
    CHECK(veo_proc_create(2) == NULL);
    setenv("VE_NODE_NUMBER", "1", 1);
    CHECK(veo_proc_create(-1) == NULL);
    setenv("VE_NODE_NUMBER", "one", 1);
    CHECK(veo_proc_create(-1) == NULL);
    CHECK(veo_proc_create(-2) == NULL);
}

CASE(libraries_that_cannot_be_loaded)
{
    struct fixture f = set_up();
    char name[300];
    memset(name, 'x', sizeof name);
    name[299] = 0;
    CHECK(veo_load_library(f.proc, "/nowhere/libnothing.so") == 0);
    CHECK(strstr(veosoft_error(), "/nowhere/libnothing.so") != NULL);
    CHECK(veo_load_library(f.proc, name) == 0);
    CHECK_EQUAL(errno, ENAMETOOLONG);
    CHECK(veo_load_library(f.proc, "") == 0);
    CHECK(veo_load_library(f.proc, NULL) == 0);
    CHECK(veo_get_sym(f.proc, f.library, name) == 0);
    CHECK_EQUAL(errno, ENAMETOOLONG);
    CHECK(veo_get_sym(f.proc, f.library, "no_such_symbol") == 0);
    CHECK(veo_get_sym(f.proc, 0, "count") == 0);
    CHECK(veo_get_sym(f.proc, 0x1234, "count") == 0);
    CHECK_EQUAL(veo_unload_library(f.proc, 0), -1);
    CHECK(veo_unload_library(f.proc, 0x1234) != 0);
    tear_down(&f);
}

CASE(code_for_the_vector_engine_is_named)
{
    struct fixture f = set_up();
    const char *path = getenv("VE_LIBRARY"); /* an ELF file whose machine is the VE */
    CHECK(path != NULL);
    CHECK(veo_load_library(f.proc, path) == 0);
    CHECK(strstr(veosoft_error(), "Vector Engine") != NULL);
    CHECK(veo_proc_create_static(0, (char *)(uintptr_t)path) == NULL);
    CHECK(strstr(veosoft_error(), "Vector Engine") != NULL);
    path = getenv("ARM_LIBRARY");
    CHECK(path != NULL);
    CHECK(veo_load_library(f.proc, path) == 0);
    CHECK(strstr(veosoft_error(), "another machine") != NULL);
    tear_down(&f);
}

CASE(loading_twice_and_unloading)
{
    struct fixture f = set_up();
    uint64_t again = veo_load_library(f.proc, kernels_path());
    CHECK(again == f.library);
    CHECK_EQUAL(veo_unload_library(f.proc, again), 0);
    CHECK_EQUAL(call(&f, f.ctx, "count"), 0); /* still there */
    CHECK_EQUAL(veo_unload_library(f.proc, f.library), 0);
    CHECK(veo_get_sym(f.proc, f.library, "count") == 0);
    CHECK(veo_unload_library(f.proc, f.library) != 0);
    f.library = veo_load_library(f.proc, kernels_path());
    CHECK_EQUAL(call(&f, f.ctx, "count"), 0);
    /* The same name in another library is another function. */
    const char *other = getenv("OTHER_KERNELS");
    CHECK(other != NULL);
    uint64_t library = veo_load_library(f.proc, other);
    CHECK(library != 0 && library != f.library);
    uint64_t result;
    CHECK_EQUAL(veo_call_sync(f.proc, veo_get_sym(f.proc, library, "count"), NULL, &result), 0);
    CHECK_EQUAL(result, 1000);
    CHECK_EQUAL(veo_unload_library(f.proc, f.library), 0);
    CHECK_EQUAL(veo_call_sync(f.proc, veo_get_sym(f.proc, library, "count"), NULL, &result), 0);
    CHECK_EQUAL(result, 1001);
    tear_down(&f);
}

CASE(programs_that_are_no_workers)
{
    const char *nowhere = "/nowhere/veorun"; /* as string literals are in C++ */
    CHECK(veo_proc_create_static(0, nowhere) == NULL);
    CHECK_EQUAL(errno, ENOENT);
    CHECK(veo_proc_create_static(0, "/dev/null") == NULL);
    CHECK(veo_proc_create_static(0, "/bin/true") == NULL);
    CHECK(strstr(veosoft_error(), "ended") != NULL);
    CHECK(veo_proc_create_static(0, NULL) == NULL);
    CHECK(veo_proc_create_static(0, "") == NULL);
    setenv("VEORUN_BIN", "/nowhere/veorun", 1);
    CHECK(veo_proc_create(0) == NULL);
}

CASE(the_environment_reaches_kernels)
{
    setenv("VE_OMP_NUM_THREADS", "3", 1);
    setenv("VE_LD_LIBRARY_PATH", "/some/folder", 1);
    setenv("OMP_NUM_THREADS", "7", 1);
    struct fixture f = set_up();
    static const char *const wanted[][2] = {{"OMP_NUM_THREADS", "3"},
                                            {"LD_LIBRARY_PATH", "/some/folder"}};
    for (int i = 0; i < 2; i++) {
        char text[256] = "";
        char name[32];
        strcpy(name, wanted[i][0]);
        veo_args_set_stack(f.args, VEO_INTENT_IN, 0, name, sizeof name);
        uint64_t at = call(&f, f.ctx, "variable");
        CHECK_EQUAL(veo_read_mem(f.proc, text, at, sizeof text), 0);
        CHECK(strncmp(text, wanted[i][1], strlen(wanted[i][1])) == 0);
    }
    tear_down(&f);
}

CASE(a_forked_child_is_refused_and_may_open_its_own)
{
    struct fixture f = set_up();
    uint64_t count = symbol(&f, "count");
    CHECK_EQUAL(call(&f, f.ctx, "count"), 0);
    pid_t child = fork();
    if (child == 0) {
        uint64_t result;
        CHECK(veo_call_async(f.ctx, count, NULL) == VEO_REQUEST_ID_INVALID);
        CHECK_EQUAL(errno, EPERM);
        CHECK_EQUAL(veo_call_sync(f.proc, count, NULL, &result), -1);
        CHECK_EQUAL(veo_proc_destroy(f.proc), -1);
        struct fixture own = set_up();
        CHECK_EQUAL(call(&own, own.ctx, "count"), 0);
        tear_down(&own);
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(call(&f, f.ctx, "count"), 1);
    tear_down(&f);
}

CASE(what_needs_hardware_says_so)
{
    struct veo_proc_handle *proc = NULL;
#define REFUSED(call, value) \
    do { \
        errno = 0; \
        CHECK((call) == (value)); \
        CHECK_EQUAL(errno, ENOSYS); \
    } while (0)
    REFUSED(veo_shared_mem_open(NULL, 0, 0, 0), -1);
    REFUSED(veo_shared_mem_close(NULL, 0, 0, 0), -1);
    REFUSED(veo_shared_mem_attach(proc, 0, NULL, 0, 0, 0), (void *)-1);
    REFUSED(veo_shared_mem_detach(proc, NULL, 0), -1);
    REFUSED(veo_shmget(proc, 0, 0, 0), -1);
    REFUSED(veo_shmat(proc, 0, NULL, 0, NULL), (void *)-1);
    REFUSED(veo_shmdt(proc, NULL), -1);
    REFUSED(veo_dma_post(proc, 0, 0, 0, NULL), -ENOSYS);
    REFUSED(veo_dma_poll(proc, NULL), -ENOSYS);
    REFUSED(veo_dma_post_wait(proc, 0, 0, 0), -ENOSYS);
    REFUSED(veo_register_mem_to_dmaatb(NULL, 0), UINT64_MAX);
    REFUSED(veo_unregister_mem_from_dmaatb(proc, 0), -1);
    errno = 0;
    veo_access_pcircvsyc_register(proc);
    CHECK_EQUAL(errno, ENOSYS);
}
