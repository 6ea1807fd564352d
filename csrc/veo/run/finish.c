/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/run/finish.h"

#include <pthread.h>
#include <stdlib.h>

#include "veo/run/thread.h"

struct exit_handler {
    uint64_t function;
    uint64_t argument;
    struct exit_handler *next; /* an earlier one */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct exit_handler *exit_handlers;

static void finish_all(void)
{
    verun_finish(NULL);
}

bool verun_at_exit(uint64_t function, uint64_t argument)
{
    static bool registered;
    struct exit_handler *exit_handler = malloc(sizeof *exit_handler);
    if (exit_handler == NULL)
        return false;

    pthread_mutex_lock(&lock);
    *exit_handler = (struct exit_handler){function, argument, exit_handlers};
    exit_handlers = exit_handler;
    bool first = !registered;
    registered = true;
    pthread_mutex_unlock(&lock);
    return !first || atexit(finish_all) == 0;
}

/* Takes out the last one, or NULL. */
static struct exit_handler *take(const struct velink_library *library)
{
    pthread_mutex_lock(&lock);
    struct exit_handler **at = &exit_handlers;
    while (*at != NULL && library != NULL && !velink_contains(library, (*at)->function))
        at = &(*at)->next;
    struct exit_handler *found = *at;
    if (found != NULL)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

void verun_finish(const struct velink_library *library)
{
    struct exit_handler *exit_handler;
    struct verun_thread *thread = verun_thread();
    while (thread != NULL && (exit_handler = take(library)) != NULL) {
        uint64_t ignored;
        uint64_t argument = exit_handler->argument;
        verun_call(thread, exit_handler->function, &argument, 1, &ignored);
        free(exit_handler);
    }
}

void verun_forget(const struct velink_library *library)
{
    struct exit_handler *exit_handler;
    while ((exit_handler = take(library)) != NULL)
        free(exit_handler);
}
