/* SPDX-License-Identifier: BSD-3-Clause */
#include "veo/lib/environment.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "common/check_options.h"
#include "veo/check_words.h"
#include "veo/lib/error.h"

struct variable {
    const char *name;
    enum { NUMBER, SIZE, CHOICE, NAME, CHECKS } kind;
    uint64_t least;
    uint64_t most;
    uint64_t preset;
    const char *words;
};

#define AS_NUMBER(name, least, most, preset) {#name, NUMBER, least, most, preset, ""},
#define AS_SIZE(name, preset) {#name, SIZE, 1, SIZE_MAX, preset, ""},
#define AS_CHOICE(name, words) {#name, CHOICE, 0, 0, 0, words},
#define AS_NAME(name) {#name, NAME, 0, 0, 0, ""},
#define AS_CHECKS(name) {#name, CHECKS, 0, 0, 0, ""},
static const struct variable variables[] = {
    VEOLIB_VARIABLES(AS_NUMBER, AS_SIZE, AS_CHOICE, AS_NAME, AS_NAME, AS_NAME, AS_CHECKS)};

const char *veolib_env_text(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && *value != 0 ? value : NULL;
}

/* --- values --- */

static unsigned shift_of_suffix(char suffix)
{
    switch (suffix) {
    case 'K':
    case 'k': return 10;
    case 'M':
    case 'm': return 20;
    case 'G':
    case 'g': return 30;
    default: return 0;
    }
}

static bool parse_number(const struct variable *variable, const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 0);
    unsigned shift = variable->kind == SIZE && end != text ? shift_of_suffix(*end) : 0;
    end += shift != 0;
    if (errno || end == text || *end || strchr(text, '-') != NULL || number > SIZE_MAX >> shift)
        return false;
    *value = number << shift;
    return *value >= variable->least && *value <= variable->most;
}

static bool parse_choice(const struct variable *variable, const char *text, uint64_t *value)
{
    const char *word = variable->words;
    for (*value = 0;; ++*value) {
        size_t length = strcspn(word, "|");
        if (strlen(text) == length && strncmp(text, word, length) == 0)
            return true;
        if (word[length] == 0)
            return false;
        word += length + 1;
    }
}

/* False, with a sentence in PROBLEM. */
static bool parse_checks(const char *text, char *problem, size_t size)
{
    static const struct check_word words[] = VE_CHECK_WORDS;
    struct check_options options;
    bool reads =
        check_options_read(&options, words, sizeof words / sizeof *words, text, problem, size);
    if (reads)
        free(options.text);
    return reads;
}

static bool parse(const struct variable *variable, const char *text, uint64_t *value)
{
    char ignored[256];
    if (variable->kind == CHECKS) {
        *value = 0;
        return parse_checks(text, ignored, sizeof ignored);
    }
    if (variable->kind == NAME) {
        *value = 0;
        return true;
    }
    return variable->kind == CHOICE ? parse_choice(variable, text, value)
                                    : parse_number(variable, text, value);
}

uint64_t veolib_env_value(enum veolib_variable which)
{
    const struct variable *variable = &variables[which];
    const char *text = veolib_env_text(variable->name);
    uint64_t value;
    return text != NULL && parse(variable, text, &value) ? value : variable->preset;
}

/* --- errors --- */

/* "ordered or unordered", "console or xterm": an empty word is the default. */
static void list_words(const char *words, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (const char *word = words; word != NULL && used < size;) {
        size_t length = strcspn(word, "|");
        const char *next = word[length] != 0 ? word + length + 1 : NULL;
        if (length > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", used > 0 ? " or " : "",
                                     (int)length, word);
        word = next;
    }
}

static void refuse(const struct variable *variable, const char *value)
{
    char allowed[256];
    if (variable->kind == CHECKS) {
        parse_checks(value, allowed, sizeof allowed);
        veolib_fail(EINVAL,
                    "%s='%.100s' is not allowed: it takes words with commas between them: %s",
                    variable->name, value, allowed);
        return;
    }
    if (variable->kind == CHOICE)
        list_words(variable->words, allowed, sizeof allowed);
    else if (variable->kind == SIZE)
        snprintf(allowed, sizeof allowed,
                 "a number of bytes, which may have a suffix K, M or G, such as 512M");
    else
        snprintf(allowed, sizeof allowed, "a whole number from %llu to %llu",
                 (unsigned long long)variable->least, (unsigned long long)variable->most);
    veolib_fail(EINVAL, "%s='%.100s' is not allowed: it takes %s", variable->name, value, allowed);
}

/* The variable of an entry NAME=VALUE of the environment; NULL if it is none of the list. */
static const struct variable *find(const char *entry, size_t length)
{
    for (size_t i = 0; i < VEOLIB_VARIABLE_COUNT; i++)
        if (strncmp(variables[i].name, entry, length) == 0 && variables[i].name[length] == 0)
            return &variables[i];
    return NULL;
}

static void tell_slip(const char *entry, size_t length)
{
    if (strncmp(entry, VEOLIB_OWN_PREFIX, strlen(VEOLIB_OWN_PREFIX)) == 0)
        veolib_log("%.*s is set, which is no variable of the soft libveo: a slip?",
                   length < 100 ? (int)length : 100, entry);
}

/* One pass over the environment, as a search for each name would be many. */
bool veolib_env_check(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (getauxval(AT_SECURE) || environ == NULL)
        return true;

    bool good = true;
    bool tells = !atomic_flag_test_and_set(&told);
    for (char **entry = environ; *entry != NULL; entry++) {
        if (strncmp(*entry, VEOLIB_PREFIX, strlen(VEOLIB_PREFIX)) != 0)
            continue;

        size_t length = strcspn(*entry, "=");
        const struct variable *variable = find(*entry, length);
        const char *value = *entry + length + ((*entry)[length] == '=');
        uint64_t ignored;
        if (variable == NULL && tells)
            tell_slip(*entry, length);
        if (good && variable != NULL && *value != 0 && !parse(variable, value, &ignored)) {
            refuse(variable, value);
            good = false;
        }
    }
    return good;
}
