"""Imports into a folder of their own, and storages of Optuna that are made without Optuna."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from overtone.importers.import_results import Imported, import_results
from overtone.importers.optuna.study_writer import StudyWriter
from overtone.importers.sources import Choices
from overtone.tune import ExperimentAnalysis


@pytest.fixture
def take(tmp_path: Path) -> Callable[..., Imported]:
    """Import a source into a results folder."""

    def take(source: Path | str, name: str | None = "it", **choices: Any) -> Imported:
        return import_results(str(source), tmp_path / "results", name, Choices(**choices))

    return take


@pytest.fixture
def study_file() -> Callable[..., AbstractContextManager[StudyWriter]]:
    """Write a database of Optuna."""

    @contextmanager
    def study_file(path: Path, library: str = "5.0.0") -> Iterator[StudyWriter]:
        with closing(sqlite3.connect(path)) as database:
            yield StudyWriter(database, library)
            database.commit()

    return study_file


@pytest.fixture
def trials_of() -> Callable[[Imported], list[Any]]:
    """Return the trials of an import."""
    return lambda found: ExperimentAnalysis(found.folder).trials
