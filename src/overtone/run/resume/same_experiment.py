"""Checks that a restore is of the experiment that is in the folder, and finds what only code can say."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

from overtone.errors import SpaceError, TrainableError
from overtone.run.resume.header_changes import is_mark
from overtone.worker.trainables.with_parameters import as_bound, trainable_name, unwrap


def check_trainable(folder: Path, parts: Mapping[str, Any], trainable: Any) -> None:
    """Refuse another trainable than the recorded one: results of both would stand side by side.

    Raises:
        TrainableError: The name differs.
    """
    bound, recorded = as_bound(trainable), parts.get("name")
    name, own_name = trainable_name(bound), trainable_name(bound.trainable)
    if recorded not in (None, name, own_name):
        raise TrainableError(
            f"{folder} has trials of the trainable {recorded!r}, and {name!r} was given: give {recorded}. "
            f'If it was renamed, tune.run({name}, name="{folder.name}", storage_path="{folder.parent}", '
            "resume=True, ...) goes on with it"
        )


def check_keys(folder: Path, parts: Mapping[str, Any], space: Any) -> None:
    """Refuse a space with other keys than the recorded one's; other values are allowed.

    Raises:
        SpaceError: Keys are missing or new; the message names them.
    """
    from overtone.space import space_to_data

    recorded = parts.get("space")
    if not isinstance(recorded, Mapping) or not isinstance(space, Mapping):
        return
    before, now = (dict.fromkeys(_keys(one)) for one in (recorded, space_to_data(space)))
    missing, new = [one for one in before if one not in now], [one for one in now if one not in before]
    if missing or new:
        what = [f"{', '.join(map(repr, missing))} missing"] if missing else []
        what += [f"{', '.join(map(repr, new))} new"] if new else []
        raise SpaceError(
            f"param_space has other keys than the space of {folder}: {'; '.join(what)}. Give the same keys, "
            "with other values if you like, or leave param_space out"
        )


def _keys(space: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each value of a space, as data, such as "optimizer/lr"."""
    if isinstance(space, Mapping) and space and not is_mark(space):
        for key, value in space.items():
            yield from _keys(value, f"{path}/{key}" if path else str(key))
    elif path:
        yield path


class SpaceSources:
    """The functions, classes and spaces of the module that a trainable came from.

    They are searched for by their recorded names; nothing is imported by a recorded name.
    """

    def __init__(self, trainable: Any) -> None:
        inner = unwrap(trainable)
        self._name: str = getattr(inner, "__module__", None) or type(inner).__module__
        self._module = sys.modules.get(self._name)

    def code(self, path: str) -> Any:
        """Return the function or class at a path such as "script.double"; None if there is none."""
        inside = path.removeprefix(f"{self._name}.")
        if inside == path or not all(map(str.isidentifier, inside.split("."))):
            return None
        try:
            found = attrgetter(inside)(self._module)
        except AttributeError:
            return None
        here = f"{getattr(found, '__module__', None)}.{getattr(found, '__qualname__', None)}"
        return found if here == path else None

    def space(self, recorded: Any) -> Any:
        """Return the variable that is the recorded space, such as one with lambdas; None if there is none."""
        from overtone.space import space_to_data

        for value in list(vars(self._module).values()) if self._module is not None else ():
            if type(value) is dict and isinstance(recorded, Mapping) and value.keys() == recorded.keys():
                with suppress(Exception):  # it is not a space
                    if space_to_data(value) == recorded:
                        return value
        return None
