"""Sobol' points, scrambled (Sobol' 1967; direction numbers: Joe and Kuo 2008, "Constructing Sobol
Sequences with Better Two-Dimensional Projections"; scrambling: Matousek 1998).

Each point is the exclusive or of the direction numbers of its index's bits, so that any 2^k of
them from a multiple of 2^k on lie one in each of 2^k equal parts of every axis. A random
lower triangular matrix over the bits and a random shift make an unbiased sequence of each seed.

Deviations: Joe and Kuo's numbers serve the first 21 dimensions; those beyond have random ones, for
the primitive polynomials in their order. Thirty bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from overtone.core.randomness import Random, keyed
from overtone.core.types import Config
from overtone.searchers.base import Searcher
from overtone.searchers.first_points import FirstPoints
from overtone.searchers.samples import checked_samples, total_of
from overtone.searchers.without_repeats import Distinct

BITS = 30
_KNOWN = (
    (1,), (1, 3), (1, 3, 1), (1, 1, 1), (1, 1, 3, 3), (1, 3, 5, 13), (1, 1, 5, 5, 17), (1, 1, 5, 5, 5),
    (1, 1, 7, 11, 19), (1, 1, 5, 1, 1), (1, 1, 1, 3, 11), (1, 3, 5, 5, 31), (1, 3, 3, 9, 7, 49),
    (1, 1, 1, 15, 21, 21), (1, 3, 1, 13, 27, 49), (1, 1, 1, 15, 7, 5), (1, 3, 1, 15, 13, 25),
    (1, 1, 5, 5, 19, 61), (1, 3, 7, 11, 23, 15, 103), (1, 3, 7, 13, 13, 15, 69),
)  # fmt: skip
"""Joe and Kuo's first numbers of the dimensions from the second on."""


class SobolSearch(Searcher):
    """Goes through the space evenly: scrambled Sobol' points, mapped to each domain's distribution.

    What a discrete space repeats is left out, and a finite one is gone through to its end.
    Grids are gone through like choices.

    Args:
        points_to_evaluate: What to try first; what a point leaves open is drawn.
        num_samples: 1 or more, or -1 to go on without end; None leaves it to `tune.run`.
    """

    lookahead = 200
    takes_constraint = counts_samples = True

    def __init__(
        self,
        points_to_evaluate: Iterable[Mapping[str, Any]] | None = None,
        *,
        num_samples: int | None = None,
    ) -> None:
        self.points_to_evaluate = list(points_to_evaluate or ())
        self.num_samples = None if num_samples is None else checked_samples(num_samples)

    def on_start(self, space: Any, seed: int) -> None:
        self._distinct = Distinct(space, seed)
        self._first = FirstPoints(space, self.points_to_evaluate, seed)
        self._sequence = Sobol(len(self._distinct.cube), seed)
        self.total = total_of(self.num_samples)

    def suggest(self, index: int) -> Config | None:
        config = self._first.config(index)
        if config is not None:
            self._distinct.take(config)
            return config
        return self._distinct.first_new(index, self._candidates(index))

    def on_suggested(self, index: int, config: Config) -> None:
        self._distinct.take(config)

    def _candidates(self, index: int) -> Iterator[list[float]]:
        # a repeated point is stood in for by one from a part of the sequence that no index comes to
        yield self._sequence.point(index)
        yield from (self._sequence.point((1 << BITS) - 1 - 64 * index - i) for i in range(64))


class Sobol:
    """A scrambled Sobol' sequence, whose points are found by their index.

    Args:
        dimensions: How many coordinates a point has.
        seed: Of the scrambling; None for the plain sequence, which begins at the origin.
    """

    def __init__(self, dimensions: int, seed: int | None = 0) -> None:
        rng = keyed(seed or 0, "sobol")
        numbers = islice(_direction_numbers(rng), dimensions)
        self._columns = [one if seed is None else _scrambled(one, rng) for one in numbers]
        self._shift = [0 if seed is None else rng.getrandbits(BITS) for _ in range(dimensions)]

    def point(self, index: int) -> list[float]:
        """Return the point of this index, 0 or more and below 2^30; coordinates in [0, 1)."""
        bits = [k for k in range(BITS) if index >> k & 1]
        point = []
        for columns, shift in zip(self._columns, self._shift, strict=True):
            value = shift
            for k in bits:
                value ^= columns[k]
            point.append(value / (1 << BITS))
        return point


def _direction_numbers(rng: Random) -> Iterator[list[int]]:
    """Yield the direction numbers of each dimension, as whole numbers of 30 bits."""
    yield [1 << (BITS - 1 - k) for k in range(BITS)]
    for dimension, polynomial in enumerate(_primitive()):
        degree = polynomial.bit_length() - 1
        if dimension < len(_KNOWN):
            first: Iterable[int] = _KNOWN[dimension]
        else:
            first = [2 * rng.randrange(1 << k) + 1 for k in range(degree)]
        v = [m << (BITS - 1 - k) for k, m in enumerate(first)]
        for k in range(degree, BITS):
            number = v[k - degree] ^ (v[k - degree] >> degree)
            for i in range(1, degree):
                if polynomial >> (degree - i) & 1:
                    number ^= v[k - i]
            v.append(number)
        yield v


def _primitive() -> Iterator[int]:
    """Yield the primitive polynomials over two elements, by degree and then as numbers, as bits."""
    degree = 1
    while True:
        for middle in range(1 << (degree - 1)):
            polynomial = 1 << degree | middle << 1 | 1
            if _is_primitive(polynomial, degree):
                yield polynomial
        degree += 1


def _is_primitive(polynomial: int, degree: int) -> bool:
    """Return whether the powers of x take 2^degree - 1 values before they come round to 1."""
    power, order = 2 if degree > 1 else 1, 1
    while power != 1:
        power <<= 1
        if power >> degree:
            power ^= polynomial
        order += 1
    return order == (1 << degree) - 1


def _scrambled(columns: list[int], rng: Random) -> list[int]:
    """Return the direction numbers times a random lower triangular matrix with ones on its diagonal."""
    rows = [1 << b | rng.getrandbits(BITS - 1 - b) << (b + 1) for b in range(BITS)]
    return [sum((bin(row & one).count("1") & 1) << b for b, row in enumerate(rows)) for one in columns]
