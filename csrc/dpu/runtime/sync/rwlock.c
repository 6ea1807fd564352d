/* SPDX-License-Identifier: BSD-3-Clause */
/* rwlock.c: locks for readers and writers. Those that wait look again and again. */
#include <rwlock.h>

void rwlock_read_lock(rwlock_t *lock)
{
    for (;;) {
        mutex_lock(lock->guard);
        if (!lock->writing && lock->waiting == 0)
            break;
        mutex_unlock(lock->guard);
    }
    lock->readers++;
    mutex_unlock(lock->guard);
}

void rwlock_read_unlock(rwlock_t *lock)
{
    mutex_lock(lock->guard);
    lock->readers--;
    mutex_unlock(lock->guard);
}

void rwlock_write_lock(rwlock_t *lock)
{
    mutex_lock(lock->guard);
    lock->waiting++;
    while (lock->writing || lock->readers != 0) {
        mutex_unlock(lock->guard);
        mutex_lock(lock->guard);
    }
    lock->waiting--;
    lock->writing = 1;
    mutex_unlock(lock->guard);
}

void rwlock_write_unlock(rwlock_t *lock)
{
    mutex_lock(lock->guard);
    lock->writing = 0;
    mutex_unlock(lock->guard);
}
