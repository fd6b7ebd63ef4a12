"""Arguments of Ray Tune's searchers: what is refused, what is let pass, and what the errors say."""

import pytest

from overtone.errors import OvertoneError
from overtone.searchers.ax import AxSearch
from overtone.searchers.bayesopt import BayesOptSearch


@pytest.mark.parametrize(
    ("cls", "name", "instead"),
    [
        (AxSearch, "parameter_constraints", "constraint=lambda"),
        (AxSearch, "outcome_constraints", "constraints={"),
        (AxSearch, "ax_client", "n_initial_points"),
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
