/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * A short message that a call takes from where it came: only the one that is awaited, and only by
 * the rules for all packets; what it counts.
 */
#include "accl/transport/packets/arrive.h"
#include "tests/accl/unit/packet_side.h"

enum { COUNT = 3, BYTES = COUNT * 4 };

static const struct packet_message wanted = {.channel = CHANNEL_USER, .tag = TAG, .sequence = 7};

static struct packet_channel_state *state_of(const struct side *side)
{
    return &side->device->packets->links[PEER].channel[CHANNEL_USER];
}

static struct awaited awaited_of(const struct side *side, const struct packet_message *message)
{
    return (struct awaited){.message = message,
                            .key = side->key,
                            .rank = PEER,
                            .type = ACCL_FLOAT32,
                            .wire_type = ACCL_FLOAT32,
                            .count = COUNT,
                            .bytes = BYTES};
}

static struct packet_header header_of(struct side *side)
{
    struct packet_header h = message(side, PACKET_EAGER, COUNT, COUNT);
    h.magic = PACKET_MAGIC;
    h.version = PACKET_VERSION;
    h.from = PEER;
    h.sequence = wanted.sequence;
    return h;
}

static bool is_caught(const struct side *side, struct packet_header h, struct awaited *a)
{
    struct packets *p = side->device->packets;
    pthread_mutex_lock(&p->lock);
    bool caught = acclib_packet_catch(side->device, &h, a);
    pthread_mutex_unlock(&p->lock);
    return caught;
}

/* Not caught, and nothing counted. */
#define LEFT(side, header, message) left(side, header, message, __LINE__)
static void left(const struct side *side, struct packet_header h,
                 const struct packet_message *message, int line)
{
    struct awaited a = awaited_of(side, message);
    struct packet_channel_state *state = state_of(side), before = *state;
    if (is_caught(side, h, &a) || memcmp(&before, state, sizeof before) != 0) {
        fprintf(stderr, "line %d: caught, or counted\n", line);
        abort();
    }
}

static void test_the_awaited_message_is_caught(void)
{
    struct side side = open_side(true);
    struct awaited a = awaited_of(&side, &wanted);
    for (uint64_t i = 1; i <= 10; i++) {
        struct packet_header h = header_of(&side);
        h.numbers = (uint32_t)i;
        CHECK(is_caught(&side, h, &a));
        CHECK(a.numbers == i);
        CHECK(state_of(&side)->came == i && state_of(&side)->consumed == i);
        CHECK(state_of(&side)->next_id == i + 1);
        CHECK(list_is_empty(&state_of(&side)->messages));
    }

    /* The peer has been told that its rx buffers are free again. */
    struct packet_header ack = expect_packet(&side, PACKET_ACK);
    CHECK(ack.consumed[CHANNEL_USER] == RX_BUFFERS / 2 + 1);

    /* Messages that are kept and those that are caught have one order. */
    CHECK(deliver(&side, message(&side, PACKET_EAGER, 1, 1), numbers(0)) == ACCL_OK);
    CHECK(is_caught(&side, header_of(&side), &a));
    CHECK(state_of(&side)->came == 12 && state_of(&side)->consumed == 11);
    close_side(&side);
}

static void test_others_are_left(void)
{
    struct side side = open_side(true);
    const struct packet_header good = header_of(&side);
    struct packet_header h;
#define CHANGED(field, value) \
    h = good; \
    h.field = (value); \
    LEFT(&side, h, &wanted)
    CHANGED(magic, PACKET_MAGIC + 1);
    CHANGED(version, PACKET_VERSION + 1);
    CHANGED(kind, PACKET_RTS);
    CHANGED(kind, PACKET_DATA);
    CHANGED(channel, CHANNEL_COLLECTIVE);
    CHANGED(channel, CHANNELS);
    CHANGED(wire_type, ACCL_INT32);
    CHANGED(from, PEER + 1);
    CHANGED(segments, 0);
    CHANGED(segments, 2);
    CHANGED(id, good.id + 1);
    CHANGED(id, good.id - 1);
    CHANGED(key, good.key + 1);
    CHANGED(total, BYTES + 4);
    CHANGED(payload, BYTES - 4);
    CHANGED(offset, 4);
    CHANGED(tag, TAG + 1);
    CHANGED(tag, ACCL_TAG_ANY);
    CHANGED(stream, 1);
    CHANGED(consumed[CHANNEL_USER], 1);
    CHANGED(consumed[CHANNEL_COLLECTIVE], 1);

    /* The order of messages is by id; their sequence is of the collectives' channel. */
    h = good;
    h.sequence++;
    struct awaited a = awaited_of(&side, &wanted);
    CHECK(is_caught(&side, h, &a));
    const struct packet_message collective = {
        .channel = CHANNEL_COLLECTIVE, .tag = TAG, .sequence = wanted.sequence};
    h = good;
    h.channel = CHANNEL_COLLECTIVE;
    h.sequence++;
    LEFT(&side, h, &collective);
    h.sequence--;
    h.id = 1;
    a = awaited_of(&side, &collective);
    CHECK(is_caught(&side, h, &a));
    close_side(&side);
}

static void test_a_rank_that_is_not_there_is_not_heard(void)
{
    struct side side = open_side(false);
    LEFT(&side, header_of(&side), &wanted);
    close_side(&side);

    side = open_side(true);
    CHECK(deliver(&side, (struct packet_header){.kind = PACKET_BYE}, NULL) == ACCL_OK);
    LEFT(&side, header_of(&side), &wanted);
    close_side(&side);

    side = open_side(true);
    CHECK(deliver(&side, side.hello, NULL) == ACCL_INVALID);
    LEFT(&side, header_of(&side), &wanted);
    close_side(&side);

    /* It has filled all rx buffers, or half of a message. */
    side = open_side(true);
    for (int i = 0; i < RX_BUFFERS; i++)
        CHECK(deliver(&side, message(&side, PACKET_EAGER, 1, 1), numbers(0)) == ACCL_OK);
    LEFT(&side, header_of(&side), &wanted);
    close_side(&side);
    side = open_side(true);
    CHECK(deliver(&side, message(&side, PACKET_EAGER, 10, 4), numbers(0)) == ACCL_OK);
    LEFT(&side, header_of(&side), &wanted);
    close_side(&side);
}

int main(void)
{
    test_the_awaited_message_is_caught();
    test_others_are_left();
    test_a_rank_that_is_not_there_is_not_heard();
    return 0;
}
