# SPDX-License-Identifier: BSD-3-Clause
"""The machine's table of instructions: forms, encoding, decoding and text."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t, uint64_t
from dpu._chip cimport (
    DPU_ARCHITECTURE_COUNT,
    DPU_MACHINE_ATOMIC_BITS,
    DPU_MACHINE_IRAM,
    DPU_MACHINE_MRAM,
    DPU_MACHINE_REGISTERS,
    DPU_MACHINE_THREADS,
    DPU_MACHINE_THREADS_ROOM,
    DPU_MACHINE_WRAM,
    DPU_MACHINE_WRAM_ROOM,
    dpu_chip_of,
    dpu_chip_t,
)


cdef extern from "dpu/isa/instructions.h" nogil:
    enum:
        DPU_FORM_COUNT
        DPU_FORM_NONE
        DPU_TEXT_MAX

    ctypedef struct dpu_form_info_t "struct dpu_form_info":
        const char *mnemonic
        const char *form
        const char *condition_class
        uint64_t mask
        uint64_t match
        uint64_t canon
        uint32_t destination
        uint32_t flags
        uint32_t documented
        uint32_t operand_count
        uint32_t operands[6]
        uint32_t widths[6]
        uint32_t is_signed[6]

    ctypedef struct dpu_instruction_t "struct dpu_instruction":
        uint32_t form
        uint32_t operand_count
        int64_t values[6]

    bint dpu_form_info(uint32_t form, dpu_form_info_t *info)
    const char *dpu_operand_name(uint32_t operand)
    bint dpu_decode(uint64_t word, dpu_instruction_t *instruction)
    bint dpu_encode(const dpu_instruction_t *instruction, uint64_t *word)
    size_t dpu_disassemble(uint64_t word, char *text, size_t size, void *known)
    const char *dpu_condition_name(uint32_t form, uint32_t code)
    bint dpu_condition_code(uint32_t form, const char *name, uint32_t *code)


FORM_COUNT = DPU_FORM_COUNT

# Properties of chips, from csrc/dpu/isa/chip.def: the maximum of all chips.
THREADS = DPU_MACHINE_THREADS
REGISTERS = DPU_MACHINE_REGISTERS
IRAM = DPU_MACHINE_IRAM
WRAM = DPU_MACHINE_WRAM
# Upper bounds of what a profile may ask for.
THREADS_ROOM = DPU_MACHINE_THREADS_ROOM
WRAM_ROOM = DPU_MACHINE_WRAM_ROOM
MRAM = DPU_MACHINE_MRAM
ATOMIC_BITS = DPU_MACHINE_ATOMIC_BITS


def chips():
    """List (name, tasklets, instructions, bytes of WRAM) of each chip."""
    cdef uint32_t i
    cdef const dpu_chip_t *chip
    found = []
    for i in range(DPU_ARCHITECTURE_COUNT):
        chip = dpu_chip_of(i)
        found.append((chip.name.decode(), chip.threads, chip.iram, chip.wram))
    return found


def form(unsigned int index):
    """Describe one form.

    Returns
    -------
    tuple
        mnemonic, form, condition class, mask, match, canon, destination, flags, documented, and a
        tuple of (name, bits, signed) for its operands, in the order of the assembler.
    """
    cdef dpu_form_info_t info
    if not dpu_form_info(index, &info):
        raise IndexError(f"forms are numbered 0 to {FORM_COUNT - 1}, not {index}")
    operands = tuple(
        (dpu_operand_name(info.operands[i]).decode(), info.widths[i], bool(info.is_signed[i]))
        for i in range(info.operand_count)
    )
    return (
        info.mnemonic.decode(),
        info.form.decode(),
        info.condition_class.decode(),
        info.mask,
        info.match,
        info.canon,
        info.destination,
        info.flags,
        bool(info.documented),
        operands,
    )


def encode(unsigned int index, values):
    """Encode a word of a form, None if the form cannot encode the operands.

    Parameters
    ----------
    index : int
        Index of the form.
    values : sequence of int
        Its operands; an operand ``zero`` has a value too, which does not matter.
    """
    cdef dpu_instruction_t instruction
    cdef uint64_t word
    cdef uint32_t count = 0
    instruction.form = index
    if len(values) > 6:
        return None
    for value in values:
        # Wider numbers do not fit into any operand.
        if not -0x1_0000_0000 <= value <= 0x1_0000_0000:
            return None
        instruction.values[count] = value
        count += 1
    instruction.operand_count = count
    return word if dpu_encode(&instruction, &word) else None


def decode(word):
    """Find the form of a word and its operands, None if it is not an instruction.

    Returns
    -------
    tuple of (int, tuple of int), optional
        Index of the form and the values of its operands.
    """
    cdef dpu_instruction_t instruction
    if not dpu_decode(word & 0xFFFF_FFFF_FFFF, &instruction):
        return None
    values = tuple([instruction.values[i] for i in range(instruction.operand_count)])
    return instruction.form, values


def disassemble(word):
    """Write a word as text without aliases; ``.word`` and a number if it is not an instruction."""
    cdef char text[DPU_TEXT_MAX]
    dpu_disassemble(word & 0xFFFF_FFFF_FFFF, text, DPU_TEXT_MAX, NULL)
    return text.decode()


def condition_code(unsigned int index, str name not None):
    """Return the code of a condition in a form's class, None if the class has no such name."""
    cdef uint32_t code
    encoded = name.encode()
    return code if dpu_condition_code(index, encoded, &code) else None


def condition_name(unsigned int index, unsigned int code):
    """Return the name of a code in a form's class, None if it has none."""
    cdef const char *name = dpu_condition_name(index, code)
    return None if name is NULL else name.decode()
