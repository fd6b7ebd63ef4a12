"""The tables of Optuna's relational storages, revision v3.2.0.a, which Optuna 3.2 to 5 read and write.

Sources: the table definitions in Optuna's documentation of `optuna.storages.RDBStorage` and its migrations.
"""

from __future__ import annotations

import math
import sqlite3
from typing import Any

REVISION = "v3.2.0.a"
SCHEMA_VERSION = 12

STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
"""The states of trials; a JournalFile has their index."""

DIRECTIONS = ("NOT_SET", "MINIMIZE", "MAXIMIZE")
"""The directions of objectives; a JournalFile has their index."""

METRIC_NAMES = "study:metric_names"
"""The attribute of a study with the names of its objectives."""

CONSTRAINTS = "constraints"
"""The attribute of a trial with the values of its constraints, which are met if all are <= 0."""

FIXED_PARAMS, FAIL_REASON = "fixed_params", "fail_reason"
"""The attributes of a trial with the parameters that it was enqueued with, and the reason of its failure."""

_OF_STUDY = '"key" VARCHAR(512), value_json TEXT, study_id INTEGER REFERENCES studies (study_id)'
_OF_TRIAL = "trial_id INTEGER NOT NULL REFERENCES trials (trial_id)"
_ATTRIBUTE = f'{_OF_TRIAL}, "key" VARCHAR(512), value_json TEXT, UNIQUE (trial_id, "key")'
_TABLES = {
    "studies": "study_id INTEGER PRIMARY KEY, study_name VARCHAR(512) NOT NULL",
    "version_info": "version_info_id INTEGER PRIMARY KEY CHECK (version_info_id = 1), "
    "schema_version INTEGER, library_version VARCHAR(256)",
    "alembic_version": "version_num VARCHAR(32) NOT NULL PRIMARY KEY",
    "study_directions": "study_direction_id INTEGER PRIMARY KEY, direction VARCHAR(8) NOT NULL, "
    "study_id INTEGER NOT NULL REFERENCES studies (study_id), objective INTEGER NOT NULL, "
    "UNIQUE (study_id, objective)",
    "study_user_attributes": f'study_user_attribute_id INTEGER PRIMARY KEY, {_OF_STUDY}, '
    'UNIQUE (study_id, "key")',
    "study_system_attributes": f'study_system_attribute_id INTEGER PRIMARY KEY, {_OF_STUDY}, '
    'UNIQUE (study_id, "key")',
    "trials": "trial_id INTEGER PRIMARY KEY, number INTEGER, "
    "study_id INTEGER REFERENCES studies (study_id), state VARCHAR(8) NOT NULL, "
    "datetime_start DATETIME, datetime_complete DATETIME",
    "trial_user_attributes": f"trial_user_attribute_id INTEGER PRIMARY KEY, {_ATTRIBUTE}",
    "trial_system_attributes": f"trial_system_attribute_id INTEGER PRIMARY KEY, {_ATTRIBUTE}",
    "trial_params": f"param_id INTEGER PRIMARY KEY, {_OF_TRIAL}, param_name VARCHAR(512), "
    "param_value FLOAT, distribution_json TEXT, UNIQUE (trial_id, param_name)",
    "trial_values": f"trial_value_id INTEGER PRIMARY KEY, {_OF_TRIAL}, objective INTEGER NOT NULL, "
    "value FLOAT, value_type VARCHAR(7) NOT NULL, UNIQUE (trial_id, objective)",
    "trial_intermediate_values": f"trial_intermediate_value_id INTEGER PRIMARY KEY, {_OF_TRIAL}, "
    "step INTEGER NOT NULL, intermediate_value FLOAT, intermediate_value_type VARCHAR(7) NOT NULL, "
    "UNIQUE (trial_id, step)",
    "trial_heartbeats": "trial_heartbeat_id INTEGER PRIMARY KEY, trial_id INTEGER NOT NULL UNIQUE "
    "REFERENCES trials (trial_id), heartbeat DATETIME NOT NULL",
}  # fmt: skip


def create_tables(database: sqlite3.Connection, library_version: str) -> None:
    """Create the tables in an empty database.

    Args:
        library_version: The version of Optuna that the file names as its maker.
    """
    for name, columns in _TABLES.items():
        database.execute(f"CREATE TABLE {name} ({columns})")
    database.execute("CREATE UNIQUE INDEX ix_studies_study_name ON studies (study_name)")
    database.execute("CREATE INDEX ix_trials_study_id ON trials (study_id)")
    database.execute("INSERT INTO alembic_version VALUES (?)", (REVISION,))
    database.execute("INSERT INTO version_info VALUES (1, ?, ?)", (SCHEMA_VERSION, library_version))


def stored(value: float) -> tuple[float | None, str]:
    """Return a number as the two columns that hold it: SQLite has no NaN, and MySQL no infinity."""
    if value != value:
        return None, "NAN"
    if math.isinf(value):
        return None, "INF_POS" if value > 0 else "INF_NEG"
    return value, "FINITE"


_SPECIAL = {"NAN": math.nan, "INF_POS": math.inf, "INF_NEG": -math.inf}


def loaded(value: Any, kind: str | None) -> float | None:
    """Return the number in two columns; None if it has no value. Before Optuna 3 there was no `kind`."""
    if kind in _SPECIAL:
        return _SPECIAL[kind]
    return math.nan if value is None and kind is None else value
