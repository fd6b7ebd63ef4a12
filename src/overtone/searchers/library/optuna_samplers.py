"""Optuna's samplers by short names, and its studies without a word on stderr."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from overtone.errors import ArgumentError, MissingPackageError, OvertoneError
from overtone.lazy import nearest
from overtone.searchers.flat import branches
from overtone.space.tree import Group

_SAMPLERS = {
    "tpe": "TPE", "gp": "GP", "cmaes": "CmaEs", "nsga2": "NSGAII", "nsga3": "NSGAIII", "random": "Random",
}  # fmt: skip
_BY_FACTS = (None, "tpe", "gp", "random")  # the others keep in the study what they drew
_NEEDED = {
    "gp": ("scipy", "torch"), "cmaes": ("cmaes",), "auto": ("optunahub", "cmaes", "scipy", "torch"),
}  # fmt: skip
"""Packages that these samplers import, most of them not before their first suggestion."""


def replay_of(asked: Any) -> str:
    """Return how a resume replays this sampler, by whether it depends only on results and a seed.

    See `Searcher.replay`.

    Raises:
        ValueError: There is no such sampler.
    """
    known = (*_SAMPLERS, "auto")
    if isinstance(asked, str) and asked not in known:
        raise ArgumentError(f"sampler={asked!r}{nearest(asked, known)}: choose one of {', '.join(known)}")
    if not (asked is None or isinstance(asked, str)) and (
        isinstance(asked, type) or not hasattr(asked, "sample_independent")
    ):
        raise ArgumentError(
            f"sampler={asked!r:.100}: give a name ({', '.join(known)}) or a sampler that is made, such as "
            "optuna.samplers.TPESampler()"
        )
    return "keyed" if asked is None or (isinstance(asked, str) and asked in _BY_FACTS) else "asked"


def sampler(asked: Any, seed: int, last: Any = None, root: Group | None = None) -> Any:
    """Return a sampler of this name with this seed; a user's sampler object is returned unchanged.

    Args:
        last: The previous sampler: it gets a new seed if its other state does not depend on its draws.
        root: The space of all trials of the study, if known; empty if each trial defines its own.

    Raises:
        MissingPackageError: A package that the sampler needs is not installed.
        OvertoneError: OptunaHub's sampler could not be downloaded.
    """
    if not (asked is None or isinstance(asked, str)):
        return asked
    if last is not None and asked not in ("gp", "auto"):
        generators = _generators(last)
        for one in generators:
            one.rng.seed(seed)
        if generators:
            return last
    missing = next((one for one in _NEEDED.get(asked or "tpe", ()) if not _is_installed(one)), None)
    if missing is not None:
        raise MissingPackageError(missing, "optuna", f"OptunaSearch(sampler={asked!r})")
    if asked == "auto":
        return _hub_sampler()(seed=seed)
    import warnings

    import optuna

    quiet = {"warn_independent_sampling": False} if asked in ("gp", "cmaes") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        made = getattr(optuna.samplers, f"{_SAMPLERS[asked or 'tpe']}Sampler")(seed=seed, **quiet)
    if asked in (None, "tpe") and root is not None and root.items and not any(branches(root)):
        _look_once(made)
    return made


def _look_once(one: Any) -> None:
    """Let a sampler compare the parameters of all trials, which are the same, once and not for each."""
    compare = one.infer_relative_search_space
    found: dict[str, Any] = {}

    def once(study: Any, trial: Any) -> dict[str, Any]:
        if not found:
            found.update(compare(study, trial))
        return dict(found)

    one.infer_relative_search_space = once


def _is_installed(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


@lru_cache(maxsize=1)
def _hub_sampler() -> Any:
    """Return the class of OptunaHub's AutoSampler, which is downloaded where its cache does not have it."""
    import optunahub

    try:
        return optunahub.load_module("samplers/auto_sampler").AutoSampler
    except Exception as error:  # git, GitHub's client and the network have errors of their own
        raise OvertoneError(
            'OptunaSearch(sampler="auto") is downloaded from OptunaHub at its first use, and that failed '
            f"({type(error).__name__}: {' '.join(str(error).split())[:300]}): use it once where "
            "https://github.com is reached, and copy ~/.cache/optunahub from there (or name a copy of it in "
            'OPTUNAHUB_CACHE_HOME); or take a sampler that comes with Optuna, such as "tpe" or "gp"'
        ) from error


