/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offchip-probe: looks at a library in a process of its own, so that one that is broken cannot
 * take the caller down.
 *
 *     offchip-probe veo|dpu|accl PATH
 *
 * prints one JSON object on stdout:
 *
 *     ok           whether the library can be used: it loads, has every function and a version
 *                  that we know
 *     soft         whether it is the twin that comes with offchip
 *     path         the file that the functions came from
 *     api_version  number of its API, or null
 *     version      its version as text, or null
 *     missing      names of functions that it lacks
 *     devices      number of devices that it can reach, or null
 *     error        why it cannot be used, or why it has no device, or null
 *
 * Exit status 0 whatever was found, 2 for wrong arguments. What the library prints itself goes to
 * stderr.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "accl_table.h"
#include "dpu_table.h"
#include "veo_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Nodes that a host can have: eight cards. */
#define VEO_NODES_MAX 8

struct findings {
    bool ok;
    bool soft;
    bool have_version;
    int api_version;
    const char *version;
    int devices; /* -1: not known */
    char error[OFFCHIP_LIBRARY_TEXT + 128];
};

static void put_text(FILE *out, const char *text)
{
    if (text == NULL) {
        fputs("null", out);
        return;
    }

    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        /* Bytes beyond ASCII need not be UTF-8: each is passed on as a code point. */
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20 || *p >= 0x7f)
            fprintf(out, "\\u%04x", (unsigned)*p);
        else
            fputc(*p, out);
    }

    fputc('"', out);
}

static void put_number(FILE *out, bool known, int number)
{
    if (known)
        fprintf(out, "%d", number);
    else
        fputs("null", out);
}

static void report(FILE *out, const struct findings *found, const struct offchip_library *lib)
{
    const char *name;

    fprintf(out, "{\"ok\": %s, \"soft\": %s, \"path\": ", found->ok ? "true" : "false",
            found->soft ? "true" : "false");
    put_text(out, lib->path);
    fputs(", \"api_version\": ", out);
    put_number(out, found->have_version, found->api_version);
    fputs(", \"version\": ", out);
    put_text(out, found->version);
    fputs(", \"missing\": [", out);
    for (size_t i = 0; (name = offchip_library_missing(lib, i)) != NULL; i++) {
        fputs(i > 0 ? ", " : "", out);
        put_text(out, name);
    }

    fputs("], \"devices\": ", out);
    put_number(out, found->devices >= 0, found->devices);
    fputs(", \"error\": ", out);
    put_text(out, found->error[0] != '\0' ? found->error : NULL);
    fputs("}\n", out);
}

/* Says so if COUNT functions of a KIND are missing; true then. */
static bool lacks(struct findings *found, const struct offchip_library *lib, size_t count,
                  const char *kind)
{
    if (count == 0)
        return false;
    snprintf(found->error, sizeof found->error, "it lacks %zu %sfunction%s: %s%s", count, kind,
             count == 1 ? "" : "s", offchip_library_missing(lib, 0), count == 1 ? "" : ", ...");
    return true;
}

static void probe_veo(const char *path, struct offchip_library *lib, struct findings *found)
{
    struct veo_table veo;
    struct veosoft_table soft;

    int missing = veo_table_open(path, &veo, &soft, lib);
    if (missing < 0) {
        snprintf(found->error, sizeof found->error, "it does not load: %s", lib->error);
        return;
    }

    found->soft = soft.veosoft_version != NULL;
    if (found->soft)
        found->version = soft.veosoft_version();
    else if (veo.veo_version_string != NULL)
        found->version = veo.veo_version_string();
    if (veo.veo_api_version != NULL) {
        found->api_version = veo.veo_api_version();
        found->have_version = true;
        if (found->api_version < VEO_API_VERSION) {
            snprintf(found->error, sizeof found->error,
                     "its API has version %d, and %d or later is needed", found->api_version,
                     VEO_API_VERSION);
            return;
        }
    }

    if (lacks(found, lib, (size_t)missing, ""))
        return;

    found->ok = true;
    found->devices = 0;
    if (found->soft) {
        if (soft.veosoft_node_count != NULL)
            found->devices = soft.veosoft_node_count();
    } else {
        for (int node = 0; node < VEO_NODES_MAX; node++)
            found->devices += veo.veo_get_ve_arch(node) > 0;
    }

    if (found->devices == 0)
        snprintf(found->error, sizeof found->error,
                 "no Vector Engine device (veo_get_ve_arch() finds none of nodes 0 to %d)",
                 VEO_NODES_MAX - 1);
}

