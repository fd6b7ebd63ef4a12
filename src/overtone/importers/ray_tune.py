"""Reads the folder of a Ray Tune experiment, versions 0.8 to 2: JSON and CSV alone, never a pickle.

    <experiment>/
      experiment_state-<date>.json     statuses and ids: `trial_data` since 2.5, `checkpoints` before
      <trial>/
        params.json                    the config
        result.json                    one JSON object a line; where it is missing, progress.csv
        error.txt                      tracebacks, if it failed
        checkpoint_000010/             checkpoints: numbered by iteration, since 2.7 counted from 0 and named
                                       in `checkpoint_dir_name` of a result

Fields of the state that are pickles, as text, stay unread. Sources: Ray's documentation of "Analyzing Tune
experiment results" and of the trial directory, for versions 0.8, 1.13, 2.7 and 2.60.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from overtone.errors import StorageError
from overtone.importers.cells import cell_value, nested_names
from overtone.importers.foreign import ForeignExperiment, ForeignResult, ForeignTrial, State
from overtone.regular_files import open_regular, read_regular

_STATE_FILE = "experiment_state*.json"
_RESULTS = ("result.json", "progress.csv")
_OF_STATUS: dict[str, State] = {
    "TERMINATED": "done", "ERROR": "failed", "RUNNING": "running", "PAUSED": "running", "PENDING": "waiting",
}  # fmt: skip
_CHECKPOINT = re.compile(r"checkpoint_(?:tmp)?(\d+)$")
_NOT_METRICS = frozenset({
    "config", "trial_id", "experiment_id", "experiment_tag", "pid", "hostname", "node_ip", "date",
    "checkpoint_dir_name", "should_checkpoint", "time_since_restore", "timesteps_since_restore",
    "iterations_since_restore", "warmup_time", "training_iteration",
})  # fmt: skip
"""Fields that Ray adds to each result and that the journal has elsewhere."""


def is_ray_tune(folder: Path) -> bool:
    """Return whether a folder is that of an experiment of Ray Tune."""
    return any(folder.glob(_STATE_FILE)) or any(any(folder.glob(f"*/{name}")) for name in _RESULTS)


def read_ray_tune(folder: Path) -> ForeignExperiment:
    """Return the description of an experiment; its trials are read as they are asked for.

    Raises:
        StorageError: A file of it is damaged.
    """
    reader = _Reader(folder)
    return ForeignExperiment(
        tuner="Ray Tune",
        source=str(folder.absolute()),
        name=folder.absolute().name,
        trials=reader.trials(),
        trainable=reader.trainable,
        n_trials=len(reader.found),
        started=reader.started,
        lost=reader.lost,
        facts={"state": reader.state_name} if reader.state_name else {},
    )


class _Reader:
    """Reads trials: those that the state names in its order, then folders that it does not name.

    Attributes:
        found: The folder of each trial, None if there is none, with its entry in the state.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.lost: list[str] = ["the search space, scheduler and searcher, which Ray Tune pickles"]
        self.started: float | None = None
        self.state_name, entries = _state(folder)
        self.found: list[tuple[Path | None, Mapping[str, Any]]] = []
        named: set[str] = set()
        folders = _trial_folders(folder)
        for entry in entries:
            path = _folder_of(entry, folder, folders)
            if path is not None:
                named.add(path.name)
            self.found.append((path, entry))
        self.found += [(one, {}) for one in folders if one.name not in named]
        begins = [_begin(path, entry) for path, entry in self.found]
        self.found = [one for _, one in sorted(zip(begins, self.found, strict=True), key=lambda one: one[0])]
        names = {entry.get("trainable_name") for _, entry in self.found}
        self.trainable = next((one for one in names if isinstance(one, str) and one), "ray")
        known = [one for one in begins if one < float("inf")]
        self.started = min(known, default=None)

    def trials(self) -> Iterator[ForeignTrial]:
        """Yield the trials in the order of their starts."""
        n_dangling = 0
        for path, entry in self.found:
            trial, n = self._trial(path, entry)
            n_dangling += n
            yield trial
        if n_dangling:
            what = f"{n_dangling:,} checkpoint{'s' * (n_dangling > 1)}"
            self.lost.append(f"{what} of which results tell, and which the folder does not have")

    def _trial(self, path: Path | None, entry: Mapping[str, Any]) -> tuple[ForeignTrial, int]:
        rows = list(_rows(path)) if path is not None else []
        config = _config(path, entry, rows)
        saved, n_dangling = _checkpoints(path, rows)
        begin = _begin(path, entry, rows)
        results = [
            ForeignResult(
                {name: value for name, value in row.items() if name not in _NOT_METRICS},
                _whole(row.get("training_iteration")),
                _number(row.get("time_total_s")),
                saved.get(i, ""),
            )
            for i, row in enumerate(rows)
        ]
        error = _error(path)
        status = entry.get("status")
        if status not in _OF_STATUS:
            # A trial that is done may have an error of an earlier attempt.
            status = "TERMINATED" if rows and rows[-1].get("done") else "ERROR" if error else "RUNNING"
        last = rows[-1] if rows else {}
        return ForeignTrial(
            config=config,
            state=_OF_STATUS[status],
            results=results,
            started=begin if begin < float("inf") else None,
            ended=_ended(rows, begin),
            name=str(entry.get("trial_id") or last.get("trial_id") or ""),
            error=_last_line(error) if status == "ERROR" else "",
            traceback=error if status == "ERROR" else "",
            hostname=str(last.get("hostname") or ""),
            pid=_whole(last.get("pid")),
        ), n_dangling


