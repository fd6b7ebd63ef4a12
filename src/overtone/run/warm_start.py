"""Results of earlier experiments, for a searcher to learn from before it begins."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from sys import float_info
from typing import Any

from overtone.core.goal import Goal, lookup
from overtone.core.protocols import Searcher
from overtone.core.randomness import keyed
from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import Config
from overtone.errors import OvertoneError, SpaceError
from overtone.importers.sources import Choices, is_foreign, opened
from overtone.space import Variants, decode_config, encode_config, nested, pin
from overtone.space.constraint import allows
from overtone.space.tree import Computed, Drawn, Fixed, Group, Node, Pick, Series

Found = tuple[Mapping[str, Any], Mapping[str, Any] | None]
"""A config and its metrics; None if its trial failed."""

_CPU = Resources.of({"cpu": 1})


def warm(
    sources: Sequence[Any],
    searcher: Searcher,
    root: Group,
    goal: Goal,
    recorded: Sequence[Mapping[str, Any]] | None,
    learns: Callable[[Searcher], bool],
) -> tuple[Sequence[Mapping[str, Any]], str]:
    """Tell the searcher the results of earlier searches; return them as data, and a message.

    Args:
        recorded: Results read by an earlier driver of this experiment; None if there was none.
        learns: Returns whether a searcher observes results.

    Raises:
        OvertoneError: The searcher does not learn, or a source cannot be read.
    """
    sources = several(sources)
    if not (sources if recorded is None else recorded):
        return (), ""
    if not learns(searcher):
        raise OvertoneError(
            f'warm_start: {type(searcher).__name__} does not learn from results; ask for search_alg="auto"'
        )
    root = searcher.searched_space(root)
    found, line = (recorded, "") if recorded is not None else earlier_results(sources, root, goal)
    tell(searcher, found, root, goal)
    return found, line


def several(sources: Any) -> Sequence[Any]:
    """Return earlier searches as a list, also if a single one is given."""
    is_one = isinstance(sources, (str, os.PathLike)) or hasattr(sources, "trials")
    return [sources] if is_one else sources


def earlier_results(sources: Sequence[Any], root: Group, goal: Goal) -> tuple[list[dict[str, Any]], str]:
    """Return results of earlier experiments within the space, as data, and a line with their number.

    Args:
        sources: Folders of experiments, finished or running; what `overtone import` reads, such as a
            folder of Ray Tune or "sqlite:///studies.db#name" of Optuna; Optuna studies.
        root: The space. Constants may have been others; what is searched must lie in it.

    Returns:
        For each the `config`, encoded, and `values`: one for each metric, None for what is not finite;
        none at all where the trial failed.

    Raises:
        OvertoneError: A source cannot be read, or the goal is not known.
    """
    if not goal.metrics:
        raise OvertoneError("warm_start needs to know what counts: name metric and mode")
    kept, n_outside, n_without = [], 0, 0
    for source in sources:
        for config, metrics in _read(source, goal):
            values = [] if metrics is None else [lookup(metrics, name) for name in goal.metrics]
            if not all(type(one) in (int, float) for one in values):
                n_without += bool(metrics)
                continue
            try:
                fitting = fitted(root, decode_config(root, config))
            except SpaceError:
                n_outside += 1
                continue
            if metrics is None and not allows(root, fitting):
                continue  # in Optuna's storages it was suggested and never ran
            kept.append(
                {
                    "config": encode_config(root, fitting),
                    "values": [float(one) if abs(one) <= float_info.max else None for one in values],
                    "violations": [metrics.get(name) for name in goal.constraints] if metrics else [],
                }
            )
    outside = f"; {n_outside} lie outside of this space" if n_outside else ""
    without = f"; {n_without} have no {' and '.join(goal.metrics)}" if n_without else ""
    return kept, f"warm start: {len(kept)} results of {len(sources)} earlier searches{outside}{without}"


def tell(searcher: Searcher, found: Sequence[Mapping[str, Any]], root: Group, goal: Goal) -> None:
    """Tell a searcher the results of `earlier_results`, as ended trials."""
    for i, one in enumerate(found):
        config = decode_config(root, one["config"])
        trial = Trial(f"earlier_{i:05d}", -1 - i, config, _CPU, Status.TERMINATED, n_results=1)
        if not one["values"]:
            trial.status, trial.n_results = Status.ERROR, 0
            searcher.on_trial_end(trial)
            continue
        values = [float("nan") if value is None else value for value in one["values"]]
        metrics: dict[str, Any] = {
            "training_iteration": 1,
            **dict(zip(goal.metrics, values, strict=True)),
            **{
                k: v
                for k, v in zip(goal.constraints, one.get("violations", ()), strict=False)
                if v is not None
            },
        }
        trial.last = trial.best = goal.result(metrics)
        searcher.on_result(trial, trial.last)
        searcher.on_trial_end(trial)


def fitted(root: Group, config: Mapping[str, Any]) -> Config:
    """Return the config of the space with the searched values of `config`.

    Raises:
        SpaceError: One of them is missing, or lies outside.
    """
    pinned = pin(root, _searched(root, config))
    missing = _open(pinned)
    if missing:
        raise SpaceError(f"{dict(config)!r:.200} has no {missing}")
    return Variants(pinned).config(0, lambda key: keyed(0, key))


def _searched(group: Group, config: Mapping[str, Any]) -> dict[Any, Any]:
    """Return the searched part of `config`."""
    found: dict[Any, Any] = {}
    for key, item in group.items.items():
        if isinstance(item, (Fixed, Computed)) or key not in config:
            continue
        value = config[key]
        is_group = isinstance(item, Group) and isinstance(value, Mapping)
        found[key] = _searched(item, value) if is_group else value  # type: ignore[arg-type]
    return found


def _open(node: Node) -> str:
    """Return the path of a node that is still to be drawn; "" if there is none."""
    if isinstance(node, (Drawn, Pick)):
        return node.path
    parts: Any = node.items.values() if isinstance(node, Group) else ()
    parts = node.items if isinstance(node, Series) else parts
    return next(filter(None, map(_open, parts)), "")


def _read(source: Any, goal: Goal) -> Iterator[Found]:
    if hasattr(source, "trials") and hasattr(source, "directions"):
        yield from _of_study(source, goal)
        return
    if not isinstance(source, (str, os.PathLike)):
        raise OvertoneError(
            f"warm_start has {source!r:.200}: give folders of experiments, files or URLs of other tuners, or "
            "studies of Optuna"
        )
    if is_foreign(os.fspath(source)):
        yield from _of_another_tuner(os.fspath(source), goal)
        return
    from overtone.analysis import ExperimentAnalysis

    for trial in ExperimentAnalysis(source).trials:
        if trial.status == "ERROR":
            yield trial.config, None
        elif trial.num_results:
            yield trial.config, trial.last_result


def _of_another_tuner(source: str, goal: Goal) -> Iterator[Found]:
    """Yield what `overtone import` would write: the last result of each trial."""
    with (
        tempfile.TemporaryDirectory(prefix="overtone-warm-start-") as scratch,
        opened(source, Path(scratch), Choices()) as experiment,
    ):
        names: dict[str, str] = {}
        if experiment.tuner == "Optuna":  # whose objectives have an order, and names only at times
            _check_modes(experiment.name, tuple(experiment.mode), goal)
            names = dict(zip(experiment.metric, goal.metrics, strict=True))
        for trial in experiment.trials:
            if trial.state == "failed":
                yield trial.config, None
            elif trial.results:
                last = trial.results[-1].metrics
                yield trial.config, {names.get(name, name): value for name, value in last.items()}


def _check_modes(study: str, modes: tuple[str, ...], goal: Goal) -> None:
    if modes != goal.modes:
        raise OvertoneError(
            f"the Optuna study {study!r} has directions {modes}, and this search has mode={goal.modes}"
        )


def _of_study(study: Any, goal: Goal) -> Iterator[Found]:
    modes = tuple("max" if one.name == "MAXIMIZE" else "min" for one in study.directions)
    _check_modes(study.study_name, modes, goal)
    for trial in study.trials:
        if trial.values is not None and trial.state.name in ("COMPLETE", "PRUNED"):
            yield nested(trial.params), dict(zip(goal.metrics, trial.values, strict=True))
        elif trial.state.name == "FAIL":
            yield nested(trial.params), None
