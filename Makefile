# SPDX-License-Identifier: BSD-3-Clause
#
# make help        this list
# make install     install into .venv, with what compiles DPU programs and starts ranks
# make demo        the same, and run the demonstration
# make test        install into .venv what the tests need too, and run them
# make test-full   the same with full matrices, which takes much longer
# make check       what a change touches, in a minute
#
# make lint        style and types            make format   put the style right
# make sanitize    tests under ASan + UBSan   make tsan     concurrency tests under TSan
# make fuzz        the fuzz targets for a minute each
# make valgrind    C programs under memcheck; make nightly  what is too long for .ci/run
# make docs        the site, with notebooks executed and links checked
# make coverage    lines and branches of csrc that the tests execute, folder by folder
# make accl-driver accl/lib/libaccl_driver.so over the vendor's driver; see docs/accl_driver.md
# make test-bare   tests of what compiles, with the tools hidden that README does not name
# make pythons     make test with each supported Python that is installed, in clones
# make bare-debian the steps of README on a fresh Debian 12; needs root and debootstrap
# make wheel       sdist, wheel, clean environment, tests of what is installed
# make wheels      sdist and a wheel for glibc 2.28 or later into dist, built twice, compared, tried
# make clean       remove everything that was built

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Commands and tests start many interpreters: each would compile all modules from their text.
unexport PYTHONDONTWRITEBYTECODE
# Folders and files with tests, as in: make test TESTS=tests/accl/unit
TESTS  ?= tests

C_FILES  = $(shell find include csrc -name '*.[ch]' -o -name '*.[ch]pp') \
           $(shell find tests examples benchmarks buildtools accelforge offchip -name '*.[ch]')

# What is compiled for the host, with the commands that compile it.
TIDY_FILES = $(shell find csrc -name '*.c' -not -path '*/runtime/*')

.DELETE_ON_ERROR:
.PHONY: all help install build first demo test test-full check lint format sanitize tsan fuzz valgrind \
        coverage nightly accl-driver docs test-bare pythons bare-debian wheel wheels clean

all: test

help:
	@sed -n 's/^# \(make \)/\1/p' Makefile

install: ready
	@echo "offchip is installed. To have its commands on PATH:  . $(VENV)/bin/activate"

# In a fresh clone it is shown in two parts: by `first` below, while the rest is built, and here.
FIRST :=
FRESH := $(if $(wildcard $(VENV)/editable),,first)
demo: FIRST = $(FRESH)
demo: ready
	$(BIN)/python examples/demo.py $(FRESH:first=--part=rest)

test: ready
	$(SHOWN) $(BIN)/pytest $(TESTS) $(PYTEST_ARGS)

test-full: ready
	$(SHOWN) OFFCHIP_FULL=1 $(BIN)/pytest $(TESTS) $(PYTEST_ARGS)

# --- environments -----------------------------------------------------------------------------

