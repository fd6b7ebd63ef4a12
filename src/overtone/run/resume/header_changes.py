"""Differences between a resume and the recorded run, and the value that counts for each."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from overtone.experiment import CheckpointPolicy, Experiment
from overtone.journal.header import described
from overtone.journal.newest_parts import newest_parts
from overtone.option import Option, options
from overtone.run.header.journal_setup import header_parts
from overtone.run.header.source_hash import is_same_source
from overtone.store.folder_mark import JOURNAL

if TYPE_CHECKING:
    from overtone.run.parts import Parts

_MIXES = (
    "taken: trials that still run use it, and recorded results stay. To keep them apart, choose another "
    "name, or leave resume out"
)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_RESOURCES = "overtone.core.resources.Resources"
_OLD_DOMAIN = '"path": "overtone.space.'
"""In older journals: a domain among the arguments of an algorithm, without its scale."""
_LONGEST = 100
_MISSING = object()


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
    known = options(Experiment)
    found = [*_of_trainable(old, new), *_of_parameters(old, new)]
    lines = space_changes(old["space"], new["space"]) if "space" in old else ()
    found += (Change("space", line, known["space"].changed) for line in lines)
    goal = ("metric", "mode", "constraints")
    before, now = ({name: parts[name] or None for name in goal if name in parts} for parts in (old, new))
    found += _of_options(before, now, goal, known)
    for name in ("scheduler", "searcher"):
        found += _of_algorithm(name, old, new, (defaults or {}).get(name, {}))
    found += _of_options(old, new, ["stop"], known)
    names = [name for name in new["options"] if name != "engine"]  # shown by its class, also if none is named
    found += _of_options(old.get("options", {}), new["options"], names, known)
    if not {"space", "num_samples", "search_alg's points_to_evaluate"} & {one.name for one in found}:
        limits = old.get("limits", new["limits"])
        found += _differing(
            "trials in all", limits.get("total"), new["limits"]["total"], known["num_samples"].changed
        )
    found += _of_options(old, new, ["engine"], known)
    policy = options(CheckpointPolicy)
    found += _of_options(old.get("checkpoints", {}), new["checkpoints"], policy, policy)
    if new["warm_start"] and new["warm_start"] != old.get("warm_start", new["warm_start"]):
        found.append(Change("warm_start", "another", known["warm_start"].changed))
    recorded, asked = seeds
    if asked is not None:
        found += _differing("seed", recorded, asked, known["seed"].changed.format(recorded))
    return found


def resume_changes(header: Mapping[str, Any], parts: Parts) -> tuple[list[str], dict[str, Any]]:
    """Return the messages about the changes of a resume, and the notes that its driver records.

    Args:
        header: The first record of the journal.
        parts: The resumed experiment's, before the journal is replayed.
    """
    old, new = newest_parts(parts.folder / JOURNAL, header), dict(header_parts(parts))
    defaults = {"scheduler": _defaults(parts.plan.scheduler), "searcher": _defaults(parts.plan.searcher)}
    found = changes(old, new, (header["seed"], parts.plan.experiment.seed), defaults)
    new["warm_start"] = old.get("warm_start", [])  # kept
    noted = {name: one for name, one in new.items() if name != "limits"}  # They are in Resumed.
    is_same = _text({**old, **noted}) == _text(old)
    return told_changes(parts.folder.name, found), {} if is_same else {"parts": noted}


def is_other_code(header: Mapping[str, Any], parts: Parts) -> bool:
    """Return whether the trainable's source differs from the recorded run's."""
    old = newest_parts(parts.folder / JOURNAL, header)
    return is_same_source(old.get("source", {}), header_parts(parts)["source"]) is False


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
    name: str, old: Mapping[str, Any], new: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Iterator[Change]:
    before, now, known = old.get(name), new[name], options(Experiment)
    shown, effect = known[name].shown, known[name].changed
    if not isinstance(before, Mapping) or not isinstance(now, Mapping):
        return
    if before.get("path") != now.get("path"):
        names = (str(one.get("path", "")).rpartition(".")[2] for one in (before, now))
        yield Change(shown, " -> ".join(names), effect)
        return
    first, second = ({**defaults, **one.get("arguments", {})} for one in (before, now))
    for argument in dict.fromkeys([*first, *second]):
        if argument == "points_to_evaluate":
            points = first.get(argument) or None, second.get(argument) or None
            yield from _differing(f"{shown}'s {argument}", *points, known[argument].changed)
        elif argument != "num_samples" and argument in first and argument in second:
            if _OLD_DOMAIN in _text(first[argument]):
                continue
            yield from _differing(f"{shown}'s {argument}", first[argument], second[argument], effect)


def _of_options(
    old: Mapping[str, Any], new: Mapping[str, Any], names: Iterable[str], known: Mapping[str, Option]
) -> Iterator[Change]:
    """Yield the changed options among `names`; nothing for one that is not recorded."""
    for name in names:
        one = known[name]
        if one.changed and name in old and name in new:
            yield from _differing(one.shown, old[name], new[name], one.changed)


def _differing(name: str, old: Any, new: Any, effect: str) -> Iterator[Change]:
    if _text(old) != _text(new):
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


def space_changes(old: Any, new: Any, path: str = "") -> list[str]:
    """Return each key in which two spaces, as data, differ, with both values."""
    if isinstance(old, Mapping) and isinstance(new, Mapping) and not is_mark(old) and not is_mark(new):
        return [
            line
            for key in dict.fromkeys([*old, *new])
            for line in space_changes(
                old.get(key, _MISSING), new.get(key, _MISSING), f"{path}/{key}" if path else str(key)
            )
        ]
    return [] if old == new else [f"{path}: was {_shown_in_space(old)}, is {_shown_in_space(new)}"]


def is_mark(data: Mapping[str, Any]) -> bool:
    """Return whether `data` stands for one value, such as a domain, and not for a nested space."""
    return "grid_search" in data or any(str(key).startswith("__") for key in data)


def _shown_in_space(data: Any) -> str:
    """Return a part of a space as its user wrote it, as far as the data allows."""
    if data is _MISSING:
        return "not there"
    if isinstance(data, Mapping) and "__domain__" in data:  # as it was written
        given = ", ".join(f"{key}={value!r}" for key, value in data.items() if key != "__domain__")
        return f"{data['__domain__']}({given})"[:200]
    return repr(data)[:200]
