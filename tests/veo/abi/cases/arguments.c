/* SPDX-License-Identifier: BSD-3-Clause */
/* Argument lists and stack arguments. */
#include "cases.h"
#include "veosoft.h"

CASE(ten_doubles)
{
    struct fixture f = set_up();
    double wanted = 0;
    for (int i = 0; i < 10; i++) {
        CHECK_EQUAL(veo_args_set_double(f.args, i, i + 0.25), 0);
        wanted += (i + 1) * (i + 0.25);
    }
    CHECK(as_double(call(&f, f.ctx, "ten_doubles")) == wanted);
    tear_down(&f);
}

CASE(every_setter)
{
    struct fixture f = set_up();
    CHECK_EQUAL(veo_args_set_u64(f.args, 11, 1ull << 40), 0);
    CHECK_EQUAL(veo_args_set_i8(f.args, 0, -1), 0);
    CHECK_EQUAL(veo_args_set_u8(f.args, 1, 255), 0);
    CHECK_EQUAL(veo_args_set_i16(f.args, 2, -30000), 0);
    CHECK_EQUAL(veo_args_set_u16(f.args, 3, 65535), 0);
    CHECK_EQUAL(veo_args_set_i32(f.args, 4, -2000000000), 0);
    CHECK_EQUAL(veo_args_set_u32(f.args, 5, 4000000000u), 0);
    CHECK_EQUAL(veo_args_set_float(f.args, 6, 1.5f), 0);
    CHECK_EQUAL(veo_args_set_double(f.args, 7, -2.25), 0);
    CHECK_EQUAL(veo_args_set_i64(f.args, 8, -(1ll << 40)), 0);
    CHECK_EQUAL(veo_args_set_float(f.args, 9, -0.125f), 0);
    CHECK_EQUAL(veo_args_set_double(f.args, 10, 1e10), 0);
    double wanted = -1 + 2.0 * 255 - 3.0 * 30000 + 4.0 * 65535 - 5.0 * 2e9 + 6.0 * 4e9 + 7 * 1.5 -
                    8 * 2.25 - 9.0 * (double)(1ll << 40) - 10 * 0.125 + 11e10 +
                    12.0 * (double)(1ull << 40);
    CHECK(as_double(call(&f, f.ctx, "mixed")) == wanted);
    tear_down(&f);
}

CASE(results_are_as_in_a_ve_register)
{
    struct fixture f = set_up();
    veo_args_set_float(f.args, 0, 5);
    uint64_t bits = call(&f, f.ctx, "half_of");
    CHECK(as_float(bits) == 2.5f && (uint32_t)bits == 0);
    veo_args_set_i8(f.args, 0, 5);
    CHECK_EQUAL((int64_t)call(&f, f.ctx, "minus_byte"), -5);
    veo_args_set_u16(f.args, 0, 0xffff);
    CHECK_EQUAL(call(&f, f.ctx, "same_short"), 0xffff);
    tear_down(&f);
}

CASE(up_to_256_arguments)
{
    struct fixture f = set_up();
    CHECK_EQUAL(veo_args_set_i32(f.args, 0, 255), 0);
    int64_t wanted = 0;
    for (int i = 1; i < 256; i++) {
        CHECK_EQUAL(veo_args_set_i64(f.args, i, i * 1000003ll), 0);
        wanted += i * 1000003ll;
    }
    CHECK_EQUAL((int64_t)call(&f, f.ctx, "variadic_sum"), wanted);
    CHECK_EQUAL(veo_args_set_i64(f.args, 256, 0), -1);
    CHECK_EQUAL(veo_args_set_i64(f.args, -1, 0), -1);
    CHECK_EQUAL(veo_args_set_i64(NULL, 0, 0), -1);
    veo_args_free(NULL);
    veo_args_clear(NULL);
    tear_down(&f);
}

CASE(skipped_arguments_are_0)
{
    struct fixture f = set_up();
    veo_args_set_double(f.args, 9, 1);
    CHECK(as_double(call(&f, f.ctx, "ten_doubles")) == 10);
    tear_down(&f);
}

