/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/args.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "veo/lib/error.h"
#include "veo/lib/export.h"
#include "veo/lib/handle_kind.h"
#include "veosoft.h"

/* Freed lists, to be used again. */
static struct veo_args *spare;
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;

void veolib_args_after_fork(void)
{
    pthread_mutex_init(&spare_lock, NULL);
}

bool veolib_args_check(const struct veo_args *args)
{
    const char *why = "it is not one; was another handle passed?";
    if (args == NULL) {
        veolib_fail(EINVAL, "the argument list must not be NULL");
        return false;
    }

    uint32_t kind = atomic_load_explicit(&args->kind, memory_order_relaxed);
    if (kind == HANDLE_ARGS)
        return true;

    if (kind == HANDLE_ARGS_FREED)
        why = "it was freed";
    else if (kind == HANDLE_CONTEXT)
        why = "it is a context";
    else if (kind == HANDLE_PROC)
        why = "it is a process";
    veolib_fail(EINVAL, "%p cannot be used as an argument list: %s", (const void *)args, why);
    return false;
}

static void clear(struct veo_args *args)
{
    memset(args->kinds, 0, sizeof args->kinds);
    memset(args->values, 0, (size_t)args->nargs * sizeof args->values[0]);
    args->nargs = 0;
    args->nstack = 0;
}

VEO_EXPORT struct veo_args *veo_args_alloc(void)
{
    pthread_mutex_lock(&spare_lock);
    struct veo_args *args = spare;
    if (args != NULL)
        spare = args->next;
    pthread_mutex_unlock(&spare_lock);

    if (args == NULL)
        args = calloc(1, sizeof *args);
    if (args == NULL) {
        veolib_fail(ENOMEM, "out of memory (argument list)");
        return NULL;
    }
    atomic_store_explicit(&args->kind, HANDLE_ARGS, memory_order_relaxed);
    return args;
}

VEO_EXPORT void veo_args_clear(struct veo_args *args)
{
    if (args != NULL && veolib_args_check(args))
        clear(args);
}

VEO_EXPORT void veo_args_free(struct veo_args *args)
{
    if (args == NULL || !veolib_args_check(args))
        return;

    clear(args);
    free(args->stack);
    args->stack = NULL;
    args->stack_capacity = 0;
    args->ret = 0;
    memset(args->signature, 0, sizeof args->signature);

    pthread_mutex_lock(&spare_lock);
    atomic_store_explicit(&args->kind, HANDLE_ARGS_FREED, memory_order_relaxed);
    args->next = spare;
    spare = args;
    pthread_mutex_unlock(&spare_lock);
}

static void drop_stack_arg(struct veo_args *args, int argnum)
{
    for (int i = 0; i < args->nstack; i++) {
        if (args->stack[i].argnum == argnum) {
            args->stack[i] = args->stack[--args->nstack];
            return;
        }
    }
}

static int set_value(struct veo_args *args, int argnum, uint64_t value, enum wire_kind kind)
{
    if (!veolib_args_check(args))
        return -1;
    if (argnum < 0 || argnum >= VEO_MAX_NUM_ARGS) {
        veolib_fail(EINVAL, "argument number %d is out of range 0..%d", argnum,
                    VEO_MAX_NUM_ARGS - 1);
        return -1;
    }
    if (args->nstack > 0)
        drop_stack_arg(args, argnum);

    unsigned word = (unsigned)argnum / 32;
    unsigned shift = (unsigned)argnum % 32 * 2;
    args->kinds[word] = (args->kinds[word] & ~(UINT64_C(3) << shift)) | (uint64_t)kind << shift;
    args->values[argnum] = value;
    if (args->nargs <= argnum)
        args->nargs = argnum + 1;
    return 0;
}

#define INTEGER_SETTER(name, type) \
    VEO_EXPORT int veo_args_set_##name(struct veo_args *args, int argnum, type val) \
    { \
        return set_value(args, argnum, (uint64_t)(int64_t)val, WIRE_KIND_INTEGER); \
    }

