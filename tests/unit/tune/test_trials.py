"""The list that `run_experiments` returns."""

import pytest

from overtone.tune.trials import Trials


class Analysis:
    def __init__(self, trials):
        self.trials = trials
        self.best_config = {"n": len(trials)}


def test_it_is_the_list_of_all_trials():
    assert Trials([Analysis(["a", "b"]), Analysis(["c"])]) == ["a", "b", "c"]


def test_what_a_list_lacks_is_asked_of_the_only_analysis():
    assert Trials([Analysis(["a"])]).best_config == {"n": 1}


def test_of_several_analyses_one_must_be_named():
    trials = Trials([Analysis(["a"]), Analysis(["b"])])
    assert trials.analyses[1].best_config == {"n": 1}
    with pytest.raises(AttributeError, match=r"2 experiments.*trials.analyses\[0\].best_config"):
        _ = trials.best_config


def test_without_experiments_it_is_an_empty_list():
    assert Trials([]) == []
    assert not hasattr(Trials([]), "best_config")
