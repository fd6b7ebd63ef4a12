"""One result of each of many trials, read in batches of lines, for data frames of all trials."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from overtone.core.messages import Reported
from overtone.core.sizes import LONGEST_LINE
from overtone.core.table import address
from overtone.core.trial import Status
from overtone.core.types import Config
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.garbage import not_collecting
from overtone.journal.seals import unsealed_batch
from overtone.journal.text import loads
from overtone.reading.columns.mentions import CONFIG, LEAP, RESULT, START, ByTrial
from overtone.reading.columns.trial_columns import TrialColumns
from overtone.regular_files import open_regular

T = TypeVar("T")

_MOST_BYTES, _GAP_BYTES = 1 << 20, 1 << 15  # to read at once, and between two lines that are read together
_METRICS, _CHOICES, _CHOICE = b',"metrics":', b',"choices":[{"c":"', b'{"c":"'
_TAG = re.compile(rb',"tag":("[^"\\]*")')
_NONE = -1
_MOST_ROWS = 4096  # that are read together


@dataclass(frozen=True, slots=True)
class Chosen:
    """One result of each of some trials, whose numbers follow each other or not.

    Attributes:
        rows: The numbers of the trials, in rising order.
        metrics: What each trial reported; None for a trial without a result.
        facts: The constant facts of the results: for each name of a field, a value for each trial.
        configs: The config of each trial; None if they were not asked for.
    """

    rows: NDArray[np.int64]
    metrics: Sequence[dict[str, Any] | None]
    facts: Mapping[str, Sequence[Any]]
    configs: Sequence[Config] | None

    def __getitem__(self, part: slice) -> Chosen:
        facts = {name: cells[part] for name, cells in self.facts.items()}
        configs = None if self.configs is None else self.configs[part]
        return Chosen(self.rows[part], self.metrics[part], facts, configs)

    def without(self, alone: NDArray[np.bool_]) -> Iterator[Chosen | int]:
        """Yield the trials in their order: the numbers of those marked in `alone`, the others together."""
        for begin, end in pairwise([-1, *np.flatnonzero(alone).tolist(), len(self.rows)]):
            if begin >= 0:
                yield int(self.rows[begin])
            if end > begin + 1:
                yield self[begin + 1 : end]


class ChosenResults:
    """Reads results of trials whose config is the one that they were added with.

    The other trials, of which several records are needed, are left to the caller.

    Args:
        journal: The file.
        columns: All trials.
        mentions: Where the records of trials lie.
        decode_config: Makes a config of its data; None if configs are not needed.
    """

    def __init__(
        self,
        journal: Path,
        columns: TrialColumns,
        mentions: ByTrial,
        decode_config: Callable[[Any], Config] | None,
    ) -> None:
        self._journal, self._columns, self._mentions = journal, columns, mentions
        self._decode_config = decode_config

    def read(
        self, rows: NDArray[np.int64], ts: NDArray[np.int64] | None, most_left_out: int
    ) -> Iterator[Chosen | int] | None:
        """Return the results of these trials in their order.

        Args:
            rows: The numbers of trials, in rising order.
            ts: The iteration of each trial's result; None for the last results.
            most_left_out: The greatest number of trials that are left out.

        Returns:
            Results of many trials at a time; instead of a trial that is left out, its number. None if
            these are too many. Reading the results raises `StorageError` if the journal cannot be read,
            or has other lines by now.
        """
        chosen, starts, added, is_plain = self._places(rows, ts)
        if np.count_nonzero(~is_plain) > most_left_out:
            return None
        status = self._columns.status
        assert status.levels is not None
        is_done = np.array([Status(one).is_final for one in status.levels])[status.values[rows]]
        if ts is not None:
            is_done &= ts == self._columns.n_results[rows]
        return self._blocks(rows, chosen, starts, added, is_plain, is_done)

    def _blocks(
        self, rows: NDArray[np.int64], chosen: NDArray[np.int64], starts: NDArray[np.int64],
        added: NDArray[np.int64], is_plain: NDArray[np.bool_], is_done: NDArray[np.bool_],
    ) -> Iterator[Chosen | int]:  # fmt: skip
        for begin in range(0, len(rows), _MOST_ROWS):
            some = slice(begin, begin + _MOST_ROWS)
            plain = is_plain[some]
            # a trial that is left out is read, too, as if it had nothing
            result, start, config = (np.where(plain, one[some], _NONE) for one in (chosen, starts, added))
            found = self._results(rows[some], result, start, config, is_done[some].tolist())
            yield from found.without(~plain)

    def _places(
        self, rows: NDArray[np.int64], ts: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Return the places in `mentions` of each trial's result, its start and its config.

        The last array tells whether these are all that makes the result.
        """
        owners, _, kinds = self._mentions
        n = len(self._columns)

        def last(places: NDArray[np.int64]) -> NDArray[np.int64]:
            found = np.full(n, _NONE)
            found[owners[places]] = places  # of equal rows, the last one counts
            return found[rows]

        results = np.flatnonzero(kinds & RESULT)
        if ts is None:
            chosen = last(results)
            is_plain = np.ones(len(rows), np.bool_)
        else:
            is_plain = np.bincount(owners[np.flatnonzero(kinds & LEAP)], minlength=n)[rows] == 0
            numbers = np.where(is_plain, ts - 1, 0)  # a trial with an iteration has a result
            chosen = results[np.searchsorted(owners[results], rows) + numbers]
        until = np.zeros(n, np.int64)
        until[rows] = np.where(chosen == _NONE, len(owners), chosen)
        starts = np.flatnonzero(kinds & START)
        starts = last(starts[starts < until[owners[starts]]])
        configs = np.flatnonzero(kinds & CONFIG)
        is_plain &= np.bincount(owners[configs], minlength=n)[rows] == 1
        is_plain &= (chosen == _NONE) | (starts != _NONE)
        return chosen, starts, last(configs), is_plain

    def _results(
        self,
        rows: NDArray[np.int64],
        chosen: NDArray[np.int64],
        starts: NDArray[np.int64],
        added: NDArray[np.int64],
        is_done: Sequence[bool],
    ) -> Chosen:
        decode = self._decode_config
        ids = self._columns.ids
        names = [ids[row] for row in rows.tolist()]
        with not_collecting():
            metrics = self._decoded(chosen, _metrics)
            begun = self._decoded(starts, _objects)
            configs = None
            tags: list[str]
            if decode is None:
                tags = self._own(self._decoded(added, _tags), names)
            else:
                own = self._own(self._decoded(added, _added), names)
                tags = [one["tag"] if one else "" for one in own]
                configs = [decode(one["config"]) if one else {} for one in own]
            for result, done in zip(metrics, is_done, strict=True):
                if done and result is not None:
                    result["done"] = True
        facts: dict[str, list[Any]] = {
            "trial_id": names,
            "experiment_tag": tags,
            "pid": [0 if one is None else one["pid"] for one in begun],
            "hostname": ["" if one is None else one.get("hostname", "") for one in begun],
            "node_ip": [address("" if one is None else one["node"]) for one in begun],
        }
        return Chosen(rows, metrics, facts, configs)

    @staticmethod
    def _own(additions: Sequence[Any], names: Sequence[str]) -> list[Any]:
        """Return what the record that adds a trial says of it; "" for None."""
        pairs = zip(additions, names, strict=True)
        return [one[name] if type(one) is dict else one or "" for one, name in pairs]

    def _decoded(self, places: NDArray[np.int64], decode: Callable[[list[bytes]], list[T]]) -> list[T | None]:
        """Return what the lines at these places in `mentions` say; None for `_NONE`."""
        is_there = places != _NONE
        offsets, numbers = np.unique(self._mentions.offsets[places[is_there]], return_inverse=True)
        values: list[T] = []
        for lines in _batches(self._journal, offsets):
            values += decode(lines)
        there = iter(numbers.tolist())
        return [values[next(there)] if one else None for one in is_there.tolist()]


