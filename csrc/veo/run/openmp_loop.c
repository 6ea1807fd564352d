/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops of OpenMP, as clang has them: their iterations are given out at once (for_static), or piece
 * by piece (dispatch). Iterations are counted from 0 here.
 */
#include <stdlib.h>
#include <string.h>

#include "veo/run/openmp.h"
#include "veo/run/special.h"
#include "veo/run/team_time.h"
#include "veo/run/thread.h"

/* Numbers of schedules in calls, without their modifiers. */
enum {
    STATIC_CHUNKED = 33,
    STATIC = 34,
    DYNAMIC = 35,
    GUIDED = 36,
    RUNTIME = 37,
    BALANCED_CHUNKED = 45,
    GUIDED_SIMD = 46,
    RUNTIME_SIMD = 47,
    ORDERED = 64, /* these and the next ones are the same, in order */
    ORDERED_LAST = 70,
    DISTRIBUTE_CHUNKED = 91,
    DISTRIBUTE = 92,
    MODIFIERS = 3 << 29
};

/* The type of a loop's variable. */
struct variable {
    unsigned size;
    bool is_signed;
};

static const struct variable INT = {4, true};
static const struct variable UNSIGNED = {4, false};
static const struct variable LONG = {8, true};
static const struct variable UNSIGNED_LONG = {8, false};

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static uint64_t extend(struct variable type, uint64_t value)
{
    if (type.size == 8)
        return value;
    return type.is_signed ? (uint64_t)(int64_t)(int32_t)value : (uint32_t)value;
}

static uint64_t read(struct variable type, uint64_t address)
{
    uint64_t value = 0;
    memcpy(&value, pointer(address), type.size);
    return extend(type, value);
}

static void write(struct variable type, uint64_t address, uint64_t value)
{
    memcpy(pointer(address), &value, type.size);
}

static void write_int(uint64_t address, int value)
{
    if (address != 0)
        memcpy(pointer(address), &value, sizeof value);
}

/* Iterations from LOW to HIGH; 0 if there are none. */
static uint64_t iterations(struct variable type, uint64_t low, uint64_t high, int64_t step)
{
    bool none = type.is_signed
                    ? (step > 0 ? (int64_t)high < (int64_t)low : (int64_t)low < (int64_t)high)
                    : (step > 0 ? high < low : low < high);
    if (none || step == 0)
        return 0;
    uint64_t count = step > 0 ? (high - low) / (uint64_t)step : (low - high) / (0 - (uint64_t)step);
    return count + 1;
}

/* The part of COUNT iterations that a thread has if each gets one. */
static uint64_t part(const struct verun_member *member, uint64_t count, uint64_t *first)
{
    uint64_t size = member->team->size;
    uint64_t more = count % size;
    *first = member->number * (count / size) + (member->number < more ? member->number : more);
    return count / size + (member->number < more);
}

/* --- at once --- */

/* Argument I, whether it is in a register or in the frame. */
static uint64_t argument_at(const struct ve_core *core, unsigned i)
{
    uint64_t value;
    if (i < 8)
        return core->s[i];
    memcpy(&value, pointer(core->s[VE_S_STACK] + VERUN_FRAME_ARGUMENTS + i * sizeof value),
           sizeof value);
    return value;
}

