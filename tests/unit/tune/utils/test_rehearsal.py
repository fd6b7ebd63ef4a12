"""Checks of a trainable before it is run."""

import json
import threading
from pathlib import Path

import pytest

from overtone import tune
from overtone.errors import TrainableError
from overtone.tune.utils import diagnose_serialization, validate_save_restore


class Counter(tune.Trainable):
    def setup(self, config):
        self.n = config.get("start", 0)

    def step(self):
        self.n += 1
        return {"n": self.n}

    def save_checkpoint(self, checkpoint_dir):
        Path(checkpoint_dir, "n").write_text(str(self.n))

    def load_checkpoint(self, checkpoint):
        self.n = int(Path(checkpoint, "n").read_text())


class Forgetful(Counter):
    def load_checkpoint(self, checkpoint):
        json.loads("{")


def test_one_that_saves_and_loads():
    assert validate_save_restore(Counter, {"start": 3}) is True


def test_one_that_cannot_load_raises_its_own_error():
    with pytest.raises(ValueError, match="Expecting"):
        validate_save_restore(Forgetful)


def test_a_function_is_refused():
    with pytest.raises(TrainableError, match="takes a class"):
        validate_save_restore(len)


def test_what_cannot_be_sent_is_named():
    lock, number = threading.Lock(), 3

    def train(config):
        return number if lock else 0

    assert diagnose_serialization(Counter) is True
    assert diagnose_serialization(train) == {"lock"}


def test_an_object_saves_and_goes_on_from_a_checkpoint(tmp_path):
    first, second = Counter({"start": 5}), Counter()
    first.train()
    checkpoint = first.save(tmp_path / "kept")
    second.restore(checkpoint)
    assert (second.n, second.iteration) == (6, 1)
    assert second.train() == {"training_iteration": 2, "n": 7}
    third = Counter()
    third.restore(str(tmp_path / "kept"))
    assert third.n == 6
