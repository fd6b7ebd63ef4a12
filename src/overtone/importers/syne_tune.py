"""Reads the folder of a Syne Tune experiment: `results.csv.zip` and `metadata.json`, never `tuner.dill`.

Source: Syne Tune's documentation of its results (`syne_tune.experiments`).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from overtone.core.goal import is_number
from overtone.errors import SpaceError, StorageError
from overtone.importers.cells import cell_value
from overtone.importers.foreign import ForeignExperiment, ForeignResult, ForeignTrial, State
from overtone.importers.table import named_rows
from overtone.regular_files import open_regular, read_regular
from overtone.space import choice, lograndint, loguniform, randint, space_to_data, uniform

_RESULTS, _METADATA = "results.csv.zip", "metadata.json"
_CONFIG = "config_"
_OWN = "st_"
_OF_STATUS: dict[str, State] = {
    "Completed": "done", "Failed": "failed", "Stopped": "stopped", "Stopping": "stopped",
    "InProgress": "running", "Paused": "stopped",
}  # fmt: skip


def read_syne_tune(folder: Path) -> ForeignExperiment:
    """Return the description of an experiment.

    The table has a row for each result; a trial's last row has its status and the scheduler's decision.

    Raises:
        StorageError: A file of it is damaged.
    """
    facts = _metadata(folder / _METADATA)
    lost = ["the state of the scheduler, which Syne Tune pickles", "checkpoints, which are on its workers"]
    names = facts.get("metric_names")
    modes = facts.get("metric_mode")
    metric = [str(one) for one in names] if isinstance(names, list) else []
    mode = [modes] * len(metric) if isinstance(modes, str) else list(modes or ())
    if len(mode) != len(metric) or not set(mode) <= {"min", "max"}:
        metric, mode = [], []
    space = _space(facts.get("config_space"), lost)
    together = _together(folder / _RESULTS)
    kwargs = facts.get("scheduler_kwargs")
    clock = kwargs.get("time_attr") if isinstance(kwargs, dict) else None
    started = facts.get("st_tuner_start_timestamp", facts.get("st_tuner_creation_timestamp"))
    begin = float(started) if isinstance(started, (int, float)) else None
    kept = ("entrypoint", "backend", "scheduler_name")
    return ForeignExperiment(
        tuner="Syne Tune",
        source=str(folder.absolute()),
        name=folder.absolute().name,
        trials=(_trial(rows, begin or 0.0, str(clock or "")) for rows in together),
        n_trials=len(together),
        metric=metric,
        mode=mode,
        space=space,
        started=begin if begin is not None else 0.0 if together else None,
        facts={name: facts[name] for name in kept if name in facts},
        lost=lost,
    )


def _metadata(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_regular(path)) if path.is_file() else {}
    except ValueError as error:
        raise StorageError(f"{path} cannot be read: {error}") from error
    return found if isinstance(found, dict) else {}


def _together(path: Path) -> list[list[dict[str, str]]]:
    """Return the rows of each trial, trials in the order of their first results."""
    found: dict[str, list[dict[str, str]]] = {}
    try:
        with open_regular(path) as raw, ZipFile(raw) as archive:
            names = [one for one in archive.namelist() if one.endswith(".csv")]
            if not names:
                raise StorageError(f"{path} holds no table")
            with archive.open(names[0]) as file:
                rows = csv.reader(io.TextIOWrapper(file, "utf-8", newline=""))
                for row in named_rows(path, rows):
                    found.setdefault(row.get("trial_id", ""), []).append(row)
    except (BadZipFile, EOFError) as error:
        raise StorageError(f"{path} cannot be read: {error}") from error
    return list(found.values())


def _trial(rows: list[dict[str, str]], begin: float, clock: str) -> ForeignTrial:
    """Return a trial; its start follows from the times of the tuner and of the worker at its first result.

    Args:
        clock: The metric that is the scheduler's clock, such as "epoch"; "" if it has none.
    """
    first, last = rows[0], rows[-1]
    config = {
        name.removeprefix(_CONFIG): cell_value(text)
        for name, text in first.items()
        if name.startswith(_CONFIG) and text != ""
    }
    results = [
        ForeignResult(_metrics(row), _whole(row.get(clock)), _number(row.get("st_worker_time")))
        for row in rows
    ]
    at, worked = _number(first.get("st_tuner_time")), _number(first.get("st_worker_time"))
    until = _number(last.get("st_tuner_time"))
    state = _OF_STATUS.get(last.get("st_status", ""), "done")
    decision = last.get("st_decision", "")
    if decision in ("STOP", "PAUSE") and state == "running":
        state = "stopped"
    return ForeignTrial(
        config=config,
        state=state,
        results=results,
        started=begin + max(0.0, (at or 0.0) - (worked or 0.0)),
        ended=begin + until if until is not None else None,
        reason={"STOP": "stopped by its scheduler", "PAUSE": "paused by its scheduler"}.get(
            decision, "stopped"
        ),
    )


def _metrics(row: Mapping[str, str]) -> dict[str, Any]:
    return {
        name: cell_value(text)
        for name, text in row.items()
        if text != "" and name != "trial_id" and not name.startswith((_CONFIG, _OWN))
    }


def _number(text: str | None) -> float | None:
    value: Any = cell_value(text) if text else None
    return float(value) if is_number(value) and 0 <= value < float("inf") else None


def _whole(text: str | None) -> int:
    value = _number(text)
    return int(value) if value is not None and value == int(value) else 0


def _space(text: Any, lost: list[str]) -> dict[str, Any]:
    """Return the space, which is JSON inside of JSON; a domain without counterpart is left out."""
    try:
        given = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        given = None
    found, unknown = {}, []
    for name, data in (given or {}).items() if isinstance(given, dict) else ():
        try:
            found[name] = _domain(data) if isinstance(data, dict) and "domain_cls" in data else data
        except (SpaceError, KeyError, TypeError):
            unknown.append(name)
    if unknown:
        lost.append(f"the domain of {', '.join(unknown)}")
    return dict(space_to_data(found)) if found else {}


def _domain(data: Mapping[str, Any]) -> Any:
    kind, given = data["domain_cls"], data["domain_kwargs"]
    is_log = "Log" in str(data.get("sampler_cls", ""))
    if kind == "Float":
        return (loguniform if is_log else uniform)(given["lower"], given["upper"])
    if kind == "Integer":
        return (lograndint if is_log else randint)(given["lower"], given["upper"] + 1)
    if kind == "FiniteRange":
        low, high, n = given["lower"], given["upper"], given["size"]
        if given.get("log_scale"):
            values = [low * (high / low) ** (i / max(1, n - 1)) for i in range(n)]
        else:
            values = [low + (high - low) * i / max(1, n - 1) for i in range(n)]
        return choice([round(one) for one in values] if given.get("cast_int") else values)
    return choice(given["categories"])
