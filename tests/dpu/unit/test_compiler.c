/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compilers that are absent, fail, hang or write nonsense cost speed and nothing else.
 *
 * build: @dpu_machine @dpu_translate tsan
 */
#include "dpu/machine/machine_state.h"
#include "dpu/machine/program.h"
#include "hostcode/compiler.h"
#include "dpu/translate/job.h"
#include "dpu/translate/runner.h"
#include "dpu/translate/translate.h"
#include "hostcode/unseen_process.h"
#include "common/clock.h"
#include "tests/dpu/support/program.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A command whose text is a shell's. */
static void write_command(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    CHECK(file != NULL && fprintf(file, "#!/bin/sh\n%s\n", text) > 0 && fclose(file) == 0);
    CHECK(chmod(name, 0755) == 0);
}

/* Compiles; the result is "$2" then. */
#define BUILD "cc \"$@\" || exit; while [ \"$1\" != -o ]; do shift; done; "

/* Returns true if `command` compiles a program, another one each time. */
static bool translate(const char *command)
{
    static int64_t programs;
    struct dpu_machine *m = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(m, MOVE(0, programs++), STOP);
    CHECK(setenv("DPU_SOFT_CC", command, 1) == 0);
    bool done = dpu_translate_wait(m, clock_deadline(60 * CLOCK_SECOND));
    struct dpu_run_result result;
    CHECK(dpu_machine_launch(m, &result) == DPU_RUN_DONE && result.instructions == 2);
    dpu_machine_destroy(m);
    return done;
}

static void test_commands(const char *here)
{
    struct host_compiler c;
    char command[5000];
    CHECK(setenv("DPU_SOFT_CC", "", 1) == 0 && !host_compiler_find(&c, "DPU_SOFT_CC"));
    CHECK(setenv("DPU_SOFT_CC", "no-such-compiler", 1) == 0 &&
          !host_compiler_find(&c, "DPU_SOFT_CC"));
    CHECK(setenv("DPU_SOFT_CC", "/proc/self/status", 1) == 0 &&
          !host_compiler_find(&c, "DPU_SOFT_CC"));
    CHECK(setenv("DPU_SOFT_CC", "sh 1 2 3 4 5 6 7 8 9 a b c d e f g", 1) == 0);
    CHECK(!host_compiler_find(&c, "DPU_SOFT_CC"));

    write_command("own", "exit 0");
    snprintf(command, sizeof command, "  %s/own  -a b ", here);
    CHECK(setenv("DPU_SOFT_CC", command, 1) == 0 && host_compiler_find(&c, "DPU_SOFT_CC"));
    CHECK(strcmp(c.words[1], "-a") == 0 && strcmp(c.words[2], "b") == 0 && c.words[3] == NULL);
    CHECK(unsetenv("DPU_SOFT_CC") == 0 && setenv("PATH", "", 1) == 0 &&
          !host_compiler_find(&c, "DPU_SOFT_CC"));
    CHECK(setenv("PATH", ".:relative", 1) == 0 && !host_compiler_find(&c, "DPU_SOFT_CC"));
}

/* The wheel that is installed beside the library, if there is one. */
static void test_zig(const char *here)
{
    struct host_compiler c;
    char library[5000], zig[6000];
    CHECK(mkdir("site", 0755) == 0 && mkdir("site/dpu", 0755) == 0);
    CHECK(mkdir("site/dpu/lib", 0755) == 0 && mkdir("site/ziglang", 0755) == 0);
    snprintf(library, sizeof library, "%s/site/dpu/lib/libdpu.so", here);
    CHECK(!host_compiler_find_beside(&c, library));

    write_command("site/ziglang/zig", "exit 0");
    snprintf(zig, sizeof zig, "%s/site/dpu/lib/../../ziglang/zig", here);
    CHECK(host_compiler_find_beside(&c, library));
    CHECK(strcmp(c.words[0], zig) == 0 && strcmp(c.words[1], "cc") == 0 && c.words[2] == NULL);
    CHECK(!host_compiler_find_beside(&c, "site/dpu/lib/libdpu.so"));
    CHECK(!host_compiler_find_beside(&c, "libdpu.so"));

    /* On PATH, last of all. */
    CHECK(chmod("site/ziglang/zig", 0755) == 0 && unsetenv("DPU_SOFT_CC") == 0);
    snprintf(library, sizeof library, "%s/site/ziglang", here);
    CHECK(setenv("PATH", library, 1) == 0 && host_compiler_find(&c, "DPU_SOFT_CC"));
    snprintf(zig, sizeof zig, "%s/zig", library);
    CHECK(strcmp(c.words[0], zig) == 0 && strcmp(c.words[1], "cc") == 0);
}

