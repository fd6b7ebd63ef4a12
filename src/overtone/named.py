"""Schedulers and searchers by their short names: Overtone's own, and those that other packages offer.

A package offers a scheduler or searcher by an entry point in the group `overtone.schedulers` or
`overtone.searchers`: see docs/publish-an-algorithm.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overtone.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.metadata import EntryPoint

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
    "optuna": "overtone.searchers.library.optuna:OptunaSearch",
    "hyperopt": "overtone.searchers.library.hyperopt:HyperOptSearch",
    "ax": "overtone.searchers.library.ax:AxSearch",
    "nevergrad": "overtone.searchers.library.nevergrad:NevergradSearch",
    "bayesopt": "overtone.searchers.library.bayesopt:BayesOptSearch",
    "bohb": "overtone.searchers.library.bohb:TuneBOHB",
    "smac": "overtone.searchers.library.smac:SMACSearch",
    "skopt": "overtone.searchers.library.skopt:SkOptSearch",
    "zoopt": "overtone.searchers.library.zoopt:ZOOptSearch",
    "blendsearch": "overtone.searchers.library.flaml:BlendSearch",
    "cfo": "overtone.searchers.library.flaml:CFO",
}
_METHODS = {
    "tpe": ("optuna", "which uses TPE"),
    "gp": ("auto", "which uses Gaussian processes and densities"),
    "bayesian": ("bayesopt", "which uses Gaussian processes"),
    "bo": ("bayesopt", "which uses Gaussian processes"),
    "grid": ("random", "which takes tune.grid_search(...) from the space"),
    "grid_search": ("random", "which takes tune.grid_search(...) from the space"),
    "evolution": ("nevergrad", "which has evolutionary algorithms"),
}
"""Names of methods that people ask for, with the searcher that has it."""

_UNLEARNED = ("random", "sobol", "variant_generator")
"""Searchers that ignore the goal, which callers may pass to every searcher."""


def create_scheduler(scheduler: str, **arguments: Any) -> Any:
    """Return the scheduler of this name, created with `arguments`.

    Raises:
        ValueError: The name is unknown (the message lists the known names), or two packages offer it.
        ImportError: The package that offers it cannot be imported.
    """
    return _made("scheduler", scheduler, _SCHEDULERS, arguments)


def create_searcher(search_alg: str, **arguments: Any) -> Any:
    """Return the searcher of this name, created with `arguments`.

    Raises:
        ValueError: The name is unknown (the message lists the known names), or two packages offer it.
        ImportError: The package that offers it cannot be imported.
    """
    if search_alg.lower() in _UNLEARNED:
        arguments = {name: one for name, one in arguments.items() if name not in ("metric", "mode")}
    return _made("searcher", search_alg, _SEARCHERS, arguments)


def _made(kind: str, name: str, table: dict[str, str], arguments: dict[str, Any]) -> Any:
    from importlib import import_module

    if name.lower() in table:
        module, cls = table[name.lower()].split(":")
        return getattr(import_module(module), cls)(**arguments)
    offered = _offered(kind)
    found = offered.get(name.lower(), [])
    if len(found) > 1:
        packages = " and ".join(sorted(_package(one) for one in found))
        raise ArgumentError(f"{packages} both offer a {kind} {name!r}: import the class of the one you mean")
    if found:
        return _loaded(kind, found[0])(**arguments)
    known = [*table, *offered]
    listed = ", ".join(map(repr, known))
    meant = _nearest(name.lower(), known, _METHODS if kind == "searcher" else {})
    raise ArgumentError(f"there is no {kind} {name!r}{meant} (known: {listed})")


def _nearest(name: str, known: Sequence[str], methods: Mapping[str, tuple[str, str]]) -> str:
    """Return '; did you mean ...?' with the known name most like `name`, or one with the method `name`."""
    from difflib import get_close_matches

    close = get_close_matches(name, [*known, *methods], 1)
    if close and close[0] not in known:
        found, why = methods[close[0]]
        return f"; did you mean {found!r}, {why}?"
    return f"; did you mean {close[0]!r}?" if close else ""


def _offered(kind: str) -> dict[str, list[EntryPoint]]:
    """Return what installed packages offer, by name in lower case; an entry point counts once."""
    from importlib.metadata import entry_points

    found: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    for one in entry_points(group=f"overtone.{kind}s"):
        found.setdefault(one.name.lower(), {})[_package(one), one.value] = one
    return {name: list(ones.values()) for name, ones in found.items()}


def _loaded(kind: str, entry_point: EntryPoint) -> Any:
    try:
        return entry_point.load()
    except Exception as error:
        raise ImportError(
            f"the {kind} {entry_point.name!r} of {_package(entry_point)} ({entry_point.value}) "
            f"cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _package(entry_point: EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist is not None else entry_point.value
