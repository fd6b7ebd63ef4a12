"""From what users call a trial to its id."""

from __future__ import annotations

import os
from collections.abc import Iterable

from overtone.errors import OvertoneError
from overtone.lazy import nearest

_MOST_LISTED = 8


class UnknownTrialError(OvertoneError):
    """A name is that of no trial, or of several."""


def find_trial(wanted: str, ids: Iterable[str], experiment: object = "") -> str:
    """Return the id of the trial that `wanted` means: an id, how only one begins or ends, or an index.

    Args:
        ids: All ids, in the order of creation.
        experiment: The experiment's name in messages, such as its folder.

    Raises:
        UnknownTrialError: There is none, or more than one is meant.
    """
    known = list(ids)
    wanted = wanted.rstrip(os.sep)
    name = os.path.basename(wanted)
    if name in known:
        return name
    if wanted.isdecimal() and len(wanted) <= len(str(len(known))) and int(wanted) < len(known):
        return known[int(wanted)]
    found = [one for one in known if one.startswith(name)] or [
        one for one in known if one.endswith(f"_{name}")
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise UnknownTrialError(f"{wanted!r} may be {listed(found)}: write more of the id")
    there = f"it has {listed(known)}" if known else "it has none yet"
    hint = nearest(name, known[:1000]) if known else ""
    where = f" {experiment}" if experiment else ""
    raise UnknownTrialError(f"experiment{where} has no trial {wanted!r}: {there}{hint}")


def listed(names: list[str]) -> str:
    """Return the first names as a text, and how many more there are."""
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
