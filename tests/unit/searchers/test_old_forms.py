"""Searchers and arguments in Ray Tune's form: what is refused, what is let pass, and what the errors say."""

import pytest

from overtone import tune
from overtone.core.protocols import Searcher
from overtone.errors import OvertoneError
from overtone.searchers import Repeater
from overtone.searchers.ax import AxSearch
from overtone.searchers.bayesopt import BayesOptSearch
from overtone.searchers.old_forms import known_form


class Old(Searcher):
    def suggest(self, trial_id):
        return {}

    def on_trial_complete(self, trial_id, result=None, error=False):
        pass


class New(Searcher):
    def suggest(self, index):
        return {}


def test_a_searcher_that_is_asked_by_ids_is_shown_the_new_form():
    shown = r"Old defines suggest, on_trial_complete as Ray Tune(.|\n)*def suggest\(self, index\)(.|\n)*on_trial_end"
    for given in (Old, Old()):
        with pytest.raises(OvertoneError, match=shown):
            known_form(given)
    with pytest.raises(OvertoneError, match="def suggest"):
        Repeater(Old(), 2)
    with pytest.raises(OvertoneError, match="def suggest"):
        tune.run(print, search_alg=Old(), config={"x": 1})


@pytest.mark.parametrize("given", [New, New(), None, 3])
def test_everything_else_is_handed_back(given):
    assert known_form(given) is given


@pytest.mark.parametrize(
    ("cls", "name", "instead"),
    [
        (AxSearch, "parameter_constraints", "constraint=lambda"),
        (AxSearch, "outcome_constraints", "constraints={"),
        (AxSearch, "ax_client", "n_initial_points"),
        (BayesOptSearch, "analysis", "warm_start"),
    ],
)
def test_an_argument_that_means_something_else_says_what_to_write(cls, name, instead):
    with pytest.raises(OvertoneError, match=f"{cls.__name__} has no {name}=.*{instead}"):
        cls(**{name: ["a"]})
    cls(**{name: None})


def test_an_argument_without_effect_is_warned_of_once():
    with pytest.warns(UserWarning, match="BayesOptSearch: patience has no effect") as caught:
        BayesOptSearch(verbose=1, patience=5)
    assert [one.filename for one in caught] == [__file__]


def test_an_unknown_argument_is_a_type_error_with_the_nearest_name():
    with pytest.raises(TypeError, match="no argument 'random_stat'; did you mean 'random_state'"):
        BayesOptSearch(random_stat=1)
