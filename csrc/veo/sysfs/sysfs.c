/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sysfs.c: what the driver of Vector Engines shows, for host programs that look there before they
 * call libveo, such as VEDA's. A library to preload: /sys/class/ve is the folder in VEO_SOFT_SYSFS,
 * and for each of its folders veN there is a device /dev/veslotN, which can be listed, looked at
 * and asked of udev, but not opened. Without the variable nothing is changed. Any thread.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define CLASS "/sys/class/ve"
#define SLOT "/dev/veslot"

/* Twelve bits of a major number are in use on Linux: no real device has this one. */
#define MAJOR 4095
#define NODES 1024

/* The function that the name of FUNCTION has without this library. */
#define NEXT(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

/* --- paths --- */

/* The path that PATH stands for: in BUFFER if it is in CLASS. */
static const char *real_path(const char *path, char buffer[PATH_MAX])
{
    const char *folder = secure_getenv("VEO_SOFT_SYSFS");
    if (folder == NULL || *folder == 0 || path == NULL || strncmp(path, CLASS, strlen(CLASS)) != 0)
        return path;
    const char *rest = path + strlen(CLASS);
    if (*rest != 0 && *rest != '/')
        return path;
    return snprintf(buffer, PATH_MAX, "%s%s", folder, rest) < PATH_MAX ? buffer : path;
}

static bool is_node(int node)
{
    char name[sizeof CLASS + 32], buffer[PATH_MAX];
    snprintf(name, sizeof name, CLASS "/ve%d", node);
    const char *path = real_path(name, buffer);
    return path == buffer && NEXT(access)(path, F_OK) == 0;
}

/* The node whose device PATH is, or -1. */
static int node_of(const char *path)
{
    if (path == NULL || strncmp(path, SLOT, strlen(SLOT)) != 0)
        return -1;
    const char *digits = path + strlen(SLOT);
    char *end;
    long node = *digits >= '0' && *digits <= '9' ? strtol(digits, &end, 10) : -1;
    return node >= 0 && node < NODES && *end == 0 && is_node((int)node) ? (int)node : -1;
}

/* --- files --- */

#define OPEN(name) \
    EXPORT int name(const char *path, int flags, ...) \
    { \
        va_list arguments; \
        va_start(arguments, flags); \
        bool has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; \
        mode_t mode = has_mode ? va_arg(arguments, mode_t) : 0; \
        va_end(arguments); \
        char buffer[PATH_MAX]; \
        return NEXT(name)(real_path(path, buffer), flags, mode); \
    }

#define FOPEN(name) \
    EXPORT FILE *name(const char *restrict path, const char *restrict mode) \
    { \
        char buffer[PATH_MAX]; \
        return NEXT(name)(real_path(path, buffer), mode); \
    }

OPEN(open)
OPEN(open64)
FOPEN(fopen)
FOPEN(fopen64)

/* --- what a file is --- */

#define DESCRIBE(status, node) \
    do { \
        memset((status), 0, sizeof *(status)); \
        (status)->st_mode = S_IFCHR | 0666; \
        (status)->st_nlink = 1; \
        (status)->st_rdev = makedev(MAJOR, (unsigned)(node)); \
    } while (0)

/* One of the functions that say what PATH is: its parameters, and the arguments for the next one.
 */
#define STAT(name, parameters, arguments) \
    EXPORT int name parameters; \
    EXPORT int name parameters \
    { \
        char buffer[PATH_MAX]; \
        int node = node_of(path); \
        path = real_path(path, buffer); \
        if (node < 0) \
            return NEXT(name) arguments; \
        DESCRIBE(status, node); \
        return 0; \
    }
#define PLAIN(type) (const char *restrict path, struct type *restrict status)
#define AT(type) (int folder, const char *restrict path, struct type *restrict status, int flags)

STAT(stat, PLAIN(stat), (path, status))
STAT(stat64, PLAIN(stat64), (path, status))
STAT(lstat, PLAIN(stat), (path, status))
STAT(lstat64, PLAIN(stat64), (path, status))
STAT(fstatat, AT(stat), (folder, path, status, flags))
STAT(fstatat64, AT(stat64), (folder, path, status, flags))

/* As programs call them that were linked with a glibc before 2.33. */
#define OLD(type) (int version, const char *path, struct type *status)
STAT(__xstat, OLD(stat), (version, path, status))
STAT(__xstat64, OLD(stat64), (version, path, status))
STAT(__lxstat, OLD(stat), (version, path, status))
STAT(__lxstat64, OLD(stat64), (version, path, status))

EXPORT int statx(int folder, const char *restrict path, int flags, unsigned mask,
                 struct statx *restrict status)
{
    char buffer[PATH_MAX];
    int node = node_of(path);
    if (node < 0)
        return NEXT(statx)(folder, real_path(path, buffer), flags, mask, status);
    *status = (struct statx){.stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK,
                             .stx_mode = S_IFCHR | 0666,
                             .stx_nlink = 1,
                             .stx_rdev_major = MAJOR,
                             .stx_rdev_minor = (uint32_t)node};
    return 0;
}

