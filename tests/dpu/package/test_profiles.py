# SPDX-License-Identifier: BSD-3-Clause
"""The constants and the switches of the machine, by their keys in a profile."""

from __future__ import annotations

import io
import re

import pytest

from dpu import DpuError
from dpu.asm import assemble

pytestmark = [
    pytest.mark.usefixtures("threads_of_the_library"),
    pytest.mark.filterwarnings("ignore:the program has variables:RuntimeWarning"),
]

# Two tasklets; each reads and writes 1024 bytes once. `from` and `to` are offsets of addresses.
SOURCE = """
    .globl NR_TASKLETS
    .set NR_TASKLETS, 2
    .text
    .globl main
main:
    lw r0, zero, near
    lw r1, zero, far
    ldma r0, r1, 127
    sdma r0, r1, 127
    jump r23
    .section .dpu_host
    .globl near
    .type near, @object
    .size near, 4
near: .word block
    .globl far
    .type far, @object
    .size far, 4
far: .word 0
    .data
    .align 8
block: .space 1032
"""
# Built for a chip of the usual sizes.
PROGRAM = assemble(io.StringIO(SOURCE))
PLAIN = "softThreads=1"


@pytest.fixture
def run(make_set):
    """Run the program with a profile; the report of its DPU."""

    def run(profile, near=0, far=0):
        one = make_set(nr_dpus=1, profile=profile, binary=PROGRAM)
        one.near = (one.near.uint32() + near).to_bytes(4, "little")
        one.far = far.to_bytes(4, "little")
        one.exec()
        return one.report[0]

    return run


@pytest.mark.parametrize(
    ("key", "value", "more"),
    [
        ("softPipelineCycles", 11, 0),
        ("softDmaReadLatency", 73, 0),
        ("softDmaWriteLatency", 57, 0),
        ("softDmaLatencyPerKiB", 512, 0),
        ("softDmaSetup", 34, 0),
        ("softDmaEnginePerKiB", 521, 0),
        # Cycles of whole rounds, of 11 each.
        ("softDmaReadLatency", 73 + 5500, 5500),
        ("softDmaWriteLatency", 57 + 1100, 1100),
        ("softDmaLatencyPerKiB", 512 + 1100, 2200),
        # The first of two at a time does not wait for the engine, the second does.
        ("softDmaSetup", 34 + 11000, 3 * 11000),
        ("softDmaEnginePerKiB", 521 + 11000, 3 * 11000),
    ],
)
def test_constants_have_keys(run, key, value, more):
    # Refreshes add time to long transfers.
    steady = "softDramRefreshCycles=0"
    plain = run(steady)
    assert run(f"{steady},{key}={value}").cycles == pytest.approx(
        plain.cycles + more, abs=700 if more else 0
    )


def test_dma_engines_have_a_key(run):
    # Two tasklets transfer twice each, and wait for engines that are busy for long.
    for engines, waits in (1, 3), (2, 1), (4, 0):
        chip = f"softDramRefreshCycles=0,softDmaEngines={engines}"
        plain, slow = run(chip), run(f"{chip},softDmaSetup={34 + 11000}")
        assert slow.cycles == pytest.approx(plain.cycles + 11000 * waits, abs=700)


def test_refreshes_and_pages_have_keys(run):
    plain = run("softDmaReadLatency=20000")
    assert run("softDmaReadLatency=20000,softDramRefreshCycles=0").cycles < plain.cycles - 300
    assert run("softDmaReadLatency=20000,softDramRefreshInterval=800").cycles > 1.5 * plain.cycles
    assert run(f"{PLAIN},softDmaPageCrossing=5000").cycles >= run(PLAIN).cycles
    with pytest.raises(DpuError) as caught:
        run("softDramRefreshInterval=364")
    assert "softDramRefreshCycles=364, but it must be less" in caught.value.detail


def test_banks_with_upmems_values_give_the_fitted_times(run):
    for more in "", ",softDramOpenRows=1", ",softDramOpenRows=1,softDramOpenRowFirst=1":
        assert run(f"softDramBanks=1{more}").cycles == pytest.approx(run(PLAIN).cycles, rel=0.02)


