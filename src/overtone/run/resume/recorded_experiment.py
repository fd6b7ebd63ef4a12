"""An experiment rebuilt from its journal, from data alone: no code of the folder is run."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from inspect import signature
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from overtone.core.resources import Resources
from overtone.errors import OvertoneError, SpaceError
from overtone.experiment import CheckpointPolicy, Experiment
from overtone.journal.header import PART_FOLDERS, part_path
from overtone.journal.newest_parts import newest_parts
from overtone.option import APART, CODE, DATA, options
from overtone.run.resume.same_experiment import SpaceSources, check_keys, check_trainable
from overtone.run.resume.target import header_of
from overtone.space.data import DOMAIN, space_from_data
from overtone.space.dsl import DOMAINS
from overtone.store.folder_mark import JOURNAL


def recorded_experiment(folder: Path, trainable: Any, given: Mapping[str, Any]) -> Experiment:
    """Return the experiment in `folder`, to be resumed.

    Args:
        trainable: Code is not recorded: it must be given. Functions of the recorded space and resources
            are taken from its module.
        given: Fields of `Experiment` that replace recorded ones.

    Raises:
        OvertoneError: A field is not data and was not given; the message names it.
        TrainableError: It is another trainable than the recorded one.
        SpaceError: A given space has other keys than the recorded one.
        StorageError: There is no journal.
    """
    header = header_of(folder)
    parts = newest_parts(folder / JOURNAL, header)
    check_trainable(folder, parts, trainable)
    if "space" in given:
        check_keys(folder, parts, given["space"])
    made, not_data = recorded_fields(header, parts, SpaceSources(trainable), given)
    known = options(Experiment)
    if not_data:
        errors = {known[name].shown: error for name, error in not_data.items()}
        why = ", ".join(f"{name} is not plain data ({error})" for name, error in errors.items())
        raise OvertoneError(
            f"{folder} cannot be resumed from its journal alone: {why}. Pass it again: "
            f"Tuner.restore(path, trainable, {', '.join(f'{name}=...' for name in errors)})"
            f". For its results alone: tune.ExperimentAnalysis({str(folder)!r})"
            + (". Resources also come with tune.with_resources(trainable, ...)" * ("resources" in not_data))
        )
    if "checkpoints" not in given:
        policy = options(CheckpointPolicy).keys() & parts["checkpoints"].keys()
        made["checkpoints"] = CheckpointPolicy(**{name: parts["checkpoints"][name] for name in policy})
    return Experiment(
        trainable, **{"name": folder.name, "storage": folder.parent, "resume": True, **made, **given}
    )


def recorded_fields(
    header: Mapping[str, Any], parts: Mapping[str, Any], sources: SpaceSources, given: Container[str] = ()
) -> tuple[dict[str, Any], dict[str, Exception]]:
    """Return the recorded fields of an experiment, and an error for each that is not plain data.

    Args:
        header: The journal's first record.
        parts: The newest description of the experiment.
        sources: Has the functions that recorded fields name.
        given: Names of fields to leave out.
    """
    known = options(Experiment)
    recorded = {name: parts["options"].get(name) for name in known if known[name].recorded in (DATA, CODE)}
    recorded |= {name: parts.get(name) for name in known if known[name].recorded == APART}
    # An older journal lacks some: they had their defaults.
    fields: dict[str, Any] = {name: data for name, data in recorded.items() if data not in (None, [], {})}
    fields["seed"] = header["seed"]
    _take_apart(fields)
    return _made_of({name: data for name, data in fields.items() if name not in given}, sources)


def _made_of(fields: Mapping[str, Any], sources: SpaceSources) -> tuple[dict[str, Any], dict[str, Exception]]:
    """Return the values of recorded fields, and an error for each field that is not plain data."""
    made: dict[str, Any] = {}
    not_data: dict[str, Exception] = {}
    for name, data in fields.items():
        try:
            made[name] = _FROM_CODE[name](data, sources) if name in _FROM_CODE else _made(data)
        except (ValueError, TypeError, SpaceError) as error:
            not_data[name] = error
    return made, not_data


def _take_apart(fields: dict[str, Any]) -> None:
    """Remove searchers that the space implies: random and grid search, and lists of configs."""
    searcher = fields.get("searcher")
    searcher = searcher if isinstance(searcher, Mapping) else {}
    kind, arguments = searcher.get("path"), searcher.get("arguments", {})
    if "num_samples" in arguments and arguments["num_samples"] == fields.get("num_samples"):
        arguments = {name: one for name, one in arguments.items() if name != "num_samples"}
        fields["searcher"] = {**searcher, "arguments": arguments}  # filled in by the experiment's
    if kind == "overtone.searchers.basic.BasicVariantGenerator":
        if arguments.keys() <= {"points_to_evaluate", "num_samples"}:  # no other argument was given
            fields["searcher"] = None
            fields["points_to_evaluate"] = arguments.get("points_to_evaluate") or ()
    elif kind == "overtone.searchers.listed.Listed":
        fields["searcher"] = None
        fields["space"] = arguments.get("configs")


def _space(data: Any, sources: SpaceSources) -> Any:
    if isinstance(data, list):
        return data
    try:
        return space_from_data(data, sources.code)
    except SpaceError:
        if (found := sources.space(data)) is None:
            raise
        return found


def _resources(data: Any, sources: SpaceSources) -> Any:
    code = sources.code(data["path"]) if isinstance(data, Mapping) and set(data) == {"path"} else None
    return _made(data) if code is None else code


_FROM_CODE = {"space": _space, "resources": _resources}
"""Fields that may hold the user's functions."""


