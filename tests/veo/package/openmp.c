/* SPDX-License-Identifier: BSD-3-Clause */
/* openmp.c: directives and functions of OpenMP, whose results are the same on any machine. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { N = 1000 };
static long a[N], b[N];
static int mine = 5;
#pragma omp threadprivate(mine)

static void show(const char *name)
{
    unsigned long hash = 5381;
    for (int i = 0; i < N; i++)
        hash = hash * 33 + (unsigned long)a[i];
    printf("%s %lx\n", name, hash);
    memset(a, 0, sizeof a);
}

static void loops(void)
{
#pragma omp parallel
    {
#pragma omp for schedule(static, 7)
        for (int i = 0; i < N; i++)
            a[i] += i;
#pragma omp for schedule(dynamic, 3) nowait
        for (long i = N - 1; i >= 0; i -= 2)
            a[i] += 2 * i;
#pragma omp for schedule(guided)
        for (unsigned i = 1; i < N; i += 3)
            b[i] += 1;
#pragma omp for schedule(runtime)
        for (unsigned long i = 5; i < N; i += 3)
            b[i] += 4;
#pragma omp for schedule(dynamic)
        for (int i = 5; i < 5; i++)
            b[i] += 4000;
#pragma omp for schedule(static, 3)
        for (long i = -20; i < 30; i += 7)
            b[i + 20] += 5;
#pragma omp for
        for (int i = 0; i < 2; i++)
            b[i] += 10;
#pragma omp for
        for (int i = 0; i < N; i++)
            a[i] += b[i];
    }
    show("loops");

#pragma omp parallel
    for (int turn = 0; turn < 20; turn++) /* more loops than are kept at a time */
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 50; i++)
#pragma omp atomic
            a[i] += turn;
    show("loops without a barrier");

#pragma omp parallel
    {
#pragma omp for schedule(static, 7)
        for (int i = 0; i < 500; i++)
            a[i] = omp_get_thread_num();
#pragma omp for schedule(static)
        for (int i = 999; i >= 500; i -= 3)
            a[i] = omp_get_thread_num();
    }
    show("threads of static loops");

#pragma omp parallel for collapse(2)
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 50; j++)
            a[i * 50 + j] = i * j;
    show("collapse");

#pragma omp parallel sections
    {
#pragma omp section
        a[0] = 1;
#pragma omp section
        a[1] = 2;
#pragma omp section
        a[2] = 3;
    }
    show("sections");

    int last = -1, first = 100;
#pragma omp parallel for lastprivate(last) firstprivate(first)
    for (int i = 0; i < 50; i++)
        last = i + first;
    printf("last %d", last);
#pragma omp parallel for lastprivate(last) schedule(dynamic, 3)
    for (int i = 0; i < 50; i++)
        last = i;
    printf(" %d\n", last);
}

static void ordered(void)
{
    static long grid[30][30];
    printf("ordered");
#pragma omp parallel for ordered schedule(dynamic, 2)
    for (int i = 0; i < 20; i++) {
        if (i % 3 != 1)
#pragma omp ordered
            printf(" %d", i * i);
    }
#pragma omp parallel for ordered
    for (int i = 0; i < 9; i++) {
#pragma omp ordered
        printf(" %d", i);
    }
#pragma omp parallel for ordered schedule(static, 2)
    for (int i = 0; i < 9; i++) {
#pragma omp ordered
        printf(" %d", i);
    }
#pragma omp parallel for ordered schedule(guided, 2)
    for (int i = 30; i > 0; i -= 3) {
#pragma omp ordered
        printf(" %d", i);
    }

    for (int i = 0; i < 30; i++)
        grid[0][i] = grid[i][0] = 1;
#pragma omp parallel for ordered(2) schedule(static, 1)
    for (int i = 1; i < 30; i++)
        for (int j = 1; j < 30; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            grid[i][j] = (grid[i - 1][j] + grid[i][j - 1]) % 1000007;
#pragma omp ordered depend(source)
        }
    printf("\ndoacross %ld\n", grid[29][29]);
}

static void reductions(void)
{
    double sum = 0, min = 0, single = 0;
    long max = 0;
    unsigned all = ~0u;
    _Bool any = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : max) reduction(& : all) \
    reduction(|| : any) reduction(min : min)
    for (int i = 1; i <= 40; i++) {
        sum += 1.0 / i;
        max = i * 7 % 41 > max ? i * 7 % 41 : max;
        min = -i * 0.5 < min ? -i * 0.5 : min;
        all &= ~(1u << i % 32);
        any = any || i == 17;
    }
#pragma omp parallel
    {
#pragma omp for reduction(+ : single)
        for (int i = 0; i < 100; i++)
            single += i;
#pragma omp for reduction(+ : single)
        for (int i = 0; i < 100; i++)
            single += single < 0 ? 0 : i;
    }
    printf("reductions %.12f %ld %x %d %g %g\n", sum, max, all, any, min, single);
}