/* Entries of FOLDER whose names are of devices. */
static int count_entries(const char *path, bool (*is_device)(const char *name))
{
    int count = 0;
    DIR *folder = opendir(path);

    if (folder == NULL)
        return 0;

    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += is_device(entry->d_name);
    closedir(folder);
    return count;
}

static bool is_dpu_rank(const char *name)
{
    return strncmp(name, "dpu_rank", sizeof "dpu_rank" - 1) == 0;
}

/* 0000:03:00.1 */
static bool is_pci_address(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon != NULL && strchr(colon + 1, ':') != NULL;
}

static void probe_dpu(const char *path, struct offchip_library *lib, struct findings *found)
{
    struct dpu_table dpu;
    struct dpusoft_table soft;
    struct dpu_set_t set;

    if (dpu_table_open(path, &dpu, &soft, lib) < 0) {
        snprintf(found->error, sizeof found->error, "it does not load: %s", lib->error);
        return;
    }

    found->soft = soft.dpusoft_version != NULL;
    if (found->soft) {
        found->api_version = (int)soft.dpusoft_version();
        found->have_version = true;
    }

    if (lacks(found, lib, dpu_table_lacking(&dpu), "needed "))
        return;

    found->ok = true;
    found->devices = 0;
    if (found->soft)
        return;

    found->devices = count_entries("/sys/class/dpu_rank", is_dpu_rank);
    /* Without the driver's folder the library may still know of hardware. */
    if (found->devices == 0 && dpu.dpu_alloc_ranks(1, "backend=hw", &set) == DPU_OK) {
        found->devices = 1;
        dpu.dpu_free(set);
    }

    if (found->devices == 0)
        snprintf(found->error, sizeof found->error,
                 "no UPMEM rank (/sys/class/dpu_rank has none, and \"backend=hw\" finds none)");
}

static void probe_accl(const char *path, struct offchip_library *lib, struct findings *found)
{
    struct accl_table accl;

    int missing = accl_table_open(path, &accl, lib);
    if (missing < 0) {
        snprintf(found->error, sizeof found->error, "it does not load: %s", lib->error);
        return;
    }

    if (accl.accl_abi_version != NULL) {
        found->api_version = accl.accl_abi_version();
        found->have_version = true;
        if (found->api_version != ACCL_ABI_VERSION) {
            snprintf(found->error, sizeof found->error,
                     "its interface has version %d, and %d is needed", found->api_version,
                     ACCL_ABI_VERSION);
            return;
        }
    }

    if (lacks(found, lib, (size_t)missing, ""))
        return;

    found->version = accl.accl_version();
    found->soft = strncmp(found->version, "offchip ", sizeof "offchip " - 1) == 0;
    found->ok = true;
    found->devices = 0;
    if (found->soft)
        return;

    found->devices = count_entries("/sys/bus/pci/drivers/xocl", is_pci_address);
    if (found->devices == 0)
        snprintf(found->error, sizeof found->error,
                 "no FPGA board (/sys/bus/pci/drivers/xocl has none)");
}

/* A stream for our answer; whatever else is written to stdout goes to stderr from now on. */
static FILE *take_stdout(void)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

    if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return NULL;
    return fdopen(fd, "w");
}

int main(int argc, char **argv)
{
    struct findings found = {.devices = -1};
    struct offchip_library lib = {0};

    void (*look)(const char *path, struct offchip_library *lib, struct findings *found) = NULL;
    if (argc == 3 && strcmp(argv[1], "veo") == 0)
        look = probe_veo;
    else if (argc == 3 && strcmp(argv[1], "dpu") == 0)
        look = probe_dpu;
    else if (argc == 3 && strcmp(argv[1], "accl") == 0)
        look = probe_accl;
    if (look == NULL) {
        fprintf(stderr, "usage: offchip-probe veo|dpu|accl PATH\n");
        return 2;
    }

    FILE *out = take_stdout();
    if (out == NULL) {
        perror("offchip-probe");
        return 2;
    }

    look(argv[2], &lib, &found);
    report(out, &found, &lib);
    int status = fclose(out) == 0 ? 0 : 2;
    /* Neither the library's destructors nor its exit handlers may spoil the answer. */
    _exit(status);
}
