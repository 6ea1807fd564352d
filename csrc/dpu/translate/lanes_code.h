/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes_code.h: what generated code is made of that runs several DPUs at once; see
 * generated_code.h.
 *
 * A register of the DPU is a vector here, with a lane for each DPU, and WRAM has the words of all
 * DPUs one beside the other. Each block is there twice. at_PC is for when all DPUs that have not
 * left yet are there: it writes whole registers. in_PC is for when others wait elsewhere: it
 * writes the lanes of the active ones only. The DPUs at the lowest pc go first, so that those who
 * took different ways meet again.
 */
#ifndef OFFCHIP_DPU_LANES_CODE_H
#define OFFCHIP_DPU_LANES_CODE_H

#include "dpu/machine/execute_alu.h"
#include "lanes_words.h"

#define WORD lanes
#define TRUTH truths
#define ALU struct dpu_alu
#define UNLIKELY_LANES(x) __builtin_expect(!!(x), 0)
#define NO_PC 0xFFFFFFFFu

#if LANES == 16
#define BITS_OF(truth) ((bits)_mm512_movepi32_mask((__m512i)(truth)))
#define BITS_UNEQUAL(x, y) ((bits)_mm512_cmpneq_epi32_mask((__m512i)(x), (__m512i)(y)))
#define MERGE(set, x, y) \
    ((lanes)_mm512_mask_mov_epi32((__m512i)(y), (__mmask16)(set), (__m512i)(x)))
#define LEAST(set, x) _mm512_mask_reduce_min_epu32((__mmask16)(set), (__m512i)(x))
#define SPREAD(lane, x) ((lanes)_mm512_permutexvar_epi32((__m512i)(lane), (__m512i)(x)))
#define FIRST_WORD(x) ((uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128((__m512i)(x))))
#define GATHER(set, places, from) \
    ((lanes)_mm512_mask_i32gather_epi32(_mm512_setzero_si512(), (__mmask16)(set), \
                                        (__m512i)(places), from, 1))
#define LANE_NUMBERS ((lanes){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
#else
#define EXPANDED(set) (((lanes){} + (set) & (lanes){1, 2, 4, 8, 16, 32, 64, 128}) != 0)
#define BITS_OF(truth) ((bits)_mm256_movemask_ps((__m256)(truth)))
#define BITS_UNEQUAL(x, y) BITS_OF((x) != (y))
#define MERGE(set, x, y) \
    ((lanes)_mm256_blendv_epi8((__m256i)(y), (__m256i)(x), (__m256i)EXPANDED(set)))
#define SPREAD(lane, x) ((lanes)_mm256_permutevar8x32_epi32((__m256i)(x), (__m256i)(lane)))
#define FIRST_WORD(x) ((uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128((__m256i)(x))))
#define GATHER(set, places, from) \
    ((lanes)_mm256_mask_i32gather_epi32(_mm256_setzero_si256(), (const int *)(from), \
                                        (__m256i)(places), (__m256i)EXPANDED(set), 1))
#define LANE_NUMBERS ((lanes){0, 1, 2, 3, 4, 5, 6, 7})
ALWAYS uint32_t least_of(bits set, lanes x)
{
    x = MERGE(set, x, (lanes){} + NO_PC);
    __m128i half =
        _mm_min_epu32(_mm256_castsi256_si128((__m256i)x), _mm256_extracti128_si256((__m256i)x, 1));
    half = _mm_min_epu32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_min_epu32(half, _mm_shuffle_epi32(half, 0xB1));
    return (uint32_t)_mm_cvtsi128_si32(half);
}
#define LEAST(set, x) least_of(set, x)
#endif

#define ALL ALU_ALL
#define SELECT ALU_SELECT
#define ONE_IF ALU_ONE_IF

