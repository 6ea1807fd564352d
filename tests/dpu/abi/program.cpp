// SPDX-License-Identifier: BSD-3-Clause
// A host program in C++: through dpu.hpp, and with the macros of dpu.h.
#include <dpu>
#include <dpu_log.h>

#include <cstdio>
#include <sstream>

DPU_INCBIN(embedded, PROGRAM)

static int failures = 0;

static void check(bool condition, const char *text)
{
    if (!condition) {
        std::fprintf(stderr, "failed: %s\n", text);
        failures++;
    }
}
#define CHECK(condition) check(condition, #condition)

static void use_sets()
{
    auto system = dpu::DpuSet::allocate(66);
    CHECK(system.dpus().size() == 66 && system.ranks().size() == 2);
    CHECK(system.ranks()[1]->dpus().size() == 2);
    CHECK(system.dpus()[65]->ranks()[0] == system.ranks()[1]);
    dpu::DpuProgram program = system.load(PROGRAM);
    dpu::DpuSymbol counter = program.get("counter");

    std::vector<std::vector<uint32_t>> counts(66, std::vector<uint32_t>(1));
    system.exec();
    system.dpus()[3]->exec();
    system.copy(counts, "counter");
    CHECK(counts[0][0] == 1 && counts[3][0] == 2 && counts[65][0] == 1);

    for (uint32_t i = 0; i < 66; i++)
        counts[i][0] = 100 + i;
    system.copy("counter", counts);
    std::vector<uint32_t> words(16, 7);
    system.copy("wbuf", words);
    system.copy("wbuf", 8, words, 4);

    // Sizes are rounded up to 8; what the vectors have room for is enough, and there may be more.
    std::vector<uint32_t> one(1, 9);
    one.reserve(2);
    system.copy("wbuf", one, 8);
    std::vector<std::vector<uint32_t>> more(70);
    for (auto &vector : more) {
        vector.reserve(2);
        vector.resize(1, 3);
    }
    system.copy("wbuf", 0, more, 8);
    more[65][0] = more[66][0] = 4;
    system.copy(more, 8, "wbuf");
    CHECK(more[65][0] == 3 && more[66][0] == 4);

    system.exec();
    system.copy(counts, counter);
    for (uint32_t i = 0; i < 66; i++)
        CHECK(counts[i][0] == 101 + i);

    auto background = system.async();
    std::atomic<unsigned> calls(0);
    background.exec();
    background.call([&](dpu::DpuSet &rank, unsigned index) {
        CHECK(index < 2);
        std::vector<std::vector<uint32_t>> seen(rank.dpus().size(), std::vector<uint32_t>(1));
        rank.copy(seen, "counter");
        CHECK(seen[0][0] == (index == 0 ? 102u : 166u));
        calls++;
    });
    background.call([&](dpu::DpuSet &, unsigned) { calls += 10; }, true, true);
    background.sync();
    CHECK(calls == 12);

    try {
        system.copy("nothing", words);
        CHECK(false);
    } catch (const dpu::DpuError &error) {
        CHECK(error.code() == DPU_ERR_UNKNOWN_SYMBOL);
        CHECK(std::string(error.what()) == "undefined symbol");
    }
    try {
        std::vector<std::vector<uint32_t>> few(3, std::vector<uint32_t>(1));
        system.copy("counter", few);
        CHECK(false);
    } catch (const dpu::DpuError &error) {
        CHECK(error.code() == DPU_ERR_INVALID_MEMORY_TRANSFER);
    }
}

static void use_macros()
{
    struct dpu_set_t set, dpu, rank;
    uint32_t index, count = 0;
    DPU_ASSERT(dpu_alloc(2, NULL, &set));
    DPU_ASSERT(dpu_load_from_incbin(set, &embedded, NULL));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_RANK_FOREACH(set, rank)
    DPU_FOREACH(rank, dpu, index)
    count += index + (dpu.kind == DPU_SET_DPU);
    CHECK(count == 3);
    DPU_CHECK(dpu_launch(set, static_cast<dpu_launch_policy_t>(DPU_SYNCHRONOUS)), count = 0);
    CHECK(count == 3);
    DPU_ASSERT(dpu_free(set));
    DPU_CHECK(dpu_free(set), count = 17);
    CHECK(count == 17);
}

int main()
{
    use_sets();
    use_macros();
    return failures != 0;
}
