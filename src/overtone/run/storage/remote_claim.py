"""A place at a URL: whether trials can reach it, and an earlier experiment there is moved aside."""

from __future__ import annotations

from itertools import count

from overtone.errors import OvertoneError
from overtone.run.storage.results_place import patiently
from overtone.store.files import RemoteFiles, protocol_of


def moved_aside(root: RemoteFiles, name: str, stamp: str, number: int) -> str:
    """Move an earlier experiment of that name: copied first, then deleted, its journal before the rest.

    Args:
        number: Of the lease that the caller holds, which stays.

    Returns:
        A line that says where it is now; "" if there was none.
    """
    here = root.below(name)
    own = f"lease/{number:06d}.json"
    names = [one for one in patiently(here.sizes) if one != own]
    if not any(one.startswith("journal/") for one in names):
        return ""
    aside = next(
        one
        for n in count(1)
        if not patiently((one := root.below(f"{name}.{stamp}" + (f"_{n}" if n > 1 else ""))).sizes)
    )
    patiently(lambda: here.copy(names, aside))
    gone = [one for one in names if not one.startswith("lease/")]  # leases stay: their numbers only grow
    patiently(lambda: here.remove(sorted(gone, key=lambda one: not one.startswith("journal/"))))
    return f"{here.url} was in use; its earlier results are now in {aside.url}"


def check_reach(url: str, isolates: bool) -> None:
    """Refuse what trials in other processes could not reach."""
    if protocol_of(url) == "memory" and isolates:
        raise OvertoneError(
            f"storage_path={url!r} lives in the memory of this process, and trials run in processes of their "
            f'own: choose engine="inline" or "simulated", or a storage_path such as "~/overtone_results" or '
            '"s3://bucket/folder"'
        )