#define ALU_OF(kind) \
    ALWAYS struct dpu_alu alu_##kind(lanes a, lanes b, uint32_t shift, lanes carry) \
    { \
        return dpu_alu(DPU_OP_##kind, a, b, shift, carry); \
    }
#define HOLDS_OF(condition) \
    ALWAYS truths holds_##condition(const struct dpu_alu *alu, lanes a, lanes b, lanes z) \
    { \
        return dpu_holds(DPU_IF_##condition, alu, a, b, z == 0, SWITCHES); \
    }

#define COMPUTE(kind, first, second, shift) \
    const lanes a = ALL(first), b = ALL(second); \
    const struct dpu_alu alu = alu_##kind(a, b, shift, carry)
#define HOLDS(condition) const truths holds = holds_##condition(&alu, a, b, z)

/* --- going on: see the end of the function in generate.c --- */

#define LEAVE(at, undone) \
    do { \
        left += (undone); \
        pc = (at); \
        goto leave_active; \
    } while (0)
#define GO(target, undone) \
    do { \
        left += (undone); \
        goto LABEL(target); \
    } while (0)
#define BRANCH(how, target, undone, next) \
    const bits taken = BITS_OF(holds) & active; \
    if (taken != 0) { \
        if (taken != active) { \
            pcs = MERGE(taken, ALL(target), ALL(next)); \
            left += (undone); \
            goto split; \
        } \
        how(target, undone); \
    }
#define TARGET(value, most) const lanes there = ALL(value) & (most)
#define GO_THERE \
    do { \
        pcs = there; \
        pc = FIRST_WORD(SPREAD(first_lane, there)); \
        if (UNLIKELY_LANES((BITS_UNEQUAL(there, ALL(pc)) & active) != 0)) \
            goto split; \
        goto dispatch; \
    } while (0)
#define BEGIN(at, length) \
    if (UNLIKELY_LANES(left < (length))) \
        LEAVE(at, 0); \
    left -= (length)

/* --- memory --- */

#define TURNED(where, log2_size) \
    ((log2_size) == 0 ? (where) : (where) >> (log2_size) | (where) << ((32 - (log2_size)) & 31))
/* One address for all lanes, or one for each. */
#define ADDRESS_ONE(value, log2_size, at, undone) \
    const uint32_t address = (value); \
    const lanes where = ALL(address); \
    const bits apart = 0; \
    if (UNLIKELY_LANES(TURNED(address, log2_size) >= WRAM_SIZE >> (log2_size))) \
    LEAVE(at, undone)
#define ADDRESS(value, log2_size, at, undone) \
    const lanes where = (value), first = SPREAD(first_lane, where); \
    const uint32_t address = FIRST_WORD(first); \
    const bits apart = BITS_UNEQUAL(where, first) & active; \
    if (UNLIKELY_LANES(TURNED(address, log2_size) >= WRAM_SIZE >> (log2_size))) \
        LEAVE(at, undone); \
    if (apart != 0 && \
        (BITS_OF(TURNED(where, log2_size) >= WRAM_SIZE >> (log2_size)) & active) != 0) \
    LEAVE(at, undone)

/* Where a word of all lanes is. */
#define ROW(address) ((lanes *)(void *)(wram + (size_t)((address) & ~3u) * LANES))
#define PLACES(where) (((where) & ~3u) * LANES + LANE_NUMBERS * 4)

#define LOADED_int8_t lanes
#define LOADED_uint8_t lanes
#define LOADED_int16_t lanes
#define LOADED_uint16_t lanes
#define LOADED_uint32_t lanes
#define LOADED_uint64_t struct wide
#define ONE_int8_t (lanes)((truths)(*ROW(address) << (24 - 8 * (address & 3))) >> 24)
#define ONE_uint8_t (*ROW(address) >> 8 * (address & 3) & 0xFF)
#define ONE_int16_t (lanes)((truths)(*ROW(address) << (16 - 8 * (address & 2))) >> 16)
#define ONE_uint16_t (*ROW(address) >> 8 * (address & 2) & 0xFFFF)
#define ONE_uint32_t (*ROW(address))
#define ONE_uint64_t ((struct wide){ROW(address)[0], ROW(address)[1]})
#define EACH_WORD(more) GATHER(active, PLACES(where) + (more), wram)
#define EACH_int8_t (lanes)((truths)(EACH_WORD(0) << (24 - 8 * (where & 3))) >> 24)
#define EACH_uint8_t (EACH_WORD(0) >> 8 * (where & 3) & 0xFF)
#define EACH_int16_t (lanes)((truths)(EACH_WORD(0) << (16 - 8 * (where & 2))) >> 16)
#define EACH_uint16_t (EACH_WORD(0) >> 8 * (where & 2) & 0xFFFF)
#define EACH_uint32_t EACH_WORD(0)
#define EACH_uint64_t ((struct wide){EACH_WORD(0), EACH_WORD(4 * LANES)})
#define LOAD(type) \
    LOADED_##type value; \
    if (apart == 0) \
        value = ONE_##type; \
    else \
        value = EACH_##type

ALWAYS void store_row(lanes *row, bits active, lanes value)
{
#if LANES == 16
    _mm512_mask_storeu_epi32(row, (__mmask16)active, (__m512i)value);
#else
    _mm256_maskstore_epi32((int *)row, (__m256i)EXPANDED(active), (__m256i)value);
#endif
}

/* Bytes of a word in all lanes, without those that the words have beside them. */
ALWAYS void store_part(lanes *row, bits active, lanes value, uint32_t mask, uint32_t shift)
{
    store_row(row, active, (*row & ~(mask << shift)) | (value & mask) << shift);
}

ALWAYS void store_each(uint8_t *wram, bits active, lanes where, lanes value, uint32_t size)
{
    const lanes places = (where & ~3u) * LANES + LANE_NUMBERS * 4 + (where & 3);
    uint32_t place[LANES], values[LANES];
    __builtin_memcpy(place, &places, sizeof place);
    __builtin_memcpy(values, &value, sizeof values);
    for (bits left = active; left != 0; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        if (size == 1)
            wram[place[i]] = (uint8_t)values[i];
        else if (size == 2)
            __builtin_memcpy(wram + place[i], &values[i], 2);
        else
            __builtin_memcpy(wram + place[i], &values[i], 4);
    }
}

#define STORE_WORD(value, more) \
    if (apart == 0) \
        store_row(ROW(address) + (more), active, value); \
    else \
        store_each(wram, active, where + 4 * (more), value, 4)
#define STORE_uint8_t(source) \
    const lanes value = ALL(source); \
    if (apart == 0) \
        store_part(ROW(address), active, value, 0xFF, 8 * (address & 3)); \
    else \
        store_each(wram, active, where, value, 1)
#define STORE_uint16_t(source) \
    const lanes value = ALL(source); \
    if (apart == 0) \
        store_part(ROW(address), active, value, 0xFFFF, 8 * (address & 2)); \
    else \
        store_each(wram, active, where, value, 2)
#define STORE_uint32_t(source) \
    const lanes value = ALL(source); \
    STORE_WORD(value, 0)
#define STORE_uint64_t(source) \
    const struct wide value = (source); \
    STORE_WORD(value.low, 0); \
    STORE_WORD(value.high, 1)
#define STORE(type, source) STORE_##type(source)

#define PAIR(even, odd) ((struct wide){ALL(odd), ALL(even)})
#define HIGH(pair) (pair).high
#define LOW(pair) (pair).low

/* --- the function --- */

/* As struct dpu_lanes_call of lockstep.h, which has room for the most lanes. */
struct call {
    uint32_t *registers[LANES_MOST];
    uint32_t pc[LANES_MOST], budget[LANES_MOST];
};
enum { R_ZERO = 34, R_CARRY = 35, ROWS };

/* --- transfers --- */

#if LANES == 16
#define LOW_WORDS 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_WORDS 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define STAGES 4
#else
#define LOW_WORDS 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_WORDS 4, 12, 5, 13, 6, 14, 7, 15
#define STAGES 3
#endif

/* gcc knows the first one since version 12. */
#ifdef __clang__
#define PICKED(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define PICKED(x, y, ...) __builtin_shuffle(x, y, (lanes){__VA_ARGS__})
#endif

/* Rows become columns. */
ALWAYS void turn(lanes rows[LANES])
{
    for (uint32_t stage = 0; stage < STAGES; stage++) {
        lanes next[LANES];
        for (uint32_t i = 0; i < LANES / 2; i++) {
            next[2 * i] = PICKED(rows[i], rows[i + LANES / 2], LOW_WORDS);
            next[2 * i + 1] = PICKED(rows[i], rows[i + LANES / 2], HIGH_WORDS);
        }
        __builtin_memcpy(rows, next, sizeof next);
    }
}

/* Registers are turned LANES at a time; r0 to r23 are wanted, and the flags. */
#define TURNED_ROWS ((24 + LANES - 1) / LANES * LANES)
_Static_assert(TURNED_ROWS <= R_ZERO, "registers of a tasklet");

static void load_registers(const struct call *call, bits entered, lanes rows[ROWS])
{
    const uint32_t *any = call->registers[__builtin_ctz(entered)], *from[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        from[i] = (entered >> i & 1) != 0 ? call->registers[i] : any;
    for (uint32_t row = 0; row < TURNED_ROWS; row += LANES) {
        for (uint32_t i = 0; i < LANES; i++)
            __builtin_memcpy(&rows[row + i], from[i] + row, sizeof rows[0]);
        turn(rows + row);
    }

    for (uint32_t i = 0; i < LANES; i++) {
        ((uint32_t *)&rows[R_ZERO])[i] = from[i][R_ZERO];
        ((uint32_t *)&rows[R_CARRY])[i] = from[i][R_CARRY];
    }
}

/* Those of active lanes go back. */
static void save_registers(const struct call *call, bits active, const lanes kept[ROWS])
{
    lanes rows[ROWS];
    __builtin_memcpy(rows, kept, sizeof rows);
    for (uint32_t row = 0; row < TURNED_ROWS; row += LANES)
        turn(rows + row);
    for (bits left = active; left != 0; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        for (uint32_t row = 0; row < TURNED_ROWS; row += LANES)
            __builtin_memcpy(call->registers[i] + row, &rows[row + i], sizeof rows[0]);
        call->registers[i][R_ZERO] = ((const uint32_t *)&rows[R_ZERO])[i];
        call->registers[i][R_CARRY] = ((const uint32_t *)&rows[R_CARRY])[i];
    }
}

static void move_in(uint8_t *words, uint8_t *const *memories, uint32_t bytes, bits set)
{
    uint32_t at = 0;
    for (; at + 4 * LANES <= bytes; at += 4 * LANES) {
        lanes rows[LANES];
        for (uint32_t i = 0; i < LANES; i++)
            if ((set >> i & 1) != 0)
                __builtin_memcpy(&rows[i], memories[i] + at, sizeof rows[i]);
        turn(rows);
        for (uint32_t i = 0; i < LANES; i++)
            store_row((lanes *)(void *)(words + (size_t)at * LANES) + i, set, rows[i]);
    }

    for (bits left = set; left != 0; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        for (uint32_t rest = at; rest < bytes; rest += 4)
            __builtin_memcpy(words + (size_t)rest * LANES + 4 * i, memories[i] + rest, 4);
    }
}

static void move_out(const uint8_t *words, uint8_t *const *memories, uint32_t bytes, bits set)
{
    uint32_t at = 0;
    for (; at + 4 * LANES <= bytes; at += 4 * LANES) {
        lanes rows[LANES];
        __builtin_memcpy(rows, words + (size_t)at * LANES, sizeof rows);
        turn(rows);
        for (uint32_t i = 0; i < LANES; i++)
            if ((set >> i & 1) != 0)
                __builtin_memcpy(memories[i] + at, &rows[i], sizeof rows[i]);
    }

    for (bits left = set; left != 0; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        for (uint32_t rest = at; rest < bytes; rest += 4)
            __builtin_memcpy(memories[i] + rest, words + (size_t)rest * LANES + 4 * i, 4);
    }
}

#define BEGIN_RUN \
    bits active = entered; \
    uint32_t left = 0, given = 0, pc = 0, wait_pc = NO_PC; \
    lanes pcs, budgets, kept_pcs, first_lane = ALL(0); \
    __builtin_memcpy(&kept_pcs, call->pc, sizeof kept_pcs); \
    __builtin_memcpy(&budgets, call->budget, sizeof budgets); \
    pcs = kept_pcs; \
    (void)id; \
    (void)carry; \
    goto pick

/* Active lanes have used some of their budgets, and are at PCS. */
#define CHARGE \
    budgets -= MERGE(active, ALL(given - left), ALL(0)); \
    kept_pcs = MERGE(active, pcs, kept_pcs)

/* The lanes that are at the lowest pc become active. */
#define PICK \
    pcs = kept_pcs; \
    pc = LEAST(entered, pcs); \
    const bits others = BITS_UNEQUAL(pcs, ALL(pc)) & entered; \
    active = entered & ~others; \
    wait_pc = others != 0 ? LEAST(others, pcs) : NO_PC; \
    given = left = LEAST(active, budgets); \
    first_lane = ALL((uint32_t)__builtin_ctz(active))

#define END_RUN \
    __builtin_memcpy(call->pc, &kept_pcs, sizeof kept_pcs); \
    __builtin_memcpy(call->budget, &budgets, sizeof budgets)

#endif
