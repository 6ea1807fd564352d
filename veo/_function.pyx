# SPDX-License-Identifier: BSD-3-Clause
"""Functions of a library in a VE process."""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from offchip cimport native
from veo._context cimport VeoCtxt
from veo._convert cimport number_to_bits, parse_type, signature_letter, to_bits
from veo._context_handle cimport CtxHandle
from veo._log cimport log_info, log_on
from veo._memory cimport OnStack
from veo._process_handle cimport ProcessOwner, ProcHandle
from veo._request cimport VeoRequest, new_request
from veo.libveo cimport (
    VEO_MAX_NUM_ARGS, VEO_REQUEST_ID_INVALID, veo_args, veo_proc_handle, veo_thr_ctxt,
)

from veo.errors import VeoClosedError, VeoError
from veo.memptr import VEMemPtr
from veo.signature import (
    SPELLING, check_arguments, check_result, missing_arguments, parse, spell, to_signature,
)

__all__ = ["VeoFunction"]


cdef extern from "Python.h":
    Py_ssize_t PyTuple_GET_SIZE(object args)
    PyObject **PySequence_Fast_ITEMS(object args)
    Py_ssize_t PyVectorcall_NARGS(size_t count)
    bint PyLong_CheckExact(object value)
    bint PyFloat_CheckExact(object value)


cdef extern from *:
    """
    /* Calls of objects of TYPE go to a function that they have at OFFSET, without a tuple. */
    static void offer_vectorcall(PyObject *type, Py_ssize_t offset)
    {
        ((PyTypeObject *)type)->tp_vectorcall_offset = offset;
        ((PyTypeObject *)type)->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        PyType_Modified((PyTypeObject *)type);
    }
    """
    void offer_vectorcall(object type, Py_ssize_t offset)


# More arguments than this do not fit into the queue entry, and then the library may have to
# wait for memory.
cdef enum:
    SHORT_CALL = 12

# Things that must outlive a call: stack arguments, for which the library may also have to wait
# for memory, and objects whose memory is passed.
cdef enum:
    ON_STACK = 1
    MEMORY = 2


cdef str _signature_text(ProcHandle proc, uint64_t address):
    """Return the library's debug info of a function."""
    cdef veo_proc_handle *handle
    cdef size_t length
    if proc.soft.veosoft_signature is NULL or not proc.is_open():
        return ""
    handle = proc.enter()
    try:
        length = proc.soft.veosoft_signature(handle, address, NULL, 0)
        if length == 0:
            return ""
        text = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>length)
        # The function may be gone by now, with its library.
        if proc.soft.veosoft_signature(handle, address, text, length + 1) != length:
            return ""
        return text.decode("ascii", "replace")
    finally:
        proc.leave()


cdef char _pointee_of(object text) except? 0:
    """Find the letter of what a pointer type refers to, 0 if it is no number."""
    spelled = text.decode() if isinstance(text, (bytes, bytearray)) else str(text)
    if spelled.count("*") != 1:
        return 0
    try:
        return parse_type(spelled.partition("*")[0])
    except TypeError:
        return 0


cdef class LibraryOwner:
    """Base class of objects that have functions."""


