# SPDX-License-Identifier: BSD-3-Clause
"""Names, positions and defaults are those of pyaccl, and its name can be taken."""

from __future__ import annotations

import inspect

import pytest

import accl as package
from accl import accl

# Parameters up to where ours go on, with the defaults that pyaccl has.
SIGNATURES = {
    "__init__": "nranks local_rank ranks=None protocol=None nbufs=16 bufsize=1024 arith_config "
    "sim_mode=False xclbin=None sim_sock=None board_idx=None cclo_idx=0",
    "allocate": "shape dtype physical_address=None prealloc=True",
    "nop": "run_async=False",
    "send": "srcbuf count dst tag=4294967295 comm_id=0 from_fpga=False compress_dtype=None "
    "stream_flags=0 run_async=False",
    "recv": "dstbuf count src tag=4294967295 comm_id=0 to_fpga=False compress_dtype=None "
    "run_async=False",
    "copy": "srcbuf dstbuf count from_fpga=False to_fpga=False run_async=False",
    "combine": "count func val1 val2 result val1_from_fpga=False val2_from_fpga=False "
    "to_fpga=False run_async=False",
    "bcast": "buf count root comm_id=0 from_fpga=False to_fpga=False compress_dtype=None "
    "run_async=False",
    "scatter": "sbuf rbuf count root comm_id=0 from_fpga=False to_fpga=False compress_dtype=None "
    "run_async=False",
    "gather": "sbuf rbuf count root comm_id=0 from_fpga=False to_fpga=False compress_dtype=None "
    "run_async=False",
    "allgather": "sbuf rbuf count comm_id=0 from_fpga=False to_fpga=False compress_dtype=None "
    "run_async=False",
    "reduce": "sbuf rbuf count root func comm_id=0 from_fpga=False to_fpga=False "
    "compress_dtype=None run_async=False",
    "allreduce": "sbuf rbuf count func comm_id=0 from_fpga=False to_fpga=False "
    "compress_dtype=None run_async=False",
    "reduce_scatter": "sbuf rbuf count func comm_id=0 from_fpga=False to_fpga=False "
    "compress_dtype=None run_async=False",
    "barrier": "comm_id=0",
    "configure_communicator": "ranks local_rank",
    "split_communicator": "indices",
    "configure_arithmetic": "configs",
    "setup_rx_buffers": "nbufs bufsize",
    "dump_rx_buffers": "nbufs=None",
    "dump_exchange_memory": "",
    "prepare_call": "scenario addr_0 addr_1 addr_2 compress_dtype=None",
    "call_async": "scenario=255 count=1 comm=0 root_src_dst=0 function=0 tag=4294967295 "
    "compress_dtype=None stream_flags=0 addr_0=None addr_1=None addr_2=None",
    "call_sync": "scenario=255 count=1 comm=0 root_src_dst=0 function=0 tag=4294967295 "
    "compress_dtype=None stream_flags=0 addr_0=None addr_1=None addr_2=None",
    "check_return_value": "label=''",
    "set_timeout": "value run_async=False",
    "init_connection": "comm_id=0",
    "open_port": "comm_id=0",
    "open_con": "comm_id=0",
    "use_udp": "comm_id=0",
    "use_tcp": "comm_id=0",
    "set_max_segment_size": "value=0",
    "get_retcode": "",
    "get_hwid": "",
    "deinit": "",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters_are_those_of_pyaccl(name):
    parameters = list(inspect.signature(getattr(accl, name)).parameters.values())[1:]
    words = SIGNATURES[name].split()
    assert len(parameters) >= len(words)
    for parameter, word in zip(parameters, words, strict=False):
        wanted, _, default = word.partition("=")
        assert parameter.name == wanted
        assert parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        if default:
            assert parameter.default == eval(default)
    # Our own further parameters can be left out.
    for parameter in parameters[len(words) :]:
        variable = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        assert variable or parameter.default is not parameter.empty


def test_modules_have_the_names_of_pyaccl():
    from accl.accl import (
        ACCL_DEFAULT_ARITH_CONFIG,
        CFGRDY_OFFSET,
        EXCHANGE_MEM_ADDRESS_RANGE,
        EXCHANGE_MEM_OFFSET_ADDRESS,
        GLOBAL_COMM,
        IDCODE_OFFSET,
        RETCODE_OFFSET,
        TAG_ANY,
    )
    from accl.buffer import ACCLBuffer
    from accl.constants import CCLOCfgFunc, CCLOp, ErrorCode

    assert (TAG_ANY, GLOBAL_COMM, EXCHANGE_MEM_OFFSET_ADDRESS) == (0xFFFFFFFF, 0, 0)
    assert EXCHANGE_MEM_ADDRESS_RANGE == 0x2000
    assert (RETCODE_OFFSET, IDCODE_OFFSET, CFGRDY_OFFSET) == (0x1FFC, 0x1FF8, 0x1FF4)
    assert CCLOp.all_to_all == 13 and CCLOp.nop == 255
    assert CCLOCfgFunc.set_max_segment_size == 6
    assert ErrorCode.OPEN_CON_NOT_SUCCEEDED == 1 << 17
    assert package.ACCLBuffer is ACCLBuffer
    assert set(ACCL_DEFAULT_ARITH_CONFIG) == {
        ("float16", "float16"),
        ("float32", "float16"),
        ("float32", "float32"),
        ("float64", "float64"),
        ("int32", "int32"),
        ("int64", "int64"),
    }


def test_command_says_which_library(run_python):
    done = run_python("import runpy; runpy.run_module('accl', run_name='__main__')")
    assert done.returncode == 0, done.stderr
    assert "library " in done.stdout and "version " in done.stdout


def test_pyaccl_programs_run_unchanged(run_python, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "from pyaccl import accl, ACCLBuffer, ACCLReduceFunctions, ACCLStreamFlags\n"
        "from pyaccl.accl import ACCLArithConfig, TAG_ANY\n"
        "from pyaccl.constants import CCLOp\n"
        "one = accl(1, 0, sim_mode=True)\n"
        "one.nop()\n"
        "one.deinit()\n"
        "print(sys.argv[1:])\n"
    )
    text = "import runpy; runpy.run_module('accl.as_pyaccl', run_name='__main__')"
    done = run_python(text, str(program), "-x")
    assert (done.stdout, done.returncode) == ("['-x']\n", 0), done.stderr


def test_modules_run_unchanged(tmp_path, run_python):
    (tmp_path / "of_pyaccl.py").write_text(
        "import sys\nfrom pyaccl import accl\nprint(__name__, accl.__name__, sys.argv[1:])\n"
    )
    text = (
        f"import runpy, sys; sys.path.insert(0, {str(tmp_path)!r}); "
        "runpy.run_module('accl.as_pyaccl', run_name='__main__')"
    )
    done = run_python(text, "-m", "of_pyaccl", "-x")
    assert (done.stdout, done.returncode) == ("__main__ accl ['-x']\n", 0), done.stderr


def test_pyaccl_itself_is_not_replaced(run_python):
    done = run_python(
        "import sys, types\n"
        "sys.modules['pyaccl'] = types.ModuleType('pyaccl')\n"
        "import accl.as_pyaccl\n"
    )
    assert "pyaccl is already imported" in done.stderr


@pytest.mark.parametrize("first", ["accl.accl", "accl.overlay", "accl.buffer", "accl"])
def test_accl_of_the_package_is_the_class_whatever_is_imported_first(run_python, first):
    done = run_python(
        f"import {first}\nimport accl as package\nfrom accl import accl\n"
        "import sys\nprint(accl is package.accl is sys.modules['accl.accl'].accl)\n"
        "print(type(accl), package.ACCLBuffer.__module__, package.rxbuffer.__name__)"
    )
    assert done.stdout == "True\n<class 'type'> accl.buffer accl.rxbuffer\n", done.stderr


def test_star_import_and_dir_have_every_public_name(run_python):
    done = run_python(
        "import accl as package\nfrom accl import *\n"
        "print([n for n in package.__all__ if n not in globals() or n not in dir(package)])"
    )
    assert done.stdout == "[]\n", done.stderr


def test_unknown_name_of_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'accl' has no attribute 'nonsense'"):
        package.nonsense  # noqa: B018
