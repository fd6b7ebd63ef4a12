"""Dicts of settings: defaults, what is allowed, and errors."""

from math import inf

import pytest

from overtone.searchers.library.bayesopt import BayesOptSearch
from overtone.searchers.library.bohb import TuneBOHB
from overtone.searchers.library.settings import settings

KNOWN = {"n": (64, 1, 100), "share": (0.5, 0.0, 1.0), "least": (None, 1, inf), "kind": ("a", "b")}


def test_what_is_not_given_has_its_default():
    assert settings("options", None, KNOWN) == {"n": 64, "share": 0.5, "least": None, "kind": "a"}
    assert settings("options", {"n": 3, "kind": "b", "least": None}, KNOWN)["n"] == 3


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"n": 0}, "options: n=0 must be a whole number from 1 to 100"),
        ({"n": 2.0}, "n=2.0 must be a whole number"),
        ({"n": None}, "n=None must be a whole number"),
        ({"n": True}, "n=True must be"),
        ({"share": 1.5}, "share=1.5 must be a number from 0 to 1"),
        ({"share": "a"}, "share='a' must be"),
        ({"share": float("nan")}, "share=nan must be"),
        ({"kind": "c"}, "kind='c' must be one of 'a', 'b'"),
        ({"kin": "a"}, "options has 'kin'; did you mean 'kind'"),
        ({3: "a"}, r"options has 3 \(known: n, share"),
        (7, "options=7 must be a dict with some of n, share"),
    ],
)
def test_what_is_not_allowed_says_what_is(given, text):
    with pytest.raises(ValueError, match=text):
        settings("options", given, KNOWN)


def test_searchers_see_to_their_settings_when_they_are_made():
    with pytest.raises(ValueError, match="bohb_config: num_samples=-1"):
        TuneBOHB(bohb_config={"num_samples": -1})
    with pytest.raises(ValueError, match="utility_kwargs has 'kapa'; did you mean 'kappa'"):
        BayesOptSearch(utility_kwargs={"kapa": 2})
