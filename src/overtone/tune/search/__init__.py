"""Searchers by the names that users import; each is imported when it is first used."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.core.protocols": "Searcher",
    "overtone.searchers": "AutoSearch BasicVariantGenerator ConcurrencyLimiter Repeater SobolSearch",
    "overtone.named": "create_searcher",
}
_MODULES = (
    "ax", "basic_variant", "bayesopt", "bohb", "concurrency_limiter", "hyperopt", "nevergrad", "optuna",
    "repeater", "sample", "searcher", "smac",
)  # fmt: skip

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.core.protocols import Searcher as Searcher
    from overtone.named import create_searcher as create_searcher
    from overtone.searchers import AutoSearch as AutoSearch
    from overtone.searchers import BasicVariantGenerator as BasicVariantGenerator
    from overtone.searchers import ConcurrencyLimiter as ConcurrencyLimiter
    from overtone.searchers import Repeater as Repeater
    from overtone.searchers import SobolSearch as SobolSearch
    from overtone.tune.search import ax as ax
    from overtone.tune.search import basic_variant as basic_variant
    from overtone.tune.search import bayesopt as bayesopt
    from overtone.tune.search import bohb as bohb
    from overtone.tune.search import concurrency_limiter as concurrency_limiter
    from overtone.tune.search import hyperopt as hyperopt
    from overtone.tune.search import nevergrad as nevergrad
    from overtone.tune.search import optuna as optuna
    from overtone.tune.search import repeater as repeater
    from overtone.tune.search import sample as sample
    from overtone.tune.search import searcher as searcher
    from overtone.tune.search import smac as smac
else:
    __getattr__, __dir__ = attach(__name__, _NAMES, _MODULES)
