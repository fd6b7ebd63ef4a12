"""Packs a checkpoint of a trial: chooses it, and gathers where it comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from overtone.analysis.no_result import NoBestError
from overtone.analysis.ranking import best_first
from overtone.analysis.recorded_trial import RecordedTrial, index_of
from overtone.core.goal import lookup
from overtone.core.messages import Reported, Saved
from overtone.core.types import Checkpoint as Reference
from overtone.packs.writing import write_pack
from overtone.quantity_text import moment
from overtone.reading.imported import imported_facts
from overtone.reading.journal_index import JournalIndex
from overtone.space.data import OPAQUE, PLACE, encode_config


def pack_trial(
    trial: RecordedTrial, to: str | os.PathLike[str], metric: str | None = None, mode: str | None = None
) -> str:
    """Write the trial's best checkpoint by the metric as a pack, and return the pack's sha256.

    The newest checkpoint is packed if `metric` is None, or if no checkpoint was saved with the metric.

    Raises:
        NoBestError: The trial has no checkpoint.
        StorageError: The checkpoint is damaged, or the pack cannot be written.
    """
    reference, result = _chosen(trial, metric, mode or "max")
    index = index_of(trial)
    code = _dict(index.header.get("code"))
    # The header of an imported experiment has the versions of the program that imported it.
    tuner = imported_facts(index.header).get("tuner")
    versions = {name: index.header.get(name) for name in ("python", "overtone")}
    versions |= _dict(code.get("packages"))
    provenance = {
        "experiment": index.folder.name,
        "started": moment(index.header.get("wall")),
        "trial_id": trial.trial_id,
        "trial_index": trial.index,
        "record": _record_of(index, reference),
        "saved_by": reference.trial_id,
        "training_iteration": reference.t,
        "metric": metric,
        "mode": None if metric is None else mode or "max",
        "value": None if metric is None else lookup(result, metric),
        "seed": index.header.get("seed"),
        "tuner": tuner,
        "versions": {} if tuner else versions,
        "commit": code.get("commit"),
        "is_modified": code.get("is_modified"),
    }
    # A scheduler may have changed the config since the checkpoint was saved.
    config = _described(encode_config({}, result.get("config", trial.config)))
    return write_pack(to, config, trial.opened(reference), provenance, index.folder)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _chosen(trial: RecordedTrial, metric: str | None, mode: str) -> tuple[Reference, Mapping[str, Any]]:
    """Return the checkpoint to pack and the result that it was saved with; empty if there is none."""
    saved = list(zip(trial.references(), (result for _, result in trial.checkpoints()), strict=True))
    ranked = best_first(saved, metric, mode) if metric is not None else []
    if ranked:
        return ranked[0]
    if saved:
        return saved[-1]
    begun_from = trial.start_reference
    if begun_from is None:
        raise NoBestError(
            f"trial {trial.trial_id} has no checkpoint to pack: save one, such as with "
            "tune.report(metrics, checkpoint=...)"
        )
    return begun_from, {}


def _record_of(index: JournalIndex, reference: Reference) -> int | None:
    """Return the number of the record that saved a checkpoint; None for a checkpoint from elsewhere."""
    found = None
    if reference.trial_id in index.table.rows:
        for record in index.records(reference.trial_id):
            if isinstance(record.event, Reported | Saved) and record.event.checkpoint is not None:
                found = record.n if record.event.checkpoint.uri == reference.uri else found
    return found


def _described(value: Any) -> Any:
    """Return data in which values that are not data have a description, not a place in the space."""
    if type(value) is dict:
        if PLACE in value:
            return {OPAQUE: str(value.get("shown"))}
        return {name: _described(item) for name, item in value.items()}
    return list(map(_described, value)) if type(value) is list else value
