"""Reads a study from any database by way of the package optuna, into a SQLite database of our own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from overtone.errors import MissingPackageError, OvertoneError, StorageError
from overtone.importers.optuna.study_writer import StudyWriter


@contextmanager
def copied_study(url: str, scratch: Path, name: str | None) -> Iterator[sqlite3.Connection]:
    """Copy a study from a database, and open the copy.

    Args:
        url: As `optuna.load_study(storage=...)` takes it.
        scratch: A folder for the copy.
        name: The study; None if there is one alone.

    Raises:
        MissingPackageError: optuna, or the driver of the database, is not installed.
        StorageError: The database cannot be read.
    """
    study = _loaded(url, name)
    with closing(sqlite3.connect(scratch / "study.db", isolation_level=None)) as database:
        database.execute("BEGIN")
        _copy(study, StudyWriter(database))
        database.execute("COMMIT")
        yield database


def _loaded(url: str, name: str | None) -> Any:
    try:
        import optuna
    except ImportError:
        raise MissingPackageError("optuna", "optuna", f"the import from {url.partition('://')[0]}") from None
    try:
        names = optuna.study.get_all_study_names(url)
        chosen = name if name is not None else names[0] if len(names) == 1 else None
        if chosen in names:
            return optuna.load_study(study_name=chosen, storage=url)
    except Exception as error:  # each kind of storage has errors of its own
        raise StorageError(
            f"{url} is not a storage that Optuna can read ({type(error).__name__}: {error!s:.300})"
        ) from error
    what = f"no study {name!r}" if name is not None and names else f"{len(names)} studies"
    shown = f": choose one with --study, of {', '.join(map(repr, names[:10]))}" if names else ""
    raise OvertoneError(f"{url} holds {what}{shown}")


def _copy(study: Any, writer: StudyWriter) -> None:
    from optuna.distributions import distribution_to_json

    directions = [one.name for one in study.directions]
    system = dict(study._storage.get_study_system_attrs(study._study_id))
    study_id = writer.add_study(study.study_name, directions, study.user_attrs, system)
    for trial in study.get_trials(deepcopy=False):
        times = _utc(trial.datetime_start), _utc(trial.datetime_complete)
        trial_id = writer.add_trial(None, study_id, trial.number, trial.state.name, *times)
        params = {
            key: (one.to_internal_repr(trial.params[key]), distribution_to_json(one))
            for key, one in trial.distributions.items()
        }
        writer.set_params(trial_id, params)
        writer.set_values(trial_id, trial.values or ())
        writer.set_steps(trial_id, trial.intermediate_values)
        writer.set_attributes("user", trial_id, trial.user_attrs)
        writer.set_attributes("system", trial_id, trial.system_attrs)


def _utc(time: datetime | None) -> str | None:
    return None if time is None else str(time.astimezone(timezone.utc).replace(tzinfo=None))
