/* SPDX-License-Identifier: BSD-3-Clause */
/* calls RANKS: each call of accl.hpp gives the expected result. */
#include "ranks.hpp"

using namespace ACCL;

static const unsigned COUNT = 1500; /* more than an rx buffer has */

static std::unique_ptr<Buffer<float>> numbers(::ACCL::ACCL &accl, unsigned n, float from)
{
    auto buffer = accl.create_buffer<float>(n, dataType::float32);
    for (unsigned i = 0; i < n; i++)
        (*buffer)[i] = from + static_cast<float>(i);
    return buffer;
}

static bool has(const Buffer<float> &buffer, unsigned n,
                const std::function<float(unsigned)> &value)
{
    for (unsigned i = 0; i < n; i++)
        if (buffer[i] != value(i))
            return false;
    return true;
}

static float f(unsigned i)
{
    return static_cast<float>(i);
}

static void local(::ACCL::ACCL &accl, int, int)
{
    auto a = numbers(accl, COUNT, 0), b = numbers(accl, COUNT, 5);
    auto c = accl.create_buffer<float>(COUNT, dataType::float32);
    EXPECT(has(*c, COUNT, [](unsigned) { return 0.0F; }));
    accl.nop();
    accl.copy(*a, *c, COUNT);
    EXPECT(has(*c, COUNT, f));
    accl.combine(COUNT, reduceFunction::SUM, *a, *b, *c);
    EXPECT(has(*c, COUNT, [](unsigned i) { return 2 * f(i) + 5; }));
    accl.combine(COUNT, reduceFunction::MAX, *a, *b, *c);
    EXPECT(has(*c, COUNT, [](unsigned i) { return f(i) + 5; }));

    // Data on the device stay there, and come back by sync_from_device().
    accl.copy(*b, *c, COUNT, false, true);
    EXPECT((*c)[0] == 5);
    (*c)[0] = 1;
    c->sync_from_device();
    EXPECT((*c)[0] == 5);
    (*a)[0] = 77;
    accl.copy(*a, *c, COUNT, true, false);
    EXPECT((*c)[0] == 0);
}

static void messages(::ACCL::ACCL &accl, int rank, int size)
{
    auto next = static_cast<unsigned>((rank + 1) % size);
    auto last = static_cast<unsigned>((rank + size - 1) % size);
    auto sent = numbers(accl, COUNT, static_cast<float>(rank));
    auto got = accl.create_buffer<float>(COUNT, dataType::float32);
    accl.send(*sent, COUNT, next, 7);
    accl.recv(*got, COUNT, last, 7);
    EXPECT(has(*got, COUNT, [=](unsigned i) { return f(last) + f(i); }));

    // As float16 on the way; these numbers fit.
    accl.send(*sent, COUNT, next, 8, GLOBAL_COMM, false, dataType::float16);
    accl.recv(*got, COUNT, last, 8, GLOBAL_COMM, false, dataType::float16);
    EXPECT(has(*got, COUNT, [=](unsigned i) { return f(last) + f(i); }));
}

static void streams(::ACCL::ACCL &accl, int rank, int size)
{
    auto next = static_cast<unsigned>((rank + 1) % size);
    auto last = static_cast<unsigned>((rank + size - 1) % size);
    auto sent = numbers(accl, COUNT, static_cast<float>(rank));
    auto got = accl.create_buffer<float>(COUNT, dataType::float32);

    accl.copy_to_stream(*sent, COUNT);
    accl.copy_from_to_stream(dataType::float32, COUNT);
    accl.copy_from_stream(*got, COUNT);
    EXPECT(has(*got, COUNT, [=](unsigned i) { return f(static_cast<unsigned>(rank) + i); }));

    accl.copy_to_stream(*sent, COUNT);
    accl.send(dataType::float32, COUNT, next, 1);
    accl.recv(dataType::float32, COUNT, last, 1);
    accl.copy_from_stream(*got, COUNT);
    EXPECT(has(*got, COUNT, [=](unsigned i) { return f(last + i); }));
    accl.barrier(); // a rank that is ahead would put between the elements that another receives

    accl.stream_put(*sent, COUNT, next, 9);
    accl.copy_from_stream(*got, COUNT);
    EXPECT(has(*got, COUNT, [=](unsigned i) { return f(last + i); }));
    accl.barrier();

    accl.copy_to_stream(*sent, COUNT);
    accl.stream_put(dataType::float32, COUNT, next, 9);
    accl.copy_from_stream(*got, COUNT);
    EXPECT(has(*got, COUNT, [=](unsigned i) { return f(last + i); }));
    accl.barrier();

    auto sum = [=](unsigned i) {
        return f(static_cast<unsigned>(size * (size - 1) / 2)) + f(i * static_cast<unsigned>(size));
    };
    for (unsigned root = 0; root < static_cast<unsigned>(size); root++) {
        bool is_root = root == static_cast<unsigned>(rank);
        accl.copy_to_stream(*sent, COUNT);
        accl.reduce(dataType::float32, *got, COUNT, root, reduceFunction::SUM);
        EXPECT(!is_root || has(*got, COUNT, sum));
        accl.reduce(*sent, dataType::float32, COUNT, root, reduceFunction::SUM);
        if (is_root)
            accl.copy_from_stream(*got, COUNT);
        EXPECT(!is_root || has(*got, COUNT, sum));
        accl.copy_to_stream(*sent, COUNT);
        accl.reduce(dataType::float32, dataType::float32, COUNT, root, reduceFunction::SUM);
        if (is_root)
            accl.copy_from_stream(*got, COUNT);
        EXPECT(!is_root || has(*got, COUNT, sum));
    }
}

