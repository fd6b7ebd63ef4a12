"""From the frame of `compare` to one row a search: whether and when it reached its target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.errors import ArgumentError, OvertoneError

CASE = ["problem", "scheduler", "searcher", "workers", "seed"]
"""The columns that name a search."""


def outcomes(frame: Any, target: float | Mapping[str, float] | None = None) -> Any:
    """Return a frame with one row per search; failed searches are left out.

    Args:
        frame: The frame that `compare` returned.
        target: A target to use instead of the problems' targets, for all or by problem.

    Returns:
        The columns of the search's end, and `method` (scheduler, and searcher if there are
        several), `setting` (problem, and workers if there are several), `target`, `reached_s`
        (the time at which the target was reached, or else the end) and `is_reached`.
    """
    ends = labelled(frame)
    ends = ends[ends["is_end"] & (ends["error"] == "")].copy()
    if isinstance(target, Mapping):
        ends["target"] = ends["problem"].map(dict(target))
    elif target is not None:
        ends["target"] = float(target)
    steps = frame.merge(ends[[*CASE, "target"]], on=CASE, suffixes=("_old", ""))
    sign = _sign(steps)
    as_good = steps[sign * steps["value"] >= sign * steps["target"]]
    first = as_good.groupby(CASE, sort=False)["time_s"].min().rename("reached_s").reset_index()
    ends = ends.merge(first, on=CASE, how="left")
    ends["is_reached"] = ends["reached_s"].notna()
    ends["reached_s"] = ends["reached_s"].fillna(ends["time_s"])
    return ends


def medians(frame: Any, target: float | Mapping[str, float] | None = None) -> Any:
    """Return the median time to the target of each method (columns) in each setting (rows), in seconds.

    Searches that ended before they reached it are censored (Kaplan and Meier 1958); a median
    that was not reached is infinite.
    """
    from overtone.research.survival import median_time

    ends = outcomes(frame, target)
    table = {
        method: {
            setting: median_time(one["reached_s"], one["is_reached"])
            for setting, one in every.groupby("setting", sort=False)
        }
        for method, every in ends.groupby("method", sort=False)
    }
    return _frame(table, ends)


def bests(frame: Any) -> Any:
    """Return the mean over seeds of the best value by each method (columns) in each setting (rows)."""
    ends = outcomes(frame)
    table = {
        method: every.groupby("setting", sort=False)["value"].mean().to_dict()
        for method, every in ends.groupby("method", sort=False)
    }
    return _frame(table, ends)


def speedups(frame: Any, baseline: str, target: float | Mapping[str, float] | None = None) -> Any:
    """Return each method's speedup over `baseline` in reaching the target: ratios of medians.

    If a median was not reached, the median of the searches' ends replaces it. The ratio is then an
    upper bound, or a lower bound if it is the baseline's median. NaN if neither was reached.

    Raises:
        ValueError: `baseline` is not a method of the comparison.
    """
    import numpy as np

    times = medians(frame, target)
    if baseline not in times.columns:
        raise ArgumentError(f"baseline={baseline!r}: choose one of {', '.join(map(repr, times.columns))}")
    ends = outcomes(frame, target).pivot_table(
        index="setting", columns="method", values="time_s", aggfunc="median"
    )
    is_reached = np.isfinite(times)
    bounded = times.where(is_reached, ends.reindex_like(times))
    ratios = bounded.rdiv(bounded[baseline], axis=0)
    return ratios.where(is_reached.apply(lambda column: column | is_reached[baseline]))


def labelled(frame: Any) -> Any:
    """Return the frame with `method` and `setting`, which plots and tables show.

    Raises:
        OvertoneError: `frame` is not a frame of `compare`, or it is empty.
    """
    missing = [
        name for name in [*CASE, "time_s", "value", "is_end"] if name not in getattr(frame, "columns", ())
    ]
    if missing:
        raise OvertoneError(f"this is not a frame of compare(): it has no column {missing[0]!r}")
    if not len(frame):
        raise OvertoneError("the frame is empty: no search has ended")
    if "method" in frame.columns:
        return frame
    made = frame.copy()
    made["method"] = made["scheduler"]
    if made["searcher"].nunique() > 1:
        made["method"] = made["scheduler"] + " + " + made["searcher"]
    made["setting"] = made["problem"]
    if made["workers"].nunique() > 1:
        workers = made["workers"].astype(str).map(lambda one: f"{one} workers" if one.isdigit() else one)
        made["setting"] = made["problem"] + ", " + workers
    return made


def _frame(table: Mapping[str, Mapping[str, float]], ends: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(
        table, index=list(dict.fromkeys(ends["setting"])), columns=list(dict.fromkeys(ends["method"]))
    )


def _sign(frame: Any) -> Any:
    return frame["mode"].map({"max": 1.0, "min": -1.0}).astype(float)  # of an empty frame, too