def _batches(journal: Path, offsets: NDArray[np.int64]) -> Iterator[list[bytes]]:
    """Yield the verified lines at these positions, in rising order, many at a time."""
    breaks = np.flatnonzero(np.diff(offsets) > _GAP_BYTES) + 1
    with open_regular(journal, buffer_bytes=0) as file:
        begin = 0
        while begin < len(offsets):
            end = int(np.searchsorted(offsets, offsets[begin] + _MOST_BYTES))
            after = int(np.searchsorted(breaks, begin, "right"))
            end = min(end, int(breaks[after])) if after < len(breaks) else end
            first, last = int(offsets[begin]), int(offsets[end - 1])
            file.seek(first)
            data = file.read(last - first + _GAP_BYTES)
            while data.find(b"\n", last - first) < 0 and len(data) < last - first + LONGEST_LINE:
                if not (more := file.read(len(data) + 1)):
                    break
                data += more
            lines = [data[at : data.find(b"\n", at)] for at in (offsets[begin:end] - first).tolist()]
            bodies = unsealed_batch(lines)
            if len(bodies) < len(lines):
                raise StorageError(f"{journal} was changed after it was read: read it again")
            yield bodies
            begin = end


def _objects(bodies: list[bytes]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = loads(f"[{'},'.join(body.decode() for body in bodies)}}}]")
    return found


def _metrics(bodies: list[bytes]) -> list[dict[str, Any]]:
    """Return the metrics of reports."""
    texts = [body[body.find(_METRICS) + len(_METRICS) :] for body in bodies]
    found = _parsed(texts, dict)
    return found if found is not None else list(map(_metrics_of, bodies))


def _metrics_of(body: bytes) -> dict[str, Any]:
    record = Codec().decode(body, True)
    if record is None or type(record.event) is not Reported:
        raise StorageError("a result is another record by now: read the journal again")
    return dict(record.event.metrics)


def _added(bodies: list[bytes]) -> list[dict[str, dict[str, Any]]]:
    """Return the trials that each record adds, by id."""
    # a config may have the same text: what follows is no JSON then, as it ends more objects than it begins
    texts = [body[body.find(_CHOICES) + len(_CHOICES) - 7 :] for body in bodies]
    found = _parsed(texts, list)
    if found is None:
        found = [one["choices"] for one in _objects(bodies)]
    return [{one["trial_id"]: one for one in choices if one["c"] == "added"} for choices in found]


def _tags(bodies: list[bytes]) -> list[str] | list[dict[str, str]]:
    """Return the experiment_tag of the only trial that each record adds, or of all trials by id."""
    texts = []
    for body in bodies:
        # the config may have the same text before: nothing after the tag has it
        found = _TAG.match(body, body.rfind(b',"tag":"')) if body.count(_CHOICE) == 1 else None
        if found is None:
            break
        texts.append(found[1])
    tags = _parsed(texts, str) if len(texts) == len(bodies) else None
    if tags is not None:
        return tags
    return [{name: one["tag"] for name, one in added.items()} for added in _added(bodies)]


def _parsed(texts: list[bytes], kind: type[T]) -> list[T] | None:
    """Return the values of JSON texts; None if any is not of this kind, or no JSON."""
    try:
        found: list[T] = loads(f"[{b','.join(texts).decode()}]")
    except ValueError:
        return None
    return found if len(found) == len(texts) and set(map(type, found)) <= {kind} else None
