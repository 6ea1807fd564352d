#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds accl.h over the vendor's C++ driver:
#     ACCL_ROOT=... [XRT_ROOT=/usr] [COYOTE_ROOT=...] accl_driver.sh LIBRARY
# ACCL_ROOT is a checkout of Xilinx/ACCL, whose driver is compiled in. XRT_ROOT (or XILINX_XRT, which
# XRT's own setup sets) has include/ and lib/ of XRT, ZeroMQ and JsonCpp; more folders may be named
# in CPPFLAGS and LDFLAGS. Without COYOTE_ROOT (Coyote's sw/include) there are no Coyote shells.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
out=${1:?usage: accl_driver.sh LIBRARY}
: "${ACCL_ROOT:?ACCL_ROOT must name a checkout of Xilinx/ACCL}"
xrt=${XRT_ROOT:-${XILINX_XRT:-/usr}}
coyote=${COYOTE_ROOT:-$top/csrc/accl/driver/coyote}
cxx=${CXX:-g++}
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$top/offchip/__init__.py")
[ -e "$ACCL_ROOT/driver/xrt/include/accl.hpp" ] || {
    echo "error: $ACCL_ROOT has no driver/xrt/include/accl.hpp: is it a checkout of Xilinx/ACCL?" >&2
    exit 1
}
[ -e "$xrt/include/xrt/xrt_device.h" ] || [ -e "$xrt/include/xrt/xrt/xrt_device.h" ] || {
    echo "error: no XRT headers in $xrt/include; on Debian: apt-get install libxrt-dev, else set" \
        "XRT_ROOT" >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
zmq=$ACCL_ROOT/test/model/zmq
vendor="-I$ACCL_ROOT/driver/xrt/include -I$zmq -I$coyote -isystem $xrt/include"
vendor="$vendor -isystem $xrt/include/xrt -isystem $xrt/include/jsoncpp"
flags="-std=c++17 -O2 -fPIC -fvisibility=hidden -pthread ${CPPFLAGS:-}"

for source in "$ACCL_ROOT"/driver/xrt/src/*.cpp "$zmq"/zmq_client.cpp "$zmq"/zmq_common.cpp; do
    # One of them uses assert() without its header.
    # shellcheck disable=SC2086
    $cxx $flags -w -include cassert $vendor -c "$source" -o "$work/vendor-$(basename "$source").o"
done
for source in "$top"/csrc/accl/driver/*.cpp; do
    # shellcheck disable=SC2086
    $cxx $flags -Wall -Wextra -DOFFCHIP_VERSION="\"$version\"" -I"$top/include" \
        $(echo "$vendor" | sed "s|-I|-isystem |g") -c "$source" -o "$work/$(basename "$source").o"
done
mkdir -p "$(dirname "$out")"
# shellcheck disable=SC2086
$cxx -shared -pthread "$work"/*.o -o "$out" -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,nodelete \
    -L"$xrt/lib" ${LDFLAGS:-} -lxrt_coreutil -lzmq -ljsoncpp
echo "$out"
