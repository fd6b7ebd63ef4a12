"""From what users call an experiment or a trial to the thing itself."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from overtone.cli.exit_codes import NotFoundError
from overtone.errors import ArgumentError, StorageError
from overtone.reading.location import RESULTS, located
from overtone.reading.location import experiment_names as experiment_names
from overtone.reading.trial_names import UnknownTrialError, find_trial, listed
from overtone.store.files import is_url, local_path
from overtone.store.folder_mark import JOURNAL

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis, RecordedTrial


def results_folder(given: str | None) -> Path:
    """Return the folder in which experiments are looked up by name, or into which they are written.

    Raises:
        ArgumentError: It is a URL of a store.
    """
    if given is not None and is_url(given):
        raise ArgumentError(f"{given}: must be a folder of this machine; an experiment there has its own URL")
    return Path(local_path(given) if given is not None else RESULTS).expanduser().absolute()


def journal_of(name: str, directory: str | None = None) -> Path:
    """Return the journal of the experiment that `name` means.

    Args:
        name: A folder, a journal, a URL, or a name (or the beginning of one) below `directory`.
        directory: By default `~/overtone_results`.

    Raises:
        NotFoundError: There is none, or more than one is meant.
    """
    if is_url(name):
        return _fetched(name)
    name = local_path(name)
    results = results_folder(directory)
    is_name = os.sep not in name.rstrip(os.sep) and name not in (".", "..", "~")
    try:
        return located(name)
    except StorageError as error:
        if isinstance(error.__cause__, OSError):
            raise
        if is_name:
            found = _below(results, name.rstrip(os.sep))
            if found is not None:
                return found
            if not os.path.lexists(name):
                raise NotFoundError(_unknown(name, results)) from None
        elif not os.path.lexists(os.path.expanduser(name)):
            given = Path(name).expanduser().absolute()
            found = _below(given.parent, given.name)
            if found is not None:
                return found
        raise NotFoundError(str(error)) from None


def _fetched(url: str) -> Path:
    """Return the journal at a URL, brought to this machine."""
    try:
        return located(url)
    except StorageError as error:
        if "damaged" in str(error):
            raise
        raise NotFoundError(str(error)) from None


def _below(results: Path, name: str) -> Path | None:
    """Return the journal of the experiment below `results` whose name is, or begins with, `name`."""
    if (results / name / JOURNAL).is_file():
        return results / name / JOURNAL
    names = [one for one in experiment_names(results) if one.startswith(name)]
    if len(names) > 1:
        raise NotFoundError(f"{name!r} may be {listed(names)}, below {results}: write more of the name")
    return results / names[0] / JOURNAL if names else None


def _unknown(name: str, results: Path) -> str:
    from difflib import get_close_matches

    names = experiment_names(results)
    near = get_close_matches(name, names, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    there = f"{results} has {listed(names)}" if names else f"{results} has none"
    return f"there is no experiment {name!r}: {there}{hint}"


def analysis_of(
    journal: Path, metric: str | None = None, mode: str | None = None, on_demand: bool = True
) -> tuple[ExperimentAnalysis, list[RecordedTrial]]:
    """Return the analysis of an experiment, and all its trials.

    Args:
        on_demand: Whether few trials are looked at, so that the others need not be read.

    Raises:
        StorageError: The journal cannot be read, or is damaged.
    """
    from overtone.analysis import ExperimentAnalysis

    analysis = ExperimentAnalysis(journal, metric, mode, on_demand=on_demand)
    return analysis, analysis.trials


def trial_id(wanted: str, ids: Iterable[str], folder: Path) -> str:
    """Return the id of the trial that `wanted` means: an id, how only one begins or ends, or an index.

    Args:
        ids: All ids, in the order of creation.

    Raises:
        NotFoundError: There is none, or more than one is meant.
    """
    try:
        return find_trial(wanted, ids, folder)
    except UnknownTrialError as error:
        raise NotFoundError(str(error)) from None
