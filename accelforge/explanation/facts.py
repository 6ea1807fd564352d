# SPDX-License-Identifier: BSD-3-Clause
"""Parts of an explanation; each field says its unit."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Change", "Derivative", "EinsumLimit", "FanoutUse", "LevelTotals", "MemoryUse", "Step"]


@dataclass(frozen=True)
class EinsumLimit:
    """The component that an Einsum waits for.

    Attributes
    ----------
    einsum : str
        The Einsum.
    latency : float
        How long it takes, in s.
    components : tuple of str
        The slowest component, or several that are equally slow.
    kind : str
        ``bandwidth`` of a memory or toll, ``compute``, or ``bandwidth and compute``.
    busy : dict
        How long each component works for it, in s.
    next : str or None
        The slowest one of the others.
    next_latency : float
        How long that one works, in s.
    """

    einsum: str
    latency: float
    components: tuple[str, ...]
    kind: str
    busy: dict[str, float]
    next: str | None
    next_latency: float


@dataclass(frozen=True)
class MemoryUse:
    """The contents of a memory when it is fullest.

    Attributes
    ----------
    component : str
        The memory.
    size, used : float
        Bits of one instance; `size` may be infinite.
    """

    component: str
    size: float
    used: float

    @property
    def free(self) -> float:
        """Bits that are never used."""
        return self.size - self.used

    @property
    def share(self) -> float:
        """Used bits as a fraction of the size."""
        return self.used / self.size


@dataclass(frozen=True)
class FanoutUse:
    """How many instances of a fan-out an Einsum uses.

    Attributes
    ----------
    einsum, component, dimension : str
        The Einsum, and the dimension of the component's fan-out.
    fanout, used : float
        Instances; `used` is an average for loops that do not divide their extent.
    """

    einsum: str
    component: str
    dimension: str
    fanout: float
    used: float


@dataclass(frozen=True)
class LevelTotals:
    """The totals of a component over all Einsums.

    Attributes
    ----------
    component, kind : str
        Its name; ``memory``, ``toll`` or ``compute``.
    busy : float
        How long it works, in s.
    utilisation : float
        `busy` as a fraction of the latency.
    energy, leak_energy : float
        In J; `energy` is without leakage.
    actions : dict
        How many of each action all its instances do.
    used : float or None
        The largest use of a memory, as a fraction of its size.
    """

    component: str
    kind: str
    busy: float
    utilisation: float
    energy: float
    leak_energy: float
    actions: dict[str, float]
    used: float | None


@dataclass(frozen=True)
class Change:
    """One number that a step changes.

    Attributes
    ----------
    component, quantity : str
        The component; ``size``, ``fan-out X`` or ``throughput of read``. For a tile of the mapping,
        the component is ``mapping``, and the quantity the loop.
    before, after : float
        The numbers.
    unit : str
        Their unit: ``bit``, ``1/s`` or nothing.
    path : str
        Its place in the problem (``Spec.to_problem()``), or the first of its places.
    """

    component: str
    quantity: str
    before: float
    after: float
    unit: str
    path: str


@dataclass(frozen=True)
class Step:
    """The next change of one thing that has an effect.

    Attributes
    ----------
    kind : str
        ``bandwidth``, ``compute``, ``size``, ``fan-out``, ``size and fan-out``; ``mapping`` if the
        hardware stays as it is.
    changes : tuple of Change
        What changes, tiles of the mapping included.
    latency_before, latency_after : float
        In s.
    energy_before, energy_after : float
        In J. The energy of an action stays the same, whatever the size of its memory.
    then : tuple of EinsumLimit
        What each Einsum waits for afterwards.
    """

    kind: str
    changes: tuple[Change, ...]
    latency_before: float
    latency_after: float
    energy_before: float
    energy_after: float
    then: tuple[EinsumLimit, ...]

    @property
    def hardware(self) -> tuple[Change, ...]:
        """The changes of the architecture."""
        return tuple(change for change in self.changes if change.component != "mapping")


@dataclass(frozen=True)
class Derivative:
    """How fast the totals change with a number of the architecture.

    Attributes
    ----------
    component, quantity : str
        The component; ``throughput of read``, ``energy of read`` or ``leak power``.
    value : float
        The number, in `unit`.
    unit : str
        ``1/s``, ``J`` or ``W``.
    latency : float
        Change of the latency, in s per `unit`. Where what limits an Einsum changes at this very
        number, it is the derivative upwards.
    energy : float
        Change of the energy, in J per `unit`.
    latency_elasticity, energy_elasticity : float
        Per cent of change for each per cent that the number grows.
    """

    component: str
    quantity: str
    value: float
    unit: str
    latency: float
    energy: float
    latency_elasticity: float
    energy_elasticity: float
