"""A trial's learning curve in segments: a new one begins with each process and each change of the config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.core.goal import is_number, lookup, real
from overtone.core.messages import Added, Moved, Reported, Ruled, Started
from overtone.core.table import is_redone
from overtone.journal.codec import Codec
from overtone.journal.plain_reports import PLAIN_REPORT
from overtone.journal.text import LazyMetrics
from overtone.reading.columns.mentions import bodies
from overtone.space.nesting import flatten, with_tuples


@dataclass(slots=True)
class CurveSegment:
    """The results of one process with one config.

    Attributes:
        attempt: The number of the process, from 0.
        changes: The hyperparameters that are other than in the segment before, flattened; all in the first.
        source: The trial whose checkpoint it went on from; "" for its own, or none.
        t, value, time: `training_iteration`, the metric (NaN if not finite), and seconds of the run.
    """

    attempt: int
    changes: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    t: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    time: list[float] = field(default_factory=list)

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Return t, value and time as arrays."""
        value = np.array(self.value, np.float64)
        value[~np.isfinite(value)] = np.nan
        return np.array(self.t, np.int64), value, np.array(self.time, np.float64)


def curve_segments(journal: Path, offsets: list[int], trial_id: str, metric: str) -> list[CurveSegment]:
    """Return the results of a trial, oldest first; segments without the metric are left out.

    Args:
        offsets: The positions of the records that name the trial.

    Raises:
        StorageError: The journal cannot be read, or has other lines by now.
    """
    found: list[CurveSegment] = []
    decode = Codec(decode_config=with_tuples).decode
    config: Mapping[str, Any] = {}
    shown: Mapping[str, Any] = {}
    source, is_new = "", True

    def point(attempt: int, t: int, time: float, metrics: Any) -> None:
        nonlocal is_new, shown, source
        value = lookup(metrics, metric)
        if not is_number(value):
            return
        if is_new or not found or found[-1].attempt != attempt:
            changed = {name: one for name, one in config.items() if name not in shown or shown[name] != one}
            found.append(CurveSegment(attempt, changed, source))
            is_new, shown, source = False, config, ""
        found[-1].t.append(t)
        found[-1].value.append(real(value))
        found[-1].time.append(time)

    for body in bodies(journal, offsets):
        plain = PLAIN_REPORT.match(body)
        if plain is not None:
            _, time, _, attempt, t = plain.groups()
            point(int(attempt), int(t), float(time), LazyMetrics(body[plain.end() :]))
            continue
        record = decode(body, True)
        if record is None:
            continue
        event = record.event
        if isinstance(event, Reported) and event.trial_id == trial_id and not is_redone(record):
            point(event.attempt, event.t, event.time, event.metrics)
        elif isinstance(event, Started) and event.trial_id == trial_id:
            is_new = True
            restored = event.restored
            source = restored.trial_id if restored is not None and restored.trial_id != trial_id else ""
        for choice in record.choices:
            if not isinstance(choice, (Added, Moved, Ruled)) or choice.trial_id != trial_id:
                continue
            is_due = isinstance(choice, Ruled) and choice.what == "restart"  # it takes effect with a Moved
            if choice.config is not None and not is_due:
                config, is_new = flatten(choice.config), True
    return found
