/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * build: csrc/veo/sysfs/sysfs.c -ldl tsan
 *
 * Files of simulated Vector Engines as host programs see them: the preloaded functions are this
 * program's own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/support/check.h"

enum { DEVICES = 3, THREADS = 4 };

struct udev;
struct udev_device;
struct udev_device *udev_device_new_from_devnum(struct udev *udev, char type, dev_t number);
struct udev_device *udev_device_ref(struct udev_device *device);
struct udev_device *udev_device_unref(struct udev_device *device);
const char *udev_device_get_syspath(struct udev_device *device);

static char folder[] = "/tmp/ve_sysfs_XXXXXX";

static void make_devices(void)
{
    CHECK(mkdtemp(folder) != NULL);
    for (int i = 0; i < DEVICES; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/ve%d", folder, i);
        CHECK(mkdir(path, 0700) == 0);
    }
    CHECK(setenv("VEO_SOFT_SYSFS", folder, 1) == 0);
}

static void remove_devices(void)
{
    CHECK(unlink("/sys/class/ve/ve0/model") != 0); /* unlink() is not one of its functions */
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/ve0/model", folder);
    CHECK(unlink(path) == 0);
    for (int i = 0; i < DEVICES; i++) {
        snprintf(path, sizeof path, "%s/ve%d", folder, i);
        CHECK(rmdir(path) == 0);
    }
    CHECK(rmdir(folder) == 0);
}

static void test_files_are_those_of_the_folder(void)
{
    int made = open("/sys/class/ve/ve0/model", O_CREAT | O_WRONLY | O_CLOEXEC, 0640);
    CHECK(made >= 0);
    CHECK(write(made, "132\n", 4) == 4);
    CHECK(close(made) == 0);
    struct stat status;
    CHECK(stat("/sys/class/ve/ve0/model", &status) == 0);
    CHECK(S_ISREG(status.st_mode) && (status.st_mode & 0777 & ~0640U) == 0 && status.st_size == 4);
    CHECK(lstat("/sys/class/ve/ve0", &status) == 0 && S_ISDIR(status.st_mode));
    CHECK(access("/sys/class/ve/ve0/model", R_OK) == 0);
    CHECK(access("/sys/class/ve", F_OK) == 0);
    CHECK(access("/sys/class/vectors", F_OK) != 0 && errno == ENOENT);
    CHECK(access("/sys/class/ve/ve3", F_OK) != 0 && errno == ENOENT);

    char text[8] = "";
    FILE *file = fopen("/sys/class/ve/ve0/model", "re");
    CHECK(file != NULL);
    CHECK(fgets(text, sizeof text, file) == text && strcmp(text, "132\n") == 0);
    CHECK(fclose(file) == 0);

    /* A path that is too long with the folder's name is what it is without. */
    char path[PATH_MAX + 32] = "/sys/class/ve/";
    memset(path + strlen(path), 'x', PATH_MAX - 16);
    CHECK(open(path, O_RDONLY | O_CLOEXEC) == -1 && (errno == ENAMETOOLONG || errno == ENOENT));
}

static void check_device(const struct stat *status, unsigned number)
{
    CHECK(S_ISCHR(status->st_mode));
    CHECK(major(status->st_rdev) == 4095 && minor(status->st_rdev) == number);
}

static void test_devices_are_looked_at(void)
{
    struct stat status;
    memset(&status, 0xff, sizeof status);
    CHECK(stat("/dev/veslot1", &status) == 0);
    check_device(&status, 1);
    CHECK(status.st_size == 0 && status.st_nlink == 1);
    CHECK(lstat("/dev/veslot2", &status) == 0);
    check_device(&status, 2);
    CHECK(fstatat(AT_FDCWD, "/dev/veslot0", &status, 0) == 0);
    check_device(&status, 0);
    struct statx wide;
    CHECK(statx(AT_FDCWD, "/dev/veslot2", 0, STATX_TYPE, &wide) == 0);
    CHECK(S_ISCHR(wide.stx_mode) && wide.stx_rdev_major == 4095 && wide.stx_rdev_minor == 2);
    CHECK(access("/dev/veslot0", R_OK | W_OK) == 0);
    char value[8];
    CHECK(getxattr("/dev/veslot0", "system.posix_acl_access", value, sizeof value) == -1);
    CHECK(errno == ENOTSUP);

    static const char *const none[] = {"/dev/veslot3",   "/dev/veslot",   "/dev/veslot0x",
                                       "/dev/veslot-1",  "/dev/veslot 1", "/dev/veslot4294967296",
                                       "/dev/veslot1024"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        CHECK(stat(none[i], &status) == -1 && errno == ENOENT);
        CHECK(access(none[i], F_OK) == -1 && errno == ENOENT);
        CHECK(statx(AT_FDCWD, none[i], 0, STATX_TYPE, &wide) == -1 && errno == ENOENT);
    }
    CHECK(stat("/dev/null", &status) == 0 && major(status.st_rdev) != 4095);
}

