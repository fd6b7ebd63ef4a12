"""Search algorithms in Ray Tune's form, which make trials: `add_configurations`, then `next_trial`."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from overtone.core.types import Config
from overtone.errors import OvertoneError
from overtone.space import flatten, parse, variables


@dataclass(eq=False)
class GeneratedTrial:
    """A trial that a search algorithm made; no run knows it.

    Attributes:
        trainable_name: The trainable, as it was given in the experiment.
        evaluated_params: The values that the search chose, by path ("optimizer/lr").
        experiment_tag: Its number and these values, such as "1_lr=0.01".
    """

    trial_id: str
    trainable_name: Any
    config: Config
    evaluated_params: dict[str, Any]
    experiment_tag: str
    stopping_criterion: Any = field(default_factory=dict)
    status: str = "PENDING"

    def __str__(self) -> str:
        name = getattr(self.trainable_name, "__name__", self.trainable_name)
        return f"{name}_{self.trial_id}"


class SearchAlgorithm:
    """The interface of Ray Tune's search algorithms: subclasses define `next_trial`.

    `tune.run` takes one as `search_alg`; of each trial, its `config` and `trial_id` are used.
    """

    _finished = False
    _metric: Any = None
    metric: Any = property(lambda self: self._metric, doc="The metric to optimise, if it is set.")

    @property
    def total_samples(self) -> int:
        """The number of trials in all, if it is known."""
        return 0

    def set_search_properties(self, metric: Any, mode: Any, config: Mapping[str, Any], **spec: Any) -> bool:
        """Set the goal; return False if it is set already."""
        if self._metric and metric:
            return False
        self._metric = self._metric or metric
        return True

    def add_configurations(self, experiments: Any) -> None:
        """Take the experiments: `{name: {"run": ..., "config": ..., "num_samples": ...}}`."""

    def next_trial(self) -> Any:
        """Return the next trial; None if there is none now."""
        raise NotImplementedError

    def on_trial_result(self, trial_id: str, result: Mapping[str, Any]) -> None:
        """Observe a result."""

    def on_trial_complete(
        self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False
    ) -> None:
        """Observe the end of a trial."""

    def is_finished(self) -> bool:
        """Return whether there is no further trial."""
        return self._finished

    def set_finished(self) -> None:
        """Make no further trial."""
        self._finished = True

    def has_checkpoint(self, dirpath: str) -> bool:
        """Return whether `restore_from_dir` would find a state in the folder."""
        return False

    def save_to_dir(self, dirpath: str, session_str: str = "default", **options: Any) -> None:
        """Save the state to a folder."""

    def restore_from_dir(self, dirpath: str) -> None:
        """Restore the state from a folder."""


class Generator(SearchAlgorithm):
    """Makes trials of configs from a space and a searcher: what `SearchGenerator` and random search share."""

    def _begin(self, experiments: Any) -> None:
        self._specs = specs_of(experiments)
        self._prefix = f"{random.getrandbits(20):05x}"
        self._n_made = 0

    _first_number = 0
    """The number of the first trial in its tag."""

    def _trial(self, spec: Mapping[str, Any], config: Config, chosen: Mapping[str, Any]) -> GeneratedTrial:
        index = self._n_made
        self._n_made += 1
        shown = ",".join(
            f"{name.rpartition('/')[2]}={_short(value)}" for name, value in sorted(chosen.items())
        )
        number = index + self._first_number
        name = f"{number}_{shown}" if shown else str(number)
        trial_id = f"{self._prefix}_{index:05d}"
        return GeneratedTrial(trial_id, spec["run"], config, dict(chosen), name, spec.get("stop") or {})


class SearchGenerator(Generator):
    """Makes trials of what a searcher suggests.

    Args:
        searcher: A searcher, native or in Ray Tune's form.
    """

    _first_number = 1

    def __init__(self, searcher: Any) -> None:
        self.searcher = searcher
        self._specs: list[Mapping[str, Any]] = []

    metric: Any = property(lambda self: self.searcher.metric)

    @property
    def total_samples(self) -> int:
        return sum(spec.get("num_samples", 1) for spec in self._specs)

    def set_search_properties(self, metric: Any, mode: Any, config: Mapping[str, Any], **spec: Any) -> bool:
        return bool(self.searcher.set_search_properties(metric, mode, config, **spec))

    def add_configurations(self, experiments: Any) -> None:
        """Take the experiment.

        Raises:
            OvertoneError: There are several, or it has no trainable.
        """
        self._begin(experiments)
        if len(self._specs) != 1:
            raise OvertoneError(f"a searcher searches 1 experiment, and {len(self._specs)} were given")

    def next_trial(self) -> GeneratedTrial | None:
        return None if self.is_finished() else self.create_trial_if_possible(self._specs[0])

    def create_trial_if_possible(self, experiment_spec: Mapping[str, Any]) -> GeneratedTrial | None:
        """Return a trial of the searcher's next suggestion; None if it has none now."""
        trial_id = f"{self._prefix}_{self._n_made:05d}"
        found = self.searcher.suggest(trial_id)
        if isinstance(found, str):
            self._finished = True
        if found is None or isinstance(found, str):
            return None
        return self._trial(
            experiment_spec, {**(experiment_spec.get("config") or {}), **found}, flatten(found)
        )

    def on_trial_result(self, trial_id: str, result: Mapping[str, Any]) -> None:
        self.searcher.on_trial_result(trial_id, result)

    def on_trial_complete(
        self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False
    ) -> None:
        self.searcher.on_trial_complete(trial_id, result=result, error=error)

    def is_finished(self) -> bool:
        return self._finished or self._n_made >= self.total_samples


