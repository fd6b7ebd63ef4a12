"""Options of an experiment that a journal's header records, and that a restore takes from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from overtone.experiment import Experiment

NOT_OPTIONS: Mapping[str, str] = {
    "trainable": "code is not data: a restore is given it again; its name and its source's hash are recorded",
    "space": "recorded beside the options, as the space encodes itself",
    "name": "the folder says it",
    "storage": "the folder, or the URL that it belongs to, says it",
    "metric": "recorded beside the options: the scheduler or the searcher may name it",
    "mode": "recorded beside the options, with the metric",
    "constraints": "recorded beside the options, with the metric",
    "scheduler": "recorded beside the options, with its arguments",
    "searcher": "recorded beside the options, with its arguments",
    "points_to_evaluate": "recorded as an argument of the searcher",
    "stop": "recorded beside the options, with its arguments",
    "checkpoints": "recorded beside the options, field by field",
    "seed": "recorded beside the options, also where none was given",
    "warm_start": "recorded as the results that were read: their sources may have changed since",
    "resume": "says how a run begins, and not what it is",
}
"""The fields that are not options, and for each the reason."""

OPTIONS = tuple(one.name for one in fields(Experiment) if one.name not in NOT_OPTIONS)
"""All other fields of `Experiment`, including future ones."""

CODE = frozenset({"callbacks", "engine", "priority", "reporter", "trial_folder", "trial_name"})
"""Options that may be code: recorded by name, and given again to a restore."""

AS_USERS_SAY: Mapping[str, str] = {
    "space": "param_space", "searcher": "search_alg", "resources": "resources_per_trial",
    "max_concurrent": "max_concurrent_trials", "reuse": "reuse_actors", "reporter": "progress_reporter",
    "trial_name": "trial_name_creator", "trial_folder": "trial_dirname_creator",
}  # fmt: skip
"""The fields that users know under another name."""


def recorded_options(experiment: Experiment) -> dict[str, Any]:
    """Return the options of an experiment as data; code by its import path alone."""
    from overtone.journal.header import described

    found = {name: getattr(experiment, name) for name in OPTIONS}
    return {name: _named(value) if name in CODE else described(value) for name, value in found.items()}


def _named(value: Any) -> Any:
    """Return a value as data; code by its import path."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return [_named(one) for one in value]
    code = getattr(value, "__wrapped__", value)
    code = code if hasattr(code, "__qualname__") else type(code)
    return {"path": f"{code.__module__}.{code.__qualname__}", "arguments": {}}
