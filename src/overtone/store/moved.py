"""Location of a checkpoint whose experiment was moved or copied after its uri was recorded."""

from __future__ import annotations


def key_of(uri: str) -> str | None:
    """Return the key under which a store put the checkpoint at `uri`; None if the uri has no key.

    >>> key_of("/home/ada/overtone_results/exp/a9c1c_00001/checkpoint_000010")
    'a9c1c_00001/checkpoint_000010'
    """
    parts = uri.replace("\\", "/").rstrip("/").split("/")
    if len(parts) < 3 or "" in parts[-2:] or "." in parts or ".." in parts or "\0" in uri:
        return None
    return "/".join(parts[-2:])
