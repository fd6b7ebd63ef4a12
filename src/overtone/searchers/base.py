"""The base class of all searchers: the native interface, and Ray Tune's, which asks by trial ids.

A class in Ray Tune's form defines `suggest(trial_id)` or other hooks of that form; `adapter.py` runs it.
Native searchers answer the same calls, for subclasses that call `super()` and for use by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

from overtone.core import protocols
from overtone.core.types import Config
from overtone.errors import StorageError
from overtone.ray_form import GoalNames
from overtone.searchers.by_hand import ByHand

_HOOKS = ("on_trial_complete", "on_trial_result", "set_search_properties")


class Searcher(GoalNames, protocols.Searcher):
    """A searcher, with Ray Tune's names.

    Args:
        metric: The metric to optimise, if it is not given elsewhere.
        mode: "max" or "min", if it is not given elsewhere.
    """

    FINISHED = "FINISHED"
    CKPT_FILE_TMPL = "searcher-state-{}.pkl"
    _by_hand: ByHand | None = None

    def __init__(self, metric: Any = None, mode: Any = None) -> None:
        vars(self).update(metric=metric, mode=mode)

    def set_search_properties(self, metric: Any, mode: Any, config: Mapping[str, Any], **spec: Any) -> bool:
        """Set the goal where it is not set, and the space; return whether `config` is searched.

        A searcher with a space of its own searches that; what is in `config` is added to each suggestion.
        """
        return self.take_properties(metric, mode, config)

    def take_properties(self, metric: Any, mode: Any, config: Mapping[str, Any]) -> bool:
        """Do the work of `set_search_properties`, for use by hand."""
        self._metric, self._mode = self._metric or metric, self._mode or mode
        self.hand().space = config
        answers = any(vars(kind).get("suggest") in _NATIVE for kind in type(self).__mro__)
        return answers and vars(self).get("space") is None

    def hand(self) -> ByHand:
        """Return the state of this searcher's use by hand."""
        if self._by_hand is None:
            self._by_hand = ByHand()
        return self._by_hand

    def on_trial_result(self, trial_id: str, result: Mapping[str, Any]) -> None:
        """Observe a result of a trial that was suggested by hand."""
        self.hand().report(self, trial_id, result)

    def on_trial_complete(
        self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False
    ) -> None:
        """Observe the end of a trial that was suggested by hand; `result` is its last."""
        self.hand().complete(self, trial_id, result, error)

    def add_evaluated_point(
        self, parameters: Config, value: float, error: bool = False, pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:  # fmt: skip
        """Observe a config that was evaluated elsewhere.

        Args:
            value: Its value of the metric.
            error: Whether the evaluation failed.
        """
        self.hand().add(self, parameters, None if error else value)

    def add_evaluated_trials(self, trials_or_analysis: Any, metric: str) -> None:
        """Observe trials of an earlier run.

        Args:
            trials_or_analysis: An analysis, a trial, or a list of trials.
            metric: The metric whose last values are taken; trials without it are left out.
        """
        given = getattr(trials_or_analysis, "trials", trials_or_analysis)
        for trial in given if isinstance(given, (list, tuple)) else [given]:
            value = trial.last_result.get(metric)
            if value is not None:
                self.add_evaluated_point(trial.config, value, error=trial.status == "ERROR")

    def on_pause(self, trial_id: str) -> None:
        """Handle a trial's pause: it waits, for its scheduler or for a resume."""
        self.hand().pause(trial_id, True)

    def on_unpause(self, trial_id: str) -> None:
        """Handle the end of a trial's pause: it is to run again."""
        self.hand().pause(trial_id, False)

    def get_state(self) -> dict[str, Any]:
        """Return the attributes, without an inner searcher."""
        return {name: value for name, value in vars(self).items() if name != "searcher"}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Set the attributes that `get_state` returned."""
        vars(self).update(state)

    def save(self, checkpoint_path: str) -> None:
        """Write the state to a file, as a pickle. A run needs no such file: it has its journal."""
        import cloudpickle

        with open(checkpoint_path, "wb") as file:
            cloudpickle.dump(vars(self), file)

    def restore(self, checkpoint_path: str) -> None:
        """Read what `save` wrote. Unpickling runs code: read only your own files."""
        import pickle

        with open(checkpoint_path, "rb") as file:
            vars(self).update(pickle.load(file))

    def save_to_dir(self, checkpoint_dir: str, session_str: str = "default") -> None:
        """Save to a file in a folder; `session_str` is a part of its name."""
        self.save(str(Path(checkpoint_dir) / self.CKPT_FILE_TMPL.format(session_str)))

    def restore_from_dir(self, checkpoint_dir: str) -> None:
        """Restore from the newest file in a folder.

        Raises:
            StorageError: There is none.
        """
        files = sorted(
            Path(checkpoint_dir).glob(self.CKPT_FILE_TMPL.format("*")), key=lambda one: one.stat().st_mtime
        )
        if not files:
            raise StorageError(f"{checkpoint_dir} has no {self.CKPT_FILE_TMPL.format('*')}")
        self.restore(str(files[-1]))


_NATIVE: set[Any] = set()


def by_hand_too(suggest: Callable[[Any, Any], Config | None]) -> Callable[[Any, Any], Config | None]:
    """Let a native searcher's `suggest` also take a trial's id, for use by hand."""

    @wraps(suggest)
    def suggested(self: Any, index: Any) -> Config | None:
        return self.hand().suggest(self, index, suggest) if isinstance(index, str) else suggest(self, index)

    _NATIVE.add(suggested)
    return suggested


def takes_trial_ids(part: Any) -> bool:
    """Return whether a class, or an object's class, is in Ray Tune's form."""
    cls = part if isinstance(part, type) else type(part)
    owners = [next((kind for kind in cls.__mro__ if name in vars(kind)), Searcher) for name in _HOOKS]
    own = ("overtone.searchers.", "overtone.schedulers.")  # such as DEHB, which is both
    if any(not owner.__module__.startswith(own) for owner in owners):
        return True
    code = getattr(getattr(cls, "suggest", None), "__code__", None)
    return code is not None and "trial_id" in code.co_varnames[: code.co_argcount]
