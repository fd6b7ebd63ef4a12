"""Differences between a resume and the recorded run, and the value that counts for each."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from overtone.journal.header import described
from overtone.journal.newest_parts import newest_parts
from overtone.run.header.journal_setup import header_parts
from overtone.run.header.recorded_options import AS_USERS_SAY
from overtone.run.header.source_hash import is_same_source
from overtone.run.resume.replay import space_changes
from overtone.run.storage.results_place import JOURNAL

if TYPE_CHECKING:
    from overtone.experiment import Experiment
    from overtone.run.parts import Parts

_TAKEN = "taken"
_STAYS = "taken: trials that ended stay ended"
_FROM_NOW = "taken for trials from now on; trials that were made keep theirs"
_RANKS = "taken: results so far are ranked anew by it, what was decided stays"
_DECIDES = "taken: what was decided stays, and it decides from now on"
_POINTS = "taken where they come later than the trials that were made"
_MIXES = (
    "taken: results of both stand side by side. To keep them apart, choose another name, or begin anew "
    "without resume"
)

EFFECTS: Mapping[str, str] = {
    "num_samples": "taken: trials that were made stay",
    "max_concurrent": _TAKEN,
    "max_failures": _STAYS,
    "fail_fast": _TAKEN,
    "time_budget_s": "taken: the time of earlier drivers counts; trials that ended stay ended",
    "reuse": _TAKEN,
    "log_to_file": _TAKEN,
    "resources": f"{_FROM_NOW} until a scheduler restarts them",
    "priority": _FROM_NOW,
    "trial_name": _FROM_NOW,
    "trial_folder": _TAKEN,
    "callbacks": "taken: what happened so far is told to them as past",
    "captures_output": _TAKEN,
    "durability": _TAKEN,
    "grace_s": _TAKEN,
    "trial_limits": "taken: what trials have used so far counts",
    "storage_patience_s": _TAKEN,
    "tensorboard": _TAKEN,
    "files": _TAKEN,
}
"""Effect of a changed option on a resume; each was verified in a run."""

NOT_SHOWN: Mapping[str, str] = {
    "verbose": "of the terminal that the run is watched in",
    "raise_on_failed_trial": "of the caller: says how a call ends, and a tuner never raises",
    "reporter": "of the terminal that the run is watched in",
    "engine": "shown by the name of its class, also where none was named",
}
"""Options whose changes are not shown, each with the reason."""

_POLICY = {
    "every": ("checkpoint_freq", _TAKEN),
    "at_end": ("checkpoint_at_end", _TAKEN),
    "keep": ("keep_checkpoints_num", "taken: deleted checkpoints stay deleted"),
    "order": ("checkpoint_score_attr", "taken: deleted checkpoints stay deleted"),
    "order_mode": ("checkpoint_score_attr's order", "taken: deleted checkpoints stay deleted"),
    "max_disk": ("max_disk", "taken: deleted checkpoints stay deleted"),
}
_MISSING = object()
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_RESOURCES = "overtone.core.resources.Resources"
_LONGEST = 100


class Change(NamedTuple):
    """A setting that differs from the recorded one.

    Attributes:
        name: The setting, as users call it.
        what: Both values.
        effect: Which of the two counts, and for what.
    """

    name: str
    what: str
    effect: str

    def __str__(self) -> str:
        return f"{self.name}: {self.what} ({self.effect})"


def changes(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    seeds: tuple[int, int | None],
    defaults: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Change]:
    """Return each setting that differs from the recorded run's; nothing for one that is not recorded.

    Args:
        old: The recorded run: the parts of a journal's header.
        new: The same of today's call.
        seeds: The recorded one, and the one of today's call, if any.
        defaults: The default arguments of "scheduler" and "searcher".
    """
    found = [*_of_trainable(old, new), *_of_parameters(old, new)]
    found += (
        Change("space", line, "taken: trials from now on are drawn from the new one")
        for line in (space_changes(old["space"], new["space"]) if "space" in old else ())
    )
    for name in ("metric", "mode", "constraints"):
        if name in old:
            found += _differing(name, old[name] or None, new[name] or None, _RANKS)
    for name, shown in (("scheduler", "scheduler"), ("searcher", "search_alg")):
        found += _of_algorithm(name, shown, old, new, (defaults or {}).get(name, {}))
    found += _differing("stop", old.get("stop", _MISSING), new["stop"], _STAYS)
    found += _of_options(old, new)
    if not {"space", "num_samples", "search_alg's points_to_evaluate"} & {one.name for one in found}:
        total = old.get("limits", {}).get("total", _MISSING)
        found += _differing("trials in all", total, new["limits"]["total"], EFFECTS["num_samples"])
    found += _differing("engine", old.get("engine", _MISSING), new["engine"], _TAKEN)
    for name, value in old.get("checkpoints", {}).items():
        if name in _POLICY and name in new["checkpoints"]:
            shown, effect = _POLICY[name]
            found += _differing(shown, value, new["checkpoints"][name], effect)
    found += _of_warm_start(old, new)
    recorded, asked = seeds
    if asked is not None:
        found += _differing(
            "seed", recorded, asked, f"kept: {recorded}; what was drawn so far was drawn with it"
        )
    return found


def resume_changes(
    header: Mapping[str, Any], experiment: Experiment, parts: Parts
) -> tuple[list[str], dict[str, Any]]:
    """Return the messages about the changes of a resume, and the notes that its driver records.

    Args:
        header: The first record of the journal.
        parts: The resumed experiment's, before the journal is replayed.
    """
    old, new = newest_parts(parts.folder / JOURNAL, header), dict(header_parts(experiment, parts))
    defaults = {"scheduler": _defaults(parts.scheduler), "searcher": _defaults(parts.searcher)}
    found = changes(old, new, (header["seed"], experiment.seed), defaults)
    new["warm_start"] = old.get("warm_start", [])  # kept
    noted = {name: one for name, one in new.items() if name != "limits"}  # They are in Resumed.
    is_same = _text({**old, **noted}) == _text(old)
    return told_changes(parts.folder.name, found), {} if is_same else {"parts": noted}


def _defaults(part: Any) -> dict[str, Any]:
    """Return the default arguments of a scheduler or searcher, as data."""
    parameters = inspect.signature(type(part)).parameters.values()
    return {one.name: described(one.default) for one in parameters if one.default is not one.empty}


def told_changes(name: str, found: list[Change]) -> list[str]:
    """Return the changes as one text, a line each; empty if nothing differs."""
    if not found:
        return []
    what = "1 setting differs" if len(found) == 1 else f"{len(found)} settings differ"
    return ["\n  ".join([f"resuming {name}: {what} from the recorded run", *map(str, found)])]


def _of_trainable(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    if old.get("name", new["name"]) != new["name"]:
        yield Change("trainable", f"{old['name']} -> {new['name']}", _MIXES)
    elif is_same_source(old.get("source", {}), new["source"]) is False:
        yield Change("trainable", f"the source of {new['name']} changed", _MIXES)


def _of_parameters(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield changed arguments bound to the trainable; only their hashes are recorded."""
    before = old.get("parameters", new["parameters"])
    for name in dict.fromkeys([*before, *new["parameters"]]):
        if before.get(name) != new["parameters"].get(name):
            yield Change(f"the trainable's argument {name}", "another value", _MIXES)


