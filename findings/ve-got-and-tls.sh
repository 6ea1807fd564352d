#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Hidden and thread-local variables on the Vector Engine.
#
# Guess: a hidden variable needs no GOT, and -ftls-model=local-exec reads a static thread-local
#   variable at an offset from the thread pointer, as on x86-64 and AArch64.
# Seen: both are ignored. With -fPIC a hidden variable is read through the GOT; with and without
#   -fPIC each thread-local access calls __tls_get_addr. R_VE_TPOFF relocations do not occur.
# Why it matters: a loader of VE objects needs a GOT and __tls_get_addr for simple kernels too, and
#   a thread-local variable costs an inner loop a call per access.
# Versions: ziglang 0.17.1 (clang 22.1.8), pyelftools 0.33. Nothing runs on a VE.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1 pyelftools==0.33
export ZIG_GLOBAL_CACHE_DIR="$work/cache" ZIG_LOCAL_CACHE_DIR="$work/cache"

cat > "$work/access.c" <<'C'
extern __attribute__((visibility("hidden"))) int hidden;
static __thread int local;
int load(void) { return hidden; }
int count(void) { return ++local; }
C
for target in x86_64 aarch64 ve; do
    for mode in PIC no-pic; do
        "$work/venv/bin/python" -m ziglang clang -target $target-unknown-linux-gnu -O2 -f$mode \
            -ftls-model=local-exec -c "$work/access.c" -o "$work/$target-$mode.o"
    done
done
cd "$work" && venv/bin/python - <<'P'
from elftools.elf.elffile import ELFFile

GOT_HI32, TLS_GD_HI32, TPOFF = 9, 25, {28, 29}
for target in ("x86_64", "aarch64", "ve"):
    for mode in ("PIC", "no-pic"):
        elf = ELFFile(open(f"{target}-{mode}.o", "rb"))
        table = elf.get_section_by_name(".rela.text")
        names = elf.get_section(table["sh_link"])
        seen = {
            (names.get_symbol(entry["r_info_sym"]).name, entry["r_info_type"])
            for entry in table.iter_relocations()
        }
        print(target, mode, "(symbol, relocation):", *sorted(seen))
        calls = any(name == "__tls_get_addr" for name, _ in seen)
        assert calls == (target == "ve"), "changed: calls of __tls_get_addr"
        if target == "ve":
            assert ("local", TLS_GD_HI32) in seen, "changed: model of TLS"
            assert not {kind for _, kind in seen} & TPOFF, "changed: TPOFF occurs"
            assert mode != "PIC" or ("hidden", GOT_HI32) in seen, "changed: no GOT"
P
