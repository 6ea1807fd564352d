/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drives a fuzz target where libFuzzer is not at hand: every file once as it is, then mutations of
 * them, the same ones for the same seed.
 *
 * fuzz_main [--seed N] [--count N] [--seconds N] [--least N] [--limit N] [--artifact PATH] FILE...
 *
 * Ends after COUNT mutations or SECONDS, whichever is first, but not before LEAST. An input that
 * crashes, or takes longer than LIMIT seconds, is written to PATH.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A build for coverage has no sanitizers. */
#pragma weak __sanitizer_set_death_callback

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_FILES 256
#define MAX_INPUT ((size_t)1 << 20)

static struct {
    uint8_t *data;
    size_t size;
} corpus[MAX_FILES];
static size_t nfiles;

static uint8_t input[MAX_INPUT];
static size_t input_size;
static uint64_t random_state;
static const char *artifact = "crash-input";

/* --- when it goes wrong --- */

static void keep_input(void)
{
    static const char text[] = "the input that did it is kept\n";
    int fd = open(artifact, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0 && write(fd, input, input_size) == (ssize_t)input_size)
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
}

static void on_signal(int signal)
{
    static const char late[] = "fuzz_main: an input takes too long\n";
    if (signal == SIGALRM)
        (void)!write(STDERR_FILENO, late, sizeof late - 1);
    keep_input();
    _exit(1);
}

/* --- mutations --- */

static uint64_t pick(uint64_t bound)
{
    uint64_t z = random_state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (z ^ (z >> 31)) % bound;
}

static uint64_t interesting(void)
{
    static const uint64_t values[] = {0,          1,          2,          3,
                                      4,          5,          0x7f,       0x80,
                                      0xff,       0x100,      0x7fff,     0xffff,
                                      0x10000,    0x7fffffff, 0xfffffff0, 0xffffffff,
                                      1ULL << 32, 1ULL << 63, UINT64_MAX, UINT64_MAX - 7};
    return values[pick(sizeof values / sizeof *values)];
}

/* A section's header, if the ELF header still leads to one. */
static bool section_header(Elf64_Shdr *sh, size_t *at)
{
    Elf64_Ehdr eh;
    if (input_size < sizeof eh)
        return false;
    memcpy(&eh, input, sizeof eh);
    if (eh.e_shnum == 0 || eh.e_shoff > input_size)
        return false;
    uint64_t offset = eh.e_shoff + pick(eh.e_shnum) * sizeof *sh;
    if (offset > input_size || input_size - offset < sizeof *sh)
        return false;
    *at = (size_t)offset;
    memcpy(sh, input + offset, sizeof *sh);
    return true;
}

/* Mostly within one section, since most of a file is not what a target reads. */
static size_t position(void)
{
    Elf64_Shdr sh;
    size_t at;
    for (int tries = 0; tries < 4; tries++)
        if (section_header(&sh, &at) && sh.sh_type == SHT_PROGBITS && sh.sh_addr == 0 &&
            sh.sh_size > 0 && sh.sh_offset < input_size && sh.sh_size <= input_size - sh.sh_offset)
            return (size_t)(sh.sh_offset + pick(sh.sh_size));
    return (size_t)pick(input_size);
}

static void tweak_section(void)
{
    Elf64_Shdr sh;
    size_t at;
    if (!section_header(&sh, &at))
        return;
    uint64_t value = pick(2) ? interesting() : pick(input_size * 2);
    switch (pick(5)) {
    case 0: sh.sh_offset = value; break;
    case 1: sh.sh_size = value; break;
    case 2: sh.sh_size += pick(64) - 32; break;
    case 3: sh.sh_type = (uint32_t)pick(12); break;
    default: sh.sh_name = (uint32_t)pick(1024);
    }
    memcpy(input + at, &sh, sizeof sh);
}

static void mutate(void)
{
    if (input_size == 0)
        return;
    size_t at = position(), from = position(), room;
    uint64_t value = interesting();
    switch (pick(16)) {
    case 0: tweak_section(); break;
    case 1:
        if (pick(8) == 0)
            input_size = (size_t)pick(input_size);
        break;
    case 2: /* a wide number */
        room = input_size - at;
        memcpy(input + at, &value, room < 8 ? room : (size_t)1 << pick(4));
        break;
    case 3: /* a piece of the file over another */
        room = input_size - (at > from ? at : from);
        memmove(input + at, input + from, (size_t)pick(room < 64 ? room : 64));
        break;
    case 4: /* a little more or less, as references and lengths like it */
        input[at] = (uint8_t)(input[at] + pick(9) - 4);
        break;
    case 5: /* a run of the same */
        room = input_size - at;
        memset(input + at, (int)value, (size_t)pick(room < 32 ? room : 32));
        break;
    case 6:
    case 7:
    case 8: input[at] = (uint8_t)value; break;
    case 9:
    case 10:
    case 11: input[at] = (uint8_t)(input[at] ^ (1U << pick(8))); break;
    default: input[at] = (uint8_t)pick(256);
    }
}

/* --- main --- */

static void read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(MAX_INPUT);
    if (file == NULL || data == NULL || nfiles == MAX_FILES) {
        fprintf(stderr, "fuzz_main: cannot read %s\n", path);
        exit(2);
    }
    corpus[nfiles].data = data;
    corpus[nfiles++].size = fread(data, 1, MAX_INPUT, file);
    fclose(file);
}

static void run(unsigned limit)
{
    alarm(limit);
    LLVMFuzzerTestOneInput(input, input_size);
    alarm(0);
}

static void load(size_t which)
{
    input_size = corpus[which].size;
    memcpy(input, corpus[which].data, input_size);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, count = UINT64_MAX, seconds = 10, least = 0, limit = 10, done = 0;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            read_file(argv[i]);
            continue;
        }
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--artifact") == 0) {
            artifact = value;
        } else {
            uint64_t *number = strcmp(argv[i], "--seed") == 0      ? &seed
                               : strcmp(argv[i], "--count") == 0   ? &count
                               : strcmp(argv[i], "--seconds") == 0 ? &seconds
                               : strcmp(argv[i], "--least") == 0   ? &least
                               : strcmp(argv[i], "--limit") == 0   ? &limit
                                                                   : NULL;
            if (number == NULL) {
                fprintf(stderr, "fuzz_main: %s is not an option\n", argv[i]);
                return 2;
            }
            *number = strtoull(value, NULL, 0);
        }
        i++;
    }
    if (nfiles == 0) {
        fprintf(stderr, "usage: fuzz_main [--seed N] [--count N] [--seconds N] FILE...\n");
        return 2;
    }
    signal(SIGABRT, on_signal);
    signal(SIGALRM, on_signal);
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(keep_input);
    printf("seed %" PRIu64 "\n", seed);
    fflush(stdout);
    for (size_t i = 0; i < nfiles; i++) {
        load(i);
        run((unsigned)limit);
    }
    time_t end = time(NULL) + (time_t)seconds;
    for (; done < count && (done < least || time(NULL) < end); done++) {
        random_state = seed + done * UINT64_C(0xD1342543DE82EF95);
        load((size_t)pick(nfiles));
        for (uint64_t n = 1 + pick(6); n > 0; n--)
            mutate();
        run((unsigned)limit);
    }
    printf("%zu files, %" PRIu64 " mutations\n", nfiles, done);
    for (size_t i = 0; i < nfiles; i++)
        free(corpus[i].data);
    return 0;
}