static void collectives(::ACCL::ACCL &accl, int rank, int size)
{
    auto me = static_cast<unsigned>(rank), n = static_cast<unsigned>(size);
    auto one = accl.create_buffer<float>(COUNT, dataType::float32);
    auto many = accl.create_buffer<float>(COUNT * n, dataType::float32);
    auto own = numbers(accl, COUNT * n, static_cast<float>(me));
    auto sum = [=](unsigned i) { return f(n * (n - 1) / 2) + f(n * i); };

    for (unsigned root = 0; root < n; root++) {
        accl.copy(*own, *one, COUNT);
        accl.bcast(*one, COUNT, root);
        EXPECT(has(*one, COUNT, [=](unsigned i) { return f(root + i); }));
        accl.scatter(*own, *one, COUNT, root);
        EXPECT(has(*one, COUNT, [=](unsigned i) { return f(root + me * COUNT + i); }));
        accl.gather(*own, *many, COUNT, root);
        EXPECT(me != root ||
               has(*many, COUNT * n, [](unsigned i) { return f(i / COUNT + i % COUNT); }));
        accl.reduce(*own, *one, COUNT, root, reduceFunction::SUM);
        EXPECT(me != root || has(*one, COUNT, sum));
    }
    accl.allgather(*own, *many, COUNT);
    EXPECT(has(*many, COUNT * n, [](unsigned i) { return f(i / COUNT + i % COUNT); }));
    accl.alltoall(*own, *many, COUNT);
    EXPECT(
        has(*many, COUNT * n, [=](unsigned i) { return f(i / COUNT + me * COUNT + i % COUNT); }));
    accl.allreduce(*own, *one, COUNT, reduceFunction::SUM);
    EXPECT(has(*one, COUNT, sum));
    accl.allreduce(*own, *one, COUNT, reduceFunction::MAX);
    EXPECT(has(*one, COUNT, [=](unsigned i) { return f(n - 1 + i); }));
    accl.reduce_scatter(*own, *one, COUNT, reduceFunction::SUM);
    EXPECT(has(*one, COUNT, [=](unsigned i) { return sum(me * COUNT + i); }));
    accl.barrier();

    // A type that the driver does not have, and one that it only moves.
    for (dataType type : {dataType::uint8, dataType::int8}) {
        auto mine = accl.create_buffer<uint8_t>(COUNT, type);
        auto total = accl.create_buffer<uint8_t>(COUNT, type);
        for (unsigned i = 0; i < COUNT; i++)
            (*mine)[i] = static_cast<uint8_t>(i + 100 * me);
        accl.allreduce(*mine, *total, COUNT, reduceFunction::SUM);
        for (unsigned i = 0; i < COUNT; i++)
            EXPECT((*total)[i] == static_cast<uint8_t>(n * i + 100 * (n * (n - 1) / 2)));
    }
}

int main(int, char **words)
{
    use_own_job();
    int size = std::atoi(words[1]);
    for (const Part &part : std::vector<Part>{local, messages, streams, collectives})
        on_ranks(size, part);
    std::puts("ok");
}
