/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/veo/run/special_cxx.c tsan
 *
 * Functions of C++'s libraries that VE code calls.
 */
#include "veo/run/special.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check.h"

enum { THREADS = 4, ROUNDS = 200 };

static uint64_t address_of(const void *object)
{
    return (uint64_t)(uintptr_t)object;
}

/* Calls a function with two arguments in a core's registers; returns its result. */
static uint64_t call(bool (*function)(struct ve_core *), uint64_t first, uint64_t second)
{
    /* One for all calls of a thread: under ThreadSanitizer, fresh pages take most of the time. */
    static _Thread_local struct ve_core core;
    memset(&core, 0, sizeof core);
    core.s[0] = first;
    core.s[1] = second;
    CHECK(function(&core));
    return core.s[0];
}

/* ThreadSanitizer's malloc() ends the process instead of failing. */
#ifdef __SANITIZE_THREAD__
enum { MALLOC_FAILS = false };
#else
enum { MALLOC_FAILS = true };
#endif

static void test_what_necs_compiler_calls(void)
{
    char text[] = "abcdef";
    CHECK(call(verun_new_there, 8, address_of(text)) == address_of(text));
    CHECK(call(verun_delete_there, address_of(text), address_of(text)) == address_of(text));

    struct ve_core *core = aligned_alloc(_Alignof(struct ve_core), sizeof *core);
    CHECK(core != NULL);
    core->s[0] = address_of(text + 1), core->s[1] = address_of(text), core->s[2] = 4;
    CHECK(verun_vec_memmove(core) && core->s[0] == address_of(text + 1));
    CHECK(strcmp(text, "aabcdf") == 0);
    core->s[1] = core->s[2] = 0;
    CHECK(verun_vec_memmove(core) && strcmp(text, "aabcdf") == 0);
    free(core);
}

static void test_memory_is_given_and_taken(void)
{
    for (uint64_t size = 0; size < 100; size += 33) {
        uint64_t block = call(verun_new, size, 0), other = call(verun_new_nothrow, size, 0);
        CHECK(block != 0 && other != 0 && block != other);
        memset((void *)(uintptr_t)block, 1, size);
        memset((void *)(uintptr_t)other, 1, size);
        call(verun_delete, block, size);
        call(verun_delete, other, size);
    }
    for (uint64_t align = 1; align <= 4096; align *= 2) {
        uint64_t block = call(verun_new_aligned, 40, align);
        CHECK(block != 0 && block % align == 0);
        memset((void *)(uintptr_t)block, 1, 40);
        call(verun_delete, block, 0);
    }
    call(verun_delete, 0, 0);
    CHECK(!MALLOC_FAILS || call(verun_new_nothrow, UINT64_MAX / 2, 0) == 0);
}

static void ends(bool (*function)(struct ve_core *), uint64_t first, uint64_t second)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(freopen("/dev/null", "w", stderr) != NULL);
        call(function, first, second);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
}

static void test_what_would_throw_ends_the_process(void)
{
    ends(verun_new, UINT64_MAX / 2, 0);
    ends(verun_new_aligned, UINT64_MAX / 2, 64);
    ends(verun_new_aligned, 8, 24);
    ends(verun_cxa_pure_virtual, 0, 0);
}

static _Alignas(8) uint8_t guard[8];
static int made;

static void *make_once(void *unused)
{
    if (call(verun_cxa_guard_acquire, address_of(guard), 0) != 0) {
        made++;
        call(verun_cxa_guard_release, address_of(guard), 0);
    }
    CHECK(made == 1);
    return unused;
}

static void test_a_variable_is_made_once(void)
{
    for (int round = 0; round < ROUNDS / 10; round++) {
        memset(guard, 0, sizeof guard);
        made = 0;
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, make_once, NULL) == 0);
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(made == 1 && guard[0] == 1);
    }
}

static bool is_prime(uint64_t number)
{
    for (uint64_t factor = 2; factor * factor <= number; factor++)
        if (number % factor == 0)
            return false;
    return number > 1;
}

static void test_sizes_of_tables_are_primes(void)
{
    CHECK(call(verun_next_prime, 0, 0) == 0);
    for (uint64_t number = 1, expected; number < 2000; number++) {
        for (expected = number; !is_prime(expected);)
            expected++;
        CHECK(call(verun_next_prime, number, 0) == expected);
    }
    CHECK(call(verun_next_prime, UINT64_C(4294967292), 0) == UINT64_C(4294967311));
}

static void test_clocks_go_forward(void)
{
    int64_t first = 0, second = 0, real = 0;
    call(verun_steady_now, address_of(&first), 0);
    call(verun_steady_now, address_of(&second), 0);
    CHECK(first > 0 && second >= first);
    call(verun_system_now, address_of(&real), 0);
    CHECK(real / 1000000 - time(NULL) <= 0 && real / 1000000 - time(NULL) > -60);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int guarded;

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2 == 0)
            call(verun_mutex_lock, address_of(&mutex), 0);
        else
            while (call(verun_mutex_try_lock, address_of(&mutex), 0) == 0)
                sched_yield();
        guarded++;
        call(verun_mutex_unlock, address_of(&mutex), 0);
    }
    return unused;
}

static void test_mutexes_are_the_hosts(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(guarded == THREADS * ROUNDS);
    call(verun_mutex_lock, address_of(&mutex), 0);
    CHECK(call(verun_mutex_try_lock, address_of(&mutex), 0) == 0);
    call(verun_mutex_unlock, address_of(&mutex), 0);
}

int main(void)
{
    test_what_necs_compiler_calls();
    test_memory_is_given_and_taken();
    test_what_would_throw_ends_the_process();
    test_a_variable_is_made_once();
    test_sizes_of_tables_are_primes();
    test_clocks_go_forward();
    test_mutexes_are_the_hosts();
    return 0;
}