@pytest.mark.parametrize(
    ("keys", "more"),
    [
        # Of four transfers one by one; 1,200 clocks are 350 cycles.
        ("softDramRcdClocks=1216,softDramRasClocks=1239", 4 * 350),
        ("softDramClClocks=1216", 4 * 350),
        ("softDramCcdClocks=26", 4 * 128 * 3.5),
        ("softDramSetupCycles=1124", 4 * 1100),
        # A tasklet that sees its data later keeps nobody else from transferring: of the four, one
        # of 556 cycles is not waited for.
        ("softDramReadReturnCycles=5539", 5539 - 556),
        ("softDramWriteReturnCycles=1123", 1100),
        # Three transfers wait until the row of the one before is closed; setup and data do not.
        ("softDramRpClocks=6000", 3 * (1750 - 24 - 16 * 350 / 1200)),
        ("softDramRasClocks=12000", 3 * (3500 + 16 * 350 / 1200 - 24 - 1824 * 350 / 1200)),
    ],
)
def test_times_of_banks_have_keys(run, keys, more):
    steady = "softDramRefreshCycles=0,softDramBanks=1"
    assert run(f"{steady},{keys}").cycles == pytest.approx(run(steady).cycles + more, abs=50)


def test_banks_have_a_clock_and_rows_of_their_own(run):
    steady = "softDramRefreshCycles=0,softDramBanks=1"
    plain = run(steady).cycles
    # 1,824 clocks of each of four transfers; the same DRAM beside a DPU with another clock.
    for keys, factor in ("softDramMHz=2400", 0.5), ("softDramMHz=600", 2), ("fckFrequency=700", 2):
        more = 4 * (factor - 1) * 1824 * 350 / 1200
        assert run(f"{steady},{keys}").cycles == pytest.approx(plain + more, abs=60)
    # 15 rows more of each transfer: closed and opened on few banks; on 16, they are still open.
    rows = f"{steady},softDramRowBytes=64,softDramOpenRows=1,softDramRasClocks=16"
    for banks, clocks in (1, 4 * 16 * 32), (2, 4 * 16 * 32), (16, 16 * 16):
        found = run(f"{rows},softDramBanks={banks}").cycles
        assert found == pytest.approx(plain + (clocks - 4 * 16) * 350 / 1200, abs=30)


@pytest.mark.parametrize("more", ["", ",softDramOpenRows=1", "reordered"])
def test_all_engines_give_the_times_of_banks(run, more):
    more = more.replace("reordered", ",softDramOpenRows=1,softDramOpenRowFirst=1")
    chip = f"softDramBanks=1,softDramRasClocks=300{more}"
    found = [run(f"{chip},softEngine={engine}") for engine in ("turns", "drift", "translated")]
    assert len({one.cycles for one in found}) == 1


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("softDramRowBytes=1000", "softDramRowBytes=1000, but it must be a power of two"),
        ("softDramRasClocks=15", "softDramRasClocks=15, but it must be at least softDramRcdClocks"),
        ("softDramOpenRowFirst=1", "that needs softDramOpenRows=1"),
        (
            "softDramOpenRowFirst=1,softDramOpenRows=1,softDmaEngines=2",
            "softDmaEngines=2, but only transfers that wait for the same engine",
        ),
        (
            "softDramRefreshInterval=400,softDramRcdClocks=200,softDramRasClocks=200",
            "no row can be opened (200 clocks) and accessed (14) in the cycles between",
        ),
    ],
)
def test_banks_that_contradict_themselves_are_refused(make_set, keys, why):
    with pytest.raises(DpuError) as caught:
        make_set(nr_dpus=1, profile=f"softDramBanks=1,{keys}")
    assert why in str(caught.value.detail)


@pytest.mark.parametrize("banks", ["", ",softDramBanks=1"])
@pytest.mark.parametrize("engine", ["turns", "drift", "translated"])
def test_translation_of_mram_has_keys(run, engine, banks):
    steady = f"softDramRefreshCycles=0,softEngine={engine}{banks}"
    plain = run(steady).cycles
    # Four transfers of the same 1 KiB, of one page, of 16, or of 16 that are forgotten each time.
    for keys, walks in (
        ("softTlbEntries=1", 1),
        ("softTlbEntries=16,softTlbPageBytes=64", 16),
        ("softTlbEntries=15,softTlbPageBytes=64", 4 * 16),
    ):
        found = run(f"{steady},{keys},softTlbWalkCycles=1100").cycles
        assert found == pytest.approx(plain + 1100 * walks, abs=60)
        assert run(f"{steady},{keys}").cycles == pytest.approx(plain + 38 * walks, abs=60)
    with pytest.raises(DpuError) as caught:
        run("softTlbEntries=4,softTlbPageBytes=100")
    assert "softTlbPageBytes=100, but it must be a power of two" in caught.value.detail


