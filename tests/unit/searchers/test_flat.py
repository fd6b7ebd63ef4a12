"""Configurations as flat dicts, and back."""

from random import Random

import pytest

from overtone import tune
from overtone.errors import SpaceError
from overtone.searchers.flat import branches, built, flattened, searched
from overtone.space import parse

SPACE = {
    "model": tune.choice(
        [{"kind": "svm", "c": tune.uniform(0, 1)}, {"kind": "tree", "depth": tune.randint(1, 9)}, None]
    ),
    "layers": [tune.qrandint(8, 64, 8), 3],
    "double": tune.sample_from(lambda spec: spec.config.lr * 2),
    "lr": tune.loguniform(1e-3, 1),
    "fixed": {"a": 1},
}
CONFIGS = [
    ({"kind": "svm", "c": 0.5}, {"model": 0, "model#0/c": 0.5}),
    ({"kind": "tree", "depth": 3}, {"model": 1, "model#1/depth": 3}),
    (None, {"model": 2}),
]


@pytest.mark.parametrize(("model", "flat"), CONFIGS)
def test_there_and_back(model, flat):
    config = {"model": model, "layers": [16, 3], "double": 0.25, "lr": 0.125, "fixed": {"a": 1}}
    root = parse(SPACE)
    flat = {**flat, "layers/0": 16, "lr": 0.125}
    assert flattened(root, config) == flat
    assert built(root, flat, Random) == config


def test_a_choice_that_leaves_nothing_else_to_choose_is_no_branch():
    assert [one.key for one in branches(parse(SPACE))] == ["model"]
    only = {"a": tune.choice([{"x": tune.uniform(0, 1)}]), "b": tune.choice([{"x": 1}, {"y": 2}])}
    assert list(branches(parse(only))) == []


def test_what_is_left_out_is_drawn():
    root = parse(SPACE)
    config = built(root, {"model": 1}, Random)
    assert config["model"]["kind"] == "tree"
    assert config["lr"] == built(root, {}, Random)["lr"]


def test_all_that_may_be_chosen():
    assert [node.key for node in searched(parse(SPACE))] == [
        "layers/0",
        "lr",
        "model",
        "model#0/c",
        "model#1/depth",
    ]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [({"lr": 7.0}, "lr=7.0 lies outside"), ({"model": "tree"}, "model='tree' is none of"), ({"layers": [16]}, None),
     ({"layers": []}, "has no layers/0")],
)  # fmt: skip
def test_what_did_not_come_from_the_space(change, complaint):
    config = {"model": None, "layers": [16, 3], "lr": 0.125, "fixed": {"a": 1}, **change}
    if complaint is None:
        assert flattened(parse(SPACE), config)["layers/0"] == 16
        return
    with pytest.raises(SpaceError, match=complaint):
        flattened(parse(SPACE), config)
