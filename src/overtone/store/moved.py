"""Where a checkpoint lies whose experiment was moved or copied since its uri was written down."""

from __future__ import annotations


def key_of(uri: str) -> str | None:
    """The key under which a store put what is at `uri`; None where no checkpoint can be.

    >>> key_of("/home/ada/overtone_results/exp/a9c1c_00001/checkpoint_000010")
    'a9c1c_00001/checkpoint_000010'
    """
    parts = uri.replace("\\", "/").rstrip("/").split("/")
    if len(parts) < 3 or "" in parts[-2:] or "." in parts or ".." in parts or "\0" in uri:
        return None
    return "/".join(parts[-2:])
