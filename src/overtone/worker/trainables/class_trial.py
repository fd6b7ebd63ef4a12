"""Runs a trial that is an object with a `step` method: a small adapter on the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from overtone.core.job import Job
from overtone.errors import TrainableError, TrialHalted
from overtone.worker.session.session import Session
from overtone.worker.trainables.trainable import Trainable, save_state


def is_steppable(trainable: Any) -> bool:
    """Return whether `trainable` is a class that this module can run."""
    return isinstance(trainable, type) and (hasattr(trainable, "step") or hasattr(trainable, "_train"))


class KeptInstance:
    """The object of a class that defines `reset_config`, between two trials of its process."""

    def __init__(self) -> None:
        self._made: Trainable | None = None

    def keep(self, made: Trainable) -> None:
        """Keep `made` for the next trial."""
        self._made = made

    def take(self) -> Trainable | None:
        """Return the object that the last trial left, if any, and forget it."""
        made, self._made = self._made, None
        return made

    def stop(self) -> bool:
        """Let the object clean up, since no trial reuses it; return whether there was an object."""
        made = self.take()
        if made is not None:
            _after_its_trial(made.stop)
        return made is not None


def run_class(
    kind: type, session: Session, job: Job, parameters: Mapping[str, Any], kept: KeptInstance | None = None
) -> None:
    """Step an object of `kind` until the session halts it.

    Args:
        kept: Holds the previous trial's object, and keeps this trial's object if `kind` defines
            `reset_config`; None if the process is not used again.
    """
    made = kept.take() if kept is not None else None
    if made is None or not _is_reset(made, session):
        made = trainable_class(kind, parameters)(session.params)
    assert isinstance(made, Trainable)
    is_whole = False
    try:
        _connect(made, session, job)
        _step(made, session, job)
    except TrialHalted:
        is_whole = True
        if job.export_formats and (session.is_done or session.is_final):
            _after_its_trial(lambda: made.export_model(list(job.export_formats)))
        raise
    finally:
        if is_whole and kept is not None and can_reset(made):
            kept.keep(made)
        else:
            made.stop()


def _step(made: Trainable, session: Session, job: Job) -> None:
    while True:
        result = made.train()
        is_done = bool(result.get("done"))
        is_wanted = bool(result.get("should_checkpoint") or (is_done and job.checkpoint_at_end))
        if session.saver is not None and (is_wanted or _is_save_due(session, is_done)):
            session.report_with_state(result, session.rule.is_automatic and not is_wanted)
        else:
            session.report(result)  # ends the trial if the result is done


def can_reset(made: Trainable) -> bool:
    """Return whether the class of `made` defines how to change its config."""
    kind = type(made)
    return kind.reset_config is not Trainable.reset_config or kind._reset is not Trainable._reset


def _is_reset(made: Trainable, session: Session) -> bool:
    """Reset the object of an earlier trial for this one; if it refuses, clean up and return False."""
    before = made.config, made._session, made._iteration
    made.config, made._session, made._iteration = session.params, session, 0
    try:
        if Trainable.reset(made, session.params):
            return True
    except BaseException:
        _after_its_trial(made.stop)
        raise
    made.config, made._session, made._iteration = before
    _after_its_trial(made.stop)
    return False


def _after_its_trial(call: Callable[[], object]) -> None:
    """Call a method of the user's; print an error only, since the trial has ended."""
    try:
        call()
    except Exception:
        import traceback

        traceback.print_exc()


def trainable_class(kind: type, parameters: Mapping[str, Any]) -> type:
    """Return `kind` as a Trainable whose `setup` also gets `parameters`."""
    if not issubclass(kind, Trainable):
        kind = _grafted(kind)
    if not parameters:
        return kind
    plain: Any = kind

    def setup(self: Any, config: dict[str, Any]) -> None:
        plain.setup(self, config, **parameters)

    return type(kind.__name__, (kind,), {"setup": setup, "__module__": kind.__module__})


def can_save(trainable: Trainable) -> bool:
    """Return whether the class of `trainable` defines how to save."""
    kind = type(trainable)
    return kind.save_checkpoint is not Trainable.save_checkpoint or kind._save is not Trainable._save


def _connect(made: Trainable, session: Session, job: Job) -> None:
    """Restore the object, and connect its save and its config changes to the session."""
    state = session.saved_state
    if state is not None:
        made.go_on_from(state, session.iteration)
    if can_save(made):
        session.saver = lambda folder: save_state(made, folder)
        session.notice.arm()
    elif job.checkpoint_freq or job.checkpoint_at_end:
        raise TrainableError(
            f"checkpoint_freq={job.checkpoint_freq} and checkpoint_at_end={bool(job.checkpoint_at_end)} need "
            f"{type(made).__name__}.save_checkpoint(self, checkpoint_dir) and load_checkpoint(self, path)"
        )

    def on_params() -> None:
        if not made.reset(session.params):
            raise TrainableError(
                f"{type(made).__name__}.reset_config(new_config) did not return True, and the scheduler "
                "changes the config of running trials: take up new_config in it, and return True"
            )

    session.on_params = on_params


def _is_save_due(session: Session, is_done: bool) -> bool:
    return session.rule.is_due(session.iteration + 1) or (is_done and session.rule.is_due_at_end())


def _grafted(kind: type) -> type:
    """Return a Trainable class that behaves as `kind`, which defines only some of the methods."""
    namespace: dict[str, Any] = {"__module__": kind.__module__, "__doc__": kind.__doc__}
    if kind.__init__ is not object.__init__:  # type: ignore[misc]
        own: Any = kind

        def __init__(self: Any, config: dict[str, Any]) -> None:
            import inspect

            self._begin(config)
            takes_config = len(inspect.signature(own).parameters) > 0
            own.__init__(self, *([config] if takes_config else []))
            self.setup(config)

        namespace["__init__"] = __init__
    return type(kind.__name__, (kind, Trainable), namespace)
