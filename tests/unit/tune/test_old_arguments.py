"""Arguments of searchers that later versions of the API moved elsewhere."""

import pickle

import pytest

from overtone.searchers.library.hyperopt import HyperOptSearch as Plain
from overtone.tune.suggest.ax import AxSearch
from overtone.tune.suggest.bayesopt import BayesOptSearch
from overtone.tune.suggest.hyperopt import HyperOptSearch
from overtone.tune.suggest.nevergrad import NevergradSearch


@pytest.mark.parametrize("kind", [AxSearch, BayesOptSearch, HyperOptSearch])
def test_a_limit_and_a_reward(kind):
    searcher = kind({"x": 1}, max_concurrent=3, reward_attr="neg_mean_loss")
    assert (searcher.max_concurrent, searcher.metric, searcher.mode) == (3, "mean_loss", "min")
    searcher = kind({"x": 1}, reward_attr="mean_accuracy")
    assert (searcher.max_concurrent, searcher.metric, searcher.mode) == (0, "mean_accuracy", "max")
    searcher = kind({"x": 1}, metric="loss", mode="min")
    assert (searcher.metric, searcher.mode) == ("loss", "min")


def test_it_is_the_same_searcher_and_can_be_pickled():
    assert issubclass(HyperOptSearch, Plain)
    assert pickle.loads(pickle.dumps(HyperOptSearch)) is HyperOptSearch
    assert NevergradSearch.__name__ == "NevergradSearch"
