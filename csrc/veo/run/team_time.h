/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * team_time.h: modelled time of a team of OpenMP, whose cores wait for each other.
 * docs/veo_time.md says what is modelled.
 *
 * A member of a team calls these for itself, some with the lock of the team held; only
 * verun_team_time_lock() and verun_team_time_unlock() take a lock of their own, shortly. Without a
 * report (report.h) there is no struct verun_team_time: all take NULL and do nothing.
 */
#ifndef VERUN_TEAM_TIME_H
#define VERUN_TEAM_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "veo/time/phase.h"

struct verun_team_time;

/* The time of this thread's core, in cycles; 0 without a report. */
double verun_time_now(void);
/* Goes on at a time that another core told, unless that has passed. */
void verun_time_wait(double until);

/* The caller begins a team of SIZE threads, of which it is the first. *SINCE is its place. NULL
 * without a report, or without memory: then its threads are counted for themselves. */
struct verun_team_time *verun_team_time_begin(uint32_t size, struct ve_progress *since);

/* Another member begins; and it has come to the end, under the lock. */
void verun_team_time_enter(const struct verun_team_time *time, struct ve_progress *since);
void verun_team_time_leave(struct verun_team_time *time, struct ve_progress *since);

/* The first one, once all others have left: it goes on with what they did. Frees TIME. */
void verun_team_time_end(struct verun_team_time *time, struct ve_progress *since);

/* A member comes to a barrier, under the lock; IS_LAST: all are there. Then each goes on. */
void verun_team_time_arrive(struct verun_team_time *time, struct ve_progress *since, bool is_last);
void verun_team_time_depart(const struct verun_team_time *time);

/* A member has taken a lock, and is about to release it. ADDRESS tells locks from each other. */
void verun_team_time_lock(struct verun_team_time *time, uint64_t address);
void verun_team_time_unlock(struct verun_team_time *time, uint64_t address);

/*
 * Members take pieces of a loop in the order of their modelled times. LOOP is one of those that the
 * team may be in at once. Under the lock: a loop begins, a member asks for a piece, and takes one
 * (or learns that there is none left) when it may, which others that ask or take can change.
 */
void verun_team_time_loop(struct verun_team_time *time, uint32_t loop);
void verun_team_time_ask(struct verun_team_time *time, uint32_t loop, uint32_t member);
bool verun_team_time_may_take(const struct verun_team_time *time, uint32_t loop, uint32_t member);
void verun_team_time_take(struct verun_team_time *time, uint32_t loop, uint32_t member, bool none);

#endif
