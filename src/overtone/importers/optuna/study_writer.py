"""Writes studies into Optuna's tables: for `overtone export`, and for storages that are read as a copy."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from overtone.importers.optuna.schema import create_tables, stored

LIBRARY_VERSION = "5.0.0"
"""The version that files name as their maker: since Optuna 5, times are in UTC."""


class StudyWriter:
    """Adds studies and trials to an empty database, in one transaction that the caller ends.

    Args:
        library_version: See `create_tables`.
    """

    def __init__(self, database: sqlite3.Connection, library_version: str = LIBRARY_VERSION) -> None:
        self._database = database
        create_tables(database, library_version)

    def add_study(
        self,
        name: str,
        directions: Sequence[str],
        user: Mapping[str, Any] | None = None,
        system: Mapping[str, Any] | None = None,
        study_id: int | None = None,
    ) -> int:
        """Add a study, and return its id."""
        insert = "INSERT INTO studies (study_id, study_name) VALUES (?, ?)"
        found = self._database.execute(insert, (study_id, name)).lastrowid
        assert found is not None
        self._database.executemany(
            "INSERT INTO study_directions (direction, study_id, objective) VALUES (?, ?, ?)",
            [(one, found, i) for i, one in enumerate(directions)],
        )
        for kind, attributes in (("user", user), ("system", system)):
            for key, value in (attributes or {}).items():
                self.set_study_attribute(kind, found, key, value)
        return found

    def set_study_attribute(self, kind: str, study_id: int, key: str, value: Any) -> None:
        """Set an attribute of a study; an earlier value is replaced."""
        self._database.execute(
            f'INSERT OR REPLACE INTO study_{kind}_attributes (study_id, "key", value_json) VALUES (?, ?, ?)',
            (study_id, key, json.dumps(value)),
        )

    def add_trial(
        self,
        trial_id: int | None,
        study_id: int,
        number: int,
        state: str,
        started: str | None,
        ended: str | None,
    ) -> int:
        """Add a trial without parameters and values, and return its id."""
        cursor = self._database.execute(
            "INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?)",
            (trial_id, number, study_id, state, started, ended),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def set_params(self, trial_id: int, params: Mapping[str, tuple[float, str]]) -> None:
        """Set parameters: each a number and the JSON of its distribution."""
        self._database.executemany(
            "INSERT OR REPLACE INTO trial_params (trial_id, param_name, param_value, distribution_json) "
            "VALUES (?, ?, ?, ?)",
            [(trial_id, name, value, text) for name, (value, text) in params.items()],
        )

    def set_values(self, trial_id: int, values: Sequence[float]) -> None:
        """Set the value of each objective."""
        self._database.executemany(
            "INSERT OR REPLACE INTO trial_values (trial_id, objective, value, value_type) "
            "VALUES (?, ?, ?, ?)",
            [(trial_id, i, *stored(value)) for i, value in enumerate(values)],
        )

    def set_steps(self, trial_id: int, steps: Mapping[int, float]) -> None:
        """Set intermediate values by step."""
        self._database.executemany(
            "INSERT OR REPLACE INTO trial_intermediate_values "
            "(trial_id, step, intermediate_value, intermediate_value_type) VALUES (?, ?, ?, ?)",
            [(trial_id, step, *stored(value)) for step, value in steps.items()],
        )

    def set_attributes(self, kind: str, trial_id: int, attributes: Mapping[str, Any]) -> None:
        """Set attributes of a trial, of the kind "user" or "system"."""
        self._database.executemany(
            f'INSERT OR REPLACE INTO trial_{kind}_attributes (trial_id, "key", value_json) VALUES (?, ?, ?)',
            [(trial_id, key, json.dumps(value, default=str)) for key, value in attributes.items()],
        )