@lru_cache(maxsize=8)
def _generators(one: Any) -> tuple[Any, ...]:
    """Return the random states of a sampler and its inner samplers; none if one of them has no state."""
    found = [value for value in vars(one).values() if type(value).__name__ == "LazyRandomState"]
    inner = [value for value in vars(one).values() if type(value).__name__.endswith("Sampler")]
    every = [_generators(value) for value in inner]
    return (*found, *chain.from_iterable(every)) if found and all(every) else ()


def study(storage: Any, name: str | None, modes: Sequence[str]) -> Any:
    """Return the study of this name, made if there is none.

    Raises:
        MissingPackageError: Optuna is not installed.
        OvertoneError: The storage cannot be opened, or its study has another goal.
    """
    try:
        import optuna
    except ImportError:
        raise MissingPackageError("optuna", "optuna", "OptunaSearch") from None
    directions: list[Any] = ["maximize" if one == "max" else "minimize" for one in modes]
    loudness = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        found = optuna.create_study(
            storage=storage, study_name=name, directions=directions, load_if_exists=True
        )
    except Exception as error:  # each kind of storage raises different errors
        raise OvertoneError(
            f"OptunaSearch(storage={storage!r:.200}, study_name={name!r}) cannot be opened "
            f'({type(error).__name__}: {error}): give the URL of a database, such as "sqlite:///study.db", '
            "or a storage of Optuna"
        ) from error
    finally:
        optuna.logging.set_verbosity(loudness)
    its = [one.name.lower() for one in found.directions]
    if its != directions:
        raise OvertoneError(
            f"the study {found.study_name!r} in {storage!r:.200} has directions {its}, and this search "
            f"{directions}: give it another study_name, or the study's metric and mode"
        )
    return found


def asked(study: Any, params: Mapping[str, Any] | None, mark: tuple[int, int] | None) -> Any:
    """Return a new trial of `study`, which suggests `params` where they are given.

    Args:
        mark: Seed and index of the suggestion, to be stored with it.
    """
    if params is not None:
        study.enqueue_trial(dict(params))
    trial = study.ask()
    if mark is not None:
        trial.set_user_attr("overtone", list(mark))
    return trial


def still_open(study: Any, trial: Any) -> Any:
    """Return a trial of the study that has not ended; None if it has, or if there is none.

    Args:
        trial: The trial, or its number if an earlier driver began it; None if there is none.
    """
    if trial is None:
        return None
    from optuna.trial import Trial

    storage, is_number = study._storage, isinstance(trial, int)
    trial_id = (
        storage.get_trial_id_from_study_id_trial_number(study._study_id, trial)
        if is_number
        else trial._trial_id
    )
    if storage.get_trial(trial_id).state.is_finished():
        return None
    return Trial(study, trial_id) if is_number else trial


def constrain(trial: Any, violations: Sequence[float]) -> None:
    """Record a trial's constraint violations."""
    for i, violation in enumerate(violations):
        trial.set_constraint(str(i), violation)


def tell(study: Any, trial: Any, values: Sequence[float]) -> None:
    """Tell the study a trial's values."""
    try:
        from optuna.study._tell import _tell_with_warning
    except ImportError:
        study.tell(trial, values)
    else:  # without a deep copy of the trial, which is most of what telling takes
        _tell_with_warning(study, trial, values)


def prune(study: Any, trial: Any, value: float | None = None, step: int = 0) -> None:
    """Tell the study that a trial, if there is one, was stopped after it reported `value` at `step`.

    Args:
        value: None if it reported none.
    """
    if trial is None:
        return
    from optuna.trial import TrialState

    if value is not None:
        trial.report(value, step)
    study.tell(trial, state=TrialState.PRUNED)


def fail(study: Any, trial: Any) -> None:
    """Tell the study that a trial, if there is one, ended without a value."""
    if trial is not None:
        from optuna.trial import TrialState

        study.tell(trial, state=TrialState.FAIL, skip_if_finished=True)


def stored(study: Any, seed: int) -> dict[int, Any]:
    """Return the trials of the study that were marked in this experiment, by suggestion."""
    marked = ((*one.user_attrs.get("overtone", (None, -1)), one) for one in study.trials)
    return {index: one for its_seed, index, one in marked if its_seed == seed}
