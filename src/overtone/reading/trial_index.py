"""The places of a trial's results in the journal, and the facts that successive results share."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from overtone.core.table import Row, constant_facts
from overtone.core.types import Checkpoint, Config, Metrics


@dataclass(frozen=True)
class Block:
    """Results that are read together, such as successive ones of one process of a trial.

    Attributes:
        rows: What was reported.
        constant: What is the same in all rows; overrides what was reported under the same names.
        cells: Flat columns with a cell for each row, lists or arrays; they override what was reported.
    """

    rows: Sequence[dict[str, Any]]
    constant: Mapping[str, Any]
    cells: Mapping[str, Any] = field(default_factory=dict)


class TrialIndex:
    """Facts about a trial that `Row` does not keep.

    Attributes:
        offsets: The position of each result's line in the journal, oldest first.
        mentions: The positions of the other lines that name the trial, oldest first.
        checkpoints: The saved checkpoints that were not deleted, by uri, oldest first.
        failures: The number of failures of its process.
        traceback: The last traceback.
    """

    __slots__ = ("_starts", "checkpoints", "failures", "mentions", "offsets", "traceback")

    def __init__(self) -> None:
        self.offsets = array("Q")
        self.mentions = array("Q")
        self.checkpoints: dict[str, Checkpoint] = {}
        self.failures = 0
        self.traceback = ""
        # of each process: the number of its first result, where it ran, and the config that it began with
        self._starts: list[tuple[int, int, str, str, Config]] = []

    def on_start(self, row: Row) -> None:
        """Note that a process began: the results from now on come from it, with this config."""
        self._starts.append((len(self.offsets), row.pid, row.hostname, row.node_ip, row.config))

    def blocks(self, row: Row, size: int) -> Iterator[tuple[range, dict[str, Any]]]:
        """Yield the numbers of all results, at most `size` at a time, with the facts they share."""
        ends = [*(start[0] for start in self._starts[1:]), len(self.offsets)]
        begin = 0
        for end in ends:
            for at in range(begin, end, size):
                yield range(at, min(at + size, end)), self._constant(row, at)
            begin = max(begin, end)

    def _constant(self, row: Row, number: int) -> dict[str, Any]:
        at = bisect_right(self._starts, number, key=itemgetter(0)) - 1
        if at < 0:
            return {**constant_facts(row), "config": row.config}
        _, pid, hostname, node_ip, config = self._starts[at]
        return constant_facts(row) | {"pid": pid, "hostname": hostname, "node_ip": node_ip, "config": config}

    def complete(self, row: Row, number: int, metrics: Metrics) -> dict[str, Any]:
        """Result `number` of the trial as users know it, with its constant facts and config."""
        is_last = row.is_final and number == len(self.offsets) - 1
        result = {"timesteps_total": None, **metrics, **self._constant(row, number)}
        if is_last:
            result["done"] = True
        return result
