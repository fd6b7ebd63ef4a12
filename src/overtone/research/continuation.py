"""Possible continuations of recorded curves that were cut short, drawn from longer recorded curves.

At the end of its recording, a curve takes the changes of another recorded curve, its donor, which was about
as good at that point. It also takes the donor's pace, corrected by the time that both took until then. At the
end of the donor's recording, the next donor is drawn. No form of curves is assumed, and ranks change as among
the known curves. Few curves are long: the donors are a bootstrap sample of the curves, a new sample for each
draw of all continuations, so that draws vary with the uncertainty. Each draw also has a factor for all
changes of values, and one for all paces: long curves are from trials that were not stopped, and the
other trials may improve more or less. Continuations are never better than the best recorded value.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from itertools import accumulate
from math import exp, isqrt, log, nan
from statistics import fmean

from overtone.core.randomness import keyed
from overtone.research.recording import Point, RecordedCurve, Recording, number

LEAST_DONORS = 3
"""Minimum number of nearest curves from which a donor is drawn; with more curves, their square root."""

CHANGE_SD, PACE_SD = 0.5, 0.25
"""Of the logarithms of the common factors."""

PRIOR_SLOPE, PRIOR_SPREAD = 0.5, 1.0
"""Half of a difference in pace is thought to remain, with the weight of two curves whose paces differ by a
factor of 4: the squared logarithms about their mean are 1 in sum."""


class Continuation:
    """One way in which all curves that were cut short may have gone on.

    Args:
        recording: The curves.
        last: The iteration at which they end.
        seed: Which way.
    """

    def __init__(self, recording: Recording, last: int, seed: int) -> None:
        curves = recording.curves
        self._metric, self._last, self._seed = recording.metric, last, seed
        self._index = {one.trial_id: i for i, one in enumerate(curves)}
        self._values = [[_value(point, recording.metric) for point in one.points] for one in curves]
        self._elapsed = [[*accumulate(seconds for _, seconds in one.points)] for one in curves]
        self._best = recording.best()[0]
        self._worse = min if recording.mode == "max" else max
        common = keyed(seed, "common")
        self._sample = common.choices(range(len(curves)), k=len(curves))
        self._change, self._pace = exp(common.gauss(0, CHANGE_SD)), exp(common.gauss(0, PACE_SD))
        self._known, self._drawn, self._trust = (
            cache(self._known_at),
            cache(self._draw),
            cache(self._slope_at),
        )

    def __call__(self, curve: RecordedCurve, t: int) -> Point | None:
        """Return the continuation at iteration t; None after the last."""
        if t > self._last:
            return None
        values, elapsed = self._drawn(curve.trial_id)
        return {self._metric: values[t - 1]}, elapsed[t - 1] - (elapsed[t - 2] if t > 1 else 0.0)

    def _draw(self, trial_id: str) -> tuple[list[float], list[float]]:
        """Return the values of all iterations, and the seconds until the end of each."""
        random, i = keyed(self._seed, "continuation", trial_id), self._index[trial_id]
        values, elapsed = [*self._values[i]], [*self._elapsed[i]]
        while (t := len(values)) < self._last:
            value, now_s = values[-1], elapsed[-1]
            donors = self._nearest(t, value) if value == value else []
            if not donors:  # no curve is known further, or it diverged
                values.append(value)
                elapsed.append(now_s * (t + 1) / t)
                continue
            donor = random.choice(donors)
            start, start_s = self._values[donor][t - 1], self._elapsed[donor][t - 1]
            trust = self._trust(t) if now_s > 0 and start_s > 0 else 0.0
            pace = self._pace * (now_s / start_s) ** trust if trust else self._pace
            changes = (one - start for one in self._values[donor][t : self._last])
            values += [self._bounded(value + self._change * one) for one in changes]
            elapsed += [now_s + pace * (one - start_s) for one in self._elapsed[donor][t : self._last]]
        return values, elapsed

    def _bounded(self, value: float) -> float:
        """No better than the best recorded value; NaN stays."""
        return self._worse(value, self._best)

    def _nearest(self, t: int, value: float) -> list[int]:
        """Return the curves known beyond t whose values at t are nearest to `value`."""
        known = self._known(t)
        k = min(len(known), max(LEAST_DONORS, isqrt(len(known))))
        low = high = bisect_left(known, value, key=lambda one: one[0])  # low to high: the nearest
        while high - low < k:
            is_lower = high == len(known) or (low and value - known[low - 1][0] <= known[high][0] - value)
            low, high = (low - 1, high) if is_lower else (low, high + 1)
        return [i for _, i in known[low:high]]

    def _known_at(self, t: int) -> list[tuple[float, int]]:
        """Values at t of the donors that are known beyond t, with their curves; sorted."""
        for sample in (self._sample, range(len(self._values))):
            at = ((self._values[i][t - 1], i) for i in sample if len(self._values[i]) > t)
            if known := sorted(one for one in at if one[0] == one[0]):
                return known
        return []

    def _slope_at(self, t: int) -> float:
        """Return the share of a difference in pace until t that remains: a slope of logarithms, 0 to 1."""
        pairs = [
            (log(elapsed[t - 1] / t), log((elapsed[-1] - elapsed[t - 1]) / (len(elapsed) - t)))
            for elapsed in (self._elapsed[i] for _, i in self._known(t))
            if elapsed[t - 1] > 0 and elapsed[-1] > elapsed[t - 1]
        ]
        mean_x, mean_y = (fmean(one[k] for one in pairs) if pairs else 0.0 for k in (0, 1))
        spread = sum((x - mean_x) ** 2 for x, _ in pairs) + PRIOR_SPREAD
        slope = sum((x - mean_x) * (y - mean_y) for x, y in pairs) + PRIOR_SPREAD * PRIOR_SLOPE
        return min(max(slope / spread, 0.0), 1.0)


def _value(point: Point, metric: str) -> float:
    value = number(point[0], metric)
    return nan if value is None else value
