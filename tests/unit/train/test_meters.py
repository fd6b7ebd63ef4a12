"""Means weighted by samples, over batches and over workers; timers; checked overrides."""

from __future__ import annotations

import math

import pytest

from overtone.errors import UsageError
from overtone.train.torch.operators.meters import AverageMeterCollection, TimerCollection, override, reduced


def test_means_of_batches_are_weighted_by_their_samples():
    meters = AverageMeterCollection()
    meters.update({"loss": 1.0, "num_samples": 30})
    meters.update({"loss": 4.0, "num_samples": 10})
    meters.update({"loss": math.nan}, n=0)
    assert meters.summary() == {
        "num_samples": 40,
        "batch_count": 3,
        "loss": 1.75,
        "last_loss": pytest.approx(math.nan, nan_ok=True),
    }


def test_a_batch_without_its_size_is_an_error_that_says_so():
    with pytest.raises(UsageError, match=r"lack 'num_samples' \(given: 'loss'\).*target\.size\(0\)"):
        AverageMeterCollection().update({"loss": 1.0})


def test_a_metric_must_be_a_number():
    with pytest.raises(UsageError, match=r"name='x': a metric of a batch must be a number"):
        AverageMeterCollection().update({"name": "x", "num_samples": 1})


def test_means_over_workers_are_weighted_and_counts_are_summed():
    results = [
        {"num_samples": 30, "epoch": 2, "batch_count": 3, "loss": 1.0, "profile": {"fwd": 1.0}, "tag": "a"},
        {"num_samples": 10, "epoch": 2, "batch_count": 1, "loss": 5.0, "profile": {"fwd": 5.0}, "tag": "b"},
    ]
    assert reduced(results) == {
        "num_samples": 40, "epoch": 2, "batch_count": 3, "loss": 2.0, "profile": {"fwd": 2.0}, "tag": "a",
    }  # fmt: skip


def test_a_worker_without_samples_does_not_count():
    empty = {"num_samples": 0, "batch_count": 0}
    assert reduced([{"num_samples": 2, "batch_count": 1, "loss": 3.0}, empty])["loss"] == 3.0
    assert reduced([{"num_samples": 2, "loss": 3.0}, {"num_samples": 0, "loss": math.nan}])["loss"] == 3.0


def test_results_without_sizes_count_alike():
    assert reduced([{"loss": 1.0, "done": True}, {"loss": 2.0, "done": True}]) == {"loss": 1.5, "done": True}


def test_timers_record_while_they_are_enabled():
    timers = TimerCollection()
    with timers.record("a"):
        pass
    assert timers.stats() == {}
    timers.enable()
    with timers.record("a"):
        pass
    assert set(timers.stats(last=True)) == {"mean_a_s", "last_a_s"}


def test_an_override_of_nothing_is_an_error():
    class Base:
        def train_batch(self): ...

    with pytest.raises(UsageError, match=r"Base has no method 'train_batsh'.*did you mean 'train_batch'"):

        @override(Base)
        def train_batsh(self): ...