def test_the_pipeline_has_a_key(run):
    plain, slow = run(PLAIN), run("softPipelineCycles=111")
    assert slow.instructions == plain.instructions
    assert slow.cycles > plain.cycles + 100 * (max(plain.thread_instructions) - 3)


def test_the_width_of_the_pipeline_has_a_key_in_all_engines(make_set):
    # Each of 24 tasklets counts; 24 instructions take 24 cycles, or 12, or the depth of 11.
    source = """
    .text
    .globl main
main:
    move r0, 10000
again:
    add r0, r0, -1, nz, again
    jump r23
"""
    plain = None
    for width, share in (1, 1.0), (2, 12 / 24), (4, 11 / 24):
        found = set()
        for engine in "turns", "drift", "translated":
            profile = f"softPipelineWidth={width},softEngine={engine}"
            text = f".globl NR_TASKLETS\n.set NR_TASKLETS, 24\n{source}"
            one = make_set(nr_dpus=1, profile=profile, asm_source=io.StringIO(text))
            one.exec()
            found.add((one.report[0].cycles, one.report[0].instructions))
        assert len(found) == 1
        cycles, instructions = found.pop()
        plain = plain or (cycles, instructions)
        assert instructions == plain[1]
        assert cycles == pytest.approx(plain[0] * share, rel=0.01)


@pytest.mark.parametrize("tasklets", [2, 24])
def test_forwarding_and_the_hazard_of_registers_have_keys(make_set, tasklets):
    source = f"""
.globl NR_TASKLETS
.set NR_TASKLETS, {tasklets}
main:
    move r0, 1000
again:
    lsl r2, r4, 1
    lsl r3, r6, 1
    add r8, r2, r4
    add r0, r0, -1, nz, again
    stop
"""
    cycles = {}
    for chip in "", "softPipelineForwarding=4", "softPipelineForwarding=11", "softPipelineHazard=8":
        found = set()
        for engine in "turns", "drift", "translated":
            profile = f"softEngine={engine}{',' if chip else ''}{chip}"
            one = make_set(nr_dpus=1, profile=profile, asm_source=io.StringIO(source))
            one.exec()
            found.add(one.report[0].cycles)
        [cycles[chip]] = found
    issue = max(tasklets, 11)
    assert cycles[""] == pytest.approx(4000 * issue, rel=0.01)
    assert cycles["softPipelineForwarding=11"] <= cycles[""]
    # The last two of the loop wait for what comes before them, or for the jump.
    forwarded = 2 * tasklets + 2 * max(tasklets, 4)
    assert cycles["softPipelineForwarding=4"] == pytest.approx(1000 * forwarded, rel=0.01)
    # One of the four reads two registers with even numbers; where few tasklets issue, and not the
    # same one at once, cycles hide it that are empty anyway.
    hazard = 4 * issue + (0 if tasklets == 2 else 8 * tasklets)
    assert cycles["softPipelineHazard=8"] == pytest.approx(1000 * hazard, rel=0.01)


def test_forwarding_later_than_without_is_refused(make_set):
    with pytest.raises(DpuError) as caught:
        make_set(nr_dpus=1, profile="softPipelineCycles=5,softPipelineForwarding=6")
    assert "softPipelineForwarding=6, but it must be at most softPipelineCycles (5)" in str(
        caught.value.detail
    )


