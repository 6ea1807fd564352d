/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.c: VEO_SOFT_ENGINE and VEO_SOFT_CC. */
#include "veo/run/libraries.h"

#include "hostcode/compiler.h"
#include "veo/translate/translate.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct velink_error problem;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const names[] = {
    [VE_ENGINE_AUTO] = "auto",
    [VE_ENGINE_INTERPRETER] = "interpreter",
    [VE_ENGINE_TRANSLATED] = "translated",
};
enum { ENGINES = sizeof names / sizeof *names };

static const char *setting(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

/* A compiler that is named must be there; without one, code is interpreted. */
static void look_for_compiler(enum ve_engine engine)
{
    struct host_compiler compiler;
    const char *named = setting(VE_COMPILER_VARIABLE);
    if (engine == VE_ENGINE_INTERPRETER || host_compiler_find(&compiler, VE_COMPILER_VARIABLE))
        return;

    if (named != NULL)
        velink_fail(&problem,
                    VE_COMPILER_VARIABLE "=%.200s is not allowed: its first word is no program; an "
                                         "empty value is for no compiler",
                    named);
    else if (engine == VE_ENGINE_TRANSLATED)
        fprintf(stderr, "[VE] WARNING: VEO_SOFT_ENGINE=translated needs a C compiler of the host, "
                        "and there is none, so code is interpreted: install gcc, clang or zig, or "
                        "name one in " VE_COMPILER_VARIABLE "\n");
}

static void choose(void)
{
    const char *wanted = setting("VEO_SOFT_ENGINE");
    uint32_t engine = VE_ENGINE_AUTO;
    while (wanted != NULL && engine < ENGINES && strcmp(wanted, names[engine]) != 0)
        engine++;
    if (engine == ENGINES) {
        velink_fail(
            &problem,
            "VEO_SOFT_ENGINE=%.80s is not allowed: it takes auto, interpreter or translated",
            wanted);
        return;
    }

    look_for_compiler((enum ve_engine)engine);
    ve_translate_use((enum ve_engine)engine);
}

bool verun_engine_ready(struct velink_error *error)
{
    pthread_once(&once, choose);
    return problem.text[0] == '\0' || velink_fail(error, "%s", problem.text);
}
