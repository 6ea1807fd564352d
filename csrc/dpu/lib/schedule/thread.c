/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpu/lib/schedule/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#define STACK_SIZE ((size_t)512 * 1024)

bool dpulib_make_thread(void *(*function)(void *))
{
    /* Signals are for the program's own threads; a new thread inherits the mask. */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);

    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int error = pthread_create(&thread, &attributes, function, NULL);
    pthread_attr_destroy(&attributes);

    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error == 0;
}