static void threads(void)
{
    int counter = 0, twice = 0, copies = 0, seen = 0, inner = 0, levels = 0;
#pragma omp parallel
    {
#pragma omp critical
        counter++;
#pragma omp critical(named)
        a[0]++;
#pragma omp atomic
        twice += 2;
#pragma omp barrier
#pragma omp master
        printf("counter %d %d %ld\n", counter, twice, a[0]);
#pragma omp barrier
#pragma omp single
        printf("single %d\n", omp_get_num_threads());
#pragma omp single nowait
        printf("again\n");
    }
#pragma omp parallel reduction(+ : copies)
    {
        int value;
#pragma omp single copyprivate(value)
        value = 11;
        copies += value;
    }
    mine = 9;
#pragma omp parallel copyin(mine) reduction(+ : seen)
    {
        seen += mine;
        mine = omp_get_thread_num();
    }
#pragma omp parallel reduction(+ : seen)
    seen += 100 * mine;
    printf("private %d %d\n", copies, seen);
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3) reduction(+ : inner, levels)
#pragma omp parallel num_threads(2) reduction(+ : inner, levels)
    {
        inner += 1;
        levels += omp_get_level() * 100 + omp_get_active_level() * 10 + omp_get_team_size(1) +
                  1000 * omp_get_ancestor_thread_num(1);
    }
    printf("nested %d %d\n", inner, levels);
    omp_set_max_active_levels(1);
#pragma omp parallel if (inner == 0)
    printf("serial %d %d %d %d\n", omp_get_num_threads(), omp_in_parallel(), omp_get_level(),
           omp_get_active_level());
#pragma omp parallel masked filter(2)
    printf("masked %d\n", omp_get_thread_num());
}

static long fib(int n)
{
    long x, y;
    if (n < 2)
        return n;
#pragma omp task shared(x)
    x = fib(n - 1);
#pragma omp task shared(y) if (n > 5)
    y = fib(n - 2);
#pragma omp taskwait
    return x + y;
}

static void tasks(void)
{
    long result = 0;
    int dep = 0, out = 0, added = 0, modified = 0, final = 0;
#pragma omp parallel
#pragma omp single
    {
        result = fib(15);
#pragma omp taskloop grainsize(10)
        for (int i = 0; i < N; i++)
            a[i] = i * 3;
#pragma omp task depend(out : dep)
        dep = 5;
#pragma omp task depend(in : dep) shared(out)
        out = dep * 2;
#pragma omp taskwait
#pragma omp taskgroup
#pragma omp task
        dep = 6;
#pragma omp taskyield
#pragma omp task final(1) shared(final)
        final = omp_in_final();
    }
    show("taskloop");
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : added)
    for (int i = 0; i < 10; i++)
#pragma omp task in_reduction(+ : added)
        added += i;
#pragma omp parallel reduction(task, + : modified)
#pragma omp task in_reduction(+ : modified)
    modified += 2;
    printf("tasks %ld %d %d %d %d %d %d\n", result, dep, out, added, modified, final,
           omp_in_final());
}

static void functions(void)
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_sched_t kind;
    int chunk, guarded = 0, counted = 0, teams = 0, target = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) {
        omp_set_lock(&lock);
        int before = guarded;
        for (volatile int wait = 0; wait < 300; wait++) {
        }
        guarded = before + 1;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        int seen = counted;
        for (volatile int wait = 0; wait < 300; wait++) {
        }
        counted = seen + 1;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
    }
    int got = omp_test_lock(&lock), again = omp_test_lock(&lock);
    omp_unset_lock(&lock);
    printf("locks %d %d %d %d", guarded, counted, got, again);
    got = omp_test_nest_lock(&nest);
    again = omp_test_nest_lock(&nest);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1)
        chunk = omp_test_nest_lock(&nest);
    printf(" %d %d %d\n", got, again, chunk);
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);

    omp_set_schedule(omp_sched_dynamic, 4);
    omp_get_schedule(&kind, &chunk);
#pragma omp teams num_teams(1) reduction(+ : teams)
#pragma omp distribute parallel for reduction(+ : teams)
    for (int i = 0; i < 100; i++)
        teams += i;
#pragma omp target teams distribute parallel for map(tofrom : target) reduction(+ : target)
    for (int i = 0; i < 100; i++)
        target += i;
    printf("functions %d %d %d %d %d\n", (int)kind, chunk, teams, target, omp_get_num_devices());
    printf("outside %d %d %d %d %d\n", omp_get_team_size(0), omp_get_team_size(1),
           omp_get_ancestor_thread_num(0), omp_get_ancestor_thread_num(-1), omp_in_parallel());
}

int main(void)
{
    omp_set_num_threads(4);
    loops();
    ordered();
    reductions();
    threads();
    tasks();
    functions();
    return 0;
}