EXPORT int access(const char *path, int mode)
{
    char buffer[PATH_MAX];
    if (node_of(path) >= 0)
        return 0;
    return NEXT(access)(real_path(path, buffer), mode);
}

/* Attributes of files: `ls -l` asks for their access lists. */
#define ATTRIBUTE(name) \
    EXPORT ssize_t name(const char *path, const char *attribute, void *value, size_t size) \
    { \
        char buffer[PATH_MAX]; \
        if (node_of(path) < 0) \
            return NEXT(name)(real_path(path, buffer), attribute, value, size); \
        errno = ENOTSUP; \
        return -1; \
    }

ATTRIBUTE(getxattr)
ATTRIBUTE(lgetxattr)

/* --- lists of folders --- */

/* A list of /dev: the devices come after all that is there. */
struct listed {
    struct listed *next;
    DIR *folder;
    int node;
    struct dirent entry;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct listed *all;

/* Finds the list of FOLDER, under the lock; the link to it can be changed. */
static struct listed **find_listed(DIR *folder)
{
    struct listed **link = &all;
    while (*link != NULL && (*link)->folder != folder)
        link = &(*link)->next;
    return link;
}

EXPORT DIR *opendir(const char *path)
{
    char buffer[PATH_MAX];
    DIR *folder = NEXT(opendir)(real_path(path, buffer));
    if (folder == NULL || (strcmp(path, "/dev") != 0 && strcmp(path, "/dev/") != 0))
        return folder;

    struct listed *listed = calloc(1, sizeof *listed);
    if (listed == NULL)
        return folder;
    listed->folder = folder;
    listed->entry.d_reclen = sizeof listed->entry;
    listed->entry.d_type = DT_CHR;
    pthread_mutex_lock(&lock);
    listed->next = all;
    all = listed;
    pthread_mutex_unlock(&lock);
    return folder;
}

static struct dirent *next_device(DIR *folder)
{
    struct dirent *entry = NULL;
    int error = errno; /* tells the caller whether the list is at its end */
    pthread_mutex_lock(&lock);
    struct listed *listed = *find_listed(folder);
    if (listed != NULL && is_node(listed->node)) {
        entry = &listed->entry;
        entry->d_ino = (ino_t)listed->node + 1;
        snprintf(entry->d_name, sizeof entry->d_name, "veslot%d", listed->node++);
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return entry;
}

EXPORT struct dirent *readdir(DIR *folder)
{
    struct dirent *entry = NEXT(readdir)(folder);
    return entry != NULL ? entry : next_device(folder);
}

/* The same structure, in 64 bits. */
EXPORT struct dirent64 *readdir64(DIR *folder)
{
    struct dirent64 *entry = NEXT(readdir64)(folder);
    return entry != NULL ? entry : (struct dirent64 *)(void *)next_device(folder);
}

EXPORT int closedir(DIR *folder)
{
    pthread_mutex_lock(&lock);
    struct listed **link = find_listed(folder), *listed = *link;
    if (listed != NULL)
        *link = listed->next;
    pthread_mutex_unlock(&lock);
    free(listed);
    return NEXT(closedir)(folder);
}

/* --- udev --- */

struct udev;
struct udev_device;
struct udev_device *udev_device_new_from_devnum(struct udev *udev, char type, dev_t number);
struct udev_device *udev_device_ref(struct udev_device *device);
struct udev_device *udev_device_unref(struct udev_device *device);
const char *udev_device_get_syspath(struct udev_device *device);

/* A device is the address of its path here, which is never freed. */
static char paths[NODES][sizeof CLASS + 16];
static pthread_once_t paths_once = PTHREAD_ONCE_INIT;

static void name_paths(void)
{
    for (int node = 0; node < NODES; node++)
        snprintf(paths[node], sizeof *paths, CLASS "/ve%d", node);
}

static bool is_ours(const struct udev_device *device)
{
    uintptr_t address = (uintptr_t)device, first = (uintptr_t)paths;
    return address >= first && address < first + sizeof paths;
}

EXPORT struct udev_device *udev_device_new_from_devnum(struct udev *udev, char type, dev_t number)
{
    int node = type == 'c' && major(number) == MAJOR ? (int)minor(number) : NODES;
    if (node < NODES && is_node(node)) {
        pthread_once(&paths_once, name_paths);
        return (struct udev_device *)(void *)paths[node];
    }
    __typeof__(&udev_device_new_from_devnum) next = NEXT(udev_device_new_from_devnum);
    return next != NULL ? next(udev, type, number) : NULL;
}

EXPORT struct udev_device *udev_device_ref(struct udev_device *device)
{
    return is_ours(device) ? device : NEXT(udev_device_ref)(device);
}

EXPORT struct udev_device *udev_device_unref(struct udev_device *device)
{
    return is_ours(device) ? NULL : NEXT(udev_device_unref)(device);
}

EXPORT const char *udev_device_get_syspath(struct udev_device *device)
{
    return is_ours(device) ? (const char *)device : NEXT(udev_device_get_syspath)(device);
}
