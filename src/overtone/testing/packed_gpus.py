"""Trials that share GPUs by memory, on a virtual clock, under a real controller.

A trial's config has what it needs ("need", in GB) and how long it takes ("length", in seconds). It runs out
of memory if it needs more than it reserved, or if all trials of its GPU together need more than there is.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

from overtone.core import messages as m
from overtone.core.resources import Placement, Resources
from overtone.core.trial import Template
from overtone.testing.manual_controller import ByHand
from overtone.worker.trainables.demand import demand

GB = 10**9

EXCESS_AFTER_S = 0.1
"""Time until a trial runs out of memory, in seconds."""


class PackedGpus:
    """Runs trials on GPUs of these sizes, in GB.

    Args:
        written: The resources of a trial, as users write them: a mapping, or a function from a config to one.
        configs: The trials.

    Attributes:
        hand: The controller.
        excesses: How often each trial ran out of memory.
        most_at_once: The largest number of trials that ran at the same time.
    """

    def __init__(self, sizes: Sequence[float], written: Any, configs: Sequence[dict[str, float]]) -> None:
        self._sizes = list(sizes)
        self._taken = [0.0] * len(sizes)
        self._running: dict[str, tuple[Placement, Resources, float]] = {}
        self._ends: list[tuple[float, int, str, m.Cause]] = []
        self._n_starts = 0
        self.excesses: dict[str, int] = {}
        self.most_at_once = 0
        of: Any = demand(written)
        template = Template(of if callable(of) else lambda _: of)
        self.hand = ByHand(cpus=None, template=template, limits={"lookahead": len(configs)})
        self.take([0.0] * len(sizes))
        for config in configs:
            self._carry_out(self.hand.suggest(config))

    def take(self, amounts: Sequence[float]) -> None:
        """Let other programs hold so many GB of each GPU."""
        self._taken = list(amounts)
        node = {"gpu": float(len(self._sizes)), "gpu_memory": sum(self._sizes) * GB}
        for index, (size, taken) in enumerate(zip(self._sizes, amounts, strict=True)):
            node |= {f"gpu_memory:{index}": size * GB, f"gpu_memory_taken:{index}": taken * GB}
        self._carry_out(self.hand.capacity({"node": node}))

    def run(self, until: float = m.NEVER) -> float:
        """Run until this time or to the end; return the time."""
        while self._ends and self._ends[0][0] <= until:
            self.hand.time, _, name, cause = heapq.heappop(self._ends)
            _, reserved, need = self._running.pop(name)
            if cause == "returned":
                self._carry_out(self.hand.report(name, 1))
            else:
                self.excesses[name] = self.excesses.get(name, 0) + 1
                need = min(need, reserved.gpu_memory / GB or need)  # it did not get more
            attempt = self.hand.trial(name).attempt
            end = m.Ended(self.hand.time, name, attempt, cause, gpu_memory=need * GB)
            self._carry_out(self.hand.tell(end))
        return self.hand.time

    def _carry_out(self, commands: Sequence[m.Command]) -> None:
        for start in commands:
            if not isinstance(start, m.Start):
                continue
            need, length, reserved = start.config["need"], start.config["length"], start.resources
            self._running[start.trial_id] = start.placement, reserved, need
            self.most_at_once = max(self.most_at_once, len(self._running))
            self._n_starts += 1
            is_excess = 0 < reserved.gpu_memory < need * GB and not reserved.is_alone
            for bundle in start.placement.gpus:
                is_excess |= any(self._is_full(index) for index, _ in bundle)
            end: tuple[float, m.Cause] = (
                (EXCESS_AFTER_S, "out_of_memory") if is_excess else (length, "returned")
            )
            heapq.heappush(self._ends, (self.hand.time + end[0], self._n_starts, start.trial_id, end[1]))

    def _is_full(self, gpu: int) -> bool:
        """Return whether what runs on a GPU needs more than there is.

        Raises:
            AssertionError: Its parts or its memory are promised twice.
        """
        here = [
            (part, reserved.gpu_memory, need)
            for placement, reserved, need in self._running.values()
            for index, part in placement.gpus[0]
            if index == gpu
        ]
        size = self._sizes[gpu]
        if sum(part for part, *_ in here) > 1 or sum(memory for _, memory, _ in here) > size * GB:
            raise AssertionError(f"GPU {gpu} is promised twice: {here}")
        return sum(need for *_, need in here) > size - self._taken[gpu]
