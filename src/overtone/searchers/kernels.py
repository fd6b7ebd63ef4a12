"""Which kernel goes with so many results."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from typing import Any

from overtone.searchers.evidence import Evidence
from overtone.searchers.gaussian_process import Kernel
from overtone.searchers.kernel_fit import fit, refined

Array = Any
"""A numpy array of floats."""

MOST_FITTED = 120
"""Of how many results a kernel is fitted at most."""

_MOST_RESULTS = 10_000_000


class Kernels:
    """Kernels that are fitted at fixed numbers of results and kept in between.

    So they depend on nothing but the results and their order. Where suggestions must be quick, those of
    many results follow from the ones before them in a few steps.

    Args:
        groups: As in `fit`.
    """

    def __init__(self, groups: Array) -> None:
        self._groups = groups
        self._fitted: dict[tuple[str, int], Kernel] = {}
        self._refined: dict[tuple[str, int], Kernel] = {}

    def of(self, what: str, every: Evidence, target: Callable[[Evidence], Array], is_quick: bool) -> Kernel:
        """The kernel for all results.

        Args:
            what: A name for `target`.
            target: What the process is made to fit.
        """
        first = _last(8, MOST_FITTED if is_quick else len(every))
        kernel = self._fitted.get((what, first))
        if kernel is None:
            seen = every.rows(slice(first)).best(MOST_FITTED)
            kernel = self._fitted[what, first] = fit(seen.x, target(seen), self._groups)
        return self._followed(kernel, what, every, target) if is_quick else kernel

    def _followed(
        self, kernel: Kernel, what: str, every: Evidence, target: Callable[[Evidence], Array]
    ) -> Kernel:
        numbers = _fits(16)
        later = numbers[bisect_right(numbers, MOST_FITTED) : bisect_right(numbers, len(every))]
        for n in later:
            known = self._refined.get((what, n))
            if known is None:
                seen = every.rows(slice(n)).best(MOST_FITTED)
                known = self._refined[what, n] = refined(kernel, seen.x, target(seen), self._groups)
            kernel = known
        return kernel


def _last(share: int, n: int) -> int:
    """The last number of results up to n at which a kernel is fitted."""
    numbers = _fits(share)
    return numbers[bisect_right(numbers, n) - 1]


@cache
def _fits(share: int) -> list[int]:
    """The numbers of results at which kernels are fitted: each one `share`th larger."""
    found = [1]
    while found[-1] < _MOST_RESULTS:
        found.append(found[-1] + max(1, found[-1] // share))
    return found
