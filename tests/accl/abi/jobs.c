/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: @libaccl
 *
 * Meeting of ranks: names of jobs, launchers, ports; ranks that may not meet; what is left.
 * usage: jobs
 */
#include <dirent.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ranks.h"

static char job[64];

struct place {
    const char *name;     /* of the job, or NULL */
    const char *variable; /* of the environment, and its value */
    const char *value;
    uint32_t first_port;
};

static const char *const variables[] = {"ACCL_JOB", "PMIX_NAMESPACE", "PMI_RANK"};

static int open_at(struct rank *r, const struct place *place, uint32_t rank)
{
    struct accl_config config = {.size = sizeof config, .job = place->name};
    struct accl_rank list[2];
    uint32_t id;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    if (place->variable)
        setenv(place->variable, place->value, 1);
    memset(list, 0, sizeof list);
    for (uint32_t i = 0; i < 2; i++) {
        list[i].ip = 0x7F000001;
        list[i].port = place->first_port + i;
    }
    *r = (struct rank){.rank = rank, .n = 2};
    CHECK(accl_open(&config, &r->device) == ACCL_OK);
    CHECK(accl_setup_rx_buffers(r->device, 4, 1024) == ACCL_OK);
    int status = accl_create_communicator(r->device, list, 2, rank, &id);
    if (status == ACCL_OK)
        set_timeout(r, 300);
    return status;
}

static uint32_t send_some(const struct rank *r)
{
    struct accl_call call = make_call(ACCL_SEND, 0, ACCL_INT32);
    call.root_src_dst = 1;
    return run_call(r, &call);
}

/* Returns true if rank 0 at A reaches rank 1 at B. */
static int meet(const struct place *a, const struct place *b)
{
    struct rank one, two;
    CHECK(open_at(&one, a, 0) == ACCL_OK && open_at(&two, b, 1) == ACCL_OK);
    uint32_t bits = send_some(&one);
    CHECK(bits == 0 || bits & ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED));
    accl_close(one.device);
    accl_close(two.device);
    return bits == 0;
}

/* A process of another user: it takes no part, and has no name in common. */
static void other_user(const struct place *place)
{
    struct rank one, two;
    int pipes[2][2];
    char word = 0;
    if (geteuid() != 0)
        return; /* only root can be somebody else */
    CHECK(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(setgid(65534) == 0 && setuid(65534) == 0);
        CHECK(open_at(&two, place, 1) == ACCL_OK);
        CHECK(write(pipes[0][1], &word, 1) == 1 && read(pipes[1][0], &word, 1) == 1);
        accl_close(two.device);
        exit(0);
    }
    CHECK(read(pipes[0][0], &word, 1) == 1);
    CHECK(open_at(&one, place, 0) == ACCL_OK);
    CHECK(send_some(&one) & ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED));
    accl_close(one.device);
    CHECK(write(pipes[1][1], &word, 1) == 1);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    for (int i = 0; i < 4; i++)
        close(pipes[i / 2][i % 2]);
}

/* --- who is in the way --- */

/* Returns true if this process listens at the abstract name FOUND; then *NAME is its address. */
static int connects(const char *found, struct sockaddr_un *name, socklen_t *length)
{
    struct sockaddr_un tried = {.sun_family = AF_UNIX};
    struct ucred cred = {.pid = 0};
    socklen_t n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(found));
    socklen_t size = sizeof cred;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    memcpy(tried.sun_path + 1, found, strlen(found));
    int here = connect(fd, (struct sockaddr *)&tried, n) == 0 &&
               getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0 && cred.pid == getpid();
    close(fd);
    if (here) {
        *name = tried;
        *length = n;
    }
    return here;
}

/* The name under which the only rank of this process listens. */
static void find_name(struct sockaddr_un *name, socklen_t *length)
{
    char line[512], found[108];
    FILE *file = fopen("/proc/net/unix", "re");
    int n = 0;
    CHECK(file != NULL);
    memset(name, 0, sizeof *name);
    while (fgets(line, sizeof line, file)) {
        const char *at = strstr(line, "@offchip-accl-");
        if (at && sscanf(at, "@%107s", found) == 1 &&
            strcmp(found + strlen(found) - 2, "-0") == 0 && connects(found, name, length)) {
            n++;
            break; /* connections have the name too */
        }
    }
    fclose(file);
    CHECK(n == 1);
}

