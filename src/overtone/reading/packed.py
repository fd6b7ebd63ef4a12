"""Pickles of objects that plain pickle may not carry, such as a space with a lambda."""

from __future__ import annotations

import pickle
from typing import Any


class Packed:
    """Pickles a value, or None in its place if nothing can pickle the value.

    Plain pickle is tried first. Values of `__main__`, and others that plain pickle refuses, are pickled
    by value, as for the processes of trials.

    Args:
        value: The value.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpacked, (_dumped(self.value),)


def _dumped(value: Any) -> bytes | None:
    try:
        body = pickle.dumps(value)
        if b"__main__" not in body:
            return body
    except Exception:  # an object may raise anything when it is pickled
        pass
    try:
        import cloudpickle

        packed: bytes = cloudpickle.dumps(value)
    except Exception:
        return None
    return packed


def _unpacked(body: bytes | None) -> Packed:
    return Packed(None if body is None else pickle.loads(body))