@pytest.mark.parametrize("engine", ["turns", "drift", "translated"])
def test_sizes_of_the_chip_have_keys(run, make_set, engine):
    fits = f"softTasklets=2,softIramInstructions=64,softWramKiB=2,softEngine={engine}"
    assert run(fits).cycles == run(f"softEngine={engine}").cycles

    for key, why in (
        ("softTasklets=1", "the program has 2 tasklets, a v1A chip runs 1"),
        ("softIramInstructions=3", r"instructions, and IRAM of this chip 3"),
        ("softWramKiB=1", "of the program take .* bytes, and WRAM of this chip has 1024"),
    ):
        with pytest.raises(DpuError) as caught:
            run(f"{key},softEngine={engine}")
        assert re.search(why, caught.value.detail)

    # An address behind the smaller WRAM.
    with pytest.raises(DpuError, match="^dpu is in fault") as caught:
        run(f"softWramKiB=2,softEngine={engine}", near=2048)
    text = "1024 bytes whose place in WRAM or IRAM is out of bounds, at 0x808"
    assert text in caught.value.detail


def test_sizes_that_no_chip_has_are_refused(make_set):
    for key, most in ("softTasklets", 64), ("softIramInstructions", 4096), ("softWramKiB", 256):
        make_set(nr_dpus=1, profile=f"chipId=9,{key}={most}")
        with pytest.raises(DpuError, match="^invalid profile") as caught:
            make_set(nr_dpus=1, profile=f"{key}={most + 1}")
        assert f"{key} must be a number from 0 to {most}" in caught.value.detail


@pytest.mark.parametrize("switch", ["softDmaAlignmentFaults=true", "softSwitches=64"])
@pytest.mark.parametrize(("near", "far"), [(4, 0), (0, 4), (0, 12)])
def test_misaligned_dma_is_a_fault_if_asked_for(run, switch, near, far):
    assert run(PLAIN, near, far).dma_read_bytes == 2048
    assert run(switch).dma_read_bytes == 2048
    with pytest.raises(DpuError, match="^dpu is in fault") as caught:
        run(switch, near, far)
    assert "which is not a multiple of 8" in caught.value.detail
    if far:
        assert f"at {far:#x}, which" in caught.value.detail


def test_dma_out_of_bounds_says_so_whatever_its_alignment(run):
    for switch in ("softDmaAlignmentFaults=false", "softDmaAlignmentFaults=true"):
        with pytest.raises(DpuError, match="^dpu is in fault") as caught:
            run(switch, far=(64 << 20) + 4)
        assert "out of bounds, at 0x4000004" in caught.value.detail


def test_switches_are_added_and_taken_away(run):
    on = "softSwitches=0,softDmaAlignmentFaults=1,softUndecodableFaults=true"
    with pytest.raises(DpuError, match="^dpu is in fault"):
        run(on, near=4)
    run(on + ",softDmaAlignmentFaults=0", near=4)


def test_unknown_keys_of_ours_are_refused_with_a_list(make_set):
    with pytest.raises(DpuError, match="^invalid profile") as caught:
        make_set(nr_dpus=1, profile="softDmaLatency=3")
    assert caught.value.detail.startswith("the profile has no key 'softDmaLatency'; there are soft")
    for key in ("softNrRanks", "softDmaReadLatency", "softClsCountsSign", "softMaxCycles"):
        assert key in caught.value.detail
    # Others may be of a release that this library does not know.
    make_set(nr_dpus=1, profile="newKey=3")


def test_a_key_that_is_unknown_is_told_once(run_python):
    program = "import dpu\nfor _ in range(2): dpu.DpuSet(nr_dpus=1, library='soft').free()\n"
    done = run_python(
        program, env={"UPMEM_PROFILE": "fckFreqency=700,nrTasklets=32,mramSize=128,iramSize=8192"}
    )
    assert done.returncode == 0, done.stderr
    for text in (
        "UPMEM_PROFILE says fckFreqency=700, but no property has that name: it changes nothing",
        "UPMEM_PROFILE says nrTasklets=32, but no property has that name: it changes nothing",
        "UPMEM_PROFILE says mramSize=128, but softMramMiB sets the size: it changes nothing",
        "UPMEM_PROFILE says iramSize=8192, but softIramInstructions sets the size: it changes "
        "nothing",
    ):
        assert done.stderr.count(text) == 1, done.stderr
    known = run_python(program, env={"UPMEM_PROFILE": "nrThreadsPerRank=2,fckFrequency=700"})
    assert known.returncode == 0 and known.stderr == ""


