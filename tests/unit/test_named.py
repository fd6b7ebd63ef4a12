"""Schedulers and searchers by name."""

import pytest

from overtone import tune
from overtone.schedulers.fifo import FIFOScheduler


def test_a_scheduler_is_made_by_its_name():
    assert type(tune.create_scheduler("fifo")) is FIFOScheduler


def test_arguments_are_handed_on():
    asha = tune.create_scheduler("async_hyperband", metric="acc", mode="max", max_t=9)
    assert (asha.metric, asha.mode) == ("acc", "max")


def test_an_unknown_name_is_answered_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"'ahsa'; did you mean 'asha'.*'fifo'"):
        tune.create_scheduler("ahsa")
    with pytest.raises(ValueError, match="no searcher 'magic'"):
        tune.create_searcher("magic")


@pytest.mark.parametrize("name", ["random", "sobol", "Variant_Generator", "auto"])
def test_every_searcher_may_be_given_the_goal(name):
    searcher = tune.create_searcher(name, metric="loss", mode="min")
    assert searcher.metric in (None, "loss")
    with pytest.raises(TypeError, match="metrik"):
        tune.create_searcher(name, metrik="loss")
