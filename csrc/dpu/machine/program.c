/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include "dpu/isa/forms.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(DPU_CODE_DECODE == 0, "memory that is zero is not decoded yet");

struct dpu_operation dpu_no_operations[DPU_MACHINE_IRAM + 2];

/* Programs without users that are kept: hosts allocate DPUs again and again for the same ones. */
#define IDLE_MOST 4

/* All shared programs of this process, of which there are few. */
static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    struct dpu_program *first;
    uint32_t idle;     /* programs without users */
    uint64_t departed; /* how often one has lost its last user */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* Machines belong to the process that created them; its child begins with no program. */
static void forget(void)
{
    pthread_mutex_init(&table.lock, NULL);
    table.first = NULL;
    table.idle = 0;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget);
}

/* Turns alone can execute ldmai, which writes to IRAM, and clr_run, which stops another tasklet
 * wherever it is. Few words have the bits that each needs, by instructions.def, but others can. */
static bool is_for_turns(uint64_t word)
{
    bool may_write_iram = (word & 0xFF800000FFFF) == 0x700000000001;
    bool may_stop_another = (word & 0xFF83E0000000) == 0x7C8320000000;
    struct dpu_instruction instruction;
    if ((!may_write_iram && !may_stop_another) || !dpu_decode(word, &instruction))
        return false;

    uint32_t operation = dpu_forms[instruction.form].operation;
    return operation == DPU_OP_LDMAI || operation == DPU_OP_CLR_RUN;
}

static bool needs_turns(const struct dpu_program *p)
{
    for (uint32_t i = 0; i < p->size; i++)
        if (is_for_turns(p->iram[i]))
            return true;
    return false;
}

static uint64_t hash_of(const uint64_t *words, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ words[i] ^ hash >> 29) * UINT64_C(0x9E3779B97F4A7C15);
    return hash;
}

static struct dpu_program *make(const struct dpu_machine *m, uint64_t hash)
{
    struct dpu_program *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;

    p->operations[DPU_MACHINE_IRAM].code = DPU_CODE_WRAP;
    p->operations[DPU_MACHINE_IRAM + 1].code = DPU_CODE_END_OF_ROUND;
    memcpy(p->iram, m->iram, m->iram_used * sizeof *m->iram);
    p->size = m->iram_used;
    p->switches = m->options.switches;
    p->wram_size = m->wram_size;
    p->hash = hash;
    p->users = 1;
    p->needs_turns = needs_turns(p);
    p->is_shared = !p->needs_turns;
    return p;
}

static bool is_of(const struct dpu_program *p, const struct dpu_machine *m, uint64_t hash)
{
    return p->hash == hash && p->size == m->iram_used && p->switches == m->options.switches &&
           p->wram_size == m->wram_size && memcmp(p->iram, m->iram, p->size * sizeof *p->iram) == 0;
}

/* With one more reference. */
static struct dpu_program *find_or_make(const struct dpu_machine *m)
{
    uint64_t hash = hash_of(m->iram, m->iram_used);
    pthread_once(&table.once, watch_forks);
    pthread_mutex_lock(&table.lock);

    struct dpu_program *p = table.first;
    while (p != NULL && !is_of(p, m, hash))
        p = p->next;
    if (p != NULL) {
        table.idle -= p->users++ == 0;
    } else {
        p = make(m, hash);
        if (p != NULL && p->is_shared) {
            p->next = table.first;
            table.first = p;
        }
    }

    pthread_mutex_unlock(&table.lock);
    return p;
}

static void move_tasklets(struct dpu_machine *m, struct dpu_operation *to)
{
    for (uint32_t id = 0; id <= DPU_MACHINE_THREADS_ROOM; id++)
        m->threads[id].op = to + (m->threads[id].op - m->operations);
    m->operations = to;
}

bool dpu_program_join(struct dpu_machine *m)
{
    struct dpu_program *p = find_or_make(m);
    if (p == NULL)
        return false;

    move_tasklets(m, p->operations);
    if (m->program != NULL)
        dpu_program_unref(m->program);
    m->program = p;
    m->iram_changed = false;
    return true;
}

void dpu_program_leave(struct dpu_machine *m)
{
    if (m->program == NULL)
        return;
    move_tasklets(m, dpu_no_operations);
    dpu_program_unref(m->program);
    m->program = NULL;
    m->iram_changed = true;
}

void dpu_program_ref(struct dpu_program *p)
{
    pthread_mutex_lock(&table.lock);
    p->users++;
    pthread_mutex_unlock(&table.lock);
}

/* With the lock: takes a program out of the table. NULL if all may stay. */
static struct dpu_program *take_oldest_idle(uint32_t most)
{
    struct dpu_program **oldest = NULL;
    for (struct dpu_program **link = &table.first; *link != NULL; link = &(*link)->next)
        if ((*link)->users == 0 && (oldest == NULL || (*link)->departed < (*oldest)->departed))
            oldest = link;
    if (table.idle <= most || oldest == NULL)
        return NULL;

    struct dpu_program *p = *oldest;
    *oldest = p->next;
    table.idle--;
    return p;
}

static void destroy(struct dpu_program *p)
{
    struct dpu_translation *translation = atomic_load(&p->translation);
    if (translation != NULL)
        translation->release(translation);
    free(p);
}

void dpu_program_unref(struct dpu_program *p)
{
    pthread_mutex_lock(&table.lock);
    struct dpu_program *gone = NULL;
    if (--p->users == 0 && !p->is_shared) {
        gone = p;
    } else if (p->users == 0) {
        p->departed = ++table.departed;
        table.idle++;
        gone = take_oldest_idle(IDLE_MOST);
    }

    pthread_mutex_unlock(&table.lock);
    if (gone != NULL)
        destroy(gone);
}

/* When the library is unloaded. */
__attribute__((destructor)) static void destroy_idle(void)
{
    struct dpu_program *p;
    pthread_mutex_lock(&table.lock);
    while ((p = take_oldest_idle(0)) != NULL)
        destroy(p);
    pthread_mutex_unlock(&table.lock);
}

void dpu_program_publish(struct dpu_program *p, uint32_t index,
                         const struct dpu_operation *operation)
{
    struct dpu_operation *to = &p->operations[index];
    const size_t rest = sizeof to->code;
    pthread_mutex_lock(&table.lock);
    if (__atomic_load_n(&to->code, __ATOMIC_RELAXED) == DPU_CODE_DECODE) {
        /* Its code comes last: other threads read the rest once they see it. */
        memcpy((uint8_t *)to + rest, (const uint8_t *)operation + rest, sizeof *to - rest);
        __atomic_store_n(&to->code, operation->code, __ATOMIC_RELEASE);
    }

    pthread_mutex_unlock(&table.lock);
}
