"""A controller with events given by hand, and a scheduler with prescribed decisions.

>>> hand = ByHand(Dictated({(0, 2): "STOP"}))
>>> trial = hand.run({"lr": 0.1})
>>> hand.report(trial, 1)
[Proceed(trial_id='7c34b_00000', attempt=0, until_t=0.0, save=False, config=None)]
>>> hand.report(trial, 2)
[Halt(trial_id='7c34b_00000', attempt=0, save=False, park=False)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.decision import CONTINUE, Decision
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.protocols import Stopper, TrialScheduler
from overtone.core.scheduler_view import View
from overtone.core.trial import Status, Trial
from overtone.core.types import Checkpoint, Config, Result


class Dictated(TrialScheduler):
    """A scheduler with prescribed decisions, which records its calls.

    Args:
        rulings: Decisions by (a trial's index, t); Continue otherwise.
        ahead: The t up to which all decisions are Continue.
        choose: Returns the trial to run; by default the first that fits.

    Attributes:
        reviews: Return values of the next reviews, in order.
        told: ("add" | "rule" | "end" | "review", trial index, ...) in order.
    """

    def __init__(
        self,
        rulings: Mapping[tuple[int, float], Decision | str] | None = None,
        ahead: float = 0.0,
        choose: Callable[[View], Trial | None] | None = None,
    ) -> None:
        self.rulings = dict(rulings or {})
        self.ahead = ahead
        self.choose = choose
        self.reviews: list[Sequence[tuple[str, Decision]]] = []
        self.told: list[tuple[Any, ...]] = []

    def on_result(self, trial: Trial, result: Result) -> Any:
        return self.rulings.get((trial.index, result.t), CONTINUE)

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        return self.choose(trials) if self.choose is not None else trials.first_runnable()

    def review(self, trials: View) -> Iterable[tuple[str, Decision]]:
        self.told.append(("review",))
        return self.reviews.pop(0) if self.reviews else ()

    def on_trial_add(self, trial: Trial) -> None:
        self.told.append(("add", trial.index))

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        self.told.append(("rule", trial.index, type(decision).__name__))

    def on_trial_end(self, trial: Trial) -> None:
        self.told.append(("end", trial.index))

    def next_decision(self, trial: Trial) -> float:
        return self.ahead


class Saying(Stopper):
    """Stopper made of a function of (trial, result)."""

    def __init__(self, function: Callable[[Trial, Result], str | None]) -> None:
        self._function = function

    def __call__(self, trial: Trial, result: Result) -> str | None:
        return self._function(trial, result)


class ByHand:
    """A controller that gets events one at a time; each call returns the commands.

    Args:
        scheduler: `Dictated()` by default.
        cpus: CPUs of the single node; None for no initial capacity.
        goal: The goal; by default the metric "score".
        limits: Fields of `Limits`.
        options: Further arguments of the controller.

    Attributes:
        controller: The controller.
        time: The time of the next event.
        choices: The choices made for the last event.
        is_stale: Whether the last event was ignored.
        records: The records that a journal would contain.
        asked: The indices of pending requests to the searcher.
    """

    def __init__(
        self,
        scheduler: TrialScheduler | None = None,
        cpus: float | None = 1,
        goal: Goal | None = None,
        limits: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.controller = Controller(
            scheduler or Dictated(),
            goal or Goal("score", "max"),
            limits=Limits(**(limits or {})),
            **options,
        )
        self.time = 0.0
        self.choices: tuple[m.Choice, ...] = ()
        self.is_stale = False
        self.asked: list[int] = []
        self.records: list[m.Record] = []
        if cpus is not None:
            self.capacity(cpu=cpus)

    def tell(self, event: m.Event) -> list[m.Command]:
        """Any event."""
        self.choices, commands, self.is_stale = self.controller.handle(event)
        if not self.is_stale:
            self.records.append(m.Record(len(self.records) + 2, event, self.choices))
        self.asked += [command.index for command in commands if isinstance(command, m.Suggest)]
        return commands

    def capacity(self, nodes: Mapping[str, Mapping[str, float]] | None = None, **amounts: float) -> Any:
        """Report the capacity: by node, or `amounts` on one node."""
        return self.tell(m.CapacityChanged(self.time, nodes or {"node": amounts}))

    def suggest(self, config: Config | None) -> list[m.Command]:
        """Answer the oldest question to the searcher."""
        return self.tell(m.Suggested(self.time, self.asked.pop(0), config))

    def run(self, config: Config | None = None) -> str:
        """Suggest a config and let its trial start; the trial's id."""
        self.suggest(config if config is not None else {})
        trial = next(reversed(self.controller.trials))
        self.started(trial)
        return trial

    def started(self, trial: str, attempt: int | None = None) -> list[m.Command]:
        """Tell that the trial's process runs."""
        restored = self.trial(trial).checkpoint
        return self.tell(m.Started(self.time, trial, self._attempt(trial, attempt), "node", 1, "", restored))

    def report(
        self,
        trial: str,
        t: int,
        score: float | None = 1.0,
        saves: bool = False,
        attempt: int | None = None,
        **metrics: Any,
    ) -> list[m.Command]:
        """Report a result; without the metric if `score` is None, and with a checkpoint if it `saves`."""
        found = {**({} if score is None else {"score": score}), **metrics, "training_iteration": t}
        saved = checkpoint(trial, t) if saves else None
        return self.tell(m.Reported(self.time, trial, self._attempt(trial, attempt), t, found, saved))

    def saved(self, trial: str, t: int, attempt: int | None = None) -> list[m.Command]:
        """Tell that the trial saved."""
        return self.tell(m.Saved(self.time, trial, self._attempt(trial, attempt), checkpoint(trial, t)))

    def save_failed(self, trial: str) -> list[m.Command]:
        """Tell that the trial could not save, and waits."""
        return self.tell(m.SaveFailed(self.time, trial, self._attempt(trial, None), "no checkpoint"))

    def ended(
        self, trial: str, cause: m.Cause = "returned", error: str = "", attempt: int | None = None
    ) -> list[m.Command]:
        """Tell that the trial's process ended."""
        return self.tell(m.Ended(self.time, trial, self._attempt(trial, attempt), cause, error))

    def trial(self, trial: str) -> Trial:
        """Return the trial itself."""
        return self.controller.trials[trial]

    def status(self, trial: str) -> Status:
        """Return the status of a trial."""
        return self.trial(trial).status

    def _attempt(self, trial: str, attempt: int | None) -> int:
        return self.trial(trial).attempt if attempt is None else attempt


def checkpoint(trial: str, t: int) -> Checkpoint:
    """Return the checkpoint that `ByHand` makes for a trial at t."""
    return Checkpoint(trial, t, f"{trial}/{t}")
