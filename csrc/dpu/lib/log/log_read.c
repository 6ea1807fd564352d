/* SPDX-License-Identifier: BSD-3-Clause */
/* log_read.c: what a DPU printed: where it is, and to whom the text goes. */
#include "dpu.h"
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/log/log_decode.h"
#include "dpu/lib/ranks/check.h"
#include "dpu/lib/ranks/rank.h"
#include "dpu/lib/schedule/submit.h"
#include "dpu_log.h"
#include "dpu_log_internals.h"
#include "dpu_management.h"
#include "dpu_program.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- reading --- */

/* The bytes that have been printed, a copy to be freed. */
struct log {
    uint8_t *bytes;
    uint32_t size;
};

static bool read_word(struct dpu_t *dpu, int32_t address, uint32_t *value)
{
    return address >= 0 &&
           dpu_machine_read_wram(dpu->machine, (uint32_t)address, value, sizeof *value);
}

/* How many bytes have been printed, if they are all still there. */
static dpu_error_t find_size(struct dpu_t *dpu, const struct dpu_program_t *program, uint32_t *size)
{
    uint32_t wrapped;
    if (!read_word(dpu, program->printf_write_pointer_address, size) ||
        !read_word(dpu, program->printf_buffer_has_wrapped_address, &wrapped))
        return dpulib_fail(DPU_ERR_INVALID_WRAM_ACCESS,
                           "__stdout_buffer_state is not within the WRAM of the DPU");
    if (wrapped != 0)
        return dpulib_fail(DPU_ERR_LOG_BUFFER_TOO_SMALL,
                           "the program printed more than the %d bytes of its log, and what came "
                           "first is overwritten; STDOUT_BUFFER_INIT() makes a larger one",
                           program->printf_buffer_size);
    if (*size % 8 != 0)
        return dpulib_fail(DPU_ERR_INVALID_MRAM_ACCESS,
                           "the program's position in its log is %u, which is not a multiple of 8",
                           *size);
    if (program->printf_buffer_size >= 0 && *size > (uint32_t)program->printf_buffer_size)
        return dpulib_fail(DPU_ERR_LOG_FORMAT,
                           "the program's position in its log is %u, and the log has %d bytes",
                           *size, program->printf_buffer_size);
    return DPU_OK;
}

static dpu_error_t read_log(struct dpu_t *dpu, struct log *log)
{
    const struct dpu_program_t *program = dpu->program;
    if (program == NULL)
        return dpulib_fail(DPU_ERR_NO_PROGRAM_LOADED, "this DPU has no program, and so no log");

    if (program->printf_buffer_address == -1 || program->printf_write_pointer_address == -1 ||
        program->printf_buffer_has_wrapped_address == -1)
        return dpulib_fail(DPU_ERR_LOG_CONTEXT_MISSING,
                           "the program does not print: it has no __stdout_buffer, or no "
                           "__stdout_buffer_state");

    dpu_error_t error = find_size(dpu, program, &log->size);
    if (error != DPU_OK)
        return error;

    log->bytes = malloc(log->size != 0 ? log->size : 1);
    if (log->bytes == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (log of %u bytes)", log->size);

    uint32_t at = (uint32_t)program->printf_buffer_address & ~UINT32_C(0x08000000);
    if (dpu_machine_read_mram(dpu->machine, at, log->bytes, log->size))
        return DPU_OK;

    free(log->bytes);
    log->bytes = NULL;
    return dpulib_fail(DPU_ERR_INVALID_MRAM_ACCESS, "the log is not within the MRAM of the DPU");
}

/* --- printing --- */

struct printer {
    dpu_log_print_fct_t print;
    void *argument;
    dpu_error_t error;
};

/* The caller's function is like printf(), for which a NUL in the text is a piece of its own. */
static bool print_piece(void *argument, const char *text, size_t size)
{
    struct printer *p = argument;
    while (size > 0 && p->error == DPU_OK) {
        size_t some = strnlen(text, size);
        if (some > 0) {
            some = some < INT32_MAX ? some : INT32_MAX;
            p->error = p->print(p->argument, "%.*s", (int)some, text);
        } else {
            some = 1;
            p->error = p->print(p->argument, "%c", 0);
        }

        text += some;
        size -= some;
    }

    return p->error == DPU_OK;
}

DPU_EXPORT dpu_error_t dpulog_read_and_display_contents_of(void *input, size_t input_size,
                                                           dpu_log_print_fct_t print_fct,
                                                           void *print_fct_arg)
{
    struct printer printer = {print_fct, print_fct_arg, DPU_OK};
    switch (dpu_log_decode(input, input_size, print_piece, &printer)) {
    case DPU_LOG_OK: return DPU_OK;
    case DPU_LOG_STOPPED: return printer.error;
    case DPU_LOG_FIELD:
        return dpulib_fail(DPU_ERR_LOG_FORMAT, "the program asks for a field of more than %d bytes",
                           DPU_LOG_FIELD_MAX);
    case DPU_LOG_TRUNCATED: break;
    }

    return dpulib_fail(DPU_ERR_LOG_FORMAT, "the log ends in the middle of what printf() writes");
}

DPU_EXPORT dpu_error_t dpulog_c_print_fct(void *arg, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    int printed = vfprintf(arg, fmt, arguments);
    va_end(arguments);
    if (printed < 0)
        return dpulib_fail(DPU_ERR_SYSTEM, "the stream for the log cannot be written to");
    return DPU_OK;
}

/* --- API --- */

static dpu_error_t run_read(struct dpu_t *dpu, void *argument)
{
    return read_log(dpu, argument);
}

DPU_EXPORT dpu_error_t dpulog_read_for_dpu_(struct dpu_t *dpu, dpu_log_print_fct_t print_fct,
                                            void *arg)
{
    struct log log = {NULL, 0};
    dpu_error_t error =
        dpulib_run_on_dpu(dpu, &(struct dpulib_spec){.run = run_read, .argument = &log});
    if (error == DPU_OK)
        error = dpulog_read_and_display_contents_of(log.bytes, log.size, print_fct, arg);
    free(log.bytes);
    return error;
}

DPU_EXPORT dpu_error_t dpulog_read_for_dpu(struct dpu_t *dpu, FILE *stream)
{
    if (stream == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "stream must not be NULL");
    return dpulog_read_for_dpu_(dpu, dpulog_c_print_fct, stream);
}

DPU_EXPORT dpu_error_t dpu_log_read(struct dpu_set_t set, FILE *stream)
{
    struct dpu_t *dpu;
    dpu_error_t error = dpulib_check_single(set, &dpu);
    if (error != DPU_OK)
        return error;

    /* Also before an error, as with the vendor's library. */
    if (stream != NULL)
        (void)fprintf(stream, DPU_LOG_FORMAT_HEADER, dpu_get_id(dpu));
    return dpulog_read_for_dpu(dpu, stream);
}
