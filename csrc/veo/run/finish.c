/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/run/finish.h"

#include <pthread.h>
#include <stdlib.h>

#include "veo/run/thread.h"

struct wish {
    uint64_t function;
    uint64_t argument;
    struct wish *next; /* an earlier one */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct wish *wishes;

static void finish_all(void)
{
    verun_finish(NULL);
}

bool verun_at_exit(uint64_t function, uint64_t argument)
{
    static bool registered;
    struct wish *wish = malloc(sizeof *wish);
    if (wish == NULL)
        return false;

    pthread_mutex_lock(&lock);
    *wish = (struct wish){function, argument, wishes};
    wishes = wish;
    bool first = !registered;
    registered = true;
    pthread_mutex_unlock(&lock);
    return !first || atexit(finish_all) == 0;
}

/* Takes out the last one, or NULL. */
static struct wish *take(const struct velink_library *library)
{
    pthread_mutex_lock(&lock);
    struct wish **at = &wishes;
    while (*at != NULL && library != NULL && !velink_contains(library, (*at)->function))
        at = &(*at)->next;
    struct wish *found = *at;
    if (found != NULL)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

void verun_finish(const struct velink_library *library)
{
    struct wish *wish;
    struct verun_thread *thread = verun_thread();
    while (thread != NULL && (wish = take(library)) != NULL) {
        uint64_t ignored;
        uint64_t argument = wish->argument;
        verun_call(thread, wish->function, &argument, 1, &ignored);
        free(wish);
    }
}

void verun_forget(const struct velink_library *library)
{
    struct wish *wish;
    while ((wish = take(library)) != NULL)
        free(wish);
}
