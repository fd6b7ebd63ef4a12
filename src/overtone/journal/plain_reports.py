"""Reports without choices and checkpoints, the bulk of every journal, recognised by a line's begin."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLAIN = (
    rb'\{"n":(\d{1,18}),"e":"reported","time":(-?\d+(?:\.\d+)?(?:e[-+]\d+)?),"trial_id":"([^"\\]*)",'
    rb'"attempt":(\d{1,18}),"t":(\d{1,18}),"metrics":'
)
_PLAIN_ONE = re.sub(rb"\((?![?[])", rb"(?:", _PLAIN)  # the trial is its only group: half the time

PLAIN_REPORT = re.compile(_PLAIN)
"""A report without choices and checkpoint, up to its metrics: n, time, trial_id, attempt, t."""

PLAIN_TRIAL = re.compile(rb"(?:%b)?" % _PLAIN_ONE)
"""Matches every body. Its group is the trial of a plain report; None for another record."""

_PLAIN_HEADS = re.compile(rb"\n%b" % _PLAIN_ONE)


def plain_metrics(bodies: Sequence[bytes], trial: bytes) -> list[bytes] | None:
    """Return the texts of the metrics in plain reports of `trial`; None if a body is another record."""
    parts = _PLAIN_HEADS.split(b"\n" + b"\n".join(bodies))
    is_plain = len(parts) == 2 * len(bodies) + 1 and not parts[0] and set(parts[1::2]) == {trial}
    return parts[2::2] if is_plain else None


def time_of(body: bytes) -> float:
    """Return the time of a plain report, in seconds that the experiment has run."""
    found = PLAIN_REPORT.match(body)
    return float(found[2]) if found is not None else 0.0