INTEGER_SETTER(i64, int64_t)
INTEGER_SETTER(u64, uint64_t)
INTEGER_SETTER(i32, int32_t)
INTEGER_SETTER(u32, uint32_t)
INTEGER_SETTER(i16, int16_t)
INTEGER_SETTER(u16, uint16_t)
INTEGER_SETTER(i8, int8_t)
INTEGER_SETTER(u8, uint8_t)

VEO_EXPORT int veo_args_set_double(struct veo_args *args, int argnum, double val)
{
    uint64_t bits;
    memcpy(&bits, &val, sizeof bits);
    return set_value(args, argnum, bits, WIRE_KIND_DOUBLE);
}

/* The VE keeps a float in the upper half of a register. */
VEO_EXPORT int veo_args_set_float(struct veo_args *args, int argnum, float val)
{
    uint32_t bits;
    memcpy(&bits, &val, sizeof bits);
    return set_value(args, argnum, (uint64_t)bits << 32, WIRE_KIND_FLOAT);
}

VEO_EXPORT int veo_args_set_hmem(struct veo_args *args, int argnum, void *val)
{
    return set_value(args, argnum, (uint64_t)(uintptr_t)val, WIRE_KIND_INTEGER);
}

/* Makes room for one more stack argument. */
static bool reserve_stack_arg(struct veo_args *args)
{
    if (args->nstack < args->stack_capacity)
        return true;

    int capacity = args->stack_capacity > 0 ? 2 * args->stack_capacity : 4;
    struct stack_arg *grown = realloc(args->stack, (size_t)capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    args->stack = grown;
    args->stack_capacity = capacity;
    return true;
}

VEO_EXPORT int veo_args_set_stack(struct veo_args *args, enum veo_args_intent inout, int argnum,
                                  char *buff, size_t len)
{
    if (set_value(args, argnum, 0, WIRE_KIND_INTEGER) != 0)
        return -1;

    if (inout != VEO_INTENT_IN && inout != VEO_INTENT_INOUT && inout != VEO_INTENT_OUT) {
        veolib_fail(EINVAL, "intent %d is not IN (0), INOUT (1) or OUT (2)", (int)inout);
        return -1;
    }
    if (buff == NULL && len > 0) {
        veolib_fail(EINVAL, "the buffer of stack argument %d must not be NULL", argnum);
        return -1;
    }

    if (!reserve_stack_arg(args)) {
        veolib_fail(ENOMEM, "out of memory (stack argument %d)", argnum);
        return -1;
    }
    args->stack[args->nstack++] =
        (struct stack_arg){.buffer = buff, .size = len, .intent = inout, .argnum = argnum};
    return 0;
}

static enum wire_kind kind_of(char letter)
{
    return letter == 'f' ? WIRE_KIND_FLOAT : letter == 'd' ? WIRE_KIND_DOUBLE : WIRE_KIND_INTEGER;
}

VEO_EXPORT int veosoft_args_set_signature(struct veo_args *args, const char *arg_kinds,
                                          char ret_kind)
{
    static const char letters[] = SIGNATURE_LETTERS;
    if (!veolib_args_check(args))
        return -1;

    args->ret = 0;
    memset(args->signature, 0, sizeof args->signature);
    if (arg_kinds == NULL)
        return 0;

    size_t n = strlen(arg_kinds);
    bool has_ret = ret_kind == 'v' || (ret_kind != 0 && strchr(letters, ret_kind) != NULL);
    if (n > VEO_MAX_NUM_ARGS || !has_ret || strspn(arg_kinds, letters) != n) {
        veolib_fail(EINVAL, "'%.64s' and '%c' are not valid types of arguments and result",
                    arg_kinds, ret_kind != 0 ? ret_kind : ' ');
        return -1;
    }

    for (size_t i = 0; i < n; i++)
        args->signature[i / 32] |= (uint64_t)kind_of(arg_kinds[i]) << i % 32 * 2;
    args->ret = ret_kind;
    return 0;
}
