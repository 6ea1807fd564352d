/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * formula.h: the latency of a component, as a postfix list of words.
 */
#ifndef OFFCHIP_FORGE_FORMULA_H
#define OFFCHIP_FORGE_FORMULA_H

#include "accelforge/model/problem.h"

/*
 * FORGE_OK if the formula of LEVEL, or its absence, can be evaluated: its words and arguments
 * exist, its stack stays within FORGE_MAX_STACK and one value remains. The spans of LEVEL must
 * have been checked.
 */
enum forge_status forge_formula_check(const struct forge_problem *problem,
                                      const struct forge_level *level);

/*
 * The latency of a level in seconds. TOKENS and ACTIONS are those of the level, CALLS the calls of
 * each action by one instance, VALUES the numbers of the problem.
 */
double forge_formula_evaluate(const struct forge_token *tokens, uint32_t token_count,
                              const struct forge_action *actions, uint32_t action_count,
                              const double *calls, const double *values);

#endif
