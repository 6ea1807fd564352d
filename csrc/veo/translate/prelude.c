/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostcode/carried_text.h"
/* So that this file is compiled again when the texts below change. */
#include "veo/translate/generated_code.h"
#include "veo/translate/plan.h"

#include <string.h>

TEXT_OF(ve_text_instruction, "csrc/veo/isa/instruction.h");
TEXT_OF(ve_text_miscellaneous, "csrc/veo/isa/miscellaneous.def");
TEXT_OF(ve_text_core, "csrc/veo/machine/core.h");
TEXT_OF(ve_text_faults, "csrc/veo/machine/faults.def");
TEXT_OF(ve_text_code, "csrc/veo/machine/code.h");
TEXT_OF(ve_text_operands, "csrc/veo/machine/operands.h");
TEXT_OF(ve_text_scalar, "csrc/veo/machine/scalar.h");
TEXT_OF(ve_text_float, "csrc/veo/machine/scalar_float.inc");
TEXT_OF(ve_text_integer, "csrc/veo/machine/scalar_integer.inc");
TEXT_OF(ve_text_memory, "csrc/veo/machine/scalar_memory.inc");
TEXT_OF(ve_text_elements, "csrc/veo/translate/element_wise.inc");
TEXT_OF(ve_text_arithmetic, "csrc/veo/translate/strip_arithmetic.h");
TEXT_OF(ve_text_strips, "csrc/veo/translate/strips.h");
TEXT_OF(ve_text_generated, "csrc/veo/translate/generated_code.h");

static const struct {
    const char *name, *text;
} texts[] = {
    {"veo/isa/instruction.h", ve_text_instruction},
    {"veo/isa/miscellaneous.def", ve_text_miscellaneous},
    {"veo/machine/core.h", ve_text_core},
    {"veo/machine/faults.def", ve_text_faults},
    {"veo/machine/code.h", ve_text_code},
    {"veo/machine/operands.h", ve_text_operands},
    {"veo/machine/scalar.h", ve_text_scalar},
    {"veo/machine/scalar_float.inc", ve_text_float},
    {"veo/machine/scalar_integer.inc", ve_text_integer},
    {"veo/machine/scalar_memory.inc", ve_text_memory},
    {"veo/translate/element_wise.inc", ve_text_elements},
    {"veo/translate/strip_arithmetic.h", ve_text_arithmetic},
    {"veo/translate/strips.h", ve_text_strips},
};

static void write_text(FILE *out, const char *text);

/* The names alone of the largest file, of which nothing else is used. */
static void write_operations(FILE *out)
{
    for (uint32_t i = 0; i < VE_OPERATION_COUNT; i++)
        fprintf(out, "INSTRUCTION(%s)\n", ve_operation_info(i)->name);
}

/* Writes the file that a line includes; those of the host's C library are not there. */
static void write_included(FILE *out, const char *line, size_t size)
{
    static const char instructions[] = "#include \"veo/isa/instructions.def\"";
    if (strncmp(line, instructions, strlen(instructions)) == 0)
        write_operations(out);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *name = memchr(line, '"', size);
        size_t length = strlen(texts[i].name);
        if (name != NULL && strncmp(name + 1, texts[i].name, length) == 0 &&
            name[1 + length] == '"')
            write_text(out, texts[i].text);
    }
}

static void write_text(FILE *out, const char *text)
{
    while (*text != 0) {
        const char *end = strchr(text, '\n');
        size_t size = end != NULL ? (size_t)(end - text) + 1 : strlen(text);
        if (strncmp(text, "#include", strlen("#include")) == 0)
            write_included(out, text, size);
        else
            fwrite(text, 1, size, out);
        text += size;
    }
}

void ve_write_prelude(FILE *out)
{
    fputs("#include <stdatomic.h>\n#include <stdbool.h>\n#include <stddef.h>\n"
          "#include <stdint.h>\n"
          "#define memcpy __builtin_memcpy\n"
          "#define FE_INVALID 0\n#define FE_INEXACT 0\n"
          "int feraiseexcept(int);\n"
          "double floor(double), ceil(double), round(double), rint(double);\n"
          "double fmod(double, double);\n#define VE_GENERATED\n",
          out);
    write_text(out, ve_text_generated);
}
