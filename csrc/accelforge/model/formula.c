/* SPDX-License-Identifier: BSD-3-Clause */
#include "accelforge/model/formula.h"

#include <math.h>

static uint32_t operands(uint32_t word)
{
    static const uint8_t counts[] = {
#define X(name, operands) operands,
        FORGE_WORDS(X)
#undef X
    };
    return counts[word];
}

enum forge_status forge_formula_check(const struct forge_problem *problem,
                                      const struct forge_level *level)
{
    if (level->formula.count == 0)
        return FORGE_OK;

    uint32_t depth = 0;
    for (uint32_t i = 0; i < level->formula.count; i++) {
        const struct forge_token *token = &problem->tokens[level->formula.first + i];
        if (token->word >= FORGE_WORD_COUNT)
            return FORGE_BAD_FORMULA;
        if (token->word == FORGE_WORD_NUMBER && (token->argument >= problem->value_count ||
                                                 problem->numbers[token->argument] != FORGE_ANY))
            return FORGE_BAD_INDEX;
        if (token->word >= FORGE_WORD_CALLS && token->word <= FORGE_WORD_ENERGY &&
            token->argument >= level->actions.count)
            return FORGE_BAD_INDEX;

        if (depth < operands(token->word))
            return FORGE_BAD_FORMULA;
        depth = depth - operands(token->word) + 1;
        if (depth > FORGE_MAX_STACK)
            return FORGE_BAD_FORMULA;
    }
    return depth == 1 ? FORGE_OK : FORGE_BAD_FORMULA;
}

static double apply_two(enum forge_word word, double a, double b)
{
    switch (word) {
    case FORGE_WORD_ADD: return a + b;
    case FORGE_WORD_SUBTRACT: return a - b;
    case FORGE_WORD_MULTIPLY: return a * b;
    case FORGE_WORD_DIVIDE: return a / b;
    case FORGE_WORD_MINIMUM: return fmin(a, b);
    case FORGE_WORD_MAXIMUM: return fmax(a, b);
    case FORGE_WORD_POWER: return pow(a, b);
    case FORGE_WORD_FLOOR_DIVIDE: return floor(a / b);
    case FORGE_WORD_MODULO: return a - b * floor(a / b);
    default: return NAN;
    }
}

static double apply_one(enum forge_word word, double a)
{
    switch (word) {
    case FORGE_WORD_NEGATE: return -a;
    case FORGE_WORD_CEIL: return ceil(a);
    case FORGE_WORD_FLOOR: return floor(a);
    case FORGE_WORD_SQRT: return sqrt(a);
    case FORGE_WORD_EXP: return exp(a);
    case FORGE_WORD_LOG: return log(a);
    case FORGE_WORD_ABS: return fabs(a);
    default: return NAN;
    }
}

static double property(const struct forge_token *token, const struct forge_action *actions,
                       const double *calls, const double *values)
{
    switch ((enum forge_word)token->word) {
    case FORGE_WORD_NUMBER: return values[token->argument];
    case FORGE_WORD_CALLS: return calls[token->argument];
    case FORGE_WORD_THROUGHPUT: return values[actions[token->argument].throughput];
    case FORGE_WORD_ENERGY: return values[actions[token->argument].energy];
    default: return NAN;
    }
}

double forge_formula_evaluate(const struct forge_token *tokens, uint32_t token_count,
                              const struct forge_action *actions, uint32_t action_count,
                              const double *calls, const double *values)
{
    if (token_count == 0) {
        double sum = 0;
        for (uint32_t i = 0; i < action_count; i++)
            sum += calls[i] / values[actions[i].throughput];
        return sum;
    }

    double stack[FORGE_MAX_STACK + 1];
    uint32_t depth = 0;
    for (uint32_t i = 0; i < token_count; i++) {
        enum forge_word word = (enum forge_word)tokens[i].word;
        switch (operands(word)) {
        case 0: stack[depth++] = property(&tokens[i], actions, calls, values); break;
        case 1: stack[depth - 1] = apply_one(word, stack[depth - 1]); break;
        default:
            depth--;
            stack[depth - 1] = apply_two(word, stack[depth - 1], stack[depth]);
            break;
        }
    }
    return stack[0];
}
