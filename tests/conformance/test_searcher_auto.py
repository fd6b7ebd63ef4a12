"""The searchers that need nothing but the bare package, through the conformance suite."""

from overtone.searchers import AutoSearch, SobolSearch
from overtone.testing.searcher_conformance import SearcherConformance


class TestAuto(SearcherConformance):  # at every kill, and with several objectives: tests/slow
    is_distinct = True
    n = 9
    kills = 2
    n_learning = 15

    def make_searcher(self, **arguments):
        return AutoSearch(num_samples=-1, **arguments)


class TestSobol(SearcherConformance):
    is_distinct = True
    is_learning = takes_rewards = False
    kills = 3

    def make_searcher(self, **arguments):
        return SobolSearch(num_samples=-1, **arguments)