@cython.no_gc_clear
cdef class VeoFunction:
    """A function of a library in a VE process.

    Calling it queues the call in a context and returns a request. Types of arguments and result
    that the program does not state come from the function's debug info, if there is any;
    `inspect.signature()` shows them.

    Parameters
    ----------
    lib : VeoLibrary
        The library.
    addr : int
        VE address of the function.
    name : str or bytes
        Its name.

    Attributes
    ----------
    lib : VeoLibrary
        The library.
    name : str
        Name of the function.
    """

    def __cinit__(self):
        self.entry = <vectorcallfunc>_call_without_tuple
        self.codes = NULL
        self.spare = NULL
        self.ret = c"i"

    def __init__(self, lib, addr, name):
        if not isinstance(lib, LibraryOwner) or (<LibraryOwner>lib).proc is None:
            raise TypeError(f"a VeoLibrary is required, not {type(lib).__name__}")
        if self.proc is not None:
            raise TypeError("this VeoFunction is already initialised")
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"a name is a str or bytes, not {type(name).__name__}")
        to_bits(c"p", addr, &self.address)
        self.name = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
        self.lib = lib
        self.proc = (<ProcessOwner>(<LibraryOwner>lib).proc).handle
        self._read_debug_info()

    def __dealloc__(self):
        if self.spare is not NULL and self.proc.forks == native.fork_count:
            self.proc.table.veo_args_free(self.spare)
        free(self.codes)

    def __reduce_ex__(self, protocol):
        raise TypeError(
            "a VeoFunction cannot be pickled: its address belongs to one VE process; pickle the "
            "library's path and the name"
        )

    cdef int _read_debug_info(self) except -1:
        cdef char *codes
        cdef Py_ssize_t i
        self.info = parse(_signature_text(self.proc, self.address))
        if self.info is None or self.info.refusal:
            return 0
        kinds = self.info.kinds.encode()
        codes = <char *>malloc(len(kinds) + 1)
        if codes is NULL:
            raise MemoryError()
        for i in range(len(kinds)):
            codes[i] = kinds[i]
        codes[len(kinds)] = 0
        self.codes = codes
        self.count = len(kinds)
        self.pointees = "".join([one or "\0" for one in self.info.pointees[1:]]).encode()
        self.ret = <char><int>ord(self.info.result)
        return 0

    cdef tuple _types(self):
        """Return the types of the arguments as stated, else as C spells them; None if unknown."""
        if self._args_type is not None or self.codes is NULL:
            return self._args_type
        return tuple(map(spell, self.info.kinds, self.info.pointees[1:]))

    def __getattr__(self, str name):
        # Not a property: the class would have it as well, and inspect would take it from there.
        if name != "__signature__" or self.proc is None or self.codes is NULL:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        types = [
            spell(chr(self.codes[i]), chr(self.pointees[i]).strip("\0"))
            for i in range(self.count)
        ]
        if self._ret_type is None and self.info is not None:
            result = spell(self.info.result, self.info.pointees[0])
        else:
            result = SPELLING[chr(self.ret)]
        return to_signature(VeoCtxt, self.info, types, result)

    @property
    def addr(self):
        """VE address of the function."""
        if self.lib is None:
            raise VeoClosedError("the VeoFunction was not initialised")
        return VEMemPtr(self.lib.proc, self.address)

    def args_type(self, *types):
        """State the types of the arguments.

        They are checked against the function's debug info, if there is any. Widths of integers may
        differ: the stated ones are used.

        Parameters
        ----------
        *types : str
            Types as C spells them: ``"int"``, ``"unsigned long"``, ``"double"``, ``"size_t"``,
            ``"char *"``, ... ``"void"`` is skipped, so that ``args_type("void")`` means that
            there are none.

        Raises
        ------
        TypeError
            A type that cannot be passed, a wrong number of types, an integer for a parameter of
            floating point or the reverse, or a function with a structure or a long double among
            its parameters; then nothing is changed.
        """
        cdef Py_ssize_t count = 0
        cdef char letter
        cdef char *codes = <char *>malloc(len(types) + 1)
        if codes is NULL:
            raise MemoryError()
        try:
            pointees = bytearray()
            for text in types:
                letter = parse_type(text)
                if letter != c"v":
                    codes[count] = letter
                    pointees.append(_pointee_of(text))
                    count += 1
            check_arguments(self.name, self.info, codes[:count].decode(), types)
        except BaseException:
            free(codes)
            raise
        codes[count] = 0
        free(self.codes)
        self.codes = codes
        self.count = count
        self.pointees = bytes(pointees)
        self._args_type = types
        self._forget_args()

    def ret_type(self, rettype):
        """State the type of the result.

        By default it comes from the function's debug info, and is ``"int"`` without any.

        Parameters
        ----------
        rettype : str
            The type as C spells it, ``"void"`` for none.

        Raises
        ------
        TypeError
            A type that cannot be returned, or floating point for a function that returns an
            integer or the reverse; then nothing is changed.
        """
        cdef char letter = parse_type(rettype)
        check_result(self.name, self.info, chr(letter), rettype)
        self.ret = letter
        self._ret_type = rettype
        self._forget_args()

    cdef int _forget_args(self) except -1:
        cdef veo_args *args = self.spare
        self.spare = NULL
        self.generation += 1
        if args is not NULL and self.proc.forks == native.fork_count:
            self.proc.table.veo_args_free(args)
        return 0

    cdef veo_args *_take_args(self) except NULL:
        cdef veo_args *args = self.spare
        cdef char letters[VEO_MAX_NUM_ARGS + 1]
        cdef Py_ssize_t i
        if args is not NULL:
            self.spare = NULL
            return args
        args = self.proc.table.veo_args_alloc()
        if args is NULL:
            raise MemoryError("veo_args_alloc")
        if self.proc.soft.veosoft_args_set_signature is not NULL:
            for i in range(self.count):
                letters[i] = signature_letter(self.codes[i])
            letters[self.count] = 0
            if self.proc.soft.veosoft_args_set_signature(
                args, letters, signature_letter(self.ret)
            ) != 0:
                self.proc.table.veo_args_free(args)
                self.proc.library.fail(
                    f"the types of {self.name} were refused", "veosoft_args_set_signature"
                )
        return args

    cdef void _put_args(self, veo_args *args, unsigned int generation) noexcept:
        if self.spare is NULL and self.generation == generation:
            self.spare = args
        else:
            self.proc.table.veo_args_free(args)

    cdef int check_call(self, object context, Py_ssize_t n) except -1:
        cdef CtxHandle handle
        if (n < 0 or not isinstance(context, VeoCtxt)
                or self.proc is None or self.codes is NULL or n != self.count
                or n > VEO_MAX_NUM_ARGS or self.lib.unloaded):
            return self._reject(context, n)
        handle = (<VeoCtxt>context).handle
        if handle is None or handle.proc is not self.proc:
            return self._reject(context, n)
        return 0

    cdef int _reject(self, object context, Py_ssize_t n) except -1:
        """Raise the error about wrong arguments of a call."""
        if n < 0:
            raise TypeError(f"{self.name}() is called with a VeoCtxt, then its arguments")
        if not isinstance(context, VeoCtxt):
            raise TypeError(
                f"the first argument of a call is a VeoCtxt, not {type(context).__name__}"
            )
        if self.proc is None:
            raise VeoClosedError("the VeoFunction was not initialised")
        if self.info is not None and self.info.refusal:
            raise TypeError(f"{self.name}() cannot be called: {self.info.refusal}")
        if self.codes is NULL:
            raise VeoError(
                "VeoFunction needs arguments format info before call(): say "
                f"{self.name}.args_type(...) first, or compile it with -g"
            )
        if n > VEO_MAX_NUM_ARGS or self.count > VEO_MAX_NUM_ARGS:
            raise ValueError(f"a call can have at most {VEO_MAX_NUM_ARGS} arguments")
        if n != self.count:
            raise ValueError(
                f"invalid number of arguments, expected `{self.count}`, got `{n}`"
                f"{missing_arguments(self.info, n)}"
            )
        if self.lib.unloaded:
            raise VeoClosedError(f"the library of {self.name} was unloaded")
        if (<VeoCtxt>context).get().proc is not self.proc:
            raise ValueError(f"{self.name} and the context belong to different processes")
        return 0

    def __call__(self, *args):
        """Queue a call.

        Parameters
        ----------
        ctx : VeoCtxt
            The context whose turn it is.
        *args : int, float, VEMemPtr or OnStack
            Arguments, as said with `args_type()` or by debug info. An object with an attribute
            ``_ve_array`` stands for the value of that.

        Returns
        -------
        VeoRequest

        Raises
        ------
        ValueError
            The number of arguments is wrong, or one of them does not fit its type; then
            ``__cause__`` is the error of that.
        VeoError
            There are no types, or the call was refused.
        TypeError
            The function cannot be called: it has a structure or a long double by value.
        """
        return self._queue(PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args) - 1)

    cdef object _queue(self, PyObject **args, Py_ssize_t n):
        cdef Py_ssize_t i = 0
        cdef VeoCtxt ctx
        cdef CtxHandle handle
        cdef veo_thr_ctxt *thread
        cdef veo_args *list_
        cdef uint64_t bits, id
        cdef unsigned int generation
        cdef bint hold_gil
        cdef int needs = 0
        cdef object keep = None
        cdef VeoRequest request

        self.check_call(<object>args[0] if n >= 0 else None, n)
        ctx = <VeoCtxt>args[0]
        handle = ctx.handle
        handle.usable()

        hold_gil = n <= SHORT_CALL and self.proc.soft.veosoft_version is not NULL
        # Made before the call is queued, as it may run any code.
        request = new_request(VeoRequest, handle, ctx, self.ret, self.name)
        generation = self.generation
        list_ = self._take_args()

        try:
            # Most arguments are plain numbers, which need no care for errors.
            while i < n and number_to_bits(self.codes[i], <object>args[i + 1], &bits):
                self.proc.table.veo_args_set_i64(list_, <int>i, <int64_t>bits)
                i += 1
            if i < n:
                needs = self._convert(args, i, n, list_)
            if needs != 0:
                # Not the context, which would keep itself alive.
                keep = tuple([<object>args[i] for i in range(1, n + 1)])
            # A conversion may have run any code, and may have closed the context.
            thread = handle.usable()
            if hold_gil and not needs & ON_STACK:
                id = self.proc.table.veo_call_async(thread, self.address, list_)
            else:
                handle.enter()
                with nogil:
                    id = self.proc.table.veo_call_async(thread, self.address, list_)
                handle.leave()
            if id != VEO_REQUEST_ID_INVALID:
                request.start(id, keep)
        finally:
            self._put_args(list_, generation)

        if id == VEO_REQUEST_ID_INVALID:
            self.proc.library.fail(
                f"the call of {self.name} was rejected", "veo_call_async", self.proc.handle
            )

        if log_on():
            log_info(f"call_async name={self.name} reqid={id}")
        if handle.requests.norphans or handle.requests.nkept:
            handle.reap(4)
        return request

    cdef int _convert(self, PyObject **args, Py_ssize_t first, Py_ssize_t n,
                      veo_args *list_) except -1:
        """Convert the arguments from the first one on; return what must outlive the call."""
        cdef Py_ssize_t i = first
        cdef unsigned int generation = self.generation
        cdef uint64_t bits
        cdef int needs = 0
        cdef object value
        try:
            for i in range(first, n):
                value = <object>args[i + 1]
                if PyLong_CheckExact(value) or PyFloat_CheckExact(value):
                    to_bits(self.codes[i], value, &bits)
                elif isinstance(value, OnStack):
                    if self.pointees[i]:
                        (<OnStack>value).check_elements(self.pointees[i])
                    (<OnStack>value).put(self.proc.library, list_, <int>i)
                    needs |= ON_STACK
                    continue
                else:
                    if type(value) is VEMemPtr:
                        self._check_owner(value)
                    else:
                        # The memory that it refers to must outlive the call.
                        needs |= MEMORY
                        value = getattr(value, "_ve_array", value)
                    to_bits(self.codes[i], value, &bits)
                    if generation != self.generation:
                        raise VeoError(f"the types of {self.name} changed during the call")
                self.proc.table.veo_args_set_i64(list_, <int>i, <int64_t>bits)
        except Exception as error:
            raise ValueError(
                f"{error!r} : args conversion: f = {self.name}, argument {i + 1} of type "
                f"{self._types()!r}, x = {<object>args[i + 1]!r}"
            ) from error
        return needs

    cdef int _check_owner(self, object pointer) except -1:
        owner = pointer.proc
        if isinstance(owner, ProcessOwner) and (<ProcessOwner>owner).handle is not self.proc:
            raise ValueError(f"{pointer!r} belongs to another process than the function")
        return 0

    def __repr__(self):
        if self.proc is None:
            return "<VeoFunction object, not initialised>"
        types = "(no types)" if self.codes is NULL else repr(self._types())
        return f"<VeoFunction object VE function {self.name!r}{types} at {self.address:#x}>"


cdef object _call_without_tuple(VeoFunction self, PyObject **args, size_t count, PyObject *names):
    cdef Py_ssize_t n = PyVectorcall_NARGS(count)
    cdef Py_ssize_t i
    if names is not NULL and PyTuple_GET_SIZE(<object>names) != 0:
        # An error; made as for other classes.
        named = {name: None for name in <tuple>names}
        return VeoFunction.__call__(self, *[<object>args[i] for i in range(n)], **named)
    return self._queue(args, n - 1)


cdef VeoFunction _any = VeoFunction.__new__(VeoFunction)
offer_vectorcall(VeoFunction, <char *>&_any.entry - <char *><PyObject *>_any)
