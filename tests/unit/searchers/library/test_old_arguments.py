"""Arguments of Ray Tune's searchers: what is refused, what is let pass, and what the errors say."""

import pytest

from overtone.errors import OvertoneError
from overtone.searchers.library.ax import AxSearch
from overtone.searchers.library.bayesopt import BayesOptSearch


@pytest.mark.parametrize(
    ("cls", "name", "instead"),
    [
        (AxSearch, "outcome_constraints", "constraints={"),
        (AxSearch, "ax_client", "n_initial_points"),
    ],
)
def test_an_argument_that_means_something_else_says_what_to_write(cls, name, instead):
    with pytest.raises(OvertoneError, match=f"{cls.__name__} has no {name}=.*{instead}"):
        cls(**{name: ["a"]})
    cls(**{name: None})


def test_a_patience_below_1_is_refused():
    BayesOptSearch(verbose=1, patience=1)
    with pytest.raises(ValueError, match="patience=0: must be a number of 1 or more"):
        BayesOptSearch(patience=0)


def test_an_unknown_argument_is_a_type_error_with_the_nearest_name():
    with pytest.raises(TypeError, match="no argument 'random_stat'; did you mean 'random_state'"):
        BayesOptSearch(random_stat=1)
