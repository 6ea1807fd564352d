/* SPDX-License-Identifier: BSD-3-Clause */
#include "prelude.h"

#include "hostcode/carried_text.h"
#include "dpu/machine/lockstep.h"
/* So that this file is compiled again when the texts below change. */
#include "generated_code.h"

#include <string.h>

TEXT_OF(dpu_execute_alu_text, "csrc/dpu/machine/execute_alu.h");
TEXT_OF(dpu_generated_code_text, "csrc/dpu/translate/generated_code.h");
TEXT_OF(dpu_lanes_words_text, "csrc/dpu/translate/lanes_words.h");
TEXT_OF(dpu_lanes_code_text, "csrc/dpu/translate/lanes_code.h");

static const char *const operation_names[] = {
#define OPERATION(name) #name,
#include "dpu/isa/operations.def"
#undef OPERATION
};

static const char *const condition_words[] = {
#define CONDITION(name, text) #name,
#include "dpu/isa/conditions.def"
#undef CONDITION
};

const char *dpu_operation_name(uint32_t kind)
{
    return operation_names[kind];
}

const char *dpu_condition_word(uint32_t condition)
{
    return condition_words[condition];
}

/* A text without its #include lines: what they bring is written here. */
static void write_text(FILE *out, const char *text)
{
    while (*text != 0) {
        const char *end = strchr(text, '\n');
        size_t size = end != NULL ? (size_t)(end - text) + 1 : strlen(text);
        if (strncmp(text, "#include", strlen("#include")) != 0)
            fwrite(text, 1, size, out);
        text += size;
    }
}

void dpu_write_prelude(FILE *out, uint32_t switches, uint32_t wram_size, uint32_t lanes)
{
    if (lanes != 0)
        fprintf(out,
                "#include <immintrin.h>\n#include <stddef.h>\n"
                "#define LANES %uu\n#define LANES_MOST %u\n",
                lanes, DPU_LOCKSTEP_MOST);
    fputs("#include <stdbool.h>\n#include <stdint.h>\n\nenum dpu_operation_kind {\n", out);
    for (size_t i = 0; i < sizeof operation_names / sizeof *operation_names; i++)
        fprintf(out, "    DPU_OP_%s,\n", operation_names[i]);
    fputs("};\nenum dpu_condition {\n", out);
    for (size_t i = 0; i < sizeof condition_words / sizeof *condition_words; i++)
        fprintf(out, "    DPU_IF_%s,\n", condition_words[i]);
    fprintf(out, "};\nenum { DPU_SWITCH_SMALL_IS_PRODUCT = %d };\n", DPU_SWITCH_SMALL_IS_PRODUCT);
    fprintf(out, "#define SWITCHES %uu\n#define WRAM_SIZE %uu\n", switches, wram_size);
    if (lanes != 0)
        write_text(out, dpu_lanes_words_text);
    write_text(out, dpu_execute_alu_text);
    write_text(out, lanes != 0 ? dpu_lanes_code_text : dpu_generated_code_text);
}