CASE(arguments_may_change_after_submission)
{
    enum { N = 200 };
    uint64_t ids[N];
    struct fixture f = set_up();
    struct veo_thr_ctxt *other = veo_context_open(f.proc);
    uint64_t sum_bytes = symbol(&f, "sum_bytes");
    symbol(&f, "open_gate");
    uint64_t gate = veo_call_async(f.ctx, symbol(&f, "wait_at_gate"), NULL);
    char text[8];
    for (int i = 0; i < N; i++) {
        struct veo_args *args = veo_args_alloc();
        memset(text, i % 30, sizeof text);
        veo_args_set_stack(args, VEO_INTENT_IN, 0, text, sizeof text);
        veo_args_set_i32(args, 1, sizeof text);
        ids[i] = veo_call_async(f.ctx, sum_bytes, args);
        veo_args_clear(args);
        memset(text, 99, sizeof text);
        veo_args_free(args);
    }
    call(&f, other, "open_gate");
    wait_ok(f.ctx, gate);
    for (int i = 0; i < N; i++)
        CHECK_EQUAL(wait_ok(f.ctx, ids[i]), 8 * (i % 30));
    tear_down(&f);
}

CASE(stack_buffers_in_inout_out)
{
    struct fixture f = set_up();
    enum { N = 1000 };
    static int64_t in[N];
    static int64_t inout[N];
    static int64_t out[N];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            in[i] = i;
            inout[i] = 3 * i;
            out[i] = -1;
        }
        veo_args_set_stack(f.args, VEO_INTENT_IN, 0, (char *)in, sizeof in);
        veo_args_set_stack(f.args, VEO_INTENT_INOUT, 1, (char *)inout, sizeof inout);
        veo_args_set_stack(f.args, VEO_INTENT_OUT, 2, (char *)out, sizeof out);
        veo_args_set_i64(f.args, 3, N);
        CHECK_EQUAL(call(&f, f.ctx, "stack_buffers"), 1);
        for (int i = 0; i < N; i++) {
            CHECK_EQUAL(in[i], i);
            CHECK_EQUAL(inout[i], 6 * i);
            CHECK_EQUAL(out[i], i + 1);
        }
    }
    tear_down(&f);
}

CASE(stack_arguments_up_to_63_mb)
{
    struct fixture f = set_up();
    size_t most = 63u << 20;
    char *buffer = malloc(most + 1);
    memset(buffer, 1, most + 1);
    veo_args_set_stack(f.args, VEO_INTENT_INOUT, 0, buffer, most);
    veo_args_set_u64(f.args, 1, most);
    CHECK_EQUAL(call(&f, f.ctx, "sum_bytes"), most);
    veo_args_set_stack(f.args, VEO_INTENT_IN, 0, buffer, most + 1);
    CHECK(veo_call_async(f.ctx, symbol(&f, "sum_bytes"), f.args) == VEO_REQUEST_ID_INVALID);
    CHECK_EQUAL(errno, E2BIG);
    free(buffer);
    tear_down(&f);
}

CASE(bad_stack_arguments_are_refused)
{
    struct fixture f = set_up();
    char byte = 0;
    CHECK_EQUAL(veo_args_set_stack(f.args, (enum veo_args_intent)7, 0, &byte, 1), -1);
    CHECK_EQUAL(veo_args_set_stack(f.args, VEO_INTENT_IN, 0, NULL, 1), -1);
    CHECK_EQUAL(veo_args_set_stack(f.args, VEO_INTENT_IN, 300, &byte, 1), -1);
    CHECK_EQUAL(veo_args_set_stack(f.args, VEO_INTENT_OUT, 0, NULL, 0), 0);
    veo_args_set_u64(f.args, 1, 0);
    CHECK_EQUAL(call(&f, f.ctx, "sum_bytes"), 0);
    tear_down(&f);
}

CASE(a_type_that_cannot_be_passed_is_an_error)
{
    struct fixture f = set_up();
    uint64_t result;
    uint64_t id = veo_call_async(f.ctx, symbol(&f, "long_one"), f.args);
    CHECK_EQUAL(veo_call_wait_result(f.ctx, id, &result), VEO_COMMAND_ERROR);
    CHECK_EQUAL(call(&f, f.ctx, "count"), 0);
    tear_down(&f);
}

CASE(a_signature_can_be_handed_over)
{
    struct fixture f = set_up();
    CHECK_EQUAL(veosoft_args_set_signature(f.args, "f", 'f'), 0);
    veo_args_set_i64(f.args, 0, (int64_t)0x40400000 << 32); /* 3.0f as a bit pattern */
    CHECK(as_float(call(&f, f.ctx, "half_of")) == 1.5f);
    CHECK_EQUAL(veosoft_args_set_signature(f.args, "x", 'f'), -1);
    CHECK_EQUAL(veosoft_args_set_signature(f.args, "f", '?'), -1);
    CHECK_EQUAL(veosoft_args_set_signature(NULL, "f", 'f'), -1);
    CHECK_EQUAL(veosoft_args_set_signature(f.args, NULL, 0), 0);
    tear_down(&f);
}
