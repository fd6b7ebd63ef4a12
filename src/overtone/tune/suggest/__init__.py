"""The old name of `tune.search`."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.core.protocols": "Searcher",
    "overtone.searchers": "BasicVariantGenerator ConcurrencyLimiter Repeater",
    "overtone.named": "create_searcher",
}
_MODULES = (
    "ax", "basic_variant", "bayesopt", "bohb", "hyperopt", "nevergrad", "optuna", "repeater", "smac",
    "suggestion",
)  # fmt: skip

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.core.protocols import Searcher as Searcher
    from overtone.named import create_searcher as create_searcher
    from overtone.searchers import BasicVariantGenerator as BasicVariantGenerator
    from overtone.searchers import ConcurrencyLimiter as ConcurrencyLimiter
    from overtone.searchers import Repeater as Repeater
    from overtone.tune.suggest import ax as ax
    from overtone.tune.suggest import basic_variant as basic_variant
    from overtone.tune.suggest import bayesopt as bayesopt
    from overtone.tune.suggest import bohb as bohb
    from overtone.tune.suggest import hyperopt as hyperopt
    from overtone.tune.suggest import nevergrad as nevergrad
    from overtone.tune.suggest import optuna as optuna
    from overtone.tune.suggest import repeater as repeater
    from overtone.tune.suggest import smac as smac
    from overtone.tune.suggest import suggestion as suggestion
else:
    __getattr__, __dir__ = attach(__name__, _NAMES, _MODULES)
