# SPDX-License-Identifier: BSD-3-Clause
"""The classes of components: attributes to area, leakage, energy and throughput.

Names and attributes are those of hwcomponents, so that the same file gets costs from either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from accelforge.component_models import nodes, tables

__all__ = ["CLASSES", "ComponentModel", "make_model"]

# Share of an SRAM that is cells, and farads of a square metre of a capacitor in the metal: typical.
_CELLS_OF_SRAM = 0.7
_CAPACITOR = 2e-15 / 1e-12
_UNIT_CAPACITANCE = 1e-15
_MEMORY = ("read", "write")
_MOST_BITS = 32


@dataclass(frozen=True)
class ComponentModel:
    """Costs of one component.

    Attributes
    ----------
    name : str
        Its class.
    source : str
        The publications that its energy comes from.
    accuracy : str
        How far it can be off.
    actions : tuple of str
        What it can do.
    energy : float
        In J for each action, or for each bit of it if `width` is not 0.
    throughput : float
        Actions per second, of `width` bits if that is not 0.
    width : float
        Bits that are moved at once; 0 for what computes.
    area, leak_power : float
        Of one instance, in m^2 and W.
    tech_node : float or None
        In m; None if it does not matter.
    """

    name: str
    source: str
    accuracy: str
    actions: tuple[str, ...]
    energy: float
    throughput: float
    width: float = 0
    area: float = 0.0
    leak_power: float = 0.0
    tech_node: float | None = None

    @property
    def origin(self) -> str:
        """The mark of its numbers in results."""
        return f"offchip: {self.name}"

    @property
    def scaling(self) -> str:
        """A sentence on numbers for a node that the tables do not have; empty if they do."""
        if self.tech_node is None or not nodes.is_scaled(self.tech_node):
            return ""
        high, low = tables.NODES
        nearest = high if self.tech_node > high else low
        return (
            f"the tables of {self.origin} have nodes of {low * 1e9:.0f} to {high * 1e9:.0f} nm. "
            f"The numbers for {self.tech_node * 1e9:.17g} nm are scaled from {nearest * 1e9:.0f} "
            f"nm: a sweep over nodes bends there"
        )

    def try_call_arbitrary_action(
        self, action_name: str, _return_estimation_object: bool = True, **attributes: Any
    ) -> Any:
        """Return energy and throughput of an action, as a model of hwcomponents does.

        Parameters
        ----------
        action_name : str
            The action.
        **attributes : object
            Of component and action; ``bits_per_action`` counts where bits are moved.
        """
        if action_name not in self.actions:
            raise ValueError(
                f"{self.name} has no action {action_name}; it has {', '.join(self.actions)}"
            )
        energy, throughput = self.energy, self.throughput
        if self.width:
            bits = attributes.get("bits_per_action") or 1
            energy, throughput = energy * bits, throughput * self.width / bits
        message = f"{self.origin}, from {self.source}; accuracy: {self.accuracy}"
        return SimpleNamespace(
            value=SimpleNamespace(energy=energy, throughput=throughput), messages=[message]
        )


class _Attributes:
    """Attributes of a component, which are checked where they are read."""

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        self.name = name
        self.values = values

    def find(self, *names: str) -> float | None:
        """Return the first one that is given."""
        for name in names:
            value = self.values.get(name)
            if value is None:
                continue
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not (number and 0 < value < math.inf):
                raise ValueError(f"{name} must be a number that is more than 0, not {value!r}")
            return float(value)
        return None

    def need(self, *names: str) -> float:
        """Return the first one that is given, which there must be."""
        found = self.find(*names)
        if found is None:
            raise ValueError(
                f"{self.name} needs {' or '.join(names)}: give it as one of the "
                f"extra_attributes_for_component_model"
            )
        return found

    def node(self) -> float:
        """Return the node, in m."""
        found = self.need("tech_node")
        if found > 1e-6:
            raise ValueError(f"tech_node is in m, for example 65e-9 for 65 nm, not {found:g}")
        return found

    def codes(self) -> float:
        """Return how many codes a converter has."""
        bits = self.need("n_bits", "resolution")
        if bits > _MOST_BITS:
            raise ValueError(f"a converter has at most {_MOST_BITS} bits, not {bits:g}")
        return float(2**bits)

    def bits(self) -> float:
        """Return the size of a memory, in bits."""
        width, depth = self.find("width"), self.find("depth")
        if width is not None and depth is not None:
            return width * depth
        return self.need("size")


def _of_width(table: Mapping[int, Any], width: float, node: float) -> float:
    """Return the joules of an operation of some bits."""
    pair = [nodes.along({n: row[k] for n, row in table.items()}, width) for k in (0, 1)]
    return nodes.at_node((pair[0], pair[1]), node) * 1e-12


def _area(table: Mapping[int, float], width: float, node: float) -> float:
    """Return the area of what does an operation, in m^2; it shrinks as SRAM cells do."""
    return nodes.along(table, width) * 1e-12 * nodes.cell_area(node) / nodes.cell_area(45e-9)


def _sram(given: _Attributes) -> ComponentModel:
    node, bits = given.node(), given.bits()
    energies = [
        nodes.along({size: row[k] for size, row in tables.SRAM.items()}, bits / 8, below=0.5)
        for k in (0, 1)
    ]
    accesses = 1.0
    if given.name == "SRAM":
        accesses = (given.find("n_rw_ports") or 1) * (given.find("n_banks") or 1)
    area = bits * nodes.cell_area(node) / _CELLS_OF_SRAM
    return ComponentModel(
        given.name,
        tables.SOURCES["jouppi"],
        "factor 4 beside CACTI, and 18 at 16 nm and below, as the tables are of whole accesses of "
        "64 bits to caches; below 8 KiB energy goes with the square root of the size",
        _MEMORY,
        energy=nodes.at_node((energies[0], energies[1]), node) * 1e-12 / 64,
        throughput=accesses * nodes.clock(node),
        # Without a width, the array is square.
        width=given.find("width") or math.sqrt(bits),
        area=area,
        leak_power=nodes.leakage("memory", node, area),
        tech_node=node,
    )


def _register(given: _Attributes) -> ComponentModel:
    node, bits = given.node(), given.need("size", "width")
    at_45 = tables.REGISTER_32
    shrinks = tables.ENERGIES["add"][32]
    pair = (at_45, at_45 * shrinks[1] / shrinks[0])
    area = bits * tables.FLIP_FLOP * 1e-12 * nodes.cell_area(node) / nodes.cell_area(45e-9)
    return ComponentModel(
        given.name,
        f"{tables.SOURCES['han']}; shrinks as an adder",
        "factor 10 beside Aladdin's single registers, as the table is of a register file",
        _MEMORY,
        energy=nodes.at_node(pair, node) * 1e-12 / 32,
        throughput=nodes.clock(node),
        width=given.find("width") or bits,
        area=area,
        leak_power=nodes.leakage("logic", node, area),
        tech_node=node,
    )


def _dram(given: _Attributes) -> ComponentModel:
    kind = tables.DRAMS[given.name]
    return ComponentModel(
        given.name,
        tables.SOURCES[kind.source],
        "factor 2; area and leakage, which are not on the chip, are 0",
        _MEMORY,
        energy=kind.energy,
        throughput=kind.rate,
        width=given.find("width") or kind.width,
    )


def _arithmetic(
    given: _Attributes, actions: tuple[str, ...], widths: Mapping[str, float]
) -> ComponentModel:
    node = given.node()
    area = sum(_area(tables.AREAS[what], width, node) for what, width in widths.items())
    return ComponentModel(
        given.name,
        tables.SOURCES["jouppi"],
        "factor 5 beside Aladdin, whose multipliers are faster and larger",
        (*actions, "read"),
        energy=sum(_of_width(tables.ENERGIES[what], width, node) for what, width in widths.items()),
        throughput=nodes.clock(node),
        area=area,
        leak_power=nodes.leakage("logic", node, area),
        tech_node=node,
    )


def _adder(given: _Attributes) -> ComponentModel:
    return _arithmetic(given, ("add", "compute"), {"add": given.need("width", "n_bits")})


def _multiplier(given: _Attributes) -> ComponentModel:
    width = given.find("width", "n_bits")
    if width is None:
        width = math.sqrt(given.need("width_a") * given.need("width_b"))
    return _arithmetic(given, ("multiply", "compute"), {"multiply": width})


def _mac(given: _Attributes) -> ComponentModel:
    widths = {"multiply": given.need("multiplier_width"), "add": given.need("adder_width")}
    return _arithmetic(given, ("compute", "mac"), widths)


def _wire(given: _Attributes) -> ComponentModel:
    node = given.node()
    voltage = given.find("voltage", "supply_voltage") or nodes.volts(node)
    capacitance = given.need("length") * (
        given.find("capacitance_per_m") or tables.WIRE_CAPACITANCE
    )
    return ComponentModel(
        given.name,
        f"{tables.SOURCES['ho']}; half of C V^2 for each bit, whether it changes or not",
        "factor 2; no repeaters, which have no area and no leakage here",
        ("switch", "transfer", *_MEMORY),
        energy=capacitance * voltage**2 / 2,
        throughput=nodes.clock(node),
        width=given.find("width") or 1,
        tech_node=node,
    )


def _mean(values: list[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def _adc(given: _Attributes) -> ComponentModel:
    node, codes = given.node(), given.codes()

    def scale(at: float) -> float:
        return at * nodes.volts(at) ** 2

    known = tables.ADCS.values()
    energy = _mean([a.power / a.rate / 2**a.bits / scale(a.node) for a in known])
    area = _mean([a.area / 2**a.bits / nodes.cell_area(a.node) for a in known if a.area])
    return ComponentModel(
        given.name,
        f"geometric mean of {', '.join(tables.ADCS)}",
        "factor 6 among these, which have 8 to 10 bits; fewer bits cost more than it says",
        ("convert", "read", "activate", "sample"),
        energy=energy * codes * scale(node),
        throughput=given.need("throughput"),
        area=area * codes * nodes.cell_area(node) * (given.find("n_adcs") or 1),
        tech_node=node,
    )


def _dac(given: _Attributes) -> ComponentModel:
    """Charge k of 2^n capacitors, which takes k (2^n - k) / 2^n C V^2: the mean over all codes."""
    node, codes = given.node(), given.codes()
    unit = given.find("unit_capacitance") or _UNIT_CAPACITANCE
    voltage = given.find("voltage") or nodes.volts(node)
    return ComponentModel(
        given.name,
        "charge of binary-weighted capacitors of 1 fF or unit_capacitance, all codes alike",
        "a lower bound: without drivers and switches",
        ("convert", "read"),
        energy=(codes - 1 / codes) / 6 * unit * voltage**2,
        throughput=nodes.clock(node),
        area=codes * unit / _CAPACITOR,
        tech_node=node,
    )


# As the files write them; case and underscores do not matter.
CLASSES: dict[str, Callable[[_Attributes], ComponentModel]] = {
    "SRAM": _sram,
    "SmartBufferSRAM": _sram,
    "Register": _register,
    "RegisterFile": _register,
    **dict.fromkeys(tables.DRAMS, _dram),
    "Adder": _adder,
    "IntAdder": _adder,
    "Multiplier": _multiplier,
    "IntMultiplier": _multiplier,
    "IntMAC": _mac,
    "Wire": _wire,
    "ADC": _adc,
    "DAC": _dac,
}


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


_NAMES = {_plain(name): name for name in CLASSES}


def make_model(name: str, attributes: Mapping[str, Any]) -> ComponentModel | None:
    """Make the model of a class.

    Parameters
    ----------
    name : str
        The class, such as ``SRAM``.
    attributes : dict
        Of the component: ``tech_node`` in m, ``size`` in bits, ``width`` and so on.

    Returns
    -------
    ComponentModel or None
        None if there is no class of that name.

    Raises
    ------
    ValueError
        An attribute is missing, or is no number that is more than 0.
    """
    known = _NAMES.get(_plain(name)) or _NAMES.get(_plain(name).removeprefix("dram"))
    return CLASSES[known](_Attributes(known, attributes)) if known else None
