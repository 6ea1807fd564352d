/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/run/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "veo/machine/trace.h"

static FILE *file;
static int problem; /* errno of the file that could not be opened */
static pthread_once_t once = PTHREAD_ONCE_INIT;

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
    if (path == NULL || *path == '\0')
        return;

    file = fopen(path, "ae");
    if (file == NULL) {
        problem = errno;
        return;
    }
    setvbuf(file, NULL, _IOLBF, BUFSIZ); /* a program that crashes leaves its last lines */
    atexit(flush_file);
}

static void write_line(struct ve_core *core, const struct ve_instruction *instruction,
                       uint64_t address)
{
    char text[VE_TRACE_MAX];
    ve_trace_text(core, instruction, address, text);
    fprintf(file, "%s\n", text);
}

bool verun_trace_ready(struct velink_error *error)
{
    pthread_once(&once, open_file);
    if (problem != 0)
        velink_fail(error, "VEORUN_TRACE=%.200s cannot be written: %s",
                    secure_getenv("VEORUN_TRACE"), strerror(problem));
    return problem == 0;
}

void verun_trace_attach(struct ve_core *core)
{
    pthread_once(&once, open_file);
    if (file != NULL)
        core->observe = write_line;
}
