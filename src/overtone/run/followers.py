"""Who follows an experiment besides its files and its console: they hear of its past in a resume."""

from __future__ import annotations

from overtone.core.protocols import Observer
from overtone.experiment import Experiment
from overtone.run.compose import Parts
from overtone.run.loop import warn


def followers_for(experiment: Experiment, parts: Parts) -> list[Observer]:
    """The user's callbacks, and what else was asked for, in the order in which a record reaches them."""
    found: list[Observer] = []
    if experiment.trial_folder is not None:
        from overtone.observers.links import Links

        found.append(Links(parts.folder, parts.controller.trials, experiment.trial_folder))
    callbacks = [one for one in experiment.callbacks if not isinstance(one, Observer)]
    if callbacks:
        from overtone.observers.callback_observer import CallbackObserver
        from overtone.observers.seen_trial import Experiment as Seen
        from overtone.worker.checkpoint import Checkpoint

        seen = Seen(parts.name, str(parts.folder), open_checkpoint=lambda one: Checkpoint(one.uri))
        found.append(
            CallbackObserver(
                callbacks, seen, stop=experiment.stop, num_samples=experiment.num_samples,
                total_num_samples=parts.searcher.total, warn=warn,
            )
        )  # fmt: skip
    if getattr(parts.scheduler, "log_config", False):
        from overtone.observers.policy_log import PolicyLog

        found.append(PolicyLog(parts.folder))
    found += [one for one in experiment.callbacks if isinstance(one, Observer)]
    return found
