/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * python.c: the three functions that the vendor's Python package calls in the library.
 *
 * Python's functions are weak references, so that programs without Python can have the library.
 * What is used of Python belongs to its stable ABI, and is declared here.
 */
#include "dpu.h"
#include "dpu/lib/core/error.h"
#include "dpu/lib/core/export.h"
#include "dpu/lib/log/log_decode.h"
#include "dpu/lib/ranks/check.h"
#include "dpu_program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef struct _object PyObject;

typedef struct {
    void *buf;
    PyObject *obj;
    ssize_t len;
    ssize_t itemsize;
    int readonly;
    int ndim;
    char *format;
    ssize_t *shape;
    ssize_t *strides;
    ssize_t *suboffsets;
    void *internal;
} Py_buffer;

#define PYBUF_WRITABLE 1

#define WEAK extern __attribute__((weak))
WEAK PyObject _Py_NoneStruct;
WEAK int PyGILState_Ensure(void);
WEAK void PyGILState_Release(int state);
WEAK void Py_DecRef(PyObject *object);
WEAK int PyObject_GetBuffer(PyObject *object, Py_buffer *view, int flags);
WEAK void PyBuffer_Release(Py_buffer *view);
WEAK PyObject *PyList_New(ssize_t size);
WEAK int PyList_Append(PyObject *list, PyObject *item);
WEAK ssize_t PyList_Size(PyObject *list);
WEAK PyObject *PyList_GetItem(PyObject *list, ssize_t index);
WEAK PyObject *PyUnicode_DecodeUTF8(const char *text, ssize_t size, const char *errors);
WEAK PyObject *PyObject_CallMethod(PyObject *object, const char *name, const char *format, ...);

static bool has_python(void)
{
    return PyGILState_Ensure != NULL && PyObject_GetBuffer != NULL && PyObject_CallMethod != NULL;
}

static dpu_error_t no_python(void)
{
    return dpulib_fail(DPU_ERR_INTERNAL, "this function is for Python programs");
}

/* --- symbols --- */

/* A new list of str, or NULL with an exception. Without a program there are none: ctypes of Python
 * 3.11 crashes where a function gives NULL. */
DPU_EXPORT PyObject *Py_dpu_get_symbol_names(struct dpu_program_t *program);
DPU_EXPORT PyObject *Py_dpu_get_symbol_names(struct dpu_program_t *program)
{
    if (!has_python())
        return NULL;

    int state = PyGILState_Ensure();
    PyObject *list = PyList_New(0);
    uint32_t count = program != NULL ? program->symbols->nr_symbols : 0;
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        const char *name = program->symbols->map[i].name;
        PyObject *text = PyUnicode_DecodeUTF8(name, (ssize_t)strlen(name), "replace");
        if (text == NULL || PyList_Append(list, text) != 0) {
            Py_DecRef(list);
            list = NULL;
        }
        if (text != NULL)
            Py_DecRef(text);
    }

    PyGILState_Release(state);
    return list;
}

/* --- buffers --- */

/* Where the item's bytes are, which the caller keeps alive; None: NULL. */
static dpu_error_t address_of(PyObject *item, void **address, size_t *size)
{
    Py_buffer view;
    *address = NULL;
    if (item == &_Py_NoneStruct)
        return DPU_OK;
    if (PyObject_GetBuffer(item, &view, PYBUF_WRITABLE) != 0)
        return dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER, "an item is not a writable buffer");

    *address = view.buf;
    *size = (size_t)view.len;
    PyBuffer_Release(&view);
    return DPU_OK;
}

static dpu_error_t prepare_items(struct dpu_set_t set, PyObject *list, size_t *size)
{
    struct dpu_t *dpu;
    bool any = false;
    ssize_t index = 0;
    for (struct dpulib_cursor at = {0}; (dpu = dpulib_next_dpu(&set, &at)) != NULL; index++) {
        void *address;
        size_t bytes = 0;
        dpu_error_t error = address_of(PyList_GetItem(list, index), &address, &bytes);
        if (error == DPU_OK && address != NULL && any && bytes != *size)
            error = dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER,
                                "buffer %zd has %zu bytes, others have %zu", index, bytes, *size);
        if (error != DPU_OK)
            return error;
        if (address != NULL) {
            any = true;
            *size = bytes;
        }
        struct dpu_set_t one = {.kind = DPU_SET_DPU, .dpu = dpu};
        error = dpu_prepare_xfer(one, address);
        if (error != DPU_OK)
            return error;
    }

    if (!any)
        return dpulib_fail(DPU_ERR_INVALID_SYMBOL_ACCESS, "all items of the list are None");
    return DPU_OK;
}

/* LIST has a writable buffer, or None, for each DPU; *size is what each of them has. */
DPU_EXPORT dpu_error_t Py_dpu_prepare_xfers(struct dpu_set_t set, PyObject *list, size_t *size);
DPU_EXPORT dpu_error_t Py_dpu_prepare_xfers(struct dpu_set_t set, PyObject *list, size_t *size)
{
    uint32_t nr_dpus = 0;
    dpu_error_t error = has_python() ? dpu_get_nr_dpus(set, &nr_dpus) : no_python();
    if (error != DPU_OK)
        return error;

    *size = 0;
    int state = PyGILState_Ensure();
    if (PyList_Size(list) != (ssize_t)nr_dpus)
        error = dpulib_fail(DPU_ERR_INVALID_MEMORY_TRANSFER,
                            "this is not a list of %u items, one for each DPU", nr_dpus);
    else
        error = prepare_items(set, list, size);
    PyGILState_Release(state);
    return error;
}

/* --- logs --- */

/* Calls write() of STREAM with the header and what the DPU printed. */
DPU_EXPORT dpu_error_t Py_dpu_log_read(struct dpu_set_t set, PyObject *stream);
DPU_EXPORT dpu_error_t Py_dpu_log_read(struct dpu_set_t set, PyObject *stream)
{
    char *text = NULL;
    size_t size = 0;
    if (!has_python())
        return no_python();

    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL)
        return dpulib_fail(DPU_ERR_SYSTEM, "out of memory (log)");

    dpu_error_t error = dpu_log_read(set, memory);
    if (fclose(memory) != 0 && error == DPU_OK)
        error = dpulib_fail(DPU_ERR_SYSTEM, "out of memory (log)");
    if (size > 0) {
        int state = PyGILState_Ensure();
        PyObject *string = PyUnicode_DecodeUTF8(text, (ssize_t)size, "replace");
        PyObject *result =
            string != NULL ? PyObject_CallMethod(stream, "write", "O", string) : NULL;
        if (result == NULL && error == DPU_OK)
            error = dpulib_fail(DPU_ERR_SYSTEM, "write() of the stream raised an exception");
        if (string != NULL)
            Py_DecRef(string);
        if (result != NULL)
            Py_DecRef(result);
        PyGILState_Release(state);
    }

    free(text);
    return error;
}
