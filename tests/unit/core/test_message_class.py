"""Messages are values: equal where their fields are, with no place for others, and fit for a wire."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace

import pytest

from overtone.core import messages as m
from overtone.core.decision import CONTINUE, Continue
from overtone.core.types import Result


def test_messages_are_equal_where_their_fields_are() -> None:
    halt = m.Halt("a", 1, save=True)
    assert halt == m.Halt("a", 1, True)
    assert hash(halt) == hash(m.Halt("a", 1, True))
    assert halt != replace(halt, save=False)
    assert Continue() == CONTINUE
    assert hash(CONTINUE) == hash(Continue())


def test_a_message_has_its_fields_alone() -> None:
    with pytest.raises(AttributeError):
        m.Tick(1.0).note = "no such field"  # type: ignore[attr-defined]
    assert not hasattr(m.Tick(1.0), "__dict__")


@pytest.mark.parametrize(
    "one", [m.Proceed("a", 0, 3.0, config={"x": 1}), Result(1, 0.5, (0.5,), (), {"x": 2})]
)
def test_it_goes_over_a_wire(one: object) -> None:
    again = pickle.loads(pickle.dumps(one, protocol=5))
    assert again == one
    assert [field.name for field in fields(again)] == [field.name for field in fields(one)]
