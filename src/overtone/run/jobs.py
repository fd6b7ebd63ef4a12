"""The job that an engine opens with: the trainable, its folder and its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overtone.core.job import Job
from overtone.core.trial_limits import TrialLimits
from overtone.experiment import Experiment
from overtone.run.bounds_check import is_bounded
from overtone.store.budgeted import within
from overtone.store.folder_mark import FolderMark
from overtone.worker.trainables.with_parameters import as_bound

if TYPE_CHECKING:
    from overtone.run.parts import Parts


def job_for(experiment: Experiment, parts: Parts) -> Job:
    """Return the experiment as its engine sees it."""
    engine, policy, past = parts.engine.capabilities, experiment.checkpoints, parts.past
    bound, limits = as_bound(experiment.trainable), TrialLimits.of(experiment.trial_limits)
    # The nodes of a cluster may number files otherwise.
    mark = FolderMark(str(parts.folder)) if engine.spans_hosts else parts.place.mark
    # In one process, nothing is deleted while a trial waits for room.
    patience_s = 10.0 if engine.isolates else 0.0
    return Job(
        trainable=bound.trainable,
        name=parts.name,
        folder=parts.folder,
        parameters=bound.parameters,
        checkpoint_freq=policy.every,
        checkpoint_at_end=policy.at_end,
        reuse=experiment.reuse,
        log_to_file=_log_files(experiment.log_to_file),
        grace_s=experiment.grace_s,
        limits=limits,
        captures_output=experiment.captures_output,
        store=within(parts.place.store(mark), policy.most_bytes, parts.folder, patience_s),
        elapsed_s=past.journal.newest_time() if past is not None and not engine.repeats else 0.0,
        seed=parts.seed,
        is_bounded=is_bounded(parts.scheduler, parts.stoppers, parts.limits.time_budget_s, limits),
        uses_ray=bound.uses_ray,
        runtime_env=bound.runtime_env,
        label_selector=bound.label_selector,
        mark=mark,
    )


def _log_files(asked: Any) -> tuple[str, str] | None:
    if not asked:
        return None
    if asked is True:
        return ("stdout", "stderr")
    return (asked, asked) if isinstance(asked, str) else (str(asked[0]), str(asked[1]))