class VariantTrials(Generator):
    """Random and grid search by themselves: the part of `BasicVariantGenerator` in Ray Tune's form."""

    _specs: list[Mapping[str, Any]] = []  # noqa: RUF012 - replaced, never changed
    _left: Iterator[GeneratedTrial] = iter(())
    _next: GeneratedTrial | None = None
    _n_total = 0
    max_concurrent = 0

    @property
    def total_samples(self) -> int:
        """The number of trials of all experiments."""
        return self._n_total

    def add_configurations(self, experiments: Any) -> None:
        """Take experiments, whose trials come one experiment after the other."""
        self._begin(experiments)
        self._live_ids: set[str] = set()
        self._n_total = sum(spec.get("num_samples", 1) * parse(_space(spec)).size for spec in self._specs)
        self._left = self._made()
        self._next = next(self._left, None)

    def next_trial(self) -> GeneratedTrial | None:
        """Return the next trial; None if there is none, or `max_concurrent` have not ended."""
        if self.is_finished() or 0 < self.max_concurrent <= len(self._live_ids):
            return None
        trial, self._next = self._next, next(self._left, None)
        if trial is not None:
            self._live_ids.add(trial.trial_id)
        return trial

    def on_trial_complete(
        self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False
    ) -> None:
        """Make room for the next trial."""
        self._live_ids.discard(trial_id)

    def is_finished(self) -> bool:
        """Return whether there is no further trial."""
        return self._finished or self._next is None

    def _made(self) -> Iterator[GeneratedTrial]:
        for spec in self._specs:
            searcher: Any = self._fresh(spec.get("num_samples", 1))
            space = _space(spec)
            searcher.on_start(space, random.getrandbits(31))
            names = variables(space)
            for index in range(searcher.total):
                config = searcher.suggest(index)
                flat = flatten(config)
                yield self._trial(spec, config, {name: flat[name] for name in names if name in flat})

    def _fresh(self, num_samples: int) -> Any:
        """Return a searcher of these settings for one experiment."""
        raise NotImplementedError


class Asked:
    """A search algorithm as a searcher in Ray Tune's form.

    Args:
        algorithm: An object with `next_trial`.
    """

    def __init__(self, algorithm: Any) -> None:
        self._algorithm = algorithm
        self.metric, self.mode = getattr(algorithm, "metric", None), getattr(algorithm, "mode", None)
        self._ids: dict[str, str] = {}

    def set_search_properties(self, metric: Any, mode: Any, config: Mapping[str, Any], **spec: Any) -> bool:
        """Pass on the goal, and the space as an experiment."""
        answer = self._algorithm.set_search_properties(metric, mode, config, **spec)
        self._algorithm.add_configurations(
            {"search": {"run": "trial", "config": config, "num_samples": 2**31}}
        )
        return bool(answer)

    def suggest(self, trial_id: str) -> Any:
        """Return the config of the algorithm's next trial."""
        if self._algorithm.is_finished():
            return "FINISHED"
        trial = self._algorithm.next_trial()
        if trial is None:
            return "FINISHED" if self._algorithm.is_finished() else None
        self._ids[trial_id] = trial.trial_id
        return trial.config

    def on_trial_result(self, trial_id: str, result: Mapping[str, Any]) -> None:
        """Pass on a result."""
        self._algorithm.on_trial_result(self._ids[trial_id], result)

    def on_trial_complete(
        self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False
    ) -> None:
        """Pass on the end of a trial."""
        self._algorithm.on_trial_complete(self._ids.pop(trial_id), result=result, error=error)


def specs_of(experiments: Any) -> list[Mapping[str, Any]]:
    """Return experiments as data.

    Args:
        experiments: A dict by name, an object with a `spec`, or a list of these.

    Raises:
        OvertoneError: An experiment has no trainable.
    """
    given = experiments.values() if isinstance(experiments, Mapping) else experiments
    given = given if isinstance(given, Iterable) else [given]
    specs = [one if isinstance(one, Mapping) else one.spec for one in given]
    for spec in specs:
        if "run" not in spec:
            raise OvertoneError(f'an experiment needs its trainable, as {{"run": train}}: {spec!r:.200}')
    return specs


def _space(spec: Mapping[str, Any]) -> Any:
    return spec.get("config") or {}


def _short(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
