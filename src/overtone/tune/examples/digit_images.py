"""Handwritten digits from MNIST's files, or similar generated digits if there are no files."""

from __future__ import annotations

import gzip
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.errors import StorageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Images = npt.NDArray[np.uint8]
    Labels = npt.NDArray[np.int64]

DIRECTORY = "OVERTONE_MNIST_DIR"
"""The environment variable that names the folder of the four idx files."""

SIDE = 28
"""Images are SIDE x SIDE pixels."""

_FILES = {True: ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
          False: ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")}  # fmt: skip

# five columns, seven rows, one bit per pixel: the font of character displays
_GLYPHS = (
    "01110 10001 10011 10101 11001 10001 01110",
    "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00010 00100 01000 11111",
    "11111 00010 00100 00010 00001 10001 01110",
    "00010 00110 01010 10010 11111 00010 00010",
    "11111 10000 11110 00001 00001 10001 01110",
    "00110 01000 10000 11110 10001 10001 01110",
    "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110",
    "01110 10001 10001 01111 00001 00010 01100",
)
_SCALE = 3


def digits(train: bool, directory: str | Path | None = None) -> tuple[Images, Labels]:
    """Return images (n, 28, 28) and labels (n,), for training or for testing.

    Args:
        train: True for the training set, False for the test set.
        directory: The folder with MNIST's four idx files, gzipped or not. The default is
            the environment variable OVERTONE_MNIST_DIR. If neither is set, digits are generated:
            the same digits each time.

    Raises:
        StorageError: A file is missing or is not an idx file of bytes.
    """
    directory = directory or os.environ.get(DIRECTORY)
    if not directory:
        return drawn(2000, seed=0) if train else drawn(500, seed=1)
    images, labels = (read_idx(_existing(Path(directory).expanduser(), name)) for name in _FILES[train])
    return images, labels.astype("int64")


def read_idx(path: Path) -> Any:
    """Read the array of bytes in an idx file, gzipped if its name ends in .gz.

    Raises:
        StorageError: The file is not an idx file of bytes.
    """
    import numpy as np

    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    # two zeros, the type of the values (8: unsigned bytes), the number of dimensions, the dimensions
    dimensions = content[3] if content[:3] == b"\x00\x00\x08" else 0
    shape = tuple(int.from_bytes(content[4 + 4 * i : 8 + 4 * i], "big") for i in range(dimensions))
    start = 4 + 4 * dimensions
    if not dimensions or len(content) != start + math.prod(shape):
        raise StorageError(f"{path} is not an idx file of bytes, or is cut short: download it again")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def drawn(n: int, seed: int) -> tuple[Images, Labels]:
    """Generate `n` digits of a character display at random positions, in random ink, on noise."""
    import numpy as np

    rng = np.random.default_rng(seed)
    font = np.array([[[int(bit) for bit in row] for row in glyph.split()] for glyph in _GLYPHS])
    font = np.kron(font, np.ones((_SCALE, _SCALE)))
    height, width = font.shape[1:]
    labels = rng.integers(0, 10, n)
    images = rng.normal(0, 25, (n, SIDE, SIDE))
    tops, lefts = rng.integers(0, SIDE - height + 1, n), rng.integers(4, SIDE - width - 3, n)
    inks = rng.uniform(120, 255, n)
    for image, label, top, left, ink in zip(images, labels, tops, lefts, inks, strict=True):
        image[top : top + height, left : left + width] += font[label] * ink
    return images.clip(0, 255).astype(np.uint8), labels.astype(np.int64)


def _existing(directory: Path, name: str) -> Path:
    for path in (directory / name, directory / f"{name}.gz"):
        if path.exists():
            return path
    raise StorageError(f"{directory} has neither {name} nor {name}.gz: it must hold MNIST's four idx files")
