"""Accounts of a machine's or a cluster's resources: placed, free, reserved; never oversubscribed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from overtone.core.placement import UNIT, Node, Part, fit, memory_of, parts, sums_of
from overtone.core.resources import GPU_MEMORY, Placement, Resources, format_amount
from overtone.errors import ResourceError
from overtone.lazy import nearest

_UNKNOWN = Placement((), ())

TAKEN = "gpu_memory_taken"
"""The bytes on a GPU that other programs hold: capacity has them as "gpu_memory_taken:0" for GPU 0.

Likewise "gpu_memory:0" is the memory of GPU 0, and "gpu_memory" that of all GPUs together.
"""


class Ledger:
    """Places demands on nodes and accounts for their resources.

    One demand at a time may hold a reservation: freed resources that it needs are kept for it,
    and other demands use the remaining ones.

    The memory of each GPU is counted apart. What other programs hold of it is not free, but does not make
    a demand infeasible, since it may become free again.
    """

    def __init__(self, nodes: Mapping[str, Mapping[str, float]] | None = None) -> None:
        self._capacity: dict[str, dict[str, int]] = {}
        self._gpu_memory: dict[str, list[int]] = {}  # by node; without a node whose GPU memory is unknown
        self._nodes: dict[str, Node] = {}
        self._placed: dict[str, tuple[Part, ...]] = {}
        self._reserved: tuple[str, Resources, Placement] | None = None
        self._fitting: dict[Resources, Placement | None] = {}  # Placement of each demand now.
        self._feasible: dict[Resources, bool] = {}
        self.set_capacity(nodes or {})

    # --- capacity ----------------------------------------------------------------------

    def set_capacity(self, nodes: Mapping[str, Mapping[str, float]]) -> None:
        """Set the current nodes. Placed demands stay accounted for on the nodes that remain."""
        self._capacity = {
            node: {name: round(amount * UNIT) for name, amount in amounts.items() if not _is_of_gpu(name)}
            for node, amounts in nodes.items()
        }
        self._gpu_memory = {
            node: _by_gpu(amounts, GPU_MEMORY, self._n_gpus(node))
            for node, amounts in nodes.items()
            if GPU_MEMORY in amounts
        }
        self._nodes = {node: self._empty(node) for node in self._capacity}
        for node in self._gpu_memory:
            taken = _by_gpu(nodes[node], TAKEN, self._n_gpus(node))
            now = self._nodes[node]
            now.gpu_memory = [size - part for size, part in zip(now.gpu_memory, taken, strict=True)]
            now.free[GPU_MEMORY] -= sum(taken)
        for placed in self._placed.values():
            for node, demand, gpus in placed:
                if node in self._nodes:
                    self._nodes[node].take(demand, gpus)
        if self._reserved is not None:
            self.reserve(self._reserved[0], self._reserved[1])
        self._fitting.clear()
        self._feasible.clear()

    def _empty(self, node: str) -> Node:
        memory = self._gpu_memory.get(node, ())
        return Node(node, dict(self._capacity[node]), [UNIT] * self._n_gpus(node), list(memory))

    def _n_gpus(self, node: str) -> int:
        return self._capacity[node].get("gpu", 0) // UNIT

    @property
    def largest_gpu_memory(self) -> float:
        """The bytes of the GPU with the most memory; 0.0 if none is known."""
        return max((size for sizes in self._gpu_memory.values() for size in sizes), default=0) / UNIT

    # --- placing -----------------------------------------------------------------------

    def place(self, owner: str, resources: Resources) -> Placement | None:
        """Place the demand and return its placement; None if it does not fit now.

        Raises:
            ValueError: `owner` already has a placement.
        """
        if owner in self._placed:
            raise ValueError(f"{owner} is placed already")
        placement = self._find(resources, owner)
        if placement is None:
            return None
        placed = self._placed[owner] = parts(resources, placement)
        for node, demand, gpus in placed:
            self._nodes[node].take(demand, gpus)
        if self._reserved is not None and self._reserved[0] == owner:
            self._reserved = None
        self._fitting.clear()
        return placement

    def release(self, owner: str) -> None:
        """Release the placement of `owner`, if it has one."""
        placed = self._placed.pop(owner, None)
        if placed is None:
            return
        for node, demand, gpus in placed:
            if node in self._nodes:
                self._nodes[node].give(demand, gpus)
        self._fitting.clear()

    def fits(self, resources: Resources, owner: str = "") -> bool:
        """Return whether the demand fits now; the reservation's owner may use the reserved resources."""
        return self._find(resources, owner) is not None

    def _find(self, resources: Resources, owner: str) -> Placement | None:
        """Return the placement that the demand of `owner` would get now; None if it does not fit."""
        if self._reserved is not None and self._reserved[0] == owner:
            return fit(resources, self._nodes.values())
        found = self._fitting.get(resources, _UNKNOWN)
        if found is _UNKNOWN:
            nodes = self._nodes if self._reserved is None else self._unreserved()
            found = self._fitting[resources] = fit(resources, nodes.values())
        return found

    def is_feasible(self, resources: Resources) -> bool:
        """Return whether the demand would fit if nothing else were placed."""
        known = self._feasible.get(resources)
        if known is None:
            known = fit(resources, [self._empty(node) for node in self._capacity]) is not None
            self._feasible[resources] = known
        return known

    def largest(self, resources: Resources) -> Resources | None:
        """Return the largest size of the demand that is feasible, or None."""
        return next((one for one in resources.sizes() if self.is_feasible(one)), None)

    def room(self, resources: Resources) -> int:
        """Return about how many more of this demand fit now; exact for 0 and for one bundle without GPUs."""
        if not self.fits(resources):
            return 0
        demand = sums_of(resources)
        if not demand:
            return 1_000
        return max(1, sum(
            min(max(0, node.free.get(name, 0)) // units for name, units in demand)
            for node in self._nodes.values()
        ))  # fmt: skip

    # --- reservation -------------------------------------------------------------------

    @property
    def reserved_for(self) -> str | None:
        """The owner of the reservation; None if there is none."""
        return self._reserved[0] if self._reserved else None

    def reserve(self, owner: str, resources: Resources) -> None:
        """Reserve freed resources for `owner`, on the nodes that are emptiest now."""
        self._reserved = None
        order = sorted(
            self._nodes.values(),
            key=lambda node: (
                -sum(
                    node.free.get(name, 0) / max(1, self._capacity[node.name].get(name, 0))
                    for name in resources.total()
                )
            ),
        )
        placement = fit(resources, [self._empty(node.name) for node in order])
        if placement is not None:
            self._reserved = (owner, resources, placement)
        self._fitting.clear()

    def unreserve(self, owner: str) -> None:
        """Cancel the reservation if `owner` holds it."""
        if self.reserved_for == owner:
            self._reserved = None
            self._fitting.clear()

    def _unreserved(self) -> dict[str, Node]:
        """Return the nodes without the reserved resources."""
        assert self._reserved is not None
        nodes = {name: node.copy() for name, node in self._nodes.items()}
        for node, demand, gpus in parts(self._reserved[1], self._reserved[2]):
            if node not in nodes:
                continue
            left = nodes[node]
            for name, units in demand:
                left.free[name] = max(0, left.free.get(name, 0) - units)
            for index, fraction in gpus:
                left.gpus[index] = max(0, left.gpus[index] - round(fraction * UNIT))
                if memory := memory_of(demand):
                    left.gpu_memory[index] = max(0, left.gpu_memory[index] - memory)
        return nodes

    # --- reading -----------------------------------------------------------------------

    def free(self) -> dict[str, float]:
        """Return the free resources, summed over nodes."""
        return _sum(node.free for node in self._nodes.values())

    def total(self) -> dict[str, float]:
        """Return all resources, summed over nodes."""
        return _sum(self._capacity.values())

    def __len__(self) -> int:
        """Return the number of placed demands."""
        return len(self._placed)


def infeasible(resources: Resources, total: Mapping[str, float], largest: float = 0.0) -> str:
    """Return the error text for a demand above the total resources.

    Args:
        largest: The bytes of the GPU with the most memory.
    """
    if total.get("gpu") and resources.gpu_memory > largest:
        asked = f"a trial asks for {format_amount(GPU_MEMORY, resources.gpu_memory)} on a GPU"
        if largest:
            has = f"the largest GPU has {format_amount(GPU_MEMORY, largest)}"
            return f'{asked}, but {has}: ask for less, or for "gpu_memory": "auto"'
        return (
            f"{asked}, but the memory of the GPUs is not known here: pip install nvidia-ml-py, or "
            'declare it: engine=overtone.engines.local.Local(gpu_memory="24GB")'
        )
    has = (
        ", ".join(f"{name} {format_amount(name, amount)}" for name, amount in sorted(total.items()))
        or "nothing"
    )
    known = [*total, "cpu", "gpu", "memory"]
    names = [name for bundle in resources.bundles for name, _ in bundle if name not in known]
    for name in names:
        if meant := nearest(name, known):
            asked = f"a trial asks for {resources}, and there is no resource {name!r}"
            return f"{asked}{meant} This machine has {has}"
    wants_gpu = any(name == "gpu" for bundle in resources.bundles for name, _ in bundle)
    advice = "ask for less, or use a larger machine"
    if wants_gpu and not total.get("gpu"):
        advice = "ask for no GPU (use_gpu=False), or use a machine that has one"
    return f"a trial asks for {resources}, but this machine has {has}: {advice}"


def check_feasible(resources: Resources, nodes: Mapping[str, Mapping[str, float]]) -> None:
    """Raise if no trial could ever start.

    Raises:
        ResourceError: The demand is above the resources of the nodes.
    """
    ledger = Ledger(nodes)
    if ledger.largest(resources) is None:
        raise ResourceError(infeasible(resources, ledger.total(), ledger.largest_gpu_memory))


def _is_of_gpu(name: str) -> bool:
    """Return whether a name in a node's capacity is of one of its GPUs."""
    return name.startswith((f"{GPU_MEMORY}:", f"{TAKEN}:"))


def _by_gpu(amounts: Mapping[str, float], name: str, n_gpus: int) -> list[int]:
    """Return the units of each GPU, by the names in a node's capacity."""
    return [round(amounts.get(f"{name}:{index}", 0.0) * UNIT) for index in range(n_gpus)]


def _sum(books: Iterable[Mapping[str, int]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for amounts in books:
        for name, units in amounts.items():
            sums[name] = sums.get(name, 0.0) + units / UNIT
    return sums
