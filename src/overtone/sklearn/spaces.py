"""Spaces of scikit-learn, SciPy, Optuna and Overtone, as candidates or as a space for searchers."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from numbers import Integral, Real
from typing import Any

from sklearn.model_selection import ParameterGrid, ParameterSampler

from overtone.core.protocols import Searcher
from overtone.core.types import Config
from overtone.errors import SpaceError
from overtone.sklearn.trials import PARAMS
from overtone.space import Domain
from overtone.space.dsl import choice, lograndint, loguniform, qloguniform, quniform, randint, randn, uniform

QUANTILES = 64
"""Number of values that stand for a distribution that searchers do not know."""


class Candidates(Searcher):
    """Suggests candidates in their order.

    Attributes:
        total: Number of candidates; None if they are endless.
    """

    lookahead = 200

    def __init__(self) -> None:
        super().__init__()
        self._known: list[Config] = []
        self._further: Iterator[Config] = iter(())

    @classmethod
    def of(cls, configs: Iterable[Config]) -> Candidates:
        """Return a searcher that suggests `configs`; the journal's header does not list them."""
        made = cls()
        made._further = iter(configs)
        if isinstance(configs, list):
            made.total = len(configs)
        return made

    def total_for(self, num_samples: int) -> int | None:
        return self.total

    def suggest(self, index: int) -> Config | None:
        self._known.extend(islice(self._further, max(0, index + 1 - len(self._known))))
        return dict(self._known[index]) if index < len(self._known) else None


def drawn(distributions: Any, n_trials: int, random_state: Any) -> Candidates:
    """Return the candidates that scikit-learn draws; endless for -1, unless all values are lists."""
    is_endless = False
    if n_trials < 0:
        spaces = [distributions] if isinstance(distributions, Mapping) else distributions
        is_endless = any(hasattr(value, "rvs") for space in spaces for value in space.values())
        n_trials = sys.maxsize if is_endless else len(ParameterGrid(distributions))
    sampler = ParameterSampler(distributions, n_trials, random_state=random_state)
    return Candidates.of(sampler if is_endless else list(sampler))


def has_domains(distributions: Any) -> bool:
    """Return whether scikit-learn cannot draw from any value: a domain of Overtone or Optuna, an interval."""
    spaces = [distributions] if isinstance(distributions, Mapping) else distributions
    values = [value for space in spaces for value in space.values()]
    return any(_is_own(value) or _is_of_optuna(value) or _has_prior(value) for value in values)


def listed_values(distributions: Any) -> dict[str, Any]:
    """Return the space that tells the journal how to write the values of listed candidates.

    Values such as estimators are written as their place in a list of the space.
    """
    if not isinstance(distributions, Mapping):
        return {}
    return {
        name: choice(list(values))
        for name, values in distributions.items()
        if not hasattr(values, "rvs") and not all(isinstance(one, (Real, str, type(None))) for one in values)
    }


def search_space(distributions: Any) -> dict[str, Any]:
    """Return the space that searchers search.

    Several spaces become one choice below `PARAMS`.

    Raises:
        SpaceError: A distribution has no `ppf`, and is not one of the known kinds.
    """
    if isinstance(distributions, Mapping):
        return {str(name): _domain(name, value) for name, value in sorted(distributions.items())}
    spaces = [search_space(space) for space in distributions]
    return spaces[0] if len(spaces) == 1 else {PARAMS: choice(spaces)}


def _is_own(value: Any) -> bool:
    return isinstance(value, Domain) or (isinstance(value, Mapping) and value.keys() == {"grid_search"})


def _domain(name: str, value: Any) -> Any:
    """Return the domain of one parameter."""
    if _is_own(value):
        return value
    if _is_of_optuna(value):
        return _of_optuna(name, value)
    if hasattr(value, "rvs"):
        return _of_scipy(name, value)
    if isinstance(value, tuple) and _is_interval(value):
        return _of_interval(*value)
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise SpaceError(
            f"{name}={value!r}: must be a list of values, a distribution of scipy.stats or a domain of tune, "
            "such as tune.uniform(0, 1)"
        )
    return choice(list(value))


def _is_interval(value: tuple[Any, ...]) -> bool:
    """Return whether a tuple is (low, high) or (low, high, prior), as scikit-optimize has them."""
    are_numbers = all(isinstance(end, Real) and not isinstance(end, bool) for end in value[:2])
    is_pair = len(value) in (2, 3) and are_numbers and value[0] < value[1]
    return is_pair and (len(value) == 2 or value[2] in ("uniform", "log-uniform"))


def _is_of_optuna(value: Any) -> bool:
    return type(value).__module__.startswith("optuna.")


def _has_prior(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 3 and _is_interval(value)


def _of_interval(low: Any, high: Any, prior: str = "uniform") -> Any:
    if isinstance(low, Integral) and isinstance(high, Integral):
        return (randint if prior == "uniform" else lograndint)(int(low), int(high) + 1)
    return (uniform if prior == "uniform" else loguniform)(float(low), float(high))


def _of_optuna(name: str, value: Any) -> Any:
    if hasattr(value, "choices"):
        return choice(list(value.choices))
    low, high, step = value.low, value.high, value.step
    if isinstance(low, int):
        if step not in (None, 1):
            return choice(list(range(low, high + 1, step)))
        return (lograndint if value.log else randint)(low, high + 1)
    if step:
        return (qloguniform if value.log else quniform)(low, high, step)
    return (loguniform if value.log else uniform)(low, high)


def _of_scipy(name: str, frozen: Any) -> Any:
    """Return the domain of a frozen distribution; the nearest one of known quantiles for unknown kinds."""
    kind = getattr(getattr(frozen, "dist", None), "name", type(frozen).__name__)
    if not hasattr(frozen, "ppf"):
        raise SpaceError(
            f"{name}: {type(frozen).__name__} has no method ppf, which searchers need: use "
            'search_alg="random", or a domain of tune, such as tune.loguniform(1e-4, 1)'
        )
    if kind in ("loguniform", "reciprocal", "uniform", "randint"):
        low, high = frozen.support()
        if kind == "randint":
            return randint(int(low), int(high) + 1)
        return (uniform if kind == "uniform" else loguniform)(float(low), float(high))
    if kind == "norm":
        return randn(float(frozen.mean()), float(frozen.std()))
    values = [float(frozen.ppf((i + 0.5) / QUANTILES)) for i in range(QUANTILES)]
    kept = sorted({value for value in values if math.isfinite(value)})
    is_discrete = hasattr(getattr(frozen, "dist", frozen), "pmf")
    return choice([int(value) for value in kept] if is_discrete else kept)
