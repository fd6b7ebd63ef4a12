"""The base of callbacks for trackers, whose hooks run in a process that follows the journal."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from hashlib import sha256
from typing import Any, ClassVar, Literal

from overtone.errors import MissingPackageError
from overtone.observers.callbacks.callback import LoggerCallback
from overtone.space import flatten

WAIT_S = 30.0
"""Most seconds that the end of a run waits for its trackers."""

End = Literal["finished", "failed", "cut off"]
"""Ends of a trial's run; the end of the search cuts off what has not ended."""


class TrackerCallback(LoggerCallback):
    """Callback that logs each trial as a run of a tracker.

    `setup` is called in the driver, and must be quick. All other hooks are called in a process of their
    own, which follows the journal of the experiment and has a copy of the callback. They hand actions to
    `do`, and `commit` carries the actions out. An action that raises is repeated, unless `is_refused` says
    that it always will. So an action must have the same effect if it is carried out twice.

    Args:
        purpose: Name of the class that the user made, for the message about a missing package.

    Attributes:
        kind: The tracker's name on the command line.
        package: The module to import.
        distribution: The package to install.
        sends_whole_runs: Whether a run that has not ended is sent from its beginning after a restart.
        upload_timeout: Most seconds that the end of the search waits for the tracker.
        experiment: The name of the experiment's folder.
        folder: The experiment's folder.
        key: Text that tells the experiment from all others.
        wall: When the current record happened, in seconds since 1970.
        best: The best of the trials that have ended; None if none has a value.
        run_ids: The tracker's ids of runs that have not ended, by trial. A restart brings them back.
        unfinished: Trials whose runs had not ended when an earlier process did.
        is_uncertain: Whether an earlier process or attempt may have carried out the current action.
        keep: Makes `run_ids` durable.
    """

    kind: ClassVar[str] = ""
    package: ClassVar[str] = ""
    distribution: ClassVar[str] = ""
    sends_whole_runs: ClassVar[bool] = True
    upload_timeout: float = WAIT_S

    def __init__(self, purpose: str = "") -> None:
        from importlib.util import find_spec

        if find_spec(self.package) is None:  # importing it may take seconds
            raise MissingPackageError(self.distribution, "", purpose or type(self).__name__)
        self.experiment = self.folder = self.key = ""
        self.wall = 0.0
        self.best: Any = None
        self.run_ids: dict[str, str] = {}
        self.unfinished: frozenset[str] = frozenset()
        self.is_uncertain = False
        self.keep: Callable[[], None] = lambda: None
        self._actions: deque[Callable[[], None]] = deque()

    def settings(self) -> dict[str, Any]:
        """Return the arguments that say where runs go, as data for `overtone sync`; no secrets."""
        return {}

    def note(self) -> str:
        """Return a line about the runs for people who sync them, or an empty text."""
        return ""

    def log_best(self, trial: Any, before: Any) -> None:
        """Handle a trial that is the best of those that have ended. Its end is logged afterwards.

        Args:
            before: The trial that was the best; None if none was.
        """

    def is_refused(self, error: Exception) -> bool:
        """Return whether the tracker refuses an action for good: the action is left out."""
        return False

    def close(self) -> None:
        """Release what `commit` opened, in the process."""

    def do(self, action: Callable[..., None], *arguments: Any) -> None:
        """Carry out `action(*arguments)` after the actions before it."""
        self._actions.append(partial(action, *arguments))

    def commit(self, on_refused: Callable[[Exception], None]) -> None:
        """Carry out all actions. After an exception, a second call begins with the action that raised it.

        Args:
            on_refused: Called with the error of an action that is left out.
        """
        while self._actions:
            try:
                self._actions[0]()
            except Exception as error:
                self.is_uncertain = True
                if not self.is_refused(error):
                    raise
                on_refused(error)
            self._actions.popleft()
            self.is_uncertain = False

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "keep": None, "_actions": deque()}


class TagTracker(TrackerCallback):
    """Base of trackers that tag open runs alone: the run of the best trial ends after all others."""

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """End the trial's run; that of the best trial ends later."""
        if self.best is None or self.best.trial_id != trial.trial_id:
            self.do(self._end, trial.trial_id, "failed" if failed else "finished")

    def log_best(self, trial: Any, before: Any) -> None:
        """End the run of the trial that was the best."""
        if before is not None and before.trial_id != trial.trial_id:
            self.do(self._end, before.trial_id, "finished")

    def on_experiment_end(self, trials: list[Any], **info: Any) -> None:
        """Tag the best run, and end all."""
        if self.best is not None:
            self.do(self._tag, self.best.trial_id, "best")
            self.do(self._end, self.best.trial_id, "finished")
        for trial in trials:
            if not trial.is_finished():
                self.do(self._end, trial.trial_id, "cut off")

    def _tag(self, trial_id: str, tag: str) -> None:
        """Tag a run, if it is open."""
        raise NotImplementedError

    def _end(self, trial_id: str, how: End) -> None:
        """End a run, if it is open; a run that was cut off is continued by a resume."""
        raise NotImplementedError


def place_name(kind: str, settings: Mapping[str, Any]) -> str:
    """Return a name for files about a tracker: one name for the same settings."""
    text = json.dumps(settings, sort_keys=True, default=str)
    return f"{kind}-{sha256(text.encode()).hexdigest()[:8]}"


def numbers(result: Mapping[str, Any], left_out: tuple[str, ...] = ()) -> dict[str, float]:
    """Return the numbers of a result by their paths; entries under a key in `left_out` are not returned."""
    found = {}
    for name, value in flatten({key: one for key, one in result.items() if key not in left_out}).items():
        if getattr(value, "size", None) == 1 and hasattr(value, "item"):
            value = value.item()
        if isinstance(value, (int, float, Decimal)):
            found[name] = value if isinstance(value, (int, float)) else float(value)
    return found


class Steps:
    """Numbers the results of a run: by training_iteration while it grows, else one by one.

    A tracker drops a result whose step is not after all others. A trial that an exploit or a restart sets
    back reports lower iterations again.
    """

    def __init__(self) -> None:
        self._last = -1

    def next(self, step: Any) -> int:
        """Return the step of a result."""
        is_after = isinstance(step, int) and step > self._last
        self._last = step if is_after else self._last + 1
        return self._last