/* How far the process of the last compiler was behind this one. */
static int niceness(void)
{
    char text[16] = "";
    FILE *file = fopen("niceness", "r");
    CHECK(file != NULL && fgets(text, sizeof text, file) != NULL && fclose(file) == 0);
    unlink("niceness");
    return atoi(text) - getpriority(PRIO_PROCESS, 0);
}

/* Others go first, unless a launch waits for all of a program. */
static void test_priority(const char *here)
{
    char command[5000], text[5000];
    snprintf(text, sizeof text, "sleep 0.2; nice >'%s/niceness'; exit 1", here);
    write_command("noting", text);
    snprintf(command, sizeof command, "%s/noting", here);
    CHECK(setenv("DPU_SOFT_CC", command, 1) == 0);
    struct dpu_machine *m = dpu_new(DPU_ACCOUNTING_PIPELINE, 0);
    LOAD(m, MOVE(0, 77), STOP);
    CHECK(!dpu_translate_wait(m, clock_deadline(60 * CLOCK_SECOND)));
    CHECK(niceness() == 0);

    struct dpu_loaded loaded;
    struct host_build_figures figures;
    CHECK(!dpu_job_compile(m->program, false, 0, &loaded, &figures));
    CHECK(niceness() > 0);
    dpu_machine_destroy(m);
}

/* It is killed, with what it has started. */
static void test_hanging(const char *here)
{
    struct host_compiler c;
    char command[5000], line[64];
    write_command("hanging", "sleep 1000 & echo $! >sleeper; wait");
    snprintf(command, sizeof command, "%s/hanging", here);
    CHECK(setenv("DPU_SOFT_CC", command, 1) == 0 && host_compiler_find(&c, "DPU_SOFT_CC"));
    unlink("sleeper");
    CHECK(!host_compiler_run(&c, "a.c", "a.so", 2 * CLOCK_SECOND));

    FILE *file = fopen("sleeper", "r");
    if (file == NULL) /* it was killed before it came so far */
        return;
    if (fgets(line, sizeof line, file) != NULL) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/cwd", atoi(line));
        /* A zombie, if nobody waits for it, has no folder. */
        int64_t deadline = clock_deadline(60 * CLOCK_SECOND);
        char target[64];
        while (readlink(path, target, sizeof target) >= 0 && clock_now() < deadline)
            usleep(1000);
        CHECK(readlink(path, target, sizeof target) < 0);
    }

    CHECK(fclose(file) == 0);
}

static void *run_hanging(void *argument)
{
    CHECK(!host_compiler_run(argument, "a.c", "a.so", CLOCK_NEVER));
    return NULL;
}

/* By another thread, as at exit; and none is started any more. */
static void test_stopping(void)
{
    struct host_compiler c;
    pthread_t thread;
    CHECK(host_compiler_find(&c, "DPU_SOFT_CC"));
    CHECK(pthread_create(&thread, NULL, run_hanging, &c) == 0);
    host_unseen_stop();
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(!host_compiler_run(&c, "a.c", "a.so", CLOCK_NEVER));
}

int main(void)
{
    char here[4000], command[5000];
    struct dpu_loaded loaded;
    CHECK(getcwd(here, sizeof here) != NULL && setenv("XDG_CACHE_HOME", here, 1) == 0);
    const char *path = getenv("PATH");
    char *kept = strdup(path != NULL ? path : "");

    CHECK(!translate(""));
    CHECK(!translate("no-such-compiler"));
    write_command("failing", "exit 1");
    snprintf(command, sizeof command, "%s/failing", here);
    CHECK(!translate(command));
    write_command("silent", "exit 0");
    snprintf(command, sizeof command, "%s/silent", here);
    CHECK(!translate(command));
    write_command("wrong", "while [ \"$1\" != -o ]; do shift; done; echo text >\"$2\"");
    snprintf(command, sizeof command, "%s/wrong", here);
    CHECK(!translate(command));
    CHECK(!dpu_module_load(&loaded, "text", 4));

    struct dpu_translate_totals totals;
    dpu_translate_get_totals(&totals);
    CHECK(totals.failed == 5 && totals.compiled == 0 && totals.loaded == 0);

    /* A link is not followed, whatever it leads to. */
    write_command("linking", BUILD "mv \"$2\" \"$2.so\"; ln -s \"$2.so\" \"$2\"");
    snprintf(command, sizeof command, "%s/linking", here);
    CHECK(!translate(command));
    write_command("copying", BUILD "mv \"$2\" \"$2.so\"; cp \"$2.so\" \"$2\"");
    snprintf(command, sizeof command, "%s/copying", here);
    CHECK(translate(command));

    test_priority(here);
    test_commands(here);
    test_zig(here);
    CHECK(unsetenv("DPU_SOFT_CC") == 0);
    CHECK(setenv("PATH", kept, 1) == 0);
    test_hanging(here);
    test_stopping();
    free(kept);
    return 0;
}
