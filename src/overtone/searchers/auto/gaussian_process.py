"""A Gaussian process with a Matern-5/2 kernel (Rasmussen and Williams 2006, "Gaussian Processes for
Machine Learning", sections 2.2 and 4.2).

Mean and variance are the likeliest ones, in closed form; `kernel_fit` finds the likeliest kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

Array = Any
"""A numpy array of floats."""

_ROOT5 = sqrt(5.0)

_FARTHEST = 2000.0
"""Beyond it nothing is left of a correlation but numbers that processors are slow with."""

_ROWS = 64
"""Number of points per batch: the data of a batch stays in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """Parameters of a kernel, as a fit estimates them.

    Attributes:
        lengths: The length scale of each column.
        noise: The variance of the noise, as a share of the variance of the process.
    """

    lengths: Array
    noise: float

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the correlations of the rows of `a` with those of `b`."""
        import numpy as np

        squares = np.matmul(left(self.scaled(a)), right(self.scaled(b)))
        return correlated(squares, np.empty_like(squares), np.empty_like(squares))

    def scaled(self, x: Array) -> Array:
        """Return the rows of `x` in units with the kernel (1 + r + r^2/3) exp(-r) of the distance r."""
        return x * (_ROOT5 / self.lengths)


class Process:
    """A Gaussian process that has seen `y` at the rows of `x`.

    Args:
        extra: The variance of each value's own noise, in the units of `y` squared, beside the kernel's.
        interpolates: Leave noise out of the standard deviation, and not of the mean, so that there is
            nothing to gain at points that were tried (Forrester et al. 2006, "Design and Analysis of
            'Noisy' Computer Experiments": re-interpolation).
        pending: Points whose value is not known: they narrow the process around them and
            leave its mean as it is (Ginsbourger et al. 2010, "Kriging Is Well-Suited to
            Parallelize Optimization": the kriging believer).

    Attributes:
        seen_mean: The mean at the rows of `x`.
    """

    def __init__(
        self,
        kernel: Kernel,
        x: Array,
        y: Array,
        extra: Array | float = 0.0,
        pending: Array | None = None,
        interpolates: bool = False,
    ) -> None:
        import numpy as np

        self._kernel, self._n = kernel, len(x)
        _, white, self._alpha, self._mean, self._variance = solved(kernel(x, x), y, kernel.noise + extra)
        self.seen_mean = y - (kernel.noise + extra + _JITTER) * self._alpha
        noise = kernel.noise
        if interpolates:
            noise = min(noise, _INTERPOLATED)
            white = solved(kernel(x, x), y, noise)[1]
        if pending is not None and len(pending):
            x = np.vstack([x, pending])
            white = _widened(white, kernel(x[self._n :], x), noise)
        self._seen, self._white = right(kernel.scaled(x)), np.ascontiguousarray(white.T)
        self._scratch = np.empty((3, _ROWS, len(x)))

    def predict(self, at: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at the rows of `at`, noise not counted."""
        import numpy as np

        mean, explained = np.empty(len(at)), np.empty(len(at))
        rows = left(self._kernel.scaled(at))
        for i in range(0, len(at), _ROWS):
            some = rows[i : i + _ROWS]
            squares, spare, other = self._scratch[:, : len(some)]
            cross = correlated(np.matmul(some, self._seen, out=squares), spare, other)
            np.matmul(cross[:, : self._n], self._alpha, out=mean[i : i + _ROWS])
            parts = np.matmul(cross, self._white, out=spare)
            np.einsum("ij,ij->i", parts, parts, out=explained[i : i + _ROWS])
        mean += self._mean
        return mean, np.sqrt(self._variance * np.maximum(1.0 - explained, 1e-12))


_JITTER = 1e-8

_INTERPOLATED = 1e-4
"""The largest noise of a process whose standard deviation does not count noise."""


def solved(correlations: Array, y: Array, noise: Array | float) -> tuple[Array, Array, Array, float, float]:
    """Return the Cholesky factor and its inverse, the weights of y, the mean and the variance of the process.

    Args:
        correlations: Those of the points where `y` was seen; noise is added in place.
        noise: Its variance as a share of that of the process, for all values or for each of them.
    """
    import numpy as np

    correlations.flat[:: len(y) + 1] += noise + _JITTER
    lower = np.linalg.cholesky(correlations)
    whitened = inverse(lower)
    ones, values = whitened.sum(1), whitened @ y
    # one more point at 0, the mean of standardised values, keeps the mean in sight
    mean = float(ones @ values) / (float(ones @ ones) + 1.0)
    residual = values - mean * ones
    variance = (float(residual @ residual) + mean**2 + 1.0) / (len(y) + 1.0)
    return lower, whitened, residual @ whitened, mean, variance


def _widened(white: Array, correlations: Array, noise: float) -> Array:
    """Return the inverse of the Cholesky factor of more points, from that of the first of them.

    Args:
        correlations: Those of the other points with all.
    """
    import numpy as np

    n, n_all = len(white), correlations.shape[1]
    cross, own = correlations[:, :n] @ white.T, correlations[:, n:]
    own.flat[:: n_all - n + 1] += noise + _JITTER
    corner = inverse(np.linalg.cholesky(own - cross @ cross.T))
    found = np.zeros((n_all, n_all))
    found[:n, :n], found[n:, n:] = white, corner
    found[n:, :n] = -(corner @ cross) @ white
    return found


def inverse(lower: Array) -> Array:
    """Return the inverse of a lower triangular matrix.

    Small blocks on its diagonal are inverted, all at once, and then twice as large ones from two of
    them each, until one is left.
    """
    import numpy as np

    n = len(lower)
    parts = 1 << ((n - 1) // 10).bit_length()
    size = -(-n // parts)
    found = np.eye(size * parts)
    found[:n, :n] = lower
    blocks = _diagonal(found, size)
    blocks[...] = np.linalg.inv(blocks)
    while parts > 1:
        parts //= 2
        blocks = _diagonal(found, 2 * size)
        first, second = blocks[:, :size, :size], blocks[:, size:, size:]
        blocks[:, size:, :size] = -(second @ blocks[:, size:, :size] @ first)
        size *= 2
    return found[:n, :n]


def _diagonal(matrix: Array, size: int) -> Array:
    """Return a view of the square blocks of this size on the diagonal."""
    import numpy as np

    parts = len(matrix) // size
    return np.einsum("iaib->iab", matrix.reshape(parts, size, parts, size))


def left(scaled: Array) -> Array:
    """Return the rows whose product with the columns of `right` are squared distances."""
    import numpy as np

    n, d = scaled.shape
    found = np.empty((n, d + 2))
    found[:, :d] = scaled
    np.einsum("ij,ij->i", scaled, scaled, out=found[:, d])
    found[:, d + 1] = 1.0
    return found


def right(scaled: Array) -> Array:
    """See `left`."""
    import numpy as np

    n, d = scaled.shape
    found = np.empty((d + 2, n))
    np.multiply(scaled.T, -2.0, out=found[:d])
    found[d] = 1.0
    np.einsum("ij,ij->i", scaled, scaled, out=found[d + 1])
    return found


def correlated(squares: Array, distances: Array, decay: Array) -> Array:
    """Return the kernel in place of the squared distances; the others become distances, exp(-distance)."""
    import numpy as np

    np.maximum(squares, 0.0, out=squares)
    np.minimum(squares, _FARTHEST, out=squares)
    np.sqrt(squares, out=distances)
    np.negative(distances, out=decay)
    np.exp(decay, out=decay)
    squares *= 1 / 3
    squares += distances
    squares += 1.0
    squares *= decay
    return squares
