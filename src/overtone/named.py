"""Schedulers and searchers by their short names."""

from __future__ import annotations

from typing import Any

from overtone.errors import ArgumentError
from overtone.lazy import nearest

_SCHEDULERS = {
    "fifo": "overtone.schedulers.fifo:FIFOScheduler",
    "asha": "overtone.schedulers.asha:ASHAScheduler",
    "async_hyperband": "overtone.schedulers.asha:ASHAScheduler",
    "asynchyperband": "overtone.schedulers.asha:ASHAScheduler",
    "hyperband": "overtone.schedulers.hyperband:HyperBandScheduler",
    "hb_bohb": "overtone.schedulers.bohb:HyperBandForBOHB",
    "successive_halving": "overtone.schedulers.successive_halving:SuccessiveHalving",
    "median": "overtone.schedulers.median:MedianStoppingRule",
    "median_stopping_rule": "overtone.schedulers.median:MedianStoppingRule",
    "medianstopping": "overtone.schedulers.median:MedianStoppingRule",
    "pasha": "overtone.schedulers.pasha:PASHA",
    "moasha": "overtone.schedulers.moasha:MOASHA",
    "auto": "overtone.schedulers.auto:AutoScheduler",
    "pbt": "overtone.schedulers.pbt:PopulationBasedTraining",
    "pbt_replay": "overtone.schedulers.pbt_replay:PopulationBasedTrainingReplay",
    "pb2": "overtone.schedulers.pb2:PB2",
    "dehb": "overtone.schedulers.dehb:DEHB",
    "priorband": "overtone.schedulers.priorband:PriorBand",
    "resource_changing": "overtone.schedulers.resize:ResourceChangingScheduler",
}
_SEARCHERS = {
    "auto": "overtone.searchers:AutoSearch",
    "sobol": "overtone.searchers:SobolSearch",
    "random": "overtone.searchers:BasicVariantGenerator",
    "variant_generator": "overtone.searchers:BasicVariantGenerator",
    "optuna": "overtone.searchers.optuna:OptunaSearch",
    "hyperopt": "overtone.searchers.hyperopt:HyperOptSearch",
    "ax": "overtone.searchers.ax:AxSearch",
    "nevergrad": "overtone.searchers.nevergrad:NevergradSearch",
    "bayesopt": "overtone.searchers.bayesopt:BayesOptSearch",
    "bohb": "overtone.searchers.bohb:TuneBOHB",
    "smac": "overtone.searchers.smac:SMACSearch",
    "skopt": "overtone.searchers.skopt:SkOptSearch",
    "zoopt": "overtone.searchers.zoopt:ZOOptSearch",
    "blendsearch": "overtone.searchers.flaml:BlendSearch",
    "cfo": "overtone.searchers.flaml:CFO",
}
_UNLEARNED = ("random", "sobol", "variant_generator")
"""Searchers that ignore the goal, which callers may pass to every searcher."""


def create_scheduler(scheduler: str, **arguments: Any) -> Any:
    """Return the scheduler of this name, created with `arguments`.

    Raises:
        ValueError: The name is unknown; the message lists the known names.
    """
    return _made("scheduler", scheduler, _SCHEDULERS, arguments)


def create_searcher(search_alg: str, **arguments: Any) -> Any:
    """Return the searcher of this name, created with `arguments`.

    Raises:
        ValueError: The name is unknown; the message lists the known names.
    """
    if search_alg.lower() in _UNLEARNED:
        arguments = {name: one for name, one in arguments.items() if name not in ("metric", "mode")}
    return _made("searcher", search_alg, _SEARCHERS, arguments)


def _made(kind: str, name: str, table: dict[str, str], arguments: dict[str, Any]) -> Any:
    from importlib import import_module

    if name.lower() not in table:
        known = ", ".join(map(repr, table))
        raise ArgumentError(f"there is no {kind} {name!r}{nearest(name.lower(), table)} (known: {known})")
    module, cls = table[name.lower()].split(":")
    return getattr(import_module(module), cls)(**arguments)
