"""The job that an engine opens with: the trainable, its folder and its limits."""

from __future__ import annotations

from collections.abc import Iterable

from overtone.core.job import Job
from overtone.core.limits import TrialLimits
from overtone.core.protocols import Stopper, TrialScheduler
from overtone.reading.trial_output import names_of
from overtone.run.parts import Parts
from overtone.store.budgeted import within
from overtone.store.folder_mark import FolderMark


def job_for(parts: Parts) -> Job:
    """Return the experiment as its engine sees it."""
    plan, experiment, past = parts.plan, parts.plan.experiment, parts.past
    engine, bound, policy = plan.engine.capabilities, plan.bound, experiment.checkpoints
    limits = TrialLimits.of(experiment.trial_limits)
    # The nodes of a cluster may number files otherwise.
    mark = FolderMark(str(parts.folder)) if engine.spans_hosts else parts.place.mark
    # In one process, nothing is deleted while a trial waits for room.
    patience_s = 10.0 if engine.isolates else 0.0
    return Job(
        trainable=bound.trainable,
        name=plan.name,
        folder=parts.folder,
        parameters=bound.parameters,
        checkpoint_freq=policy.every,
        checkpoint_at_end=policy.at_end,
        reuse=experiment.reuse,
        log_to_file=names_of(experiment.log_to_file),
        grace_s=experiment.grace_s,
        limits=limits,
        captures_output=experiment.captures_output,
        store=within(parts.place.store(mark), policy.most_bytes, parts.folder, patience_s),
        elapsed_s=past.journal.newest_time() if past is not None and not engine.repeats else 0.0,
        seed=parts.seed,
        seed_index=None if experiment.rerun_of is None else experiment.rerun_of["index"],
        is_bounded=is_bounded(plan.scheduler, plan.stoppers, parts.limits.time_budget_s, limits),
        uses_ray=bound.uses_ray,
        runtime_env=bound.runtime_env,
        label_selector=bound.label_selector,
        chdir_to_trial_dir=experiment.chdir_to_trial_dir,
        export_formats=tuple(experiment.export_formats),
        mark=mark,
    )


def is_bounded(
    scheduler: TrialScheduler,
    stoppers: Iterable[Stopper],
    time_budget_s: float | None,
    trial_limits: TrialLimits | None,
) -> bool:
    """Return whether `stop`, `max_t` or a time limit may end a trial."""
    has_time = time_budget_s is not None or (trial_limits is not None and trial_limits.time_s is not None)
    return has_time or scheduler.ends_trials or any(one.ends_trials for one in stoppers)
