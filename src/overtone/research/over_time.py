"""Best values and ranks of searches on a common axis of time."""

from __future__ import annotations

from typing import Any

from overtone.research.search_outcomes import labelled

POINTS = 120
"""Of a curve."""

RUN = ["setting", "method", "seed"]


def incumbents(frame: Any, points: int = POINTS) -> Any:
    """Return the best value so far at times that are common to all searches of a setting.

    Args:
        frame: What `compare` returned.
        points: How many times, evenly spaced in their logarithm from the first result to the
            latest end. A search that ended keeps its value.

    Returns:
        A frame with `setting, method, seed, time_s, share` (of the latest end) and `value`, NaN before
        the first.
    """
    import numpy as np
    import pandas as pd

    parts = []
    steps = labelled(frame)
    for setting, one in steps[steps["error"] == ""].groupby("setting", sort=False):
        latest = one["time_s"].max()
        first = one.loc[one["time_s"] > 0, "time_s"].min()
        if not latest > 0:
            continue
        times = np.geomspace(min(first, latest), latest, points)
        times[-1] = latest
        for (method, seed), run in one.groupby(["method", "seed"], sort=False):
            at, values = run["time_s"].to_numpy(), run["value"].to_numpy()
            place = np.searchsorted(at, times, side="right") - 1
            value = np.where(place >= 0, values[np.maximum(place, 0)], np.nan)
            parts.append(pd.DataFrame({
                "setting": setting, "method": method, "seed": seed, "time_s": times,
                "share": times / latest, "value": value, "mode": run["mode"].iloc[0],
            }))  # fmt: skip
    if not parts:
        return pd.DataFrame(columns=[*RUN, "time_s", "share", "value", "mode"])
    return pd.concat(parts, ignore_index=True)


def ranks_over_time(frame: Any, points: int = POINTS) -> Any:
    """Return the mean rank of each method at each share of a search's time; 1 is the best.

    Methods are ranked for each setting and seed by the best value so far; equal ones share the
    mean of their ranks, and who has none yet is last. Seeds that not every method has ended are
    left out.

    Returns:
        A frame with `method, share` and `rank`. Shares are evenly spaced in their logarithm.
    """
    import numpy as np

    found = incumbents(frame, points)
    methods = found["method"].nunique()
    whole = found.groupby(["setting", "seed", "time_s"])["method"].transform("nunique") == methods
    found = found[whole].copy()
    sign = found["mode"].map({"max": -1.0, "min": 1.0}).astype(float)
    found["loss"] = (sign * found["value"]).fillna(np.inf)
    found["rank"] = found.groupby(["setting", "seed", "time_s"])["loss"].rank(method="average")
    # settings begin at different shares: each point of the common axis takes the newest one before it
    shares = np.geomspace(0.001, 1.0, points)
    curves = found.groupby(["setting", "method", "share"])["rank"].mean().reset_index()
    parts: dict[str, list[Any]] = {}
    for (_, method), one in curves.groupby(["setting", "method"], sort=False):
        place = np.searchsorted(one["share"].to_numpy(), shares * (1 + 1e-12), side="right") - 1
        rank = np.where(place >= 0, one["rank"].to_numpy()[np.maximum(place, 0)], (methods + 1) / 2)
        parts.setdefault(method, []).append(rank)
    import pandas as pd

    return (
        pd.concat(
            [
                pd.DataFrame({"method": method, "share": shares, "rank": np.mean(parts[method], axis=0)})
                for method in dict.fromkeys(found["method"])
            ],
            ignore_index=True,
        )
        if parts
        else pd.DataFrame(columns=["method", "share", "rank"])
    )
