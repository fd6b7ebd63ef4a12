"""Metrics in lines of text."""

import math

import pytest

from overtone.errors import ArgumentError
from overtone.program.text_metrics import Gathered, TextMetrics


@pytest.mark.parametrize(
    ("line", "metrics"),
    [
        ('{"loss": 0.5, "epoch": 1}', {"loss": 0.5, "epoch": 1}),
        ('  {"loss": 0.5}\r', {"loss": 0.5}),
        ('{"name": "run"}', {}),  # Nothing in it is a number.
        ('{"a": {"b": 1}}', {"a": {"b": 1}}),
        ("epoch 3: loss=0.25 acc: 0.9, lr=1e-4", {"loss": 0.25, "acc": 0.9, "lr": 1e-4}),
        ("loss: 1_000", {"loss": 1000}),
        ("[INFO] 'loss': '-.5'", {"loss": -0.5}),
        ("loss = inf", {"loss": math.inf}),
        ("acc=0.9", {}),  # The metric is not in the line.
        ("val_loss=0.3", {}),  # Another metric.
        ("loss: not a number", {}),
        ("loss=0.3s", {}),
        ("http://loss:80/x", {"loss": 80}),
        ("{loss}", {}),
        ("--loss=3 a=b=5 v=2.1.0 0.5: 3 loss=1e-5", {"loss": 1e-5, "b": 5, "v": 2.1}),
        ("x=1_0x loss=.5e1", {"loss": 5.0}),
        ("{" * 100_000 + "}", {}),
        ("loss" + "a" * 1_000_000, {}),  # The time is linear in the length.
        ("loss a" + "1a" * 500_000, {}),
        ("loss=" + "1" * 1_000_000 + "x", {}),
        ("loss=" + "1_" * 500_000, {}),
        ("loss" + " " * 1_000_000 + "=", {}),
        ("", {}),
    ],
)
def test_metrics_of_a_line(line, metrics):
    assert TextMetrics(("loss",)).found(line) == metrics


def test_nan_is_a_metric():
    assert math.isnan(TextMetrics(("loss",)).found("loss=nan")["loss"])
    assert math.isnan(TextMetrics(("loss",)).found('{"loss": NaN}')["loss"])


def test_patterns_replace_the_search_for_pairs():
    text = TextMetrics(("loss",), (r"loss is (?P<loss>\S+)", r"(?P<acc>\d+)%"))
    assert text.found("loss is 0.5, 93% right") == {"loss": 0.5, "acc": 93}
    assert text.found("loss=0.5") == {}


@pytest.mark.parametrize("pattern", ["(", "loss (.*)"])
def test_a_useless_pattern_is_refused(pattern):
    with pytest.raises(ArgumentError, match="pattern="):
        TextMetrics((), (pattern,))


def test_a_result_has_the_metrics_since_the_last_one():
    gathered = Gathered(("loss",))
    assert gathered.add({"train": 1}) is None
    assert gathered.add({"loss": 2, "epoch": 1}) == {"train": 1, "loss": 2, "epoch": 1}
    assert gathered.add({"epoch": 2}) is None
    assert list(gathered.seen) == ["train", "loss", "epoch"]
    assert Gathered().add({"anything": 1}) == {"anything": 1}
