"""Optuna's samplers through the conformance suite."""

import pytest

from overtone.testing.searcher_conformance import SearcherConformance

pytest.importorskip("optuna")


class TestTPE(SearcherConformance):
    n = 12
    kills = 4

    def make_searcher(self, **arguments):
        from overtone.searchers.library.optuna import OptunaSearch

        return OptunaSearch(**arguments)
