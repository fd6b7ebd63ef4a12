"""An estimate of the GPU memory that one more trial needs, given the needs of earlier trials.

A small reservation lets more trials share a GPU, and more of them run out of memory. Each number of trials a
GPU has a cost: the share of a GPU that a trial takes, on average over the needs that were seen. A trial that
needs more than the reservation counts twice: for its first attempt, and for a second one with enough memory.
"""

from __future__ import annotations

from bisect import bisect_right, insort

HEADROOM = 1.15
"""Reservation over the peak of a first trial. The part beyond 1 shrinks as 2 / (n + 1) after n trials, as the
chance does that one more trial needs more than all of them."""

LOST = 0.75
"""Part of a trial's time that an attempt takes until it runs out of memory."""

WORTHWHILE = 0.95
"""Part of the present cost below which another number of trials is chosen: each change is recorded."""


class MemoryEstimate:
    """Estimates the GPU memory of trials that are alike.

    Attributes:
        amount: The bytes that a trial reserves; 0.0 while no trial has been seen. It changes only if another
            number of trials can share a GPU, or if trials need more than it.
    """

    def __init__(self) -> None:
        self.amount = 0.0
        self._peaks: list[float] = []  # sorted
        self._guesses: dict[str, float] = {}  # needs of trials that ran out of memory, by trial id

    def add_peak(self, trial_id: str, peak: float) -> None:
        """Add the most bytes that a trial used; it has ended, or was stopped."""
        self._guesses.pop(trial_id, None)
        insort(self._peaks, peak)

    def add_guess(self, trial_id: str, amount: float) -> None:
        """Add what a trial gets that ran out of memory; its peak replaces the guess."""
        self._guesses[trial_id] = amount

    def update(self, size: float, most: int) -> bool:
        """Choose the amount anew, and return whether it has changed.

        Args:
            size: Bytes of the GPU.
            most: Largest number of trials that may share it.
        """
        before, n_before = self.amount, _fitting(self.amount, size, most)
        chosen = self._cheapest(size, most, n_before)
        is_kept = chosen <= before and _fitting(chosen, size, most) == n_before
        self.amount = before if is_kept else chosen
        return self.amount != before

    def _cheapest(self, size: float, most: int, now: int) -> float:
        """Return the largest need that the cheapest number of trials a GPU serves.

        Args:
            now: The present number; 0 if there is none.
        """
        headroom = 1 + (HEADROOM - 1) * 2 / (max(1, len(self._peaks)) + 1)
        guesses = sorted(self._guesses.values())
        n_served = {  # how many of the needs fit if so many trials share the GPU
            n: bisect_right(self._peaks, size / n / headroom) + bisect_right(guesses, size / n)
            for n in range(2, most + 1)
        }
        n_all = n_served[1] = len(self._peaks) + len(guesses)
        costs = {}
        for n in range(1, most + 1):
            if not n_served[n]:
                break
            first = (n_served[n] + LOST * (n_all - n_served[n])) / n
            costs[n] = first + sum((n_served[k] - n_served[k + 1]) / k for k in range(1, n))
        best = min(costs, key=costs.__getitem__)
        if now in costs and costs[best] > WORTHWHILE * costs[now]:
            best = now
        n_peaks = bisect_right(self._peaks, size / best / headroom) if best > 1 else len(self._peaks)
        n_guesses = n_served[best] - n_peaks
        return max([one * headroom for one in self._peaks[:n_peaks][-1:]] + guesses[:n_guesses][-1:])


def _fitting(amount: float, size: float, most: int) -> int:
    """Return how many trials with this amount fit on a GPU; 0 if there is no amount."""
    return min(most, max(1, int(size / amount))) if amount else 0
