"""The kernels for growing numbers of results."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from typing import Any

from overtone.searchers.auto.gaussian_process import Kernel
from overtone.searchers.auto.kernel_fit import fit, refined

Array = Any
"""A numpy array of floats."""

Fitted = tuple[Array, Array, Any]
"""Columns, values, and the variance of each value's own noise."""

MOST_FITTED = 120
"""To how many results a kernel is fitted at most."""

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

    def of(self, what: str, n: int, seen: Callable[[int], Fitted], is_quick: bool) -> Kernel:
        """Return the kernel for the results of n trials.

        Args:
            what: A name for `seen`.
            seen: Returns columns, values and their noise, for a number of first trials.
        """
        first = _last(8, MOST_FITTED if is_quick else n)
        kernel = self._fitted.get((what, first))
        if kernel is None:
            x, y, extra = seen(first)
            kernel = self._fitted[what, first] = fit(x, y, self._groups, extra)
        return self._followed(kernel, what, n, seen) if is_quick else kernel

    def _followed(self, kernel: Kernel, what: str, n: int, seen: Callable[[int], Fitted]) -> Kernel:
        numbers = _fits(16)
        for later in numbers[bisect_right(numbers, MOST_FITTED) : bisect_right(numbers, n)]:
            known = self._refined.get((what, later))
            if known is None:
                x, y, extra = seen(later)
                known = self._refined[what, later] = refined(kernel, x, y, self._groups, extra)
            kernel = known
        return kernel


def _last(share: int, n: int) -> int:
    """Return the last number of results up to n at which a kernel is fitted."""
    numbers = _fits(share)
    return numbers[bisect_right(numbers, n) - 1]


@cache
def _fits(share: int) -> list[int]:
    """Yield the numbers of results at which kernels are fitted: each one `share`th larger."""
    found = [1]
    while found[-1] < _MOST_RESULTS:
        found.append(found[-1] + max(1, found[-1] // share))
    return found