/* Lists a folder; returns how many devices were at its end, in their order. */
static int count_devices(DIR *list)
{
    int count = 0;
    errno = 0;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        char name[32];
        snprintf(name, sizeof name, "veslot%d", count);
        CHECK(count == 0 || strcmp(entry->d_name, name) == 0);
        if (strcmp(entry->d_name, name) == 0) {
            CHECK(entry->d_type == DT_CHR && entry->d_ino != 0);
            count++;
        }
    }
    CHECK(errno == 0);
    CHECK(readdir(list) == NULL);
    return count;
}

static void test_devices_are_listed(void)
{
    DIR *first = opendir("/dev"), *second = opendir("/dev/"), *other = opendir("/sys/class/ve");
    CHECK(first != NULL && second != NULL && other != NULL);
    CHECK(count_devices(second) == DEVICES);
    CHECK(count_devices(other) == 0);
    CHECK(closedir(second) == 0);
    CHECK(closedir(other) == 0);
    CHECK(count_devices(first) == DEVICES);
    CHECK(closedir(first) == 0);
    CHECK(opendir("/sys/class/ve/ve9") == NULL && errno == ENOENT);
}

static void *list_often(void *unused)
{
    for (int i = 0; i < 20; i++) {
        DIR *list = opendir("/dev");
        CHECK(list != NULL);
        CHECK(count_devices(list) == DEVICES);
        CHECK(closedir(list) == 0);
        CHECK(udev_device_new_from_devnum(NULL, 'c', makedev(4095, 1)) != NULL);
    }
    return unused;
}

static void test_threads_list_at_once(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, list_often, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void test_udev_knows_the_devices(void)
{
    for (unsigned i = 0; i < DEVICES; i++) {
        struct udev_device *device = udev_device_new_from_devnum(NULL, 'c', makedev(4095, i));
        char expected[32];
        snprintf(expected, sizeof expected, "/sys/class/ve/ve%u", i);
        CHECK(device != NULL && strcmp(udev_device_get_syspath(device), expected) == 0);
        CHECK(udev_device_ref(device) == device);
        CHECK(udev_device_unref(device) == NULL);
    }
    /* This program has no libudev to ask. */
    CHECK(udev_device_new_from_devnum(NULL, 'c', makedev(4095, DEVICES)) == NULL);
    CHECK(udev_device_new_from_devnum(NULL, 'c', makedev(4095, 1024)) == NULL);
    CHECK(udev_device_new_from_devnum(NULL, 'b', makedev(4095, 0)) == NULL);
    CHECK(udev_device_new_from_devnum(NULL, 'c', makedev(1, 0)) == NULL);
}

static void test_without_the_variable_nothing_is_changed(void)
{
    struct stat status;
    CHECK(setenv("VEO_SOFT_SYSFS", "", 1) == 0);
    CHECK(stat("/dev/veslot0", &status) == -1 && errno == ENOENT);
    CHECK(unsetenv("VEO_SOFT_SYSFS") == 0);
    CHECK(stat("/dev/veslot0", &status) == -1 && errno == ENOENT);
    CHECK(access("/sys/class/ve/ve0", F_OK) == -1);
    DIR *list = opendir("/dev");
    CHECK(list != NULL && count_devices(list) == 0 && closedir(list) == 0);
    CHECK(udev_device_new_from_devnum(NULL, 'c', makedev(4095, 0)) == NULL);
}

int main(void)
{
    test_without_the_variable_nothing_is_changed();
    make_devices();
    test_files_are_those_of_the_folder();
    test_devices_are_looked_at();
    test_devices_are_listed();
    test_udev_knows_the_devices();
    test_threads_list_at_once();
    remove_devices();
    return 0;
}
