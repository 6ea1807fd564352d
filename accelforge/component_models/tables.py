# SPDX-License-Identifier: BSD-3-Clause
"""Published numbers, with their sources.

Energies of operations and of SRAM are those of two nodes, 45 and 7 nm, as picojoules. Pairs of them
come from table 2 of Jouppi et al. 2021, whose 45 nm are Horowitz 2014.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "ADCS",
    "AREAS",
    "CELLS",
    "DRAMS",
    "ENERGIES",
    "NODES",
    "SOURCES",
    "SRAM",
    "VOLTS",
    "Adc",
    "Dram",
]

Pair = tuple[float, float]

SOURCES = {
    "chinnery": "Chinnery, Keutzer: Closing the Gap between ASIC & Custom (2002)",
    "han": "Han et al.: Learning both Weights and Connections, NIPS 2015, table 1",
    "ho": "Ho, Mai, Horowitz: The Future of Wires, Proceedings of the IEEE 89 (2001)",
    "horowitz": "Horowitz: Computing's Energy Problem, ISSCC 2014",
    "itrs": "International Technology Roadmap for Semiconductors, 2001 to 2011",
    "jouppi": "Jouppi et al.: Ten Lessons from Three Generations, ISCA 2021, table 2",
    "malladi": "Malladi et al.: Towards Energy-Proportional Datacenter Memory, ISCA 2012",
    "nangate": "NanGate 45 nm Open Cell Library, DFF_X1",
    "oconnor": "O'Connor et al.: Fine-Grained DRAM, MICRO 2017",
    "jedec": "JEDEC's standards, for bandwidths",
}

NODES: Pair = (45e-9, 7e-9)

# Picojoules of an operation on integers, by bits.
ENERGIES: dict[str, dict[int, Pair]] = {
    "add": {8: (0.03, 0.007), 32: (0.1, 0.03)},
    "multiply": {8: (0.2, 0.07), 32: (3.1, 1.48)},
}

# Square micrometres at 45 nm (Horowitz 2014), by bits.
AREAS: dict[str, dict[int, float]] = {
    "add": {8: 36, 32: 137},
    "multiply": {8: 282, 32: 3495},
}

# Picojoules of an access of 64 bits, by bytes.
SRAM: dict[int, Pair] = {8192: (10, 7.5), 32768: (20, 8.5), 1048576: (100, 14)}

# Picojoules of 32 bits of a register file at 45 nm (Han et al.), square micrometres of a flip-flop.
REGISTER_32 = 1.0
FLIP_FLOP = 4.522

# Square micrometres of an SRAM cell of six transistors. The papers have them in their titles, but
# for 45 nm (Mistry, IEDM 2007) and 22 nm (Karl, ISSCC 2012).
CELLS: dict[float, float] = {
    90e-9: 1.0,  # Thompson, IEDM 2002
    65e-9: 0.57,  # Bai, IEDM 2004
    45e-9: 0.346,
    32e-9: 0.171,  # Natarajan, IEDM 2008
    22e-9: 0.092,
    14e-9: 0.0588,  # Natarajan, IEDM 2014
    7e-9: 0.027,  # Wu, IEDM 2016
}

# Supply voltage of high-performance logic (ITRS).
VOLTS: dict[float, float] = {
    180e-9: 1.8,
    130e-9: 1.2,
    90e-9: 1.2,
    65e-9: 1.1,
    45e-9: 1.0,
    7e-9: 0.7,
}

# Amperes that a transistor leaks per metre of its width (ITRS 2011): low standby power for
# memories, low operating power for logic.
LEAKAGE = {"memory": 10e-12 / 1e-6, "logic": 5e-9 / 1e-6}

# Farads of a metre of wire, which nodes hardly change, and seconds of a fan-out-of-4 inverter per
# metre of gate length (Ho, Mai, Horowitz); these per cycle of a synthesized design (Chinnery).
WIRE_CAPACITANCE = 0.2e-12 / 1e-3
FO4 = 500e-12 / 1e-6
FO4_PER_CYCLE = 44


class Dram(NamedTuple):
    """One kind of DRAM: joules of a bit, bits of the bus, bits per second of each of its wires."""

    energy: float
    width: int
    rate: float
    source: str


DRAMS: dict[str, Dram] = {
    "DRAM": Dram(1300e-12 / 64, 64, 3.2e9, "jouppi"),
    "DDR3": Dram(70e-12, 64, 2.133e9, "malladi"),
    "DDR4": Dram(1300e-12 / 64, 64, 3.2e9, "jouppi"),
    "LPDDR2": Dram(40e-12, 64, 0.8e9, "malladi"),
    # No table has LPDDR4: this is the upper end of HBM2, 450 pJ, as for a bus on a board.
    "LPDDR4": Dram(450e-12 / 64, 64, 3.2e9, "jouppi"),
    "GDDR5": Dram(14e-12, 32, 7e9, "oconnor"),
    # The geometric means of 350 to 480 and 250 to 450 pJ.
    "GDDR6": Dram(410e-12 / 64, 32, 14e9, "jouppi"),
    "HBM2": Dram(335e-12 / 64, 1024, 2.4e9, "jouppi"),
}


class Adc(NamedTuple):
    """One published converter: node, bits, power, samples per second, area if it is known."""

    node: float
    bits: int
    power: float
    rate: float
    area: float | None


# Successive approximation, whose papers have power and rate in their titles or abstracts.
ADCS: dict[str, Adc] = {
    "Craninckx, ISSCC 2007": Adc(90e-9, 9, 0.7e-3, 50e6, None),
    "Giannini, ISSCC 2008": Adc(90e-9, 9, 820e-6, 40e6, None),
    "van Elzakker, JSSC 2010": Adc(65e-9, 10, 1.9e-6, 1e6, 0.026e-6),
    "Liu, JSSC 2010": Adc(130e-9, 10, 0.826e-3, 50e6, 0.052e-6),
    "Harpe, JSSC 2011": Adc(90e-9, 8, 26e-6, 10e6, None),
    "Kull, JSSC 2013": Adc(32e-9, 8, 3.1e-3, 1.2e9, 0.0015e-6),
}