/* loc, number, schedule, &last, &low, &high, &stride, step, chunk */
static bool for_static(struct ve_core *core, struct variable type)
{
    const struct verun_member *member = verun_member();
    const int schedule = (int)core->s[2] & ~MODIFIERS;
    const int64_t step = (int64_t)extend((struct variable){type.size, true}, core->s[7]);
    const uint64_t low = read(type, core->s[4]);
    const uint64_t high = read(type, core->s[5]);
    const uint64_t count = iterations(type, low, high, step);
    uint64_t chunk = extend((struct variable){type.size, true}, argument_at(core, 8));
    bool last;

    if (count == 0) {
        write_int(core->s[3], 0);
        write(type, core->s[6], (uint64_t)step);
        return true;
    }

    if (schedule == STATIC_CHUNKED || schedule == BALANCED_CHUNKED) {
        chunk = (int64_t)chunk > 0 ? chunk : 1;
        uint64_t span = chunk * (uint64_t)step;
        uint64_t begin = low + span * member->number;
        last = (count - 1) / chunk % member->team->size == member->number;
        write(type, core->s[4], begin);
        write(type, core->s[5], begin + span - (uint64_t)step);
        write(type, core->s[6], span * member->team->size);
    } else if (schedule == DISTRIBUTE || schedule == DISTRIBUTE_CHUNKED) {
        /* There is one team. */
        last = true;
        write(type, core->s[6], count * (uint64_t)step);
    } else {
        uint64_t first;
        uint64_t mine = part(member, count, &first);
        last = mine != 0 && first + mine == count;
        /* None: the compiler cuts what is beyond the end of the loop. */
        if (mine != 0)
            write(type, core->s[5], low + (first + mine - 1) * (uint64_t)step);
        write(type, core->s[4], mine != 0 ? low + first * (uint64_t)step : high + (uint64_t)step);
        write(type, core->s[6], count * (uint64_t)step);
    }
    write_int(core->s[3], last);
    return true;
}

/* --- piece by piece --- */

static struct verun_schedule schedule_of(int number, uint64_t chunk,
                                         const struct verun_member *member)
{
    switch (number >= ORDERED && number <= ORDERED_LAST ? number - 32 : number) {
    case STATIC_CHUNKED:
    case BALANCED_CHUNKED:
        return (struct verun_schedule){VERUN_STATIC, (int64_t)chunk > 0 ? chunk : 1};
    case DYNAMIC: return (struct verun_schedule){VERUN_DYNAMIC, (int64_t)chunk > 0 ? chunk : 1};
    case GUIDED:
    case GUIDED_SIMD: return (struct verun_schedule){VERUN_GUIDED, (int64_t)chunk > 0 ? chunk : 1};
    case RUNTIME:
    case RUNTIME_SIMD: return member->schedule;
    default: return (struct verun_schedule){VERUN_STATIC, 0};
    }
}

/* loc, number, schedule, low, high, step, chunk */
static bool dispatch_init(struct ve_core *core, struct variable type)
{
    struct verun_member *member = verun_member();
    const struct variable with_sign = {type.size, true};
    int number = (int)core->s[2] & ~MODIFIERS;
    member->low = extend(type, core->s[3]);
    member->step = extend(with_sign, core->s[5]);
    member->count = iterations(type, member->low, extend(type, core->s[4]), (int64_t)member->step);
    member->kind = schedule_of(number, extend(with_sign, core->s[6]), member);
    member->is_ordered = number >= ORDERED && number <= ORDERED_LAST;
    member->at = member->end = 0;
    member->chunks = 0;
    member->loop = verun_loop_enter(member);
    pthread_mutex_unlock(member->team->lock);
    return true;
}

/* The next iterations of a schedule that says beforehand who has which. */
static void take_static(struct verun_member *member)
{
    const uint64_t chunk = member->kind.chunk;
    uint64_t turn = member->chunks++;
    if (chunk == 0) {
        uint64_t mine = turn == 0 ? part(member, member->count, &member->at) : 0;
        member->end = member->at + mine;
        return;
    }

    uint64_t index = turn * member->team->size + member->number;
    uint64_t chunks = member->count / chunk + (member->count % chunk != 0);
    member->at = index < chunks ? index * chunk : member->count;
    member->end = member->count - member->at > chunk ? member->at + chunk : member->count;
}

/* Those that nobody has. With a report, not before members that come here earlier in modelled time.
 */
