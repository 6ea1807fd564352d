# SPDX-License-Identifier: BSD-3-Clause
"""Host programs find simulated Vector Engines where the driver of real ones shows them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.builds import clean_environment

pytestmark = pytest.mark.nosanitize

# Looks for the engines as VEDA does: a list of /dev, udev, files of numbers.
HOST = r"""
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
struct udev_device *udev_device_new_from_devnum(void *, char, dev_t) __attribute__((weak));
const char *udev_device_get_syspath(struct udev_device *) __attribute__((weak));
struct udev_device *udev_device_unref(struct udev_device *) __attribute__((weak));
int main(int argc, char **argv)
{
    int others = 0;
    DIR *folder = opendir("/dev/"), *other = opendir("/dev");
    errno = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[300], value[32];
        if (strncmp(entry->d_name, "veslot", 6) != 0) {
            others++;
            continue;
        }
        struct stat status;
        snprintf(name, sizeof name, "/dev/%s", entry->d_name);
        if (stat(name, &status) != 0 || !S_ISCHR(status.st_mode))
            return 1;
        struct udev_device *device = udev_device_new_from_devnum(NULL, 'c', status.st_rdev);
        printf("%s %s", entry->d_name, udev_device_get_syspath(device));
        for (int i = 1; i < argc; i++) {
            snprintf(name, sizeof name, "%s/%s", udev_device_get_syspath(device), argv[i]);
            FILE *file = fopen(name, "r");
            if (file == NULL || fscanf(file, "%31s", value) != 1)
                return 2;
            fclose(file);
            printf(" %s", value);
        }
        puts("");
        if (udev_device_unref(device) != NULL)
            return 3;
    }
    if (errno != 0 || closedir(folder) != 0 || closedir(other) != 0)
        return 4;
    struct stat status;
    printf("%d %d %d %d\n", others > 2, stat("/dev/null", &status), stat("/dev/veslot9", &status),
           stat("/sys/class/ve/ve9", &status));
    return 0;
}
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = clean_environment(XDG_DATA_HOME=str(tmp_path / "data"), **variables)
        return subprocess.run(
            [sys.executable, "-P", "-m", "veo.cli.ve_sysfs", *map(str, words)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def host(compile_c: Callable[..., Path]) -> Path:
    return compile_c(HOST, "host", shared=False)


def test_programs_find_the_nodes_that_are_simulated(run: Run, host: Path) -> None:
    names = ["ve_arch_class", "memory_size", "model", "clock_chip", "cores_enable"]
    done = run(host, *names, VEO_SOFT_NODES="2", VEO_SOFT_MEMORY="3G", VEO_SOFT_MODEL="VE20B")
    assert (done.returncode, done.stdout) == (
        0,
        "veslot0 /sys/class/ve/ve0 ve1 3 2 1600 ff\n"
        "veslot1 /sys/class/ve/ve1 ve1 3 2 1600 ff\n"
        "1 0 -1 -1\n",
    ), done.stderr

    done = run(host, *names, VEO_SOFT_ARCH="3", VEO_SOFT_MEMORY="5000M")
    assert done.stdout.splitlines()[0] == "veslot0 /sys/class/ve/ve0 ve3 4 3 1600 ffff"


def test_files_of_a_folder_that_is_named_are_kept(run: Run, host: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ve"
    done = run(host, "clock_chip", VEO_SOFT_SYSFS=str(folder))
    assert done.stdout.startswith("veslot0 /sys/class/ve/ve0 1400\n"), done.stderr
    (folder / "ve0" / "clock_chip").write_text("900\n")
    done = run(host, "clock_chip", VEO_SOFT_SYSFS=str(folder))
    assert done.stdout.startswith("veslot0 /sys/class/ve/ve0 900\n"), done.stderr


def test_files_are_listed_without_errors(run: Run) -> None:
    done = run("ls", "-l", "/sys/class/ve/ve0", "/dev/veslot0")
    assert (done.returncode, done.stderr) == (0, "")
    assert " clock_chip\n" in done.stdout and "4095, 0" in " ".join(done.stdout.split())


def test_programs_end_as_without_it(run: Run) -> None:
    assert run("sh", "-c", "exit 7").returncode == 7
    done = run("/nowhere/program")
    assert (done.returncode, done.stderr) == (
        127,
        "ve-sysfs: error: cannot run /nowhere/program: No such file or directory\n",
    )
    assert run("/").returncode == 126


def test_what_is_not_allowed_is_refused(run: Run, tmp_path: Path) -> None:
    done = run()
    assert (done.returncode, "PROGRAM is missing" in done.stderr) == (2, True)
    for name, value, says in (
        ("NODES", "none", "a whole number from 1 to 1024"),
        ("MODEL", "VE40", "VEO_SOFT_MODEL='VE40' is not allowed"),
        ("MEMORY", "12X", "VEO_SOFT_MEMORY='12X' is not allowed"),
    ):
        done = run("true", **{f"VEO_SOFT_{name}": value})
        assert (done.returncode, says in done.stderr) == (1, True), done.stderr
        assert done.stderr.count("\n") == 1
    (tmp_path / "file").write_text("")
    done = run("true", VEO_SOFT_SYSFS=str(tmp_path / "file"))
    assert (done.returncode, f"cannot write {tmp_path}/file" in done.stderr) == (1, True)