# Each thing that may be missing is named before anything is made.
define check_python
	@command -v $(PYTHON) >/dev/null || { \
	  echo "error: $(PYTHON) was not found. Install Python 3.11 or later, or say" \
	       "make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c '' || { echo "error: $(PYTHON) is there but does not run; say" \
	  "make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: $(PYTHON) is older than 3.11; say make PYTHON=/path/to/a/newer/python3" >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "error: $(PYTHON) cannot make virtual environments. On Debian and Ubuntu:" \
	       "apt-get install python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import os, sys, sysconfig as s; \
	  sys.exit(not os.path.exists(os.path.join(s.get_path("include"), "Python.h")))' || { \
	  echo "error: Python.h was not found. On Debian and Ubuntu: apt-get install python3-dev," \
	       "on Fedora: dnf install python3-devel" >&2; \
	  exit 1; }
endef

define check_tools
	$(check_python)
	@for c in $${CC:-gcc} ; do command -v $$c >/dev/null && break; \
	  echo "error: no C compiler ($$c). On Debian and Ubuntu: apt-get install gcc libc6-dev" >&2; \
	  exit 1; done
endef

# Builds say how far they are where others swallow it: on this shell's own output.
SHOWN := OFFCHIP_PROGRESS=/proc/$$$$/fd/1

# uv, where it is installed, takes a tenth of pip's time.
UV := $(shell command -v uv 2>/dev/null)
ifdef UV
MAKE_VENV = $(UV) venv --quiet --seed --clear --python "$$(command -v $(PYTHON))" $(VENV)
PIP       = $(UV) pip install --quiet --python $(BIN)/python
else
MAKE_VENV = $(PYTHON) -m venv --clear $(VENV)
# Modules are compiled when they are imported.
PIP       = $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-compile
endif

# What the demo shows first reads YAML; pandas, which is large, it does without.
$(VENV)/made:
	$(check_tools)
	@echo "making the environment $(VENV)"
	@$(MAKE_VENV)
	@$(PIP) $$($(PYTHON) buildtools/requirements.py; \
	  $(PYTHON) buildtools/requirements.py forge | grep -v pandas)
	@touch $@

# Native products, in the tree.
build: $(VENV)/made $(FIRST)
	@$(SHOWN) $(BIN)/python -m buildtools.graph

# What needs least is built and shown before all else.
first: $(VENV)/made
	@$(SHOWN) $(BIN)/python -m buildtools.graph release first
	@PYTHONPATH=. $(BIN)/python examples/demo.py --part=first

# The compat mode is a plain path entry, which type checkers and Cython can follow. Setuptools would
# rather have a hook, and says so at length.
$(VENV)/editable: $(VENV)/made pyproject.toml setup.py | build
	@PYTHONWARNINGS=ignore $(PIP) --no-build-isolation --no-deps \
	  --config-settings editable_mode=compat -e .
	@touch $@

# What extras need, as in .venv/test.
EXTRAS := runtime test lint docs coverage wheels
$(EXTRAS:%=$(VENV)/%): $(VENV)/made pyproject.toml
	@$(PIP) $$($(PYTHON) buildtools/requirements.py $(subst runtime,toolchain mpi forge plot,$(@F)))
	@touch $@

# Packages that a command needs are fetched while our own code is compiled.
WANTS = runtime
test test-full check sanitize tsan fuzz test-bare valgrind nightly coverage: WANTS = test
check lint: WANTS += lint
coverage: WANTS += coverage
docs: WANTS = docs
wheel: WANTS = wheels
ready:
	@[ -e $(VENV)/editable ] || echo "building offchip, and downloading numpy, ziglang (a C compiler)," \
	  "MPI and matplotlib: one to two minutes"
	@$(MAKE) --no-print-directory --jobs=2 build packages WANTS="$(WANTS)" FIRST="$(FIRST)"
	@$(MAKE) --no-print-directory $(VENV)/editable

# One after the other: two installers in one environment would meet.
packages: $(VENV)/made
	@for name in $(WANTS); do $(MAKE) --no-print-directory $(VENV)/$$name || exit 1; done
.PHONY: ready packages

# --- checks -----------------------------------------------------------------------------------

# BASE=... is what the change is compared with.
check: ready
	$(SHOWN) $(BIN)/python -m buildtools.check $(BASE)

lint: ready
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=line style types

style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(abspath $(BIN)):$$PATH" cython-lint offchip veo dpu accl accelforge
	@echo clang-format --dry-run -Werror ...
	@$(BIN)/clang-format --dry-run -Werror $(C_FILES)
	@echo clang-tidy --quiet ...
	@echo $(TIDY_FILES) | xargs -n 20 -P $$(nproc) $(BIN)/clang-tidy --quiet -p build/release 2>/dev/null
	@# What `make check` builds: without sanitizers a compiler warns of other things.
	$(BIN)/python -m buildtools.graph plain programs

types:
	$(BIN)/mypy
	$(BIN)/python -P -m mypy.stubtest --mypy-config-file pyproject.toml \
	  --allowlist buildtools/stubtest-allow.txt offchip veo dpu accl \
	  accelforge
.PHONY: style types

format: $(VENV)/lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@echo clang-format -i ...
	@$(BIN)/clang-format -i $(C_FILES)

sanitize: ready
	sh buildtools/sanitize.sh

# C programs that the tests build: units, and cases of the C APIs.
C_TESTS := $(wildcard tests/*/unit) tests/support/test_c_units.py \
           $(wildcard tests/*/abi/test_c_api.py)

tsan: ready
	$(BIN)/pytest $(C_TESTS) -k tsan

fuzz: ready
	OFFCHIP_FUZZ_SECONDS=$${OFFCHIP_FUZZ_SECONDS:-60} $(BIN)/pytest \
	  $(wildcard tests/*/fuzz) tests/support/test_fuzzing.py $(PYTEST_ARGS)

test-bare: ready
	$(BIN)/python buildtools/hide_tools.py build/path $(BIN)/pytest -k "not tsan" tests/examples \
	  tests/veo/package/test_vebuild.py tests/veo/package/test_static_worker.py \
	  tests/veo/abi/test_c_api.py tests/dpu/abi/test_c_api.py tests/dpu/toolchain/test_commands.py

# The workers of libveo are programs of their own, which are not looked into. Cases that fork are left
# out: a child of libveo was still running after 585 s under valgrind (without --fair-sched; whether it
# hangs is not known).
valgrind: ready
	@command -v valgrind >/dev/null || { echo "error: valgrind was not found. On Debian and" \
	  "Ubuntu: apt-get install valgrind" >&2; exit 1; }
	OFFCHIP_VALGRIND=1 $(BIN)/pytest $(C_TESTS) -k "not tsan and not forked" -o timeout=1500 $(PYTEST_ARGS)

nightly: ready
	sh buildtools/nightly.sh $(PYTHON)

# What the notebooks start is found on PATH, as in an activated environment.
docs: ready
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html
	@echo "the site is in docs/_build/html/index.html"

coverage: ready
	sh buildtools/coverage.sh

pythons:
	sh buildtools/pythons.sh

bare-debian:
	sh buildtools/bare_debian.sh

accl-driver:
	sh buildtools/accl_driver.sh accl/lib/libaccl_driver.so

wheel: ready
	sh buildtools/wheel.sh

# zig compiles, so that no other compiler is needed. MACHINE=aarch64 is for that processor.
wheels:
	$(check_python)
	sh buildtools/manylinux.sh "$(PYTHON)" $(MACHINE)

clean:
	rm -rf build dist docs/_build *.egg-info .venv .venv-sanitize .venv-coverage .venv-wheels .mypy_cache .ruff_cache .pytest_cache
	rm -rf veo/lib veo/bin veo/include dpu/lib dpu/include dpu/runtime accl/lib accl/include
	rm -rf offchip/bin .hypothesis
	find offchip veo dpu accl accelforge tests benchmarks examples buildtools -name '*.so' -exec rm -f {} + \
	  -o -name __pycache__ -type d -prune -exec rm -rf {} +