def _made(data: Any) -> Any:
    """Return the value that `described` encoded, if it is data or one of Overtone's own parts.

    Raises:
        ValueError: It is neither.
    """
    if isinstance(data, list):
        return [_made(one) for one in data]
    if not isinstance(data, Mapping):
        return data
    if "__repr__" in data:
        raise ValueError(data["__repr__"])
    if DOMAIN in data:
        return space_from_data(data)
    if set(data) not in ({"path"}, {"path", "arguments"}):
        return {name: _made(one) for name, one in data.items()}
    path = str(data["path"])
    if "arguments" not in data:
        raise ValueError(f"the function {path}")
    if path == "overtone.core.resources.Resources":
        bundles, *strategy = data["arguments"].values()
        return Resources(tuple(tuple(map(tuple, one)) for one in bundles), *strategy)
    if path.startswith("overtone.space."):
        return _old_domain(path, data["arguments"])
    return _part(path)(**{name: _made(one) for name, one in data["arguments"].items()})


def _old_domain(path: str, attributes: Mapping[str, Any]) -> Any:
    """Return a domain that an earlier version recorded by its attributes, as an argument of a scheduler.

    Raises:
        ValueError: It is not one.
    """
    make = DOMAINS.get(str(attributes.get("name")))
    if make is None:
        raise ValueError(path)
    return make(**{name: one for name, one in attributes.items() if name in signature(make).parameters})


def _part(path: str) -> Any:
    """Return the class at `path`, which must be one of Overtone's own that a journal may name.

    Raises:
        ValueError: It is not, or this version does not have it.
    """
    package, *names = path.split(".")
    if package != "overtone" or len(names) != 3 or names[0] not in PART_FOLDERS:
        raise ValueError(path)
    folder, module, name = names
    for home in _homes(f"overtone.{folder}", module):
        kind = getattr(home, name, None)
        if isinstance(kind, type) and part_path(kind) == path:
            return kind
        if kind is not None:
            raise ValueError(path)
    raise ValueError(f"{path}, which this version does not have")


def _homes(folder: str, module: str) -> Iterator[ModuleType]:
    """Yield the modules of this name in the folder and its sub-folders."""
    inner = [one.name for one in iter_modules(import_module(folder).__path__) if one.ispkg]
    for home in (folder, *(f"{folder}.{name}" for name in inner)):
        with suppress(ImportError):
            yield import_module(f"{home}.{module}")
