"""The schedulers of the first modules take what they maximise as `reward_attr`."""

import pytest

from overtone.schedulers.pbt import PopulationBasedTraining as Newer
from overtone.tune.async_hyperband import AsyncHyperBandScheduler
from overtone.tune.hyperband import HyperBandScheduler
from overtone.tune.median_stopping_rule import MedianStoppingRule
from overtone.tune.pbt import PopulationBasedTraining


@pytest.mark.parametrize("maker", [AsyncHyperBandScheduler, HyperBandScheduler, MedianStoppingRule])
def test_a_reward_is_a_metric_to_maximise_and_a_negated_one_to_minimise(maker):
    best, least = maker(reward_attr="acc"), maker(time_attr="t", reward_attr="neg_mean_loss")
    assert (best.metric, best.mode) == ("acc", "max")
    assert (least.metric, least.mode, least.time_attr) == ("mean_loss", "min", "t")
    assert maker().metric is None


def test_what_is_made_is_the_scheduler_itself():
    assert type(PopulationBasedTraining(hyperparam_mutations={"lr": [1, 2]}, reward_attr="a")) is Newer
