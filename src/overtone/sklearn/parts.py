"""Training in parts: `warm_start`, boosting rounds or `partial_fit`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing

from overtone.errors import ArgumentError

_BOOSTERS = {"xgboost": ("n_estimators", "xgb_model"), "lightgbm": ("n_estimators", "init_model"),
             "catboost": ("iterations", "init_model")}  # fmt: skip
"""For each package, the parameter with the number of rounds, and the argument of `fit` for a model."""

_DEFAULT_ROUNDS = {"xgboost": 100, "lightgbm": 100, "catboost": 1000}


def how_trained(estimator: Any) -> str:
    """Return how an estimator is trained in parts: "warm_start", the name of a package, or "partial_fit".

    Raises:
        ArgumentError: It cannot be trained in parts.
    """
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    names = last.get_params(deep=False)
    package = type(last).__module__.partition(".")[0]
    if package in _BOOSTERS:
        return package
    if "warm_start" in names and ("n_estimators" in names or "max_iter" in names):
        return "warm_start"
    if hasattr(last, "partial_fit"):
        return "partial_fit"
    raise ArgumentError(
        f"max_iters: {type(last).__name__} cannot be trained in parts, since it has neither warm_start nor "
        "partial_fit: leave max_iters out, and each fold is a report"
    )


@dataclass
class Parts:
    """An estimator that is trained in `n_parts` parts.

    With `warm_start` and with boosters, all parts together train as much as one `fit`: the estimator's
    `n_estimators` or `max_iter` is divided among them. If it is less than `n_parts`, the last parts train
    nothing. With `partial_fit`, a part is one pass.

    Attributes:
        n_trained: Number of parts so far.
    """

    estimator: Any
    n_parts: int
    n_trained: int = 0
    _whole: int = field(default=0, repr=False)

    def train(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Train one part more, and return the estimator."""
        self.n_trained += 1
        estimator = self.estimator
        if isinstance(estimator, Pipeline):
            last = estimator.steps[-1][1]
            head_params, fit_params = _divided(estimator, fit_params)
            if len(estimator.steps) > 1:
                head = estimator[:-1]
                is_first = self.n_trained == 1
                X = head.fit_transform(X, y, **head_params) if is_first else head.transform(X)
        else:
            last = estimator
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # A part is not meant to converge.
            self._train(how_trained(estimator), last, X, y, fit_params)
        return estimator

    def _train(self, how: str, last: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> None:
        if how == "partial_fit":
            if is_classifier(last) and self.n_trained == 1:
                fit_params = {"classes": sorted(set(y.tolist() if hasattr(y, "tolist") else y)), **fit_params}
            last.partial_fit(X, *([] if y is None else [y]), **fit_params)
            return
        names = last.get_params(deep=False)
        rounds = _BOOSTERS[how][0] if how in _BOOSTERS else "n_estimators"
        rounds = rounds if rounds in names or how in _BOOSTERS else "max_iter"
        self._whole = self._whole or int(names.get(rounds) or _DEFAULT_ROUNDS.get(how, 100))
        end, before = (
            min(self._whole, max(n, self._whole * n // self.n_parts))
            for n in (self.n_trained, self.n_trained - 1)
        )
        if end == before:
            return
        grows = how == "warm_start" and (rounds == "n_estimators" or "max_bins" in names)
        amount = {rounds: end if grows else end - before}
        if how == "warm_start":
            amount["warm_start"] = True
        elif self.n_trained > 1:
            fit_params = {**fit_params, _BOOSTERS[how][1]: _model(how, last)}
        grown = clone(last) if how == "catboost" else last  # A fitted CatBoost model keeps its parameters.
        grown.set_params(**amount)
        type(last).fit(grown, X, *([] if y is None else [y]), **fit_params)
        vars(last).update(vars(grown))


def _divided(pipeline: Pipeline, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the metadata for all steps but the last one, and those for the `fit` of the last one."""
    name = pipeline.steps[-1][0]
    if not get_config()["enable_metadata_routing"]:
        own = {key: value for key, value in params.items() if key.startswith(f"{name}__")}
        others = {key: value for key, value in params.items() if key not in own}
        return others, {key.removeprefix(f"{name}__"): value for key, value in own.items()}
    if not params:
        return {}, {}
    names = set()
    if len(pipeline.steps) > 1:
        names = get_routing_for_object(pipeline[:-1]).consumes("fit_transform", params)
    return {key: params[key] for key in names}, dict(process_routing(pipeline, "fit", **params)[name].fit)


def _model(package: str, fitted: Any) -> Any:
    """Return what `fit` continues from."""
    if package == "xgboost":
        return fitted.get_booster()
    return fitted.booster_ if package == "lightgbm" else fitted