def test_keys_of_time_that_change_nothing_are_named(run_python):
    program = "import dpu\nfor _ in range(2): dpu.DpuSet(nr_dpus=1, library='soft').free()\n"
    keys = "softDmaEngines=2,softPipelineWidth=2,softDmaSetup=34,softMaxCycles=9"
    timed = run_python(program, env={"UPMEM_PROFILE": keys})
    assert timed.returncode == 0 and timed.stderr == ""
    done = run_python(program, env={"UPMEM_PROFILE": f"backend=simulator,{keys}"})
    assert done.returncode == 0, done.stderr
    for text in ("softDmaEngines=2", "softPipelineWidth=2"):
        assert done.stderr.count(f"the profile says {text}, but with backend=simulator") == 1
    assert done.stderr.count("it changes nothing") == 2


def test_keys_of_the_other_model_of_dram_are_named(run_python):
    program = "import dpu\nfor _ in range(2): dpu.DpuSet(nr_dpus=1, library='soft').free()\n"
    keys = "softDmaSetup=35,softDramRcdClocks=17,softDramRefreshCycles=300,softDmaEngines=2"
    for banks, named in (
        ("softDramBanks=0", "softDramRcdClocks=17"),
        ("softDramBanks=1", "softDma"),
        ("softDramRcdClocks=16,softTlbWalkCycles=3", "softTlbWalkCycles=3"),
    ):
        keys = "softDmaEngines=2" if "softTlb" in banks else keys

        done = run_python(program, env={"UPMEM_PROFILE": f"{banks},{keys}"})
        assert done.returncode == 0, done.stderr
        assert done.stderr.count(f"the profile says {named}") == 1, done.stderr
        assert done.stderr.count("it changes nothing") == 1


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("UPMEM_PROFILE", "softWramMiB=1", "UPMEM_PROFILE has no key 'softWramMiB'; there are "),
        ("UPMEM_PROFILE", "chipId=v1", "chipId=v1, but chipId must be a number from 0 to "),
        ("DPU_SOFT_RANKS", "two", "says DPU_SOFT_RANKS=two, but DPU_SOFT_RANKS must be a number "),
        ("DPU_SOFT_THREADS", "-1", "DPU_SOFT_THREADS=-1, but DPU_SOFT_THREADS must be a number "),
        ("DPU_SOFT_REPORT", "/nowhere/report", "/nowhere/report cannot be written: No such file"),
        ("DPU_SOFT_REPORT", "/", "DPU_SOFT_REPORT=/ cannot be used: the file / cannot be written"),
        ("DPU_PROFILE", "file=/nowhere/all", "the file /nowhere/all cannot be written: No such"),
        ("DPU_CHECK", "race,log=/nowhere/all", "the file /nowhere/all cannot be written: No such"),
        ("DPU_SOFT_CC", "no-such-compiler -O1", "DPU_SOFT_CC=no-such-compiler -O1 cannot be used"),
        ("DPU_DEBUG", "x" * 300, "it is longer than the name of a socket can be"),
    ],
)
def test_a_setting_that_cannot_be_used_is_an_error_that_names_it(run_python, name, value, why):
    program = "import dpu\ndpu.DpuSet(nr_dpus=1, library='soft').free()\nprint('done')\n"
    done = run_python(program, env={name: value})
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "DpuError: " in done.stderr and why in done.stderr.split("DpuError: ")[1], done.stderr


@pytest.mark.nosanitize  # the sanitizer takes more address space than that
def test_an_allocation_names_the_limit_that_it_exceeds(run_python):
    program = """
import resource
import dpu
dpu.DpuSet(nr_dpus=1, library='soft').free()
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
dpu.DpuSet(nr_dpus=64, library='soft')
"""
    done = run_python(program)
    assert (
        done.returncode == 1
        and "ulimit -v is 1048576 KiB, and the memory of a DPU has 65536" in (done.stderr)
    )


def test_a_name_that_begins_as_ours_and_is_none_is_told(run_python):
    done = run_python("import dpu\ndpu.use_library('soft')\n", env={"DPU_SOFT_RANK": "2"})
    assert done.returncode == 0
    assert done.stderr.endswith(
        ": DPU_SOFT_RANK changes nothing: the variables that begin so are DPU_SOFT_RANKS"
        " DPU_SOFT_THREADS DPU_SOFT_REPORT DPU_SOFT_QUIET DPU_SOFT_CC"
        " DPU_SOFT_SERVERS DPU_SOFT_SERVER_SECONDS\n"
    )
