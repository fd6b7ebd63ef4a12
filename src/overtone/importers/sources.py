"""Finds out which tuner made a file or folder, and opens it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from overtone.errors import OvertoneError, StorageError
from overtone.importers.foreign import ForeignExperiment
from overtone.regular_files import open_regular
from overtone.store.folder_mark import JOURNAL

_SQLITE = b"SQLite format 3\0"
_OPERATION = b'{"op_code":'
_SYNE_TUNE = "results.csv.zip"
_DATABASES = ("sqlite", "mysql", "postgresql", "mssql", "oracle")
_TABLES = (".csv", ".tsv")
_ODD_VALUES = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors of readers at values of unexpected types, sizes and depths."""

_LONGEST_REASON = 200
KINDS = (
    "a SQLite file or a JournalFile of Optuna, the URL of another database of Optuna, a folder of Ray Tune "
    "or Syne Tune, or a table (.csv, .tsv)"
)


@dataclass(frozen=True, slots=True)
class Choices:
    """Choices for sources that do not speak for themselves.

    Attributes:
        study: The study of a storage of Optuna.
        metric, mode: The objectives; they replace those of the source.
        params: The columns of a table that are hyperparameters.
    """

    study: str | None = None
    metric: Sequence[str] = ()
    mode: Sequence[str] = ()
    params: Sequence[str] = ()


def is_foreign(source: str) -> bool:
    """Return whether a source is a file, a database or a folder of another tuner."""
    if "://" in source and not source.startswith("file://"):
        return source.partition("://")[0].partition("+")[0] in _DATABASES
    path = Path(source.removeprefix("file://")).expanduser()
    if path.is_dir():
        from overtone.importers.ray_tune import is_ray_tune

        return not (path / JOURNAL).exists() and ((path / _SYNE_TUNE).is_file() or is_ray_tune(path))
    return path.is_file()


@contextmanager
def opened(
    source: str, scratch: Path, choices: Choices, on_line: Callable[[int], None] = lambda _: None
) -> Iterator[ForeignExperiment]:
    """Open a source, whose trials are read while it is open.

    Args:
        source: A file, a folder or a URL; that of a database may end with "#" and the name of the study.
        scratch: A folder for copies, which the caller removes.
        on_line: Called with the number of each line of a log that is read before its first trial is known.

    Raises:
        OvertoneError: Nothing known is there.
        StorageError: It cannot be read, or its reader failed on a value that no tuner writes. That error is
            raised where the trials are read, too.
    """
    if choices.mode and not choices.metric:
        raise OvertoneError("--mode needs the metrics that it is for: name them with --metric")
    try:
        if "://" in source and "#" in source:
            source, _, study = source.partition("#")
            choices = replace(choices, study=study)
        with _opened(source, scratch, choices, on_line) as experiment:
            if choices.metric:
                experiment.metric = list(choices.metric)
                experiment.mode = _modes(choices)
            yield experiment
    except OvertoneError:
        raise
    except _ODD_VALUES as error:
        what = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
        raise StorageError(f"{source} has a value that cannot be read ({what})") from error


def _modes(choices: Choices) -> list[str]:
    n = len(choices.metric)
    if len(choices.mode) not in (1, n):
        raise OvertoneError(f'--metric {",".join(choices.metric)} needs --mode "min" or "max"')
    return list(choices.mode) * (n if len(choices.mode) == 1 else 1)


@contextmanager
def _opened(
    source: str, scratch: Path, choices: Choices, on_line: Callable[[int], None]
) -> Iterator[ForeignExperiment]:
    from overtone.importers.optuna.sqlite_reader import read_study

    if "://" in source and not source.startswith(("file://", "sqlite:///")):
        from overtone.importers.optuna.package_storage import copied_study

        with copied_study(source, scratch, choices.study) as database:
            yield read_study(database, source, None)
        return
    path = Path(source.removeprefix("file://").removeprefix("sqlite:///")).expanduser()
    if not path.exists():
        raise OvertoneError(f"there is no {source!r}: name {KINDS}")
    if path.is_dir():
        yield _folder(path)
        return
    with open_regular(path) as file:
        start = file.read(100)
    if start.startswith(_SQLITE):
        from overtone.importers.optuna.storages import opened_sqlite

        with opened_sqlite(path, scratch) as database:
            yield read_study(database, str(path.absolute()), choices.study)
    elif start.lstrip().startswith(_OPERATION):
        from overtone.importers.optuna.journal_file import opened_journal

        with opened_journal(path, scratch, on_line) as database:
            yield read_study(database, str(path.absolute()), choices.study)
    elif path.suffix.lower() in _TABLES:
        from overtone.importers.table import read_table

        yield read_table(path, choices.params, choices.metric)
    else:
        raise StorageError(f"{path} is not known ({start[:20]!r}...): give {KINDS}")


def _folder(path: Path) -> ForeignExperiment:
    if (path / JOURNAL).is_file():
        raise OvertoneError(f"{path} is an experiment of Overtone already: overtone show {path}")
    if (path / _SYNE_TUNE).is_file():
        from overtone.importers.syne_tune import read_syne_tune

        return read_syne_tune(path)
    from overtone.importers.ray_tune import is_ray_tune, read_ray_tune

    if is_ray_tune(path):
        return read_ray_tune(path)
    raise OvertoneError(f"{path} holds nothing that is known: give {KINDS}")