/* Another user has the name of a rank first: the message says who. */
static void squatted(const struct place *place)
{
    struct rank one;
    struct sockaddr_un name;
    socklen_t length;
    int ready[2], done[2];
    char word = 0, text[64];
    if (geteuid() != 0)
        return;
    CHECK(open_at(&one, place, 0) == ACCL_OK);
    find_name(&name, &length);
    accl_close(one.device);
    CHECK(pipe(ready) == 0 && pipe(done) == 0);
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(setgid(65534) == 0 && setuid(65534) == 0);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&name, length) == 0 && listen(fd, 4) == 0);
        CHECK(write(ready[1], &word, 1) == 1 && read(done[0], &word, 1) == 1);
        _exit(0);
    }
    CHECK(read(ready[0], &word, 1) == 1);
    CHECK(open_at(&one, place, 0) == ACCL_IN_USE);
    snprintf(text, sizeof text, "process %d of user 65534", (int)child);
    CHECK(strstr(accl_error_message(), text));
    accl_close(one.device);
    /* And where it is asked for that rank. */
    CHECK(open_at(&one, place, 1) == ACCL_OK);
    struct accl_call call = make_call(ACCL_SEND, 0, ACCL_INT32);
    CHECK(run_call(&one, &call) == ACCL_ERROR(OPEN_CON_NOT_SUCCEEDED));
    CHECK(strstr(accl_error_message(), text));
    accl_close(one.device);
    CHECK(write(done[1], &word, 1) == 1);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(done[i]);
    }
}

/* Connections that say nothing keep nobody from the door. */
static void idle_connections(const struct place *place)
{
    enum { IDLE = 200 };
    struct rank one, two;
    struct sockaddr_un name;
    socklen_t length;
    int fds[IDLE];
    CHECK(open_at(&one, place, 0) == ACCL_OK);
    find_name(&name, &length);
    for (int i = 0; i < IDLE; i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        CHECK(fds[i] >= 0 && connect(fds[i], (struct sockaddr *)&name, length) == 0);
    }
    CHECK(open_at(&two, place, 1) == ACCL_OK);
    set_timeout(&two, 5000);
    struct accl_call call = make_call(ACCL_SEND, 0, ACCL_INT32);
    double began = seconds();
    CHECK(run_call(&two, &call) == 0);
    CHECK(seconds() - began < 0.9);
    for (int i = 0; i < IDLE; i++)
        close(fds[i]);
    accl_close(one.device);
    accl_close(two.device);
}

static int descriptors(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL);
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

int main(void)
{
    struct rank one, two;
    snprintf(job, sizeof job, "jobs %d", (int)getpid());
    uint32_t port = 10000 + (uint32_t)getpid() % 20000;
    int before = descriptors();
    const struct place named = {job, NULL, NULL, port}, other = {"another", NULL, NULL, port};
    const struct place elsewhere = {job, NULL, NULL, port + 7};
    const struct place bare = {NULL, NULL, NULL, port};
    const struct place variable = {NULL, "ACCL_JOB", job, port};
    const struct place pmix = {NULL, "PMIX_NAMESPACE", job, port};
    const struct place hydra = {NULL, "PMI_RANK", "0", port};
    CHECK(meet(&named, &named) && meet(&bare, &bare) && meet(&hydra, &hydra));
    CHECK(meet(&pmix, &pmix) && meet(&named, &variable));
    CHECK(!meet(&named, &other) && !meet(&named, &elsewhere) && !meet(&named, &bare));
    CHECK(!meet(&pmix, &named) && !meet(&hydra, &bare) && !meet(&hydra, &pmix));
    /* A place that is taken, and is free again as soon as it is closed. */
    CHECK(open_at(&one, &named, 0) == ACCL_OK);
    CHECK(open_at(&two, &named, 0) == ACCL_IN_USE && strstr(accl_error_message(), "ACCL_JOB"));
    CHECK(strstr(accl_error_message(), "in this process"));
    accl_close(two.device);
    accl_close(one.device);
    CHECK(open_at(&one, &named, 0) == ACCL_OK);
    accl_close(one.device);
    other_user(&named);
    squatted(&(struct place){"squatted", NULL, NULL, port});
    idle_connections(&(struct place){"idle", NULL, NULL, port});
    CHECK(descriptors() == before);
    puts("ok");
    return 0;
}
