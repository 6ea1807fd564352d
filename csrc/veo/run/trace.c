/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/run/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "veo/machine/trace.h"

static FILE *file;
static uint32_t elements = 4;
static char problem[320];
static verun_place *find_place;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Of the line before; for who has locked the file. */
static const struct ve_core *last;
static uint64_t low, high;

void verun_trace_flush(FILE *stream, const char *variable)
{
    errno = 0;
    if (fflush(stream) != 0 || ferror(stream))
        fprintf(stderr, "[VE] ERROR: %s=%s is not whole: %s\n", variable, secure_getenv(variable),
                errno != 0 ? strerror(errno) : "a write failed (disk full?)");
}

static void flush_file(void)
{
    verun_trace_flush(file, "VEORUN_TRACE");
}

static void open_file(void)
{
    const char *path = secure_getenv("VEORUN_TRACE");
    const char *count = secure_getenv("VEORUN_TRACE_ELEMENTS");
    if (path == NULL || *path == '\0')
        return;

    if (count != NULL && *count != '\0') {
        char *end;
        unsigned long number = strtoul(count, &end, 10);
        if (*count < '0' || *count > '9' || *end != '\0' || number > VE_VECTOR_LENGTH) {
            snprintf(problem, sizeof problem,
                     "VEORUN_TRACE_ELEMENTS=%.80s is not allowed: it takes 0 to %d", count,
                     VE_VECTOR_LENGTH);
            return;
        }
        elements = (uint32_t)number;
    }
    file = fopen(path, "ae");
    if (file == NULL) {
        snprintf(problem, sizeof problem, "VEORUN_TRACE=%.200s cannot be written: %s", path,
                 strerror(errno));
        return;
    }
    setvbuf(file, NULL, _IOLBF, BUFSIZ); /* a program that crashes leaves its last lines */
    atexit(flush_file);
}

static void write_place(const struct ve_core *core, uint64_t address)
{
    char at[4096] = "";
    struct text text = text_new(at, sizeof at);
    find_place(address, &text, &low, &high);
    fprintf(file, "# thread %ld:%s\n", syscall(SYS_gettid), at);
    last = core;
}

static void write_line(struct ve_core *core, const struct ve_instruction *instruction,
                       uint64_t address)
{
    char text[VE_TRACE_MAX];
    ve_trace_text(core, instruction, address, elements, text);
    flockfile(file);
    if (find_place != NULL && (core != last || address < low || address >= high))
        write_place(core, address);
    fprintf(file, "%s\n", text);
    funlockfile(file);
}

bool verun_trace_ready(verun_place *place, struct velink_error *error)
{
    pthread_once(&once, open_file);
    if (problem[0] != '\0')
        velink_fail(error, "%s", problem);
    else
        find_place = place;
    return problem[0] == '\0';
}

void verun_trace_attach(struct ve_core *core)
{
    pthread_once(&once, open_file);
    if (file != NULL)
        core->observe = write_line;
}
