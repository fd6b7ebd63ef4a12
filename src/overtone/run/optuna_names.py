"""Names of Optuna's ask-and-tell API: those that work here, and what replaces the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from typing import Any

from overtone.errors import ArgumentError, SpaceError, UsageError
from overtone.lazy import nearest

_MODES = {"minimize": "min", "maximize": "max"}

ARGUMENTS = {
    "load_if_exists": 'resume="AUTO"',
    "n_trials": "num_samples=100",
    "pruner": 'scheduler="asha"',
    "sampler": 'search_alg="optuna", or OptunaSearch(sampler=...) of overtone.tune.search.optuna',
    "storage": 'storage_path="~/overtone_results", a folder or a URL such as "s3://bucket/folder"',
    "study_name": 'name="my-study"',
    "timeout": "time_budget_s=3600",
}
"""Arguments of `optuna.create_study`, with those that replace them."""

_OF_STUDIES = {
    "add_trial": "study.enqueue(config) adds a trial; warm_start=[...] takes trials of an earlier search",
    "direction": "study.analysis has the metric and its mode",
    "directions": "study.analysis has the metrics and their modes",
    "enqueue_trial": "study.enqueue(config)",
    "get_trials": "study.trials",
    "set_user_attr": "tune.attach(study.folder).note(text) writes into the journal",
    "study_name": "study.name",
    "trials_dataframe": "study.analysis.dataframe()",
}
_OF_TRIALS = {
    "distributions": "the space is the first argument of tune.ask_tell",
    "set_user_attr": "trial.report(loss=0.3, name=value) records further values",
    "user_attrs": "trial.report(loss=0.3, name=value) records further values",
}


def mode_of(arguments: Mapping[str, Any], mode: Any) -> Any:
    """Return the mode in `direction` or `directions`, the only other arguments of `tune.ask_tell`.

    Raises:
        UsageError: Another argument is given; the message names what replaces it.
    """
    for name, value in arguments.items():
        if name not in ("direction", "directions"):
            new = f": give {ARGUMENTS[name]}" if name in ARGUMENTS else ""
            raise UsageError(f"ask_tell() has no argument {name!r}{new}")
        given = list(value) if isinstance(value, (list, tuple)) else [value]
        modes = [_MODES.get(str(getattr(one, "name", one)).lower()) for one in given]
        if mode is not None or None in modes:
            raise UsageError(f'{name}={value!r:.100}: give mode="min" or "max", for several metrics a list')
        mode = modes if name == "directions" else modes[0]
    return mode


def of_study(study: Any, name: str) -> Any:
    """Return what `name` of Optuna's does for a study.

    Raises:
        AttributeError: It does not exist; the message names what replaces it.
    """
    if name == "optimize":
        return partial(_optimize, study)
    raise AttributeError(_absent("Study", name, _OF_STUDIES, dir(type(study))))


def of_trial(trial: Any, name: str) -> Any:
    """Return what `name` of Optuna's does for a trial.

    Raises:
        AttributeError: It does not exist; the message names what replaces it.
    """
    if name.startswith("suggest_"):
        return partial(_suggested, trial, name)
    if name == "should_prune":
        return lambda: trial.is_over
    raise AttributeError(_absent("AskedTrial", name, _OF_TRIALS, dir(type(trial))))


def _absent(kind: str, name: str, new: Mapping[str, str], known: list[str]) -> str:
    hint = f": {new[name]}" if name in new else nearest(name, [one for one in known if one[0] != "_"])
    return f"{kind} has no {name!r}{hint}"


def _suggested(trial: Any, call: str, name: str, *values: Any, **options: Any) -> Any:
    """Return the value of a hyperparameter, which the space has drawn.

    Raises:
        SpaceError: The space does not have it.
        ArgumentError: The value lies outside of the given bounds or choices.
    """
    if name not in trial.config:
        raise SpaceError(
            f"{call}({name!r}): the space has no {name!r}. A study gets its whole space first: "
            f'tune.ask_tell({{"{name}": tune.uniform(0, 1), ...}}, metric=...)'
        )
    value = trial.config[name]
    choices = options.get("choices", values[0] if values else None)
    low, high = options.get("low", (*values, None)[0]), options.get("high", (*values, None, None)[1])
    is_inside = value in choices if call == "suggest_categorical" and choices is not None else True
    if call != "suggest_categorical" and low is not None and high is not None:
        is_inside = low <= value <= high
    if not is_inside:
        raise ArgumentError(
            f"{call}({name!r}): the space gave {value!r:.100}, which the call excludes: the space of "
            "tune.ask_tell decides, so give both the same values"
        )
    return value


def _optimize(
    study: Any, objective: Callable[[Any], Any], n_trials: int | None = None, **options: Any
) -> None:
    """Ask, call the objective and tell, `n_trials` times or until the search is over.

    Raises:
        UsageError: An option is unknown here.
        Exception: The objective raised it; its trial has failed.
    """
    if options:
        name = next(iter(options))
        hint = " (tune.ask_tell has time_budget_s)" if name == "timeout" else ""
        raise UsageError(
            f"optimize() has no argument {name!r}{hint}: for processes, failures and resources, "
            "tune.run(function_of_config, num_samples=100)"
        )
    optuna = sys.modules.get("optuna")
    for _ in count() if n_trials is None else range(n_trials):
        trial = study.ask()
        if trial is None:
            return
        try:
            values = objective(trial)
        except Exception as error:
            if optuna is not None and isinstance(error, optuna.TrialPruned):
                study.tell(trial, state="pruned")
                continue
            study.tell(trial, state="failed", error=error)
            raise
        study.tell(trial, None if trial.is_over else values)
