"""Runs searchers in Ray Tune's form, which name suggestions by trial ids, as native ones.

What they suggest is in the journal. A resume asks them again, in the same order and with Python's and
NumPy's global generators seeded as before, and tells them the results. A suggestion that differs now, since
it came from a clock or a private generator, is not the trial's: the searcher hears that its trial ended
without a result, and of the trial's own config by `add_evaluated_point`, if it has that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.core import protocols
from overtone.core.randomness import Random, keyed
from overtone.core.roster import id_prefix
from overtone.core.trial import Status, Trial
from overtone.core.types import Config, Result
from overtone.errors import SpaceError
from overtone.ray_form import advise_once, own_part
from overtone.searchers.algorithm import Asked, SearchGenerator
from overtone.searchers.base import Searcher, takes_trial_ids
from overtone.space import flatten, parse, pin, sample
from overtone.space.function import seeded
from overtone.space.tree import Computed, Drawn, Fixed, Group, Node, Pick, Series

_TRIES = 100
"""How often a searcher is asked that has no config while none of its trials runs."""


class Adapter(protocols.Searcher):
    """A native searcher that asks one in Ray Tune's form.

    Args:
        searcher: An object with `suggest(trial_id)`.
    """

    replay = "asked"

    def __init__(self, searcher: Any) -> None:
        self._given = searcher
        self.metric, self.mode = own_part(searcher, "metric"), own_part(searcher, "mode")
        self._has_goal = False
        self._begin(None, 0)

    def on_start(self, space: Any, seed: int) -> None:
        self._begin(space, seed)
        if isinstance(self._given, Searcher) and self._given._by_hand is not None:
            self._given._by_hand = self._given._by_hand.anew()
        self._tell_goal()

    def _begin(self, space: Any, seed: int) -> None:
        self._root, self._seed, self._prefix = parse(space), seed, id_prefix(seed)
        self._is_over = False
        self._suggested: dict[int, Config] = {}  # What the searcher gave, until its trial begins.
        self._others: set[int] = set()  # Trials whose recorded config the searcher did not give.
        self._live: set[int] = set()
        self._last: dict[str, Result] = {}

    def suggest(self, index: int) -> Config | None:
        for _ in range(1 if self._live else _TRIES):
            if self._is_over:
                return None
            with seeded(keyed(self._seed, "suggest", str(index))):
                answer = self._given.suggest(self._id(index))
            if isinstance(answer, str) and answer == Searcher.FINISHED:
                self._is_over = True
            elif answer is not None:
                self._suggested[index] = config = self._whole(answer, index)
                return config
        return None

    def on_suggested(self, index: int, config: Config) -> None:
        self._live.add(index)
        given = self._suggested.pop(index, None)
        if given is not None and given is not config and not _is_same(given, config):
            self._others.add(index)

    def on_result(self, trial: Trial, result: Result) -> None:
        if not self._has_goal:
            self._tell_goal()
        self._last[trial.id] = result
        if trial.suggestion is not None and trial.suggestion not in self._others:
            self._call("on_trial_result", self._id(trial.suggestion), _facts(trial, result))

    def on_trial_end(self, trial: Trial) -> None:
        last, has_failed = self._last.pop(trial.id, None), trial.status is Status.ERROR
        index = trial.suggestion
        if index is None:  # Of an earlier run, or a scheduler's.
            self._add_evaluated(trial, last, has_failed)
            return
        self._live.discard(index)
        if index in self._others:
            self._call("on_trial_complete", self._id(index))
            self._add_evaluated(trial, last, has_failed)
        elif has_failed:
            self._call("on_trial_complete", self._id(index), error=True)
        else:
            metrics = None if last is None else _facts(trial, last)
            self._call("on_trial_complete", self._id(index), result=metrics)

    def on_trial_pause(self, trial: Trial) -> None:
        self._tell_pause("on_pause", trial)

    def on_trial_unpause(self, trial: Trial) -> None:
        self._tell_pause("on_unpause", trial)

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """Return whether the searcher itself limits its concurrent trials."""
        return bool(getattr(self._given, "set_max_concurrency", lambda _: False)(max_concurrent))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_given":  # while it is copied or unpickled
            raise AttributeError(name)
        return getattr(self._given, name)

    # --- how ---------------------------------------------------------------------------

    def _id(self, index: int) -> str:
        """Return the id of the trial of this suggestion, if suggestions alone make trials."""
        return f"{self._prefix}_{index:05d}"

    def _rng(self, name: str, index: int) -> Random:
        return keyed(self._seed, f"space:{name}", str(index))

    def _whole(self, given: Mapping[str, Any], index: int) -> Config:
        """Return the space's constants, and what it draws or computes besides, with the searcher's values."""
        try:
            root = pin(self._root, given)
        except SpaceError:  # The searcher has another space.
            root = self._root
        return _merged(sample(root, lambda name: self._rng(name, index)), given)

    def _call(self, name: str, *arguments: Any, **named: Any) -> None:
        hook = getattr(self._given, name, None)
        if hook is not None:
            with seeded(keyed(self._seed, name, str(arguments[0]))):
                hook(*arguments, **named)

    def _tell_pause(self, name: str, trial: Trial) -> None:
        if trial.suggestion is not None and trial.suggestion not in self._others:
            self._call(name, self._id(trial.suggestion))

    def _tell_goal(self) -> None:
        """Pass on the space, and the parts of the goal that the searcher did not name itself."""
        goal, hook = self.goal, getattr(self._given, "set_search_properties", None)
        self._has_goal = goal is not None and goal.metric is not None
        if hook is None:
            return
        metric = None if self.metric or goal is None else goal.metric
        mode = None if self.mode or goal is None else goal.mode
        hook(metric, mode, written(self._root))

    def _add_evaluated(self, trial: Trial, last: Result | None, has_failed: bool) -> None:
        hook, metric = getattr(type(self._given), "add_evaluated_point", None), self.goal and self.goal.metric
        if hook not in (None, Searcher.add_evaluated_point) and last is not None and metric:
            self._given.add_evaluated_point(trial.config, last.metrics.get(metric), error=has_failed)


def written(node: Node) -> Any:
    """Return a space as its user wrote it, with domains."""
    if isinstance(node, Group):
        return {key: written(item) for key, item in node.items.items()}
    if isinstance(node, Series):
        return node.kind(map(written, node.items))
    if isinstance(node, Pick):
        from overtone.space import choice, grid_search

        return grid_search(node.values) if node.is_grid else choice(node.values)
    if isinstance(node, Drawn):
        return node.domain
    if isinstance(node, Computed):
        return node.function
    assert isinstance(node, Fixed)
    return node.value


def known_form(searcher: Any) -> Any:
    """Return a searcher in the native form: an adapter around one in Ray Tune's form, else itself.

    Args:
        searcher: A searcher, or its class, of which an object is made if it is in Ray Tune's form.
    """
    if isinstance(searcher, str) or searcher is None:
        return searcher
    kind = searcher if isinstance(searcher, type) else type(searcher)
    makes_trials = hasattr(kind, "next_trial") and not issubclass(kind, protocols.Searcher)
    if not makes_trials and not takes_trial_ids(kind):
        return searcher
    made = searcher() if isinstance(searcher, type) else searcher
    if isinstance(made, SearchGenerator):
        return known_form(made.searcher)
    advise_once(
        made,
        "has the form of Ray Tune's searchers, and runs through an adapter; "
        "docs/new-searcher.md shows the form that is asked by the number of the suggestion",
    )
    return Adapter(Asked(made) if makes_trials else made)


def _facts(trial: Trial, result: Result) -> dict[str, Any]:
    """Return a result on one level, with the config of the trial that reported it."""
    if "training_iteration" not in result.metrics:  # It was told by hand.
        return flatten(result.metrics)
    return flatten({**result.metrics, "config": trial.config})


def _merged(config: Config, given: Mapping[str, Any]) -> Config:
    merged = dict(config)
    for name, value in given.items():
        inner = merged.get(name)
        if isinstance(value, Mapping) and isinstance(inner, Mapping):
            value = _merged(dict(inner), value)
        merged[name] = value
    return merged


def _is_same(given: Any, config: Any) -> bool:
    """Return whether two configs are equal, also if one was in the journal."""
    if isinstance(given, Mapping) and isinstance(config, Mapping):
        return given.keys() == config.keys() and all(_is_same(given[key], config[key]) for key in given)
    if isinstance(given, (list, tuple)) and isinstance(config, (list, tuple)):
        return len(given) == len(config) and all(map(_is_same, given, config))
    try:
        return bool(given == config) or repr(given) == repr(config)
    except Exception:  # an array
        return repr(given) == repr(config)
