"""Every searcher that needs no other package, through the conformance suite."""

from overtone.searchers import BasicVariantGenerator, ConcurrencyLimiter
from overtone.searchers.library.bohb import TuneBOHB
from overtone.testing.searcher_conformance import SearcherConformance


class TestRandom(SearcherConformance):
    is_learning = takes_rewards = False

    def make_searcher(self, **arguments):
        return BasicVariantGenerator(num_samples=-1, **arguments)


class TestLimiter(SearcherConformance):
    is_learning = takes_rewards = False
    n = 10

    def make_searcher(self, **arguments):
        return ConcurrencyLimiter(BasicVariantGenerator(num_samples=-1, **arguments), 8)


class TestBOHB(SearcherConformance):
    takes_rewards = False
    kills = 6

    def make_searcher(self, **arguments):
        return TuneBOHB(**arguments)