# --- the state of the experiment ------------------------------------------------------------


def _state(folder: Path) -> tuple[str, list[Mapping[str, Any]]]:
    """Return the name of the newest state file, and its entries of trials."""
    files = sorted(folder.glob(_STATE_FILE), key=lambda one: (one.stat().st_mtime, one.name), reverse=True)
    for file in files:
        try:
            document = json.loads(read_regular(file))
        except (ValueError, UnicodeDecodeError):
            continue  # Cut short while it was written: an older file, if any, or the folders alone.
        entries: list[Mapping[str, Any]] = []
        for one in document.get("trial_data") or document.get("checkpoints") or ():
            parts = one if isinstance(one, list) else [one]
            entry: dict[str, Any] = {}
            for part in parts:
                made = json.loads(part) if isinstance(part, str) else part
                if isinstance(made, Mapping):
                    entry.update(made)
            entries.append(entry)
        return file.name, entries
    return "", []


def _trial_folders(folder: Path) -> list[Path]:
    with os.scandir(folder) as found:
        folders = [Path(one.path) for one in found if one.is_dir()]
    marks = (*_RESULTS, "params.json")
    return sorted(one for one in folders if any((one / name).is_file() for name in marks))


def _folder_of(entry: Mapping[str, Any], folder: Path, folders: list[Path]) -> Path | None:
    """Return the folder of a trial: by its name, which the state has under several fields, or by its id."""
    for field in ("relative_logdir", "logdir", "_logdir", "local_logdir"):
        name = entry.get(field)
        if isinstance(name, str):
            path = folder / os.path.basename(name.rstrip("/"))
            if path.name != ".." and path.is_dir():
                return path
    trial_id = entry.get("trial_id")
    if isinstance(trial_id, str) and trial_id:
        return next((one for one in folders if f"_{trial_id}_" in one.name), None)
    return None


def _begin(path: Path | None, entry: Mapping[str, Any], rows: list[dict[str, Any]] | None = None) -> float:
    """Return when a trial began, in seconds since 1970; infinite if it is unknown."""
    begin = _number(entry.get("start_time"))
    if begin is not None:
        return begin
    first = rows[0] if rows else None
    if first is None and rows is None and path is not None:
        first = next(_rows(path), None)
    if first is not None and (stamp := _number(first.get("timestamp"))) is not None:
        return stamp - (_number(first.get("time_total_s")) or 0.0)
    return float("inf")


# --- the files of a trial --------------------------------------------------------------------


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the results of a trial; a torn last line is left out."""
    try:
        if (path / "result.json").is_file() and os.path.getsize(path / "result.json"):
            with open_regular(path / "result.json") as file:
                for n, line in enumerate(file, 1):
                    try:
                        row = json.loads(line)
                    except ValueError as error:
                        if next(file, None) is None:
                            return
                        raise StorageError(
                            f"{path / 'result.json'}, line {n} is not JSON: {error}"
                        ) from error
                    if isinstance(row, dict):
                        yield row
        elif (path / "progress.csv").is_file():
            with open_regular(path / "progress.csv") as raw:
                text = (line.decode("utf-8", "replace") for line in raw)
                for cells in csv.DictReader(text):
                    yield nested_names(
                        {k: cell_value(v) for k, v in cells.items() if k and v not in ("", None)}
                    )
    except UnicodeDecodeError as error:
        raise StorageError(f"{path}: its results are not text: {error}") from error


def _config(path: Path | None, entry: Mapping[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    found: Any = None
    if path is not None and (path / "params.json").is_file():
        try:
            found = json.loads(read_regular(path / "params.json"))
        except ValueError as error:
            raise StorageError(f"{path / 'params.json'} cannot be read: {error}") from error
    if not isinstance(found, dict):
        found = rows[-1].get("config") if rows else entry.get("config")
    return found if isinstance(found, dict) else {}


def _checkpoints(path: Path | None, rows: list[dict[str, Any]]) -> tuple[dict[int, str], int]:
    """Return the folder of the checkpoint of each result, by its index, and how many are gone."""
    if path is None:
        return {}, 0
    saved: dict[int, str] = {}
    n_dangling = 0
    for i, row in enumerate(rows):
        name = row.get("checkpoint_dir_name")
        if isinstance(name, str) and _CHECKPOINT.fullmatch(name):
            if (path / name).is_dir() and not (path / name).is_symlink():  # A link may lead anywhere.
                saved[i] = str(path / name)
            else:
                n_dangling += 1
    if saved or n_dangling:
        return saved, n_dangling
    by_t = {_whole(row.get("training_iteration")): i for i, row in enumerate(rows)}
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            number = _CHECKPOINT.fullmatch(entry.name)
            if number and entry.is_dir(follow_symlinks=False) and rows:
                saved[by_t.get(int(number[1]), len(rows) - 1)] = entry.path
    return saved, 0


def _error(path: Path | None) -> str:
    if path is None:
        return ""
    for name in ("error.txt", "error_file.txt"):
        if (path / name).is_file():
            return read_regular(path / name).decode("utf-8", "replace")
    return ""


def _last_line(text: str) -> str:
    lines = [one.strip() for one in text.splitlines() if one.strip()]
    return lines[-1] if lines else ""


def _ended(rows: list[dict[str, Any]], begin: float) -> float | None:
    last = _number(rows[-1].get("time_total_s")) if rows else None
    return begin + last if last is not None and begin < float("inf") else None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < float("inf") else None


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) and abs(value) < float("inf") else 0