def _of_algorithm(
    name: str, shown: str, old: Mapping[str, Any], new: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Iterator[Change]:
    before, now = old.get(name), new[name]
    if not isinstance(before, Mapping) or not isinstance(now, Mapping):
        return
    if before.get("path") != now.get("path"):
        names = (str(one.get("path", "")).rpartition(".")[2] for one in (before, now))
        yield Change(shown, " -> ".join(names), _DECIDES)
        return
    first, second = ({**defaults, **one.get("arguments", {})} for one in (before, now))
    for argument in dict.fromkeys([*first, *second]):
        if argument == "points_to_evaluate":
            points = first.get(argument) or None, second.get(argument) or None
            yield from _differing(f"{shown}'s {argument}", *points, _POINTS)
        elif argument != "num_samples" and argument in first and argument in second:
            yield from _differing(f"{shown}'s {argument}", first[argument], second[argument], _DECIDES)


def _of_options(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    before = old.get("options", {})
    for name, value in new["options"].items():
        if name in before and name not in NOT_SHOWN:
            yield from _differing(AS_USERS_SAY.get(name, name), before[name], value, EFFECTS[name])


def _of_warm_start(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    if new["warm_start"] and new["warm_start"] != old.get("warm_start", new["warm_start"]):
        yield Change("warm_start", "another", "kept: the results that were read when the run began")


def _differing(name: str, old: Any, new: Any, effect: str) -> Iterator[Change]:
    if old is not _MISSING and _text(old) != _text(new):
        yield Change(name, f"{_shown(old)} -> {_shown(new)}", effect)


def _text(data: Any) -> str:
    return _ADDRESS.sub("", json.dumps(data, sort_keys=True, default=str))


def _shown(data: Any) -> str:
    """Return a value as its user wrote it, as far as the data allows."""
    if isinstance(data, list) and len(data) == 1 and isinstance(data[0], str):
        data = data[0]  # a metric or a mode
    if isinstance(data, Mapping) and data.get("path") == _RESOURCES:
        bundles = [dict(one) for one in data["arguments"]["bundles"]]
        data = bundles[0] if len(bundles) == 1 else bundles
    shown = f"[{', '.join(map(_shown, data))}]" if isinstance(data, list) else repr(data)
    if isinstance(data, Mapping) and "path" in data:
        shown = str(data["path"]).rpartition(".")[2]
        given = ", ".join(f"{key}={_shown(value)}" for key, value in data.get("arguments", {}).items())
        shown += f"({given})" if given else ""
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