static void take_dynamic(struct verun_member *member)
{
    struct verun_loop *loop = member->loop;
    const struct verun_team *team = member->team;
    const uint32_t place = (uint32_t)(loop - team->loops);
    verun_team_time_ask(team->time, place, member->number);
    if (team->time != NULL)
        pthread_cond_broadcast(team->changed);
    while (!verun_team_time_may_take(team->time, place, member->number))
        pthread_cond_wait(team->changed, team->lock);

    const uint64_t left = member->count - loop->next;
    const uint64_t twice = 2 * (uint64_t)member->team->size;
    uint64_t chunk = member->kind.chunk != 0 ? member->kind.chunk : 1;
    if (member->kind.kind == VERUN_GUIDED && left / twice > chunk)
        chunk = left / twice;
    member->at = loop->next;
    member->end = member->at + (left < chunk ? left : chunk);
    loop->next = member->end;
    verun_team_time_take(team->time, place, member->number, member->at == member->end);
    if (team->time != NULL)
        pthread_cond_broadcast(team->changed);
}

/* loc, number, &last, &low, &high, &step */
static bool dispatch_next(struct ve_core *core, struct variable type)
{
    struct verun_member *member = verun_member();
    const uint64_t step = member->step;
    pthread_mutex_lock(member->team->lock);
    if (member->kind.kind == VERUN_DYNAMIC || member->kind.kind == VERUN_GUIDED)
        take_dynamic(member);
    else
        take_static(member);
    if (member->at == member->end) {
        verun_loop_leave(member, member->loop);
        core->s[0] = 0;
        return true;
    }
    pthread_mutex_unlock(member->team->lock);

    member->passed = false;
    write_int(core->s[2], member->end == member->count);
    write(type, core->s[3], member->low + member->at * step);
    write(type, core->s[4], member->low + (member->end - 1) * step);
    if (core->s[5] != 0)
        write(type, core->s[5], step);
    core->s[0] = 1;
    return true;
}

/* --- ordered --- */

/* Comes with the lock of the team. */
static void wait_for_turn(const struct verun_member *member)
{
    pthread_mutex_lock(member->team->lock);
    while (member->loop->ordered != member->at)
        pthread_cond_wait(member->team->changed, member->team->lock);
    verun_time_wait(member->loop->passed_at);
}

static void pass_turn(struct verun_member *member)
{
    wait_for_turn(member);
    member->loop->ordered++;
    member->loop->passed_at = verun_time_now();
    member->passed = true;
    pthread_cond_broadcast(member->team->changed);
    pthread_mutex_unlock(member->team->lock);
}

bool verun_kmpc_ordered(struct ve_core *core)
{
    const struct verun_member *member = verun_member();
    (void)core;
    if (member->loop != NULL && member->is_ordered) {
        wait_for_turn(member);
        pthread_mutex_unlock(member->team->lock);
    }
    return true;
}

bool verun_kmpc_end_ordered(struct ve_core *core)
{
    struct verun_member *member = verun_member();
    (void)core;
    if (member->loop != NULL && member->is_ordered)
        pass_turn(member);
    return true;
}

/* The end of an iteration of an ordered loop. */
static bool dispatch_fini(void)
{
    struct verun_member *member = verun_member();
    if (member->is_ordered && !member->passed)
        pass_turn(member);
    member->passed = false;
    member->at++;
    return true;
}

#define LOOPS(suffix, type) \
    bool verun_kmpc_for_static_init_##suffix(struct ve_core *core) \
    { \
        return for_static(core, type); \
    } \
    bool verun_kmpc_dispatch_init_##suffix(struct ve_core *core) \
    { \
        return dispatch_init(core, type); \
    } \
    bool verun_kmpc_dispatch_next_##suffix(struct ve_core *core) \
    { \
        return dispatch_next(core, type); \
    } \
    bool verun_kmpc_dispatch_fini_##suffix(struct ve_core *core) \
    { \
        (void)core; \
        return dispatch_fini(); \
    }

LOOPS(4, INT)
LOOPS(4u, UNSIGNED)
LOOPS(8, LONG)
LOOPS(8u, UNSIGNED_LONG)
