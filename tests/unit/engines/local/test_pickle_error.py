from __future__ import annotations

import functools
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from overtone.core.job import Job
from overtone.engines.local.pickle_error import blame

LOCK = threading.Lock()


def by_global(config: Any) -> bool:
    return LOCK.locked()


by_global.__module__ = "__main__"  # so that it goes by value, with what it refers to


def by_closure() -> Any:
    opened = LOCK

    def train(config: Any) -> bool:
        return opened.locked()

    return train


class ByAttribute:
    lock = LOCK

    def step(self) -> None: ...


ByAttribute.__module__ = "__main__"


class Callable:
    def __init__(self) -> None:
        self.lock = LOCK

    def __call__(self, config: Any) -> None: ...


def plain(config: Any, lock: Any = None) -> None: ...


@pytest.mark.parametrize(
    ("trainable", "parameters", "culprit"),
    [
        (by_global, {}, "the captured variable 'LOCK'"),
        (by_closure(), {}, "the captured variable 'opened'"),
        (ByAttribute, {}, "the attribute 'lock'"),
        (Callable(), {}, "the attribute 'lock'"),
        (functools.partial(plain, lock=LOCK), {}, "argument 'lock' of the partial"),
        (functools.partial(plain, LOCK), {}, "argument 0 of the partial"),
        (plain, {"lock": LOCK}, "the parameter 'lock' of with_parameters"),
    ],
)
def test_the_culprit_is_named(trainable: Any, parameters: dict[str, Any], culprit: str) -> None:
    text = blame(
        Job(trainable, "train", Path(), parameters), TypeError("cannot pickle '_thread.lock' object")
    )
    assert re.match(
        f"train cannot be sent to a process of its own: {culprit}, a _thread.lock, cannot be pickled", text
    )
    assert "inside the trainable" in text


def test_without_a_culprit_the_error_itself_is_shown() -> None:
    text = blame(Job(plain, "plain", Path()), RuntimeError("odd"))
    assert text == "plain cannot be sent to a process of its own: RuntimeError: odd"
