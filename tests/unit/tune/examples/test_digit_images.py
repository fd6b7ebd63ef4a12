"""Digits from idx files, or drawn."""

import gzip

import numpy as np
import pytest

from overtone.errors import StorageError
from overtone.tune.examples.digit_images import DIRECTORY, SIDE, digits, drawn, read_idx


def idx(array):
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.astype(np.uint8).tobytes()


@pytest.fixture
def folder(tmp_path):
    images = np.arange(3 * SIDE * SIDE).reshape(3, SIDE, SIDE) % 256
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(images))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(np.array([7, 0, 9]))))
    return tmp_path


def test_idx_files_are_read_gzipped_or_not(folder):
    images, labels = digits(train=True, directory=folder)
    assert images.shape == (3, SIDE, SIDE)
    assert images[0, 0, :3].tolist() == [0, 1, 2]
    assert (labels.tolist(), labels.dtype) == ([7, 0, 9], np.int64)


def test_the_environment_names_the_folder(folder, monkeypatch):
    monkeypatch.setenv(DIRECTORY, str(folder))
    assert len(digits(train=True)[0]) == 3


def test_a_missing_file_is_named(folder):
    with pytest.raises(StorageError, match=r"t10k-images-idx3-ubyte\.gz"):
        digits(train=False, directory=folder)


@pytest.mark.parametrize("content", [b"", b"\x00\x00\x0d\x01\x00\x00\x00\x01a", idx(np.zeros(5))[:-1]])
def test_a_file_that_is_no_idx_file_of_bytes_is_an_error(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(StorageError, match="file is not an idx file"):
        read_idx(tmp_path / "file")


def test_drawn_digits_are_the_same_each_time_and_differ_by_seed():
    images, labels = drawn(20, seed=0)
    again, _ = drawn(20, seed=0)
    other, _ = drawn(20, seed=1)
    assert (images.shape, images.dtype, labels.shape) == ((20, SIDE, SIDE), np.uint8, (20,))
    assert (images == again).all()
    assert (images != other).any()


def test_drawn_digits_can_be_told_apart():
    images, labels = drawn(1500, seed=0)
    held_out, truth = drawn(200, seed=1)
    flat, asked = images.reshape(len(images), -1) / 255, held_out.reshape(200, -1) / 255
    distances = (asked**2).sum(1)[:, None] - 2 * asked @ flat.T + (flat**2).sum(1)
    assert (labels[distances.argmin(1)] == truth).mean() > 0.8
