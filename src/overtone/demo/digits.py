"""Images of digits, drawn by rule: strokes that are moved, turned, slanted and blurred at random.

No data set is copied or downloaded. The same seed draws the same images on each machine.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

SIDE = 8
"""Pixels on each side of an image."""

_FINE = 2 * SIDE  # drawn twice as fine, then averaged
_THICKNESS = 0.075  # half the width of a stroke, where the image is 1 wide

_STROKES: tuple[str, ...] = (
    "3,1 2,2 2,6 3,7 5,7 6,6 6,2 5,1 3,1",
    "2.5,2.5 4,1 4,7 | 2.5,7 5.5,7",
    "2,2.3 3,1 5,1 6,2.3 6,3.4 2,7 6,7",
    "2,1.6 3.2,1 5,1 6,2.3 5,3.8 3.6,3.8 | 5,3.8 6,5.3 5,7 3.2,7 2,6.3",
    "5,7 5,1 2,5 6.4,5",
    "6,1 2.4,1 2.2,3.7 4.6,3.3 6,4.6 5.6,6.3 4,7 2,6.5",
    "5.6,1 3.4,2.4 2.2,5 3,6.8 5,6.8 5.9,5.4 4.8,4 2.5,4.6",
    "2,1 6,1 3.4,7 | 3,4 5.6,4",
    "4,4 2.6,3.2 2.6,1.7 4,1 5.4,1.7 5.4,3.2 4,4 2.2,5.2 2.6,6.6 4,7 5.4,6.6 5.8,5.2 4,4",
    "5.6,3.2 4.4,4.1 2.8,3.6 2.5,2 4,1 5.5,1.8 5.6,3.2 5.2,5.4 3.6,7",
)
"""Each digit as lines from point to point (x to the right, y down, both from 0 to 8), split by "|"."""


def draw(n: int, seed: int, noise: float = 0.12) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Draw `n` images.

    Args:
        n: Number of images.
        seed: The seed of all random choices.
        noise: Standard deviation of the noise that each pixel gets.

    Returns:
        The images, shape (n, 64), with values about 0 to 1, and their digits, shape (n,).
    """
    rng = np.random.default_rng(seed)
    digits = rng.integers(0, 10, n)
    images = np.empty((n, SIDE * SIDE), np.float32)
    for digit in range(10):
        rows = np.flatnonzero(digits == digit)
        images[rows] = _drawn(_segments(digit), len(rows), rng)
    images += rng.normal(0.0, noise, images.shape).astype(np.float32)
    return images, digits


def _segments(digit: int) -> NDArray[np.float32]:
    """Return the segments of a digit's strokes, shape (segments, 2 ends, 2), around the origin."""
    found: list[tuple[tuple[float, ...], tuple[float, ...]]] = []
    for stroke in _STROKES[digit].split("|"):
        points = [tuple(map(float, point.split(","))) for point in stroke.split()]
        found += pairwise(points)
    segments: NDArray[np.float32] = np.array(found, np.float32)
    segments /= SIDE
    segments -= 0.5
    return segments


def _drawn(segments: NDArray[np.float32], n: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return `n` images of these segments, shape (n, 64), each moved, turned and slanted at random."""
    angle, slant = rng.normal(0.0, 0.2, n), rng.normal(0.0, 0.25, n)
    width, height = rng.uniform(0.7, 1.15, (2, n))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shape = np.array([[width, slant], [np.zeros(n), height]])
    moved = np.einsum("ijn,jkn,sek->nsei", turn, shape, segments) + rng.normal(0.0, 0.055, (n, 1, 1, 2))
    moved += rng.normal(0.0, 0.02, moved.shape)  # an unsteady hand
    start, way = moved[:, :, 0].astype(np.float32), (moved[:, :, 1] - moved[:, :, 0]).astype(np.float32)
    at = (np.arange(_FINE, dtype=np.float32) + np.float32(0.5)) / _FINE - np.float32(0.5)
    pixels = np.stack(np.meshgrid(at, at), -1).reshape(-1, 2)
    thickness = (_THICKNESS * rng.uniform(0.7, 1.4, (n, 1))).astype(np.float32)
    nearest = np.full((n, len(pixels)), np.inf, np.float32)
    for i in range(moved.shape[1]):
        offset = pixels - start[:, i, None]
        length = np.maximum((way[:, i] ** 2).sum(-1), np.float32(1e-6))[:, None]
        share = np.clip(np.einsum("npd,nd->np", offset, way[:, i]) / length, 0, 1)
        offset -= share[..., None] * way[:, i, None]
        np.minimum(nearest, (offset**2).sum(-1), out=nearest)
    ink = np.clip(np.float32(1.5) - np.sqrt(nearest) / thickness, 0, 1)
    images: NDArray[np.float32] = ink.reshape(n, SIDE, 2, SIDE, 2).mean((2, 4)).reshape(n, -1)
    return images
